//! Binary trees: builds, counts and drops complete trees of nodes with two references, while one
//! long-lived tree stays.
//!
//! `binary_trees DEPTH HEAP_BYTES` prints how many nodes each tree has. Its output does not depend
//! on the heap. Collectors are compared with this program.

use std::cell::Cell;
use std::error::Error;

use surefit_gc::{Arena, Full, Gc, Mutation, Rootable, Trace};

/// A node: 16 bytes, 24 with header and type.
#[derive(Trace)]
struct Node<'gc> {
    left: Tree<'gc>,
    right: Tree<'gc>,
}

type Tree<'gc> = Option<Gc<'gc, Node<'gc>>>;
type Forest<'m> = Arena<'m, Rootable!['gc => Cell<Tree<'gc>>]>;

/// Builds a complete tree of a depth.
fn build<'gc>(mc: &Mutation<'gc>, depth: u32) -> Result<Gc<'gc, Node<'gc>>, Full> {
    let (left, right) = match depth {
        0 => (None, None),
        _ => (Some(build(mc, depth - 1)?), Some(build(mc, depth - 1)?)),
    };
    mc.alloc(Node { left, right })
}

/// Counts the nodes of a tree.
fn count(node: Gc<'_, Node<'_>>) -> u64 {
    let of = |tree: Tree<'_>| tree.map_or(0, count);
    1 + of(node.left) + of(node.right)
}

/// The bytes of a complete tree of a depth.
fn bytes(depth: u32) -> usize {
    ((2 << depth) - 1) * Gc::<Node<'_>>::BYTES
}

/// Builds a tree in an arena that has room for it, and counts its nodes. Nothing keeps the tree.
fn garbage(forest: &mut Forest<'_>, depth: u32) -> Result<u64, Full> {
    forest.ensure(bytes(depth))?;
    forest.mutate(|mc, _| Ok(count(build(mc, depth)?)))
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut argument = |usual: usize| arguments.next().map_or(Ok(usual), |text| text.parse());
    let depth = u32::try_from(argument(16)?)?;
    let heap_bytes = argument(8 << 20)?;

    let mut region = Box::<[u8]>::new_uninit_slice(heap_bytes);
    let mut forest = Forest::new(&mut region, |_| Ok(Cell::new(None)))?;
    println!(
        "stretch tree of depth {}: {}",
        depth + 1,
        garbage(&mut forest, depth + 1)?
    );

    forest.ensure(bytes(depth))?;
    forest.mutate(|mc, root| build(mc, depth).map(|tree| root.set(Some(tree))))?;
    for short in (4..=depth).step_by(2) {
        let trees = 1_u64 << (depth - short + 4);
        let mut nodes = 0;
        for _ in 0..trees {
            nodes += garbage(&mut forest, short)?;
        }
        println!("{trees} trees of depth {short}: {nodes}");
    }
    let nodes = forest.mutate(|_, root| root.get().map_or(0, count));
    println!("long-lived tree of depth {depth}: {nodes}");
    Ok(())
}
