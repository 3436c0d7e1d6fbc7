//! `ShardedHeap` in the image of `firmware/flight`: calls within the certified demand that nothing
//! interrupts.

use crate::annotation::{Called, Fact, Known, LoopBound, NotCalled, Place};

const ALONE: &str = "nothing interrupts a call, and there is one processor";
const ONE_MOVE: &str = "at rest a size-class has one not-full page (κ = 1), and nothing is pinned: \
                        a free moves one object, of at most 256 bytes, in steps of 64";
const ONE_WORD: &str = "a page of 1 KiB has at most 32 page-blocks";
const RESERVE: &str = "the handle buffer has 8: half of it is brought, or given back";
const SERVED: &str = "the certificate has a page and an entry for each call within the demand";
const WHOLE: &str = "the configuration divides no object into pieces";
const IN_PAGES: &str = "the bound is in pages: nothing is parked, and no fraction is computed";
const UNPINNED: &str = "nothing is freed while it is pinned, so nothing is deferred";
const ALIGNED: &str = "page-blocks, and steps of 64 bytes, begin at multiples of eight";
const CLEARED: &str = "an object has at most 1,000 bytes";

const fn at(file: &'static str, text: &'static str) -> Place {
    Place { file, text }
}

const fn in_engine(text: &'static str) -> Place {
    at("shared/machinery/engine.rs", text)
}

const fn in_moves(text: &'static str) -> Place {
    at("shared/machinery/moves.rs", text)
}

/// Of the functions that clear and copy memory.
const fn in_memory(text: &'static str) -> Place {
    at("compiler-builtins/src/mem/impls.rs", text)
}

const fn most(place: Place, most: u32, because: &'static str) -> LoopBound {
    LoopBound {
        place,
        most,
        bytes: 0,
        begins: false,
        because,
    }
}

const CLOCK: &str = "flight/src/board/clock.rs";

const LOOPS: &[LoopBound] = &[
    most(at(CLOCK, "let watch = Stopwatch::start();"), 0, ALONE),
    most(at(CLOCK, "let end = Self::start();"), 0, ALONE),
    most(
        at(
            "shared/machinery/instance.rs",
            "while pages < self.quota() {",
        ),
        0,
        ALONE,
    ),
    most(
        at("surefit-classes/src/geometry/mod.rs", "while low < high {"),
        3,
        "there are six size-classes",
    ),
    most(
        at(
            "surefit-compact/src/page.rs",
            "(0..page.leaves()).for_each(",
        ),
        1,
        ONE_WORD,
    ),
    most(
        at(
            "surefit-compact/src/page.rs",
            "while bits == 0 && leaf > 0 {",
        ),
        1,
        ONE_WORD,
    ),
    most(in_engine("let pooled = pool.entries.pop("), 3, RESERVE),
    most(
        in_engine("while section.spare.count() > keep {"),
        5,
        RESERVE,
    ),
    // Each of four steps is followed by a new section.
    most(
        in_moves("let next = self.next_round(&section, group, &mut rounds);"),
        8,
        ONE_MOVE,
    ),
    most(
        in_moves("Victim::Nobody if tries == 0 => break,"),
        1,
        ONE_MOVE,
    ),
    most(in_moves("if page.id == target {"), 1, ONE_MOVE),
    most(in_moves("if entry.begin_move() {"), 1, ONE_MOVE),
    most(in_moves("if self.entry(index).is_dead() {"), 31, ONE_WORD),
    most(
        in_memory("set_bytes_bytes(s, c, misalignment);"),
        0,
        ALIGNED,
    ),
    most(
        in_memory("while bits < WORD_SIZE * 8 {"),
        1,
        "a word is made of a byte by doubling it twice",
    ),
    most(in_memory("while s_usize < end {"), 250, CLEARED),
    most(in_memory("set_bytes_bytes(s, c, n);"), 15, CLEARED),
    most(
        in_memory("copy_forward_bytes(dest, src, dest_misalignment);"),
        0,
        ALIGNED,
    ),
    most(
        in_memory("copy_forward_aligned_words(dest, src, n_words);"),
        16,
        ONE_MOVE,
    ),
    most(
        in_memory("while dest_usize.wrapping_add(1) < dest_end {"),
        0,
        ALIGNED,
    ),
    most(in_memory("copy_forward_bytes(dest, src, n);"), 0, ALIGNED),
    most(
        at("compiler-builtins/src/arm.rs", "unsafe { *dst = c };"),
        16,
        "counts of at most 64 bytes are cleared so",
    ),
];

const fn never(function: &'static str, from: &'static str, because: &'static str) -> NotCalled {
    NotCalled {
        events: &[],
        function,
        from,
        because,
    }
}

macro_rules! machinery {
    ($name:literal) => {
        concat!("surefit_compact::shared::machinery::", $name)
    };
}

const NOT_CALLED: &[NotCalled] = &[
    never(
        machinery!("objects::Objects::allocate_in_pieces"),
        "",
        WHOLE,
    ),
    never(machinery!("objects::Objects::free_pieces"), "", WHOLE),
    never(
        machinery!("engine::SharedEngine::allocate_after_relief"),
        "",
        SERVED,
    ),
    never(
        machinery!("engine::SharedEngine::take_back_entries"),
        "",
        SERVED,
    ),
    never(machinery!("pool::Store::take_back"), "", SERVED),
    never(machinery!("engine::SharedEngine::give_back"), "", IN_PAGES),
    never("__aeabi_uldivmod", "", IN_PAGES),
    never(
        machinery!("engine::SharedEngine::free_next_deferred"),
        "",
        UNPINNED,
    ),
    never(
        machinery!("engine::SharedEngine::begin_free"),
        machinery!("engine::SharedEngine::drain"),
        UNPINNED,
    ),
    never(machinery!("engine::SharedEngine::defer"), "", UNPINNED),
    never(machinery!("engine::SharedEngine::cancel"), "", ALONE),
];

const CALLED: &[Called] = &[
    Called {
        events: &["free"],
        function: machinery!("engine::SharedEngine::begin"),
        least: 0,
        most: 1,
        because: ONE_MOVE,
    },
    Called {
        events: &["free"],
        function: machinery!("engine::SharedEngine::step"),
        least: 0,
        most: 4,
        because: ONE_MOVE,
    },
];

const FACTS: &[Fact] = &[
    Fact {
        events: &["free"],
        places: &[in_moves("Victim::Cleared => return self.clear_dead(")],
        most: 0,
        because: UNPINNED,
    },
    Fact {
        events: &["free"],
        places: &[in_memory("set_bytes_words(s, c, n_words);")],
        most: 0,
        because: "a free clears whole words, and leaves no byte to this way",
    },
];

/// What is known of all calls.
const ANY: Known = Known {
    heap: "ShardedHeap",
    of: "",
    retries: ALONE,
    loops: LOOPS,
    called: CALLED,
    not_called: NOT_CALLED,
    facts: FACTS,
};

/// The calls, and what is known of each: the closure that the clock measures. What a process and
/// what the handler allocates is one function of the image.
pub const CALLS: [(&str, Known); 2] = [
    (
        "allocation",
        Known {
            of: "memory::interrupted<surefit_flight::memory::Instances>",
            ..ANY
        },
    ),
    (
        "free",
        Known {
            of: "port::Port<surefit_flight::memory::Instances>>::free::",
            ..ANY
        },
    ),
];
