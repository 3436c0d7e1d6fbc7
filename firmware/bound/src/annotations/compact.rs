//! `Heap` and `KeyHeap`.

use crate::annotation::{Called, Fact, Known, LoopBound, NotCalled, Place};

const fn in_engine(text: &'static str) -> Place {
    Place {
        file: "surefit-compact/src/engine.rs",
        text,
    }
}

/// The loops of allocations and frees.
const LOOPS: &[LoopBound] = &[
    LoopBound {
        place: Place {
            file: "surefit-compact/src/page.rs",
            text: "(0..page.leaves()).for_each(",
        },
        most: 4,
        bytes: 0,
        begins: false,
        because: "a page of 1 KiB has at most 128 page-blocks, so four words of bits",
    },
    LoopBound {
        place: Place {
            file: "surefit-compact/src/page.rs",
            text: "while self.leaf(page, leaf).get() == 0 {",
        },
        most: 3,
        bytes: 0,
        begins: false,
        because: "a page of 1 KiB has at most 128 page-blocks, so four words of bits",
    },
    LoopBound {
        place: Place {
            file: "surefit-compact/src/address.rs",
            text: "for entry in (first..behind).rev() {",
        },
        most: 8,
        bytes: 0,
        begins: false,
        because: "the address table makes at most ENTRIES_AT_ONCE entries",
    },
    LoopBound {
        place: Place {
            file: "surefit-compact/src/memory.rs",
            text: "for done in (0..bytes).step_by(8) {",
        },
        most: 32,
        bytes: 8,
        begins: false,
        because: "the objects of the image have page-blocks of at most 256 bytes",
    },
];

/// A function for another bound, or for parked pairs.
const fn in_holes(function: &'static str) -> NotCalled {
    NotCalled {
        events: &[],
        function,
        from: "",
        because: "the configuration bounds the not-full pages, so nothing is parked",
    }
}

/// A function that is not called in some events, because of what they are.
const fn unless(
    function: &'static str,
    events: &'static [&'static str],
    because: &'static str,
) -> NotCalled {
    NotCalled {
        events,
        function,
        from: "",
        because,
    }
}

/// What frees without a move, and refusals, do not reach.
const FACTS: &[Fact] = &[
    Fact {
        events: &["free F1/F4", "free F5"],
        places: &[in_engine("return self.refill(state, source, freed);")],
        most: 0,
        because: "no move",
    },
    Fact {
        events: &["alloc refused"],
        places: &[
            in_engine("self.addresses.make(&self.pages.memory);"),
            in_engine("let page = self.pages.open(self.take_page(), class);"),
            in_engine("self.detach_if(decision == Malloc::Fill, state, page);"),
        ],
        most: 0,
        because: "the slow way makes nothing",
    },
];

/// How often functions are called.
const CALLED: &[Called] = &[Called {
    events: &["alloc refused"],
    function: "surefit_compact::engine::Engine::refusal",
    least: 1,
    most: 1,
    because: "it says why the heap refuses",
}];

/// A function for objects of several page-blocks.
const fn of_many(function: &'static str, from: &'static str) -> NotCalled {
    NotCalled {
        events: &[],
        function,
        from,
        because: "the objects of the image have one page-block",
    }
}

/// Functions that are not called.
const NOT_CALLED: &[NotCalled] = &[
    in_holes("surefit_compact::engine::Engine::settle"),
    in_holes("surefit_compact::engine::Engine::refill_at_bound"),
    in_holes("surefit_compact::engine::Engine::restore_bound"),
    in_holes("surefit_compact::engine::Engine::unpark"),
    unless(
        "surefit_compact::engine::Engine::release",
        &["free F1/F4", "free F2"],
        "no page is released",
    ),
    unless(
        "surefit_compact::engine::Engine::refusal",
        &["alloc M2/M3", "alloc M1"],
        "the heap serves",
    ),
    unless(
        "surefit_compact::heap::Heap::alloc_otherwise",
        &[],
        "an object of at most 1,024 bytes and alignment 8 has its size-class at once",
    ),
    of_many("surefit_compact::heap::Heap::free_in_pieces", ""),
    of_many("surefit_compact::heap::Heap::chunk_in_pieces", ""),
];

/// `Heap`.
pub const HEAP: Known = Known {
    heap: "Heap",
    of: "Stage<surefit_compact::heap::Heap<",
    retries: "",
    loops: LOOPS,
    called: CALLED,
    not_called: NOT_CALLED,
    facts: FACTS,
};

/// `KeyHeap`.
pub const KEY_HEAP: Known = Known {
    heap: "KeyHeap",
    of: "Stage<surefit_compact::key::KeyHeap<",
    retries: "",
    loops: LOOPS,
    called: CALLED,
    not_called: NOT_CALLED,
    facts: FACTS,
};

/// `Heap` with `Config::MICRO`: what is said of `Config::TINY` is true of it, too.
pub const HEAP_MICRO: Known = Known {
    heap: "Heap (MICRO)",
    ..HEAP
};

/// `KeyHeap` with `Config::MICRO`.
pub const KEY_HEAP_MICRO: Known = Known {
    heap: "KeyHeap (MICRO)",
    ..KEY_HEAP
};

#[cfg(test)]
mod tests {
    use surefit::compact::Config;

    /// What the reasons say of both configurations.
    #[test]
    fn page_blocks_are_as_the_reasons_say() {
        for config in [Config::TINY, Config::MICRO] {
            let geometry = config.geometry();
            for class in geometry.classes() {
                let layout = geometry.layout(class);
                assert_eq!(layout.block_bytes % 8, 0);
                assert!(layout.block_bytes <= 1024 && layout.leaves <= 2 && layout.blocks <= 128);
            }
            assert_eq!(geometry.page_bytes(), 1024);
            // The objects of the image have one page-block, of one look-up.
            let longest = geometry.class_at_once(256, 8).expect("one look-up");
            assert!(geometry.layout(longest).block_bytes == 256 && geometry.granule() == 8);
        }
    }
}
