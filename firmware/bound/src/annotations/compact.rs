//! `Heap` and `KeyHeap`.

use crate::annotation::{Called, Fact, Known, LoopBound, NotCalled, Place};

/// The compiler's library: its functions that copy.
const COPY: &str = "compiler-builtins/src/mem/impls.rs";

/// A loop of the function that copies a moved page-block.
const fn copy(text: &'static str, most: u32, bytes: u32, because: &'static str) -> LoopBound {
    LoopBound {
        place: Place { file: COPY, text },
        most,
        bytes,
        begins: false,
        because,
    }
}

/// The loops of allocations and frees.
const LOOPS: &[LoopBound] = &[
    LoopBound {
        place: Place {
            file: "surefit-compact/src/page.rs",
            text: "(0..u32::from(page.layout.leaves)).for_each(",
        },
        most: 2,
        bytes: 0,
        begins: false,
        because: "a page of 1 KiB has at most 128 page-blocks, so two words of bits",
    },
    LoopBound {
        place: Place {
            file: "surefit-compact/src/page.rs",
            text: "while self.leaf(page, leaf).get() == 0 {",
        },
        most: 1,
        bytes: 0,
        begins: false,
        because: "a page of 1 KiB has at most 128 page-blocks, so two words of bits",
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
    copy(
        "copy_forward_bytes(dest, src, dest_misalignment);",
        0,
        1,
        "page-blocks begin at multiples of 8 bytes",
    ),
    copy(
        "copy_forward_aligned_words(dest, src, n_words);",
        255,
        4,
        "a page-block has at most 1 KiB",
    ),
    copy(
        "copy_forward_misaligned_words(dest, src, n_words);",
        0,
        4,
        "page-blocks begin at multiples of 8 bytes",
    ),
    copy(
        "copy_forward_bytes(dest, src, n);",
        7,
        1,
        "page-blocks have a multiple of 8 bytes: only those of 8 are copied by bytes",
    ),
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

/// The function copies words even from odd addresses.
const MISALIGNED: Fact = Fact {
    events: &["free F2", "free F3"],
    places: &[Place {
        file: COPY,
        text: "copy_forward_misaligned_words(dest, src, n_words);",
    }],
    most: 0,
    because: "page-blocks begin at multiples of 8 bytes",
};

/// How often functions are called.
const CALLED: &[Called] = &[
    Called {
        events: &["free F1/F4", "free F5", "free F2", "free F3"],
        function: "compiler_builtins::mem::memcpy",
        least: 0,
        most: 1,
        because: "a free moves at most one page-block",
    },
    Called {
        events: &["alloc refused"],
        function: "surefit_compact::engine::Engine::refusal",
        least: 1,
        most: 1,
        because: "it says why the heap refuses",
    },
];

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
    unless("__aeabi_memcpy", &["free F1/F4", "free F5"], "no move"),
    unless(
        "surefit_compact::engine::Engine::release",
        &["free F1/F4", "free F2"],
        "no page is released",
    ),
    NotCalled {
        events: &["alloc M2/M3", "alloc M1", "alloc refused"],
        function: "surefit_compact::engine::Engine::allocate_slowly",
        from: "surefit_compact::engine::Engine::allocate_in_page",
        because: "only the slow way calls it, after it has made what was missing",
    },
    unless(
        "surefit_compact::engine::Engine::allocate_in_page",
        &["alloc refused"],
        "the slow way makes nothing",
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
    loops: LOOPS,
    called: CALLED,
    not_called: NOT_CALLED,
    facts: &[MISALIGNED],
};

/// `KeyHeap`.
pub const KEY_HEAP: Known = Known {
    heap: "KeyHeap",
    of: "Stage<surefit_compact::key::KeyHeap<",
    loops: LOOPS,
    called: CALLED,
    not_called: NOT_CALLED,
    facts: &[MISALIGNED],
};

#[cfg(test)]
mod tests {
    use surefit::compact::Config;

    /// What the reasons say of `Config::TINY`.
    #[test]
    fn page_blocks_are_as_the_reasons_say() {
        let config = Config::TINY;
        let geometry = config.geometry();
        for class in geometry.classes() {
            let layout = geometry.layout(class);
            assert_eq!(layout.block_bytes % 8, 0);
            assert!(layout.block_bytes <= 1024 && layout.leaves <= 2 && layout.blocks <= 128);
        }
        assert_eq!(geometry.page_bytes(), 1024);
        // The objects of the image have one page-block, of one look-up.
        assert!(geometry.class_for(256, 8).is_some() && geometry.granule() == 8);
    }
}
