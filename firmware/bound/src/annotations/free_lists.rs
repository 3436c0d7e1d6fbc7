//! `Tlsf` and `SegregatedFit`.

use crate::annotation::{Fact, Known, LoopBound, NotCalled, Place};

const fn two_level(text: &'static str) -> Place {
    Place {
        file: "surefit-freelist/src/two_level.rs",
        text,
    }
}

/// A loop of the last search of `Tlsf` before a refusal.
const fn at_last(text: &'static str, most: u32, because: &'static str) -> LoopBound {
    LoopBound {
        place: two_level(text),
        most,
        bytes: 0,
        begins: false,
        because,
    }
}

/// What a refusal does not reach.
const REFUSED: Fact = Fact {
    events: &["malloc refused"],
    places: &[Place {
        file: "surefit-freelist/src/heap.rs",
        text: "Ok(self.serve(chunk, I::rounded(granules_for(layout.size()))))",
    }],
    most: 0,
    because: "a refusal hands out nothing",
};

/// `Tlsf`.
pub const TLSF: Known = Known {
    heap: "Tlsf",
    of: "surefit_freelist::two_level::TwoLevel>>>",
    retries: "",
    loops: &[at_last(
        "for _ in 0..LOOKED_AT {",
        0,
        "up to 1,000 bytes, each list has one length: the first search has seen its chunks",
    )],
    called: &[],
    not_called: &[NotCalled {
        events: &["malloc"],
        function: "surefit_freelist::heap::Heap::take_unaligned",
        from: "",
        because: "up to 1,000 bytes, each list has one length: what the first search does not find \
                  is refused",
    }],
    facts: &[REFUSED],
};

/// A loop of a walk through the tree of long chunks.
const fn in_tree(text: &'static str, most: u32, because: &'static str) -> LoopBound {
    LoopBound {
        place: Place {
            file: "surefit-freelist/src/trie.rs",
            text,
        },
        most,
        bytes: 0,
        begins: false,
        because,
    }
}

/// Why a refusal does nothing with the tree.
const IN_TREE: &str = "what is in the tree is longer than all requests: a refusal finds it empty";

/// A function that a refusal does not call.
const fn served(function: &'static str) -> NotCalled {
    NotCalled {
        events: &["malloc refused"],
        function,
        from: "",
        because: IN_TREE,
    }
}

/// `SegregatedFit`.
///
/// The image's heap has less than 2¹⁶ granules, so a node of the tree has at most 16 nodes above
/// it; sizes in the tree are at least 2⁸ granules, and requests below 2⁷.
pub const SEGREGATED: Known = Known {
    heap: "SegregatedFit",
    of: "surefit_freelist::segregated::Segregated<",
    retries: "",
    loops: &[
        in_tree(
            "while let Some(node) = next {",
            8,
            "nodes on the request's own path are below 2^(16 - depth) and not below 2^8",
        ),
        in_tree(
            "while let Some(node) = larger {",
            13,
            "the branch at depth d has at most 16 - d levels, and less than 2^(d + 1) chunks, as each \
             has at least 2^(15 - d) granules",
        ),
        in_tree(
            "while let Some(lower) = leaf.and_then(below) {",
            15,
            "a leaf has at most 16 nodes above it, and the walk begins with the second",
        ),
        in_tree(
            "let below = memory.linked(node.branch(bit));",
            2,
            "a node has two branches",
        ),
        in_tree(
            "while let Some(node) = memory.linked(link) {",
            16,
            "a node has at most 16 nodes above it",
        ),
        in_tree(
            "links.iter().fold(0, |any, &link| any | memory.get(link)) == 0",
            3,
            "three links",
        ),
        in_tree(
            "for end in [chunk.next(), chunk.branch(0), chunk.branch(1)] {",
            3,
            "three links",
        ),
    ],
    called: &[],
    not_called: &[
        served("surefit_freelist::trie::find"),
        served(
            "surefit_freelist::segregated::Segregated as surefit_freelist::index::Index::insert",
        ),
    ],
    facts: &[
        REFUSED,
        Fact {
            events: &["malloc refused"],
            places: &[Place {
                file: "surefit-freelist/src/trie.rs",
                text: "if is_alone(memory, root) {",
            }],
            most: 0,
            because: IN_TREE,
        },
        Fact {
            events: &["malloc refused"],
            places: &[Place {
                file: "surefit-freelist/src/segregated.rs",
                text: "return Some(self.pop(memory, list));",
            }],
            most: 0,
            because: "a refusal takes no chunk",
        },
    ],
};
