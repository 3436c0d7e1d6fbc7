//! Best fit by an index tree: the free chunks in a balanced tree, ordered by size and then by
//! address.
//!
//! Best fit over a list must look at every free chunk. Over a tree ordered by size, it looks at one
//! path.
//!
//! ```text
//! allocate(n): c = the least key >= (n, 0) of the tree: one path from the root
//!              cut n from its front; the remainder enters the tree
//! free(c):     free neighbours leave the tree; the merged chunk enters it
//!
//! table:       | 2 words of nobody | root |
//! free chunk:  | header | left, lean | right | ... | size |     key = (size in granules, granule)
//! ```
//! The smallest free chunk has two words to spare, and a node needs three things: two children, and
//! which of them is higher. Granules take 30 bits of a word, so the two upper bits of the left link
//! hold the `lean`. There is no link to the parent: a chunk that leaves the tree is found by its
//! key.
//!
//! # Invariants
//! - A1: every link names a free chunk of the region or is 0; the upper bits of right links and of
//!   the root are clear.
//! - A2: from left to right the keys grow.
//! - A3: the heights of the two subtrees of a node differ by at most one, and `lean` says which is
//!   the higher.
//! - A4: the tree holds every free chunk exactly once.
//!
//! # Bounds
//! With `F` free chunks, the tree has at most `1.4405 log2(F + 2) - 0.3277` levels: 42 for the
//! `2^29` chunks of the largest region. Each search, insertion and removal visits one path; a
//! removal continues to the next larger key. `allocate` is one search, one removal and one
//! insertion; `free` is two removals and one insertion. An aligned request takes at most
//! [`LOOKED_AT`] more searches; if these fail, it takes linear time.
//! [`TreeFit::tree_visits`](crate::Heap::tree_visits) counts the visits. The tree takes no space
//! outside free chunks.
//!
//! # Departures
//! - The key itself orders equal sizes by address; there are no lists of equal sizes. So the chosen
//!   chunk depends on which chunks are free, not on the order in which they became free.
//! - A request aligned to more than a granule tries the first chunks that are large enough, in the
//!   order of the tree; then the smallest one that fits wherever it starts. If there is none, it
//!   walks over all chunks of the region. So it is refused if and only if no chunk fits, but its
//!   chunk need not be the smallest that fits.
//!
//! # Drawbacks
//! Every change writes twice as much as a list does. The worst-case fragmentation is that of best
//! fit: the largest request times the live bytes.
//!
//! # Source
//! Adelson-Velsky, Landis (1962); Knuth, The Art of Computer Programming 3, 6.2.3. Wilson,
//! Johnstone, Neely, Boles, Dynamic Storage Allocation: A Survey and Critical Review (1995), 3.7:
//! indexed fits.
#![deny(unsafe_code)]

mod avl;
#[cfg(test)]
mod tests;

use surefit_core::Corruption;

use crate::chunk::Chunk;
use crate::heap::Heap;
use crate::index::{Index, Need};
use crate::memory::Memory;

use avl::{ROOT, ceiling, check_tree, insert, remove};

/// Chunks that an aligned request tries before it searches for one that fits wherever it starts.
const LOOKED_AT: usize = 16;

/// The index of [`TreeFit`](crate::TreeFit): a balanced tree of the free chunks by size and
/// address.
#[derive(Debug, Default)]
pub struct SizeTree {
    /// Nodes that searches, insertions and removals visited.
    visits: u64,
}

impl SizeTree {
    /// The first chunk that fits, in the order of the tree; for an aligned need, only among the
    /// first few.
    fn search(&mut self, memory: &Memory<'_>, need: &Need) -> Option<Chunk> {
        let mut least = (need.granules, 0);
        for _ in 0..LOOKED_AT {
            let chunk = ceiling(memory, least, &mut self.visits)?;
            if memory.fits(need, chunk) {
                return Some(chunk);
            }
            least = (memory.header(chunk).granules(), chunk.granule() + 1);
        }
        ceiling(memory, (need.anywhere(), 0), &mut self.visits)
    }
}

impl Index for SizeTree {
    const IS_WALKED: bool = true;

    fn table_words(_granules: u32) -> u32 {
        ROOT.number() + 1
    }

    fn new(memory: &mut Memory<'_>) -> Self {
        memory.set(ROOT, 0);
        Self::default()
    }

    fn clear(&mut self, memory: &mut Memory<'_>) {
        memory.set(ROOT, 0);
    }

    fn insert(&mut self, memory: &mut Memory<'_>, chunk: Chunk, _granules: u32) {
        insert(memory, chunk, &mut self.visits);
    }

    fn remove(&mut self, memory: &mut Memory<'_>, chunk: Chunk) {
        remove(memory, chunk, &mut self.visits);
    }

    /// Always `None`: only `take_fitting`, which counts its visits, searches.
    #[inline]
    fn take(&mut self, _memory: &mut Memory<'_>, _granules: u32) -> Option<Chunk> {
        None
    }

    fn take_fitting(
        &mut self,
        memory: &mut Memory<'_>,
        need: &Need,
        visits: &mut u64,
    ) -> Option<Chunk> {
        let before = self.visits;
        let found = self.search(memory, need);
        *visits += self.visits - before;
        let chunk = found?;
        self.remove(memory, chunk);
        Some(chunk)
    }

    fn check(&self, memory: &Memory<'_>, free_chunks: usize) -> Result<(), Corruption> {
        check_tree(memory, free_chunks)
    }
}

impl Heap<'_, SizeTree> {
    /// Nodes of the tree that were visited since the heap was made: by searches, which
    /// [`counters`](Heap::counters) also counts, and by insertions and removals.
    #[must_use]
    pub const fn tree_visits(&self) -> u64 {
        self.index.visits
    }
}
