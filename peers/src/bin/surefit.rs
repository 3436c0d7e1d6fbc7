//! Binary trees on surefit's collector: a tree is built in one mutation, and room for it is made
//! before.
//!
//! Settings: `heap=BYTES`, the region, fixed; the tables of the collector are in it.

use std::cell::Cell;
use std::mem::MaybeUninit;
use std::process::ExitCode;

use surefit_gc::{Arena, Full, Gc, Mutation, Rootable, Trace, Tracer};
use surefit_peers::{Settings, Trees};

/// The heap if none is given.
const USUAL_HEAP_BYTES: usize = 8 << 20;

/// Two references, 16 bytes.
struct Node<'gc> {
    left: Tree<'gc>,
    right: Tree<'gc>,
}

type Tree<'gc> = Option<Gc<'gc, Node<'gc>>>;

// SAFETY: T1 both references are traced. T2 a node has no `Drop`. T3 nothing is changed.
unsafe impl Trace for Node<'_> {
    const TRACED: bool = true;

    fn trace(&self, tracer: &mut Tracer<'_>) {
        self.left.trace(tracer);
        self.right.trace(tracer);
    }
}

/// Trees in one arena.
struct Surefit(Arena<'static, Rootable!['gc => Cell<Tree<'gc>>]>);

impl Surefit {
    fn new(settings: &mut Settings) -> Result<Self, String> {
        let heap_bytes = settings.bytes("heap")?.unwrap_or(USUAL_HEAP_BYTES);
        let region: &'static mut [MaybeUninit<u8>] = Box::leak(Box::new_uninit_slice(heap_bytes));
        let arena = Arena::new(region, |_| Ok(Cell::new(None)));
        arena.map(Self).map_err(|refused| refused.to_string())
    }

    /// Makes room for a tree.
    fn ensure(&mut self, depth: u32) -> Result<(), String> {
        let nodes = (2_usize << depth) - 1;
        let done = self.0.ensure(nodes * Gc::<Node<'_>>::BYTES);
        done.map_err(full)
    }
}

impl Trees for Surefit {
    fn build_and_count(&mut self, depth: u32) -> Result<u64, String> {
        self.ensure(depth)?;
        let nodes = self
            .0
            .mutate(|mutation, _| build(mutation, depth).map(count));
        nodes.map_err(full)
    }

    fn build_and_keep(&mut self, depth: u32) -> Result<(), String> {
        self.ensure(depth)?;
        let kept = self.0.mutate(|mutation, root| {
            root.set(Some(build(mutation, depth)?));
            Ok(())
        });
        kept.map_err(full)
    }

    fn count_kept(&mut self) -> u64 {
        self.0.mutate(|_, root| root.get().map_or(0, count))
    }

    fn collections(&mut self) -> Option<u64> {
        Some(self.0.totals().collections)
    }
}

fn full(_: Full) -> String {
    "the heap is full: give heap=BYTES more".to_owned()
}

fn build<'gc>(mutation: &Mutation<'gc>, depth: u32) -> Result<Gc<'gc, Node<'gc>>, Full> {
    let (left, right) = match depth {
        0 => (None, None),
        _ => (
            Some(build(mutation, depth - 1)?),
            Some(build(mutation, depth - 1)?),
        ),
    };
    mutation.alloc(Node { left, right })
}

fn count(node: Gc<'_, Node<'_>>) -> u64 {
    1 + node.left.map_or(0, count) + node.right.map_or(0, count)
}

fn main() -> ExitCode {
    surefit_peers::run(Surefit::new)
}
