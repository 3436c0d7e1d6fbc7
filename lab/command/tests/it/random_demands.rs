//! Demand files at random: what is written for them states the certified demand, and a run that
//! fills it in the worst ways we know is refused nothing in exactly these bytes.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefit_compact::certify::{Budget, ClassSet, Demand, certify as certified};
use surefit_compact::{Config, Geometry, Keyed, Narrow, Wide, Width};
use surefit_measure::registry::Kind;
use surefit_measure::spec::{Choice, Spec};
use surefit_trace::{Align, Call, Event, Op, Trace};

use crate::certify::{TINY, certify, demand};
use crate::demands::completes;
use crate::emitted::{emit, number_after, region};

const SPECS: [&str; 3] = [TINY, "cf:page=4K,k=1", "cf:keys,page=1K,spacing=1/8,k=2"];

/// How many files are tried.
const FILES: u64 = 36;

/// A part of a demand file, and what of it is live.
#[derive(Clone, Copy)]
enum Part {
    /// Requests of a number of bytes in all.
    Requests {
        free: u64,
        largest: u64,
        align: usize,
    },
    /// Page-blocks, and their bytes.
    Blocks { free: (u64, u64), largest: u64 },
    /// Objects of one size.
    Peak { free: u32, bytes: u64, align: usize },
}

impl Part {
    /// A part at random, and its lines in the file.
    fn random(random: &mut ChaCha8Rng, which: u32) -> (Self, String) {
        let align = 8 << random.random_range(0..4);
        match which {
            0 => {
                let (free, largest) =
                    (random.random_range(600..4000), random.random_range(20..600));
                let lines = format!(
                    "request_bytes = {free}\nlargest_request_bytes = {largest}\nalign_bytes = {align}\n"
                );
                (
                    Self::Requests {
                        free,
                        largest,
                        align,
                    },
                    lines,
                )
            }
            1 => {
                let (objects, largest) = (random.random_range(1..60), random.random_range(1..=256));
                let bytes = objects * random.random_range(16..300);
                let lines = format!(
                    "objects = {objects}\nblock_bytes = {bytes}\nlargest_request_bytes = {largest}\n"
                );
                (
                    Self::Blocks {
                        free: (objects, bytes),
                        largest,
                    },
                    lines,
                )
            }
            _ => {
                let (free, bytes) = (random.random_range(1..120), random.random_range(1..400));
                let lines =
                    format!("request_bytes = {bytes}\nalign_bytes = {align}\nobjects = {free}\n");
                (Self::Peak { free, bytes, align }, lines)
            }
        }
    }

    /// Takes an object of about so many bytes from the part, if it has one left: its size, its
    /// alignment, and the part without it.
    fn take(self, bytes: u64, geometry: &Geometry) -> Option<(u64, usize, Self)> {
        match self {
            Self::Requests {
                free,
                largest,
                align,
            } => {
                let bytes = bytes.clamp(16, largest);
                let free = free.checked_sub(bytes)?;
                Some((
                    bytes,
                    align,
                    Self::Requests {
                        free,
                        largest,
                        align,
                    },
                ))
            }
            Self::Blocks { free, largest } => {
                let bytes = bytes.min(largest);
                let class = geometry.class_for(bytes as usize, 8).expect("fits a page");
                let block = u64::from(geometry.layout(class).block_bytes);
                let free = (free.0.checked_sub(1)?, free.1.checked_sub(block)?);
                Some((bytes, 8, Self::Blocks { free, largest }))
            }
            Self::Peak { free, bytes, align } => {
                let free = free.checked_sub(1)?;
                Some((bytes, align, Self::Peak { free, bytes, align }))
            }
        }
    }
}

/// A demand file at random: of budgets, of peaks, or of both.
fn file(random: &mut ChaCha8Rng) -> (Vec<Part>, String) {
    let kinds: &[u32] = [
        &[0][..],
        &[1],
        &[2, 2, 2],
        &[0, 2],
        &[1, 2, 2],
        &[0, 1, 0, 2],
    ][random.random_range(0..6)];
    let (mut parts, mut text) = (Vec::new(), String::new());
    for (at, kind) in kinds.iter().enumerate() {
        let (part, lines) = Part::random(random, *kind);
        match kind {
            2 => text.push_str("[[per_class]]\n"),
            _ if at > 0 => text.push_str("[[budgets]]\n"),
            _ => {}
        }
        text.push_str(&lines);
        parts.push(part);
    }
    (parts, text)
}

