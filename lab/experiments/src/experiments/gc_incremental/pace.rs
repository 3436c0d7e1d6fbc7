//! How fast the collector in steps works, from what it did when it never began in time.
//!
//! ```text
//! occupied   M ──────────── M + A ──────────── M + 2A
//!            live at most   a cycle begins     it has ended
//! ```
#![deny(unsafe_code)]

use surefit_vm::{Collecting, OFFERED, Watched};

/// In steps, but no cycle begins before a request finds no room: this tells what lives and what a
/// cycle works.
pub(super) const LATE: Collecting = Collecting::InSteps {
    trigger: u64::MAX,
    units: 0,
};

/// The pace in a heap: M is the most that the smallest heap ever held, A half of what this one held
/// above it, or a sixteenth of all; a cycle works at most as much as any did at once, and a quarter
/// more.
pub(super) fn in_steps(smallest: &Watched, heap: &Watched) -> Collecting {
    let (live, room) = (smallest.most_occupied, heap.most_occupied);
    let half = (room.saturating_sub(live) / 2).max(room / 16).max(1);
    let work = smallest.largest_cycle.max(heap.largest_cycle);
    Collecting::InSteps {
        trigger: room.saturating_sub(half).min(live + half),
        units: ((work + work / 4) * OFFERED).div_ceil(half),
    }
}

/// The young generation may have a quarter of what the heap has above the live bytes.
pub(super) const fn two_generations(smallest: &Watched, heap: &Watched) -> Collecting {
    let above = heap.most_occupied.saturating_sub(smallest.most_occupied);
    Collecting::TwoGenerations {
        nursery: 0,
        young_bytes: above / 4,
    }
}

#[cfg(test)]
mod tests {
    use super::{Collecting, Watched, in_steps, two_generations};

    fn managed(most_occupied: u64, largest_cycle: u64) -> Watched {
        Watched {
            most_occupied,
            largest_cycle,
            ..Watched::default()
        }
    }

    #[test]
    fn a_cycle_ends_before_half_of_the_room_is_used() {
        let (smallest, heap) = (managed(100_000, 800), managed(181_920, 700));
        let Collecting::InSteps { trigger, units } = in_steps(&smallest, &heap) else {
            panic!("in steps");
        };
        assert_eq!((trigger, units), (140_960, 100));
        assert_eq!(
            two_generations(&smallest, &heap),
            Collecting::TwoGenerations {
                nursery: 0,
                young_bytes: 20_480
            }
        );
    }

    #[test]
    fn where_there_is_no_room_a_cycle_begins_earlier() {
        let full = managed(160_000, 800);
        let Collecting::InSteps { trigger, .. } = in_steps(&full, &full) else {
            panic!("in steps");
        };
        assert_eq!(trigger, 150_000);
    }
}
