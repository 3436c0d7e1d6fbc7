//! Where the bytes are when a space holds what a program must hold, and nothing else.
#![deny(unsafe_code)]

use std::mem::MaybeUninit;

use anyhow::Result;
use surefit_clients::java;
use surefit_core::{Refused, Usage};
use surefit_freelist::SizeTree;
use surefit_gc::{Collector, FreeList, Settings, Space};
use surefit_os::Reservation;

use super::clients::Held;
use super::spaces::Choice;

/// The region, in multiples of what is held: tables and bits grow with it.
pub(super) const TIMES: usize = 2;

/// The parts of a region that holds all of it; `None` if the space has no room. Free lists are
/// those of a tree: chunks and headers are the same for all of them.
///
/// # Errors
/// The operating system gives no memory.
pub(super) fn holding(held: &Held, choice: Choice) -> Result<Option<Usage>> {
    let mut region = Reservation::new(TIMES * held.bytes as usize)?;
    let usage = match choice.spec()?.space {
        java::Space::CompactFit(config) => {
            let stack = Settings::default().mark_stack;
            Collector::compact_fit(region.memory(), &config, stack).and_then(|gc| fill(gc, held))
        }
        _ => in_free_lists(region.memory(), held),
    };
    Ok(usage.ok())
}

fn in_free_lists(region: &mut [MaybeUninit<u8>], held: &Held) -> Result<Usage, Refused> {
    let gc = Collector::<FreeList<'_, SizeTree>>::new(region, Settings::default())?;
    fill(gc, held)
}

/// Allocates all of it, size by size.
fn fill<S: Space>(mut gc: Collector<'_, S>, held: &Held) -> Result<Usage, Refused> {
    for (&bytes, &count) in &held.sizes {
        for _ in 0..count {
            gc.alloc_as_is(bytes as usize)?;
        }
    }
    Ok(gc.usage())
}

#[cfg(test)]
mod tests {
    use super::super::clients::Held;
    use super::super::spaces::ALL;
    use super::{TIMES, holding};

    #[test]
    fn an_entry_of_compact_fit_costs_more_than_a_header_and_all_bytes_are_somewhere() {
        let held = Held {
            bytes: 24 * 40_000,
            sizes: [(24, 40_000)].into(),
        };
        let of = |name: &str| {
            let choice = ALL.iter().find(|choice| choice.name == name);
            let usage = holding(&held, *choice.expect("a space")).expect("memory");
            usage.expect("room")
        };
        let (lists, moving) = (of("TLSF"), of("CF 4K, k=inf"));
        for usage in [lists, moving] {
            assert!(usage.block_bytes as u64 >= held.bytes);
            assert!(usage.total() <= TIMES * held.bytes as usize);
        }
        let headers = lists.administrative_bytes;
        assert!(
            moving.administrative_bytes > headers,
            "{moving:?} {lists:?}"
        );
    }
}
