//! Cases from seeds: a heap's configuration, a demand, and how the heap is used.

use surefit_compact::{Bound, Config, Fraction, PageOrder, Spacing};

use crate::chooser::Chooser;
use crate::drive::{Size, budget};
use crate::keys;
use crate::metered::Script;
use crate::setup::{ALIGN, Kind, OwnedDemand, Setup};

/// A heap, a demand, and what a script asks for.
#[derive(Clone)]
pub(crate) struct Case {
    pub(crate) seed: u64,
    pub(crate) setup: Setup,
    pub(crate) sizes: Vec<Size>,
    pub(crate) demand: OwnedDemand,
    /// Calls that the demand was read from.
    pub(crate) script: Option<Script>,
}

const EXPLICIT: [&[u32]; 3] = [
    &[16, 48, 128, 512],
    &[64],
    &[8, 24, 40, 104, 200, 256, 504, 1016],
];

impl Case {
    /// The case of a seed; `None` if its numbers do not suit any heap.
    pub(crate) fn new(kind: Kind, seed: u64) -> Option<Self> {
        let mut chooser = Chooser::new(seed);
        let setup = setup(&mut chooser, kind);
        setup.config()?;
        let sizes = sizes(&mut chooser, &setup);
        if sizes.is_empty() {
            return None;
        }
        let some = chooser.below(2) == 0;
        let setup = Setup {
            pinned: some.then(|| pinned(&mut chooser, &setup, &sizes)),
            ..setup
        };
        if chooser.below(5) == 0 && !kind.has_values() {
            let script = Script::new(&mut chooser, &setup, &sizes);
            let setup = Setup {
                metered: script.ends(),
                ..setup
            };
            return Some(Self {
                demand: script.demand(&mut chooser),
                script: Some(script),
                seed,
                setup,
                sizes,
            });
        }
        Some(Self {
            demand: demand(&mut chooser, &setup, &sizes),
            script: None,
            seed,
            setup,
            sizes,
        })
    }
}

fn bound(chooser: &mut Chooser) -> Bound {
    let fraction = |(numerator, denominator)| Fraction::new(numerator, denominator).expect("valid");
    match chooser.below(6) {
        0 => Bound::Pages(1),
        1 => Bound::Pages(chooser.number(2, 8)),
        2 => Bound::DEFAULT,
        3 => Bound::Unbounded,
        _ => Bound::Holes {
            base: chooser.number(0, 9),
            fraction: fraction(chooser.one_of(&[(0, 1), (1, 2), (1, 16), (2, 5), (1, 7)])),
        },
    }
}

pub(crate) fn setup(chooser: &mut Chooser, kind: Kind) -> Setup {
    if kind.word_bytes() == 3 && chooser.below(4) == 0 {
        return Setup {
            frees: frees(chooser),
            ..Setup::lean(kind)
        };
    }
    let bound = bound(chooser);
    let order = match bound {
        Bound::Pages(_) => chooser.one_of(&[PageOrder::Newest, PageOrder::Original]),
        _ => PageOrder::Newest,
    };
    let page_bytes = chooser.one_of(&[1024, 1024, 1024, 2048, 4096, 16384]);
    let spacing = match chooser.below(6) {
        0 => Spacing::Explicit(chooser.one_of(&EXPLICIT)),
        _ => Spacing::Fraction(chooser.one_of(&[1, 2, 4, 8, 8, 16])),
    };
    let granule = chooser.one_of(&[8, 8, 16]);
    let setup = Setup {
        page_bytes,
        granule,
        smallest: granule * chooser.number::<usize>(1, 4),
        spacing,
        bound,
        order,
        pieces: chooser.one_of(&[None, None, Some(64), Some(256), Some(page_bytes / 4)]),
        large: chooser.one_of(&[false, true]),
        frees: frees(chooser),
        ..Setup::new(kind)
    };
    if kind.is_shared() {
        shared(chooser, setup)
    } else {
        setup
    }
}

/// Frees in the life of a heap of keys.
fn frees(chooser: &mut Chooser) -> u64 {
    chooser.one_of(&[0, 100, 700, 3000])
}

#[test]
fn a_lean_setup_is_the_lean_configuration() {
    let (setup, lean) = (Setup::lean(Kind::Medium), Config::LEAN);
    let config = setup.config().expect("valid");
    let is_same = (
        config.geometry() == lean.geometry(),
        config.bound() == lean.bound(),
        config.piece_bytes() == lean.piece_bytes(),
        config.division() == lean.division(),
    );
    assert_eq!(is_same, (true, true, true, true));
}

