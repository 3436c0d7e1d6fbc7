//! `Tlsf` and `SegregatedFit`.

use crate::annotation::{Known, LoopBound, NotCalled, Place};

/// `Tlsf`.
pub const TLSF: Known = Known {
    heap: "Tlsf",
    of: "surefit_freelist::two_level::TwoLevel>>>",
    loops: &[],
    called: &[],
    not_called: &[NotCalled {
        events: &["malloc"],
        function: "TwoLevel>>::allocate_slowly",
        from: "",
        because: "up to 1,000 bytes, each list has one length: what the first search does not find \
                  is refused",
    }],
    facts: &[],
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
        because,
    }
}

/// `SegregatedFit`.
///
/// The image's heap has less than 2¹⁶ granules, so a node of the tree has at most 16 nodes above it;
/// sizes in the tree are at least 2⁸ granules, and requests below 2⁷.
pub const SEGREGATED: Known = Known {
    heap: "SegregatedFit",
    of: "surefit_freelist::segregated::Segregated<",
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
    not_called: &[],
    facts: &[],
};