/// Fills the demand with objects of one length after the other, from the shortest to the longest
/// and back, and leaves every eighth object live in between.
fn greedy(parts: &[Part], geometry: &Geometry) -> Trace {
    let (mut events, mut id) = (Vec::new(), 0);
    let mut live: Vec<(u32, usize, Part, Part)> = Vec::new();
    let mut parts = parts.to_vec();
    let sizes = geometry
        .classes()
        .map(|it| geometry.smallest_request(it) as u64);
    let sizes: Vec<_> = sizes.take_while(|bytes| *bytes <= 600).collect();
    for bytes in sizes.iter().chain(sizes.iter().rev()) {
        for (at, part) in parts.iter_mut().enumerate() {
            while let Some((size, align, rest)) = part.take(*bytes, geometry) {
                let call = Call::Aligned(Align::new(align).expect("a power of two"));
                events.push(Event::new(0, Op::Alloc { id, size, call }));
                live.push((id, at, *part, rest));
                (*part, id) = (rest, id + 1);
            }
        }
        for (number, one) in std::mem::take(&mut live).into_iter().enumerate() {
            if number % 8 == 0 {
                live.push(one);
            } else {
                events.push(Event::new(0, Op::Free { id: one.0 }));
                parts[one.1].give_back(&one.2, &one.3);
            }
        }
    }
    Trace::new("greedy", events).expect("a sound trace")
}

impl Part {
    /// Takes back what lay between two states of the part.
    fn give_back(&mut self, before: &Self, after: &Self) {
        match (self, before, after) {
            (
                Self::Requests { free, .. },
                Self::Requests { free: before, .. },
                Self::Requests { free: after, .. },
            ) => *free += before - after,
            (
                Self::Blocks { free, .. },
                Self::Blocks { free: before, .. },
                Self::Blocks { free: after, .. },
            ) => *free = (free.0 + 1, free.1 + before.1 - after.1),
            (Self::Peak { free, .. }, ..) => *free += 1,
            _ => unreachable!("one part"),
        }
    }
}

/// The numbers of a list in brackets behind a text.
fn list_after(text: &str, before: &str) -> Vec<u32> {
    let (_, after) = text.split_once(before).expect("a list");
    let (list, _) = after.split_once(']').expect("its end");
    list.split(", ")
        .map(|it| it.parse().expect("a number"))
        .collect()
}

/// The bytes that the library certifies for the demand of a module.
fn certified_in<W: Width>(module: &str, config: &Config) -> u64 {
    let geometry = config.geometry();
    let (_, module) = module.split_once("const DEMAND").expect("a demand");
    let bytes = |demand: &Demand<'_>| {
        let certificate = certified::<W>(config, demand).expect("certifiable");
        certificate.aligned_bytes as u64
    };
    if module.contains("Demand::PerClass(") {
        return bytes(&Demand::PerClass(&list_after(module, "PerClass(&[")));
    }
    let classes = if module.contains("of_requests(") {
        let largest = number_after(module, "of_requests(CONFIG.geometry(), ");
        ClassSet::of_requests(geometry, largest as usize)
    } else {
        let used = list_after(module, "= ([").into_iter();
        let used = used.filter_map(|index| geometry.class(index as usize));
        used.fold(ClassSet::EMPTY, ClassSet::with)
    };
    bytes(&Demand::Joint(Budget {
        objects: number_after(module, "objects: "),
        block_bytes: number_after(module, "block_bytes: "),
        classes,
    }))
}

#[test]
fn what_is_emitted_is_the_certified_demand_and_is_never_refused() {
    let mut requests = 0;
    for seed in 0..FILES {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let (parts, text) = file(&mut random);
        let spec = SPECS[seed as usize % SPECS.len()];
        let margin = ["0", "12.5"][seed as usize / SPECS.len() % 2];
        let written = demand(&text);
        let path = written.path().to_str().expect("a plain name");
        let options = ["--demand", path, "--margin", margin, "--allocator", spec];
        let table = certify(&options);
        let module = emit("rust", &options);
        let parsed = Spec::parse(spec).expect("a spec");
        let Choice::InProcess(Kind::Cf(heap)) = &parsed.choice else {
            panic!("cf");
        };
        let bytes = match spec {
            TINY => certified_in::<Narrow>(&module, &heap.config),
            _ if heap.has_keys => certified_in::<Keyed<Wide>>(&module, &heap.config),
            _ => certified_in::<Wide>(&module, &heap.config),
        };
        let what = format!("seed {seed}, {spec}, {margin} %\n{text}\n{module}");
        assert_eq!(bytes, region(&table), "{what}");
        assert_eq!(
            number_after(&module, "REGION_BYTES: usize = "),
            bytes + 1,
            "{what}"
        );
        if heap.has_keys {
            let header = emit("c", &options);
            let bytes = number_after(&header, "HEAP_CERTIFIED_BYTES ");
            assert!(bytes >= region(&table), "{what}\n{header}");
            assert!(
                bytes == region(&table) || header.contains("cannot say"),
                "{header}"
            );
        }
        let trace = greedy(&parts, heap.config.geometry());
        requests += trace.events().len();
        completes(&trace, &table, spec);
    }
    assert!(requests > 20_000, "{requests} calls");
}