fn shared(chooser: &mut Chooser, setup: Setup) -> Setup {
    let threads = chooser.one_of(&[1, 1, 2, 3, 4]);
    let guards = chooser.one_of(&[0, 0, 1, 3]);
    let instances = if setup.kind.is_sharded() {
        chooser.number(1, 4)
    } else {
        1
    };
    Setup {
        increment: chooser.one_of(&[None, Some(16), Some(64), Some(1024)]),
        pins: threads + guards - 1 + chooser.number::<u32>(0, 3),
        locals: chooser.number(
            (threads as usize).saturating_sub(1).max(1),
            threads as usize + 2,
        ),
        page_buffer: chooser.one_of(&[0, 1, 2, 5]),
        handle_buffer: chooser.one_of(&[1, 2, 3, 4, 8, 8, 16, 32, 1000]),
        threads,
        guards,
        instances,
        ..setup
    }
}

/// The length of some of the objects, and the strictest alignment of those up to it.
fn pinned(chooser: &mut Chooser, setup: &Setup, sizes: &[Size]) -> (usize, usize) {
    let longest = sizes[chooser.below(sizes.len())].len;
    let aligns = sizes.iter().filter(|size| size.len <= longest);
    let align = aligns
        .map(|size| size.align)
        .max()
        .expect("the longest one");
    match setup.kind.has_values() {
        true => (keys::round_up(longest).expect("a value's"), align),
        false => (longest, align),
    }
}

impl Size {
    pub(crate) fn of(setup: &Setup, len: usize, align: usize) -> Option<Self> {
        let cost = setup.cost(len, align)?;
        let per_page = match cost.classes.last() {
            Some(&(class, _)) => setup.config()?.geometry().layout(class).blocks.into(),
            None => 8,
        };
        Some(Self {
            len,
            align,
            cost,
            per_page,
        })
    }
}

/// Lengths of some objects; larger than a page only in pieces.
fn lens(chooser: &mut Chooser, page: usize, pieces: Option<usize>, long: bool) -> Vec<usize> {
    let count = chooser.one_of(&[1, 1, 2, 3, 5]);
    let mut lens: Vec<usize> = (0..count)
        .map(|_| match chooser.below(8) {
            0 | 1 => 1 + chooser.below(32),
            2 | 3 => 1 + chooser.below(256),
            4 => page / (1 + chooser.below(9)),
            5 => page - chooser.below(page / 2),
            6 if pieces.is_some() && long => page + chooser.below(3 * page),
            6 => page,
            _ => chooser.one_of(&[0, 8, 16, 512, 1000]),
        })
        .collect();
    lens.sort_unstable();
    lens.dedup();
    lens
}

pub(crate) fn sizes(chooser: &mut Chooser, setup: &Setup) -> Vec<Size> {
    let lens = lens(
        chooser,
        setup.page_bytes,
        setup.pieces,
        !setup.kind.has_values(),
    );
    let mut sizes: Vec<Size> = Vec::new();
    for len in lens {
        // An alignment for which no page-block has room is dropped.
        let page = setup.page_bytes;
        let align = chooser.one_of(&[ALIGN, ALIGN, ALIGN, 1, 16, 64, 256, page / 2, page]);
        let Some(size) = Size::of(setup, len, align) else {
            continue;
        };
        if sizes.iter().all(|other| other.cost != size.cost) {
            sizes.push(size);
        }
    }
    sizes
}

/// A demand that allows some objects of the sizes.
pub(crate) fn demand(chooser: &mut Chooser, setup: &Setup, sizes: &[Size]) -> OwnedDemand {
    let mut peaks = vec![0; 128];
    let (mut blocks, mut bytes) = (0, 0);
    for size in sizes {
        let count = match chooser.below(6) {
            0 => 1,
            1 => size.per_page.min(200),
            2 => size.per_page.min(200) + 1,
            3 => 2 * size.per_page.min(100) + 1,
            4 => chooser.number(0, 4),
            _ => chooser.number(0, 60),
        } as u64;
        blocks += count * size.cost.blocks;
        bytes += count * size.cost.bytes;
        for &(class, each) in &size.cost.classes {
            peaks[class.index()] += u32::try_from(count).expect("small") * each;
        }
    }
    let geometry = setup.config().expect("valid");
    peaks.truncate(geometry.geometry().class_count());
    // A budget is often much less than the peaks, so that the classes compete for it.
    let mut part = |whole: u64| match chooser.below(4) {
        0 => whole,
        _ => whole * chooser.number::<u64>(1, 100) / 100,
    };
    let (objects, block_bytes) = (part(blocks), part(bytes));
    let budget = budget(sizes, objects, block_bytes);
    match chooser.below(5) {
        0 | 1 => OwnedDemand::PerClass(peaks),
        2 | 3 => OwnedDemand::Joint(budget),
        _ => OwnedDemand::Both(budget, peaks),
    }
}
