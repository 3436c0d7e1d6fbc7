//! A small program's trace in a file, for tests of commands.

use std::path::PathBuf;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefit_trace::{Align, Call, Event, Frame, Op, SitesBuilder, Stack, Trace};
use tempfile::TempDir;

/// A trace in a file of its own.
#[derive(Debug)]
pub struct SmallTrace {
    directory: TempDir,
    /// The file.
    pub path: PathBuf,
    /// The maximum sum of live requests, in bytes.
    pub peak_bytes: u64,
}

/// A seeded program with all kinds of calls. Its peak is near 250 kB, and it never frees its last
/// objects.
///
/// # Panics
/// If the file cannot be written.
#[must_use]
pub fn small_trace(seed: u64) -> SmallTrace {
    in_a_file(&Trace::new("small", events(seed)).expect("a sound trace"))
}

/// The same program with call sites: twenty stacks of functions with the long names that C++ has.
/// Objects of different sizes come from different ones. A few calls come from nobody knows where.
///
/// # Panics
/// If the file cannot be written.
#[must_use]
pub fn small_trace_with_call_sites(seed: u64) -> SmallTrace {
    let events = events(seed);
    let mut builder = SitesBuilder::default();
    let sites: Vec<_> = (0..20).map(|site| stack(&mut builder, site)).collect();
    let stack = |event: &Event| match event.op() {
        Op::Alloc { size, .. } | Op::Realloc { size, .. } if size % 41 > 0 => {
            sites[(size.ilog2() * 2) as usize % 19 + (size % 2) as usize]
        }
        _ => Stack::UNKNOWN,
    };
    let stacks = events.iter().map(stack).collect();
    let trace = Trace::new("small", events).expect("a sound trace");
    let trace = trace.with_sites(builder.finish(), stacks);
    in_a_file(&trace.expect("stacks of the table"))
}

/// A stack whose innermost call is `operator new`.
fn stack(builder: &mut SitesBuilder, site: u64) -> Stack {
    let key = ["int", "unsigned long", "std::string"][site as usize % 3];
    let name = format!(
        "shop::catalogue::(anonymous namespace)::Index<{key}, std::vector<std::pair<{key}, double>, \
         std::allocator<std::pair<{key}, double> > > >::insert_{site}({key} const&, double)"
    );
    let call = |module, offset, function| Frame {
        module,
        offset,
        function,
    };
    builder.stack(&[
        call(
            "/usr/lib/libstdc++.so.6",
            0x99,
            Some("operator new(unsigned long)"),
        ),
        call("/usr/bin/shop", 0x1000 + site, Some(&name)),
        call("/usr/lib/libshop-core.so.2", 0x77 + site / 4, None),
        call("/usr/bin/shop", 0x10, Some("main")),
    ])
}

fn in_a_file(trace: &Trace) -> SmallTrace {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("small.sft");
    std::fs::write(&path, trace.to_bytes()).expect("a file");
    SmallTrace {
        directory,
        path,
        peak_bytes: trace.header().counts.peak_bytes,
    }
}

impl SmallTrace {
    /// A truncated copy of the file, beside it.
    ///
    /// # Panics
    /// If the file cannot be written.
    #[must_use]
    pub fn damaged(&self) -> PathBuf {
        let path = self.directory.path().join("damaged.sft");
        let bytes = std::fs::read(&self.path).expect("the file");
        std::fs::write(&path, &bytes[..bytes.len() / 2]).expect("a file");
        path
    }
}

fn events(seed: u64) -> Vec<Event> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut live: Vec<u32> = Vec::new();
    let mut next = 0;
    let mut ops = Vec::new();
    for _ in 0..6000 {
        let full = live.len() > 250;
        match random.random_range(0..10) {
            0..5 if !full => {
                ops.push(Op::Alloc {
                    id: next,
                    size: size(&mut random),
                    call: call(&mut random),
                });
                live.push(next);
                next += 1;
            }
            5 if !live.is_empty() => {
                let id = live[random.random_range(0..live.len())];
                ops.push(Op::Realloc {
                    id,
                    size: size(&mut random),
                });
            }
            _ if !live.is_empty() => {
                let id = live.swap_remove(random.random_range(0..live.len()));
                ops.push(Op::Free { id });
            }
            _ => {}
        }
    }
    ops.into_iter().map(|op| Event::new(0, op)).collect()
}

/// A size: mostly small, sometimes zero, occasionally several pages.
fn size(random: &mut ChaCha8Rng) -> u64 {
    match random.random_range(0..100) {
        0..3 => 0,
        3..80 => random.random_range(1..200),
        80..97 => random.random_range(200..4000),
        _ => random.random_range(4000..20_000),
    }
}

fn call(random: &mut ChaCha8Rng) -> Call {
    match random.random_range(0..10) {
        0..7 => Call::Malloc,
        7..9 => Call::Calloc,
        _ => Call::Aligned(Align::new(1 << random.random_range(0..8)).expect("a power of two")),
    }
}
