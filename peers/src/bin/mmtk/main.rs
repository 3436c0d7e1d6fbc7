//! Binary trees on MMTk's MarkSweep: segregated lists, marks beside the heap, one or more threads
//! that collect.
//!
//! Settings: `heap=BYTES`, fixed; `threads=N` that collect.

mod binding;
mod world;

use std::process::ExitCode;

use mmtk::util::{Address, ObjectReference};
use mmtk::{AllocationSemantics, Mutator, memory_manager};
use surefit_peers::{Settings, Trees};

use binding::{CHILD_BYTES, CHILDREN};
use world::{Peer, ROOTS};

/// Two references, 16 bytes; there is no header, the marks lie elsewhere.
const NODE_BYTES: usize = CHILDREN * CHILD_BYTES;

/// The heap if none is given: what the live trees need, twice.
const USUAL_HEAP_BYTES: usize = 16 << 20;

/// Trees in MMTk's heap, of which a process has one.
struct Mmtk {
    mutator: &'static mut Mutator<Peer>,
    kept: Option<ObjectReference>,
}

impl Mmtk {
    fn new(settings: &mut Settings) -> Result<Self, String> {
        let heap_bytes = settings.bytes("heap")?.unwrap_or(USUAL_HEAP_BYTES);
        let threads = settings.number("threads")?.unwrap_or(1);
        let mutator = world::start(heap_bytes, threads)?;
        Ok(Self {
            mutator,
            kept: None,
        })
    }

    /// A tree; the reference to it is a root, the last one.
    fn build(&mut self, depth: u32) {
        let is_inner = depth > 0;
        if is_inner {
            self.build(depth - 1);
            self.build(depth - 1);
        }
        let node = self.allocate();
        let child = || if is_inner { ROOTS.pop() } else { None };
        let (right, left) = (child(), child());
        for (number, child) in [left, right].into_iter().enumerate() {
            let word = child.map_or(Address::ZERO, ObjectReference::to_raw_address);
            // SAFETY: the node is new, and this word of it is one of its two children.
            unsafe { binding::child_slot(node, number).store(word) };
        }
        ROOTS.push(node);
    }

    fn allocate(&mut self) -> ObjectReference {
        let semantics = AllocationSemantics::Default;
        let start = memory_manager::alloc(self.mutator, NODE_BYTES, CHILD_BYTES, 0, semantics);
        // Only the hook for exhaustion returns without memory, and ours ends the process.
        let node = ObjectReference::from_raw_address(start).expect("memory");
        memory_manager::post_alloc(self.mutator, node, NODE_BYTES, semantics);
        node
    }
}

fn count(node: ObjectReference) -> u64 {
    let [left, right] = binding::children(node);
    1 + left.map_or(0, count) + right.map_or(0, count)
}

impl Trees for Mmtk {
    fn build_and_count(&mut self, depth: u32) -> Result<u64, String> {
        self.build(depth);
        Ok(ROOTS.pop().map_or(0, count))
    }

    fn build_and_keep(&mut self, depth: u32) -> Result<(), String> {
        self.build(depth);
        // The root stays where it is, below all others.
        self.kept = ROOTS.last();
        Ok(())
    }

    fn count_kept(&mut self) -> u64 {
        self.kept.map_or(0, count)
    }

    fn collections(&mut self) -> Option<u64> {
        Some(world::collections())
    }
}

fn main() -> ExitCode {
    surefit_peers::run(Mmtk::new)
}
