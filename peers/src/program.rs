//! The program, after "binary-trees" of the benchmarks game (after H. Boehm's GCBench).
//!
//! ```text
//! a stretch tree of depth D + 1: built, counted, let go
//! a long-lived tree of depth D: built and kept
//! for d = 4, 6, … D:  2^(D - d + 4) trees of depth d: each built, counted, let go
//! the long-lived tree: counted
//! ```
//! A tree of depth d has 2^(d + 1) - 1 nodes of two references; all are made bottom up. Every depth
//! allocates about the same: 2^(D + 5) nodes.

use std::fmt::Write as _;

/// The depth of the smallest trees.
const SHALLOWEST: u32 = 4;

/// Binary trees on some heap.
///
/// An error is one line: the heap is full.
pub trait Trees {
    /// Builds a tree, counts its nodes, and lets go of it.
    ///
    /// # Errors
    /// The heap is full.
    fn build_and_count(&mut self, depth: u32) -> Result<u64, String>;

    /// Builds a tree that stays.
    ///
    /// # Errors
    /// The heap is full.
    fn build_and_keep(&mut self, depth: u32) -> Result<(), String>;

    /// Counts the nodes of the tree that stays.
    fn count_kept(&mut self) -> u64;

    /// The collections so far, if the collector counts them.
    fn collections(&mut self) -> Option<u64> {
        None
    }
}

/// Runs the program; what it prints.
pub(crate) fn run(depth: u32, trees: &mut impl Trees) -> Result<String, String> {
    let mut out = String::new();
    let stretch = trees.build_and_count(depth + 1)?;
    line(&mut out, "stretch tree", depth + 1, stretch);
    trees.build_and_keep(depth)?;
    for shallow in (SHALLOWEST..=depth).step_by(2) {
        let count = 1_u64 << (depth - shallow + SHALLOWEST);
        let mut nodes = 0;
        for _ in 0..count {
            nodes += trees.build_and_count(shallow)?;
        }
        line(&mut out, &format!("{count}\t trees"), shallow, nodes);
    }
    line(&mut out, "long lived tree", depth, trees.count_kept());
    Ok(out)
}

fn line(out: &mut String, what: &str, depth: u32, nodes: u64) {
    // Writing to a string never fails.
    let _ = writeln!(out, "{what} of depth {depth}\t check: {nodes}");
}

#[cfg(test)]
mod tests {
    use super::run;
    use crate::arenas::Arenas;
    use crate::boxes::Boxes;

    #[test]
    fn counts_are_those_of_complete_trees() {
        let printed = run(6, &mut Boxes::default()).expect("memory");
        let expected = "stretch tree of depth 7\t check: 255\n\
                        64\t trees of depth 4\t check: 1984\n\
                        16\t trees of depth 6\t check: 2032\n\
                        long lived tree of depth 6\t check: 127\n";
        assert_eq!(printed, expected);
    }

    #[test]
    fn heaps_print_the_same() {
        let boxes = run(9, &mut Boxes::default());
        assert_eq!(boxes, run(9, &mut Arenas::default()));
    }
}
