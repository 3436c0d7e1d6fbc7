//! `DirectHeap` and `PooledHeap`.

use crate::annotation::{Known, LoopBound, NotCalled, Place};

/// An allocation that finds no open page opens one, and begins again.
const OPEN: LoopBound = LoopBound {
    place: Place {
        file: "surefit-direct/src/one_owner/heap.rs",
        text: "let page = self.space.take_page(&mut self.memory, class);",
    },
    most: 0,
    bytes: 0,
    begins: true,
    because: "the page that was opened has a free page-block, so no second one is opened",
};

/// A refusal changes nothing.
const CARVED: NotCalled = NotCalled {
    events: &["malloc refused"],
    function: "surefit_direct::one_owner::runs::FreeRuns::carve",
    from: "",
    because: "only a run that is served is carved",
};

/// `PooledHeap<Tiny>`.
pub const POOLED_TINY: Known = Known {
    heap: "PooledHeap<Tiny>",
    of: "one_owner::pools::Pools<",
    retries: "",
    loops: &[
        OPEN,
        LoopBound {
            place: Place {
                file: "surefit-direct/src/one_owner/pools.rs",
                text: "while low < high {",
            },
            most: 2,
            bytes: 0,
            begins: false,
            because: "a binary search among the three lengths of runs of the image's demand",
        },
    ],
    called: &[],
    not_called: &[NotCalled {
        events: &["malloc refused"],
        function: "surefit_direct::one_owner::tags::set_tail",
        from: "",
        because: "only a run that is served has a tail",
    }],
    facts: &[],
};

/// `DirectHeap`.
pub const DIRECT: Known = Known {
    heap: "DirectHeap",
    of: "Raw<surefit_direct::one_owner::heap::DirectHeap>>>",
    retries: "",
    loops: &[OPEN],
    called: &[],
    not_called: &[
        CARVED,
        NotCalled {
            events: &[],
            function: "surefit_direct::one_owner::heap::DirectHeap::allocate_run",
            from: "",
            because: "an object of at most 1,000 bytes has a size-class",
        },
    ],
    facts: &[],
};

/// `DirectHeap<Tiny>`.
pub const DIRECT_TINY: Known = Known {
    heap: "DirectHeap<Tiny>",
    of: "DirectHeap<surefit_direct::one_owner::partition::Partition<512, 64, 4>>>>",
    retries: "",
    loops: &[OPEN],
    called: &[],
    not_called: &[CARVED],
    facts: &[],
};
