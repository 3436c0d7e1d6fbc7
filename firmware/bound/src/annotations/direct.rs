//! `DirectHeap` and `PooledHeap`.

use crate::annotation::{Known, LoopBound, NotCalled, Place};

/// An allocation that finds no open page opens one, and begins again.
const OPEN: LoopBound = LoopBound {
    place: Place {
        file: "surefit-compact/src/direct/heap.rs",
        text: "let page = self.space.take_page(&mut self.memory, class);",
    },
    most: 0,
    bytes: 0,
    because: "the page that was opened has a free page-block, so no second one is opened",
};

/// `PooledHeap<Tiny>`.
pub const POOLED_TINY: Known = Known {
    heap: "PooledHeap<Tiny>",
    of: "direct::pools::Pools<",
    loops: &[
        OPEN,
        LoopBound {
            place: Place {
                file: "surefit-compact/src/direct/pools.rs",
                text: "while low < high {",
            },
            most: 2,
            bytes: 0,
            because: "a binary search among the three lengths of runs of the image's demand",
        },
    ],
    called: &[],
    not_called: &[NotCalled {
        events: &["malloc refused"],
        function: "::set_tail::<surefit_compact::direct::partition::Partition<512, 64, 4>>",
        from: "",
        because: "only a run that is served has a tail",
    }],
    facts: &[],
};

/// `DirectHeap`.
pub const DIRECT: Known = Known {
    heap: "DirectHeap",
    of: "Raw<surefit_compact::direct::heap::DirectHeap>>>",
    loops: &[OPEN],
    called: &[],
    not_called: &[],
    facts: &[],
};

/// `DirectHeap<Tiny>`.
pub const DIRECT_TINY: Known = Known {
    heap: "DirectHeap<Tiny>",
    of: "DirectHeap<surefit_compact::direct::partition::Partition<512, 64, 4>>>>",
    loops: &[OPEN],
    called: &[],
    not_called: &[],
    facts: &[],
};
