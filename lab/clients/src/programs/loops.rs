//! The loops of control-flow graphs. The size is the number of functions that are analysed.
//!
//! Functions are generated at random: nested sequences, branches and loops, and sometimes a jump
//! into a loop. Blocks are numbered depth first. From the last block to the first, each target of a
//! backward jump is the header of a loop: the blocks that lead back to it are gathered along
//! predecessors and united with it. A step is a function; a library keeps the last eighth of them.
//!
//! # Source
//! Tarjan, Testing flow graph reducibility; Havlak, Nesting of reducible and irreducible loops.

use std::cell::Cell;
use std::mem::MaybeUninit;

use surefit_freelist::Index;
use surefit_gc::{Arena, Full, Gc, GcArray, Mutation, Rootable, Trace};

use super::between::{Between, Stopped};
use super::numbers::{Chance, Checksum};

type Slot<'gc, T> = Cell<Option<Gc<'gc, T>>>;

/// A block, and what the analysis knows about it.
#[derive(Trace)]
struct Block<'gc> {
    /// Its depth-first number, from 1 on; 0 before it is reached.
    number: Cell<u32>,
    /// The greatest number below it.
    last: Cell<u32>,
    next: Slot<'gc, Edge<'gc>>,
    before: Slot<'gc, Edge<'gc>>,
    /// A step towards the header of the outermost loop around it that was found so far.
    united: Slot<'gc, Block<'gc>>,
    /// The header of the innermost loop around it.
    header: Slot<'gc, Block<'gc>>,
    is_header: Cell<bool>,
    is_irreducible: Cell<bool>,
}

/// A list of blocks.
#[derive(Trace)]
struct Edge<'gc> {
    block: Gc<'gc, Block<'gc>>,
    next: Option<Gc<'gc, Edge<'gc>>>,
}

type Library<'gc> = GcArray<'gc, Slot<'gc, Block<'gc>>>;

/// Functions that are kept: a part of all, and a minimum.
const LIBRARY: (usize, usize) = (8, 16);
/// How deep functions nest.
const DEPTH: u32 = 5;
/// More bytes than a function takes.
const ROOM: usize = 1 << 20;

/// Analyses functions.
pub(super) fn run<I: Index>(
    region: &mut [MaybeUninit<u8>],
    size: u32,
    between: &mut impl Between,
) -> Result<u64, Stopped> {
    let (mut checksum, mut chance) = (Checksum::default(), Chance(1_997));
    let kept = (size as usize / LIBRARY.0).max(LIBRARY.1);
    let mut library = Arena::<Rootable!['gc => Library<'gc>], I>::new(region, |mc| {
        mc.alloc_array(kept, |_| Cell::new(None))
    })?;
    for number in 0..size as usize {
        between.step(&mut library, ROOM)?;
        let sum = library.mutate(|mc, library| {
            let analysis = Analysis { mc };
            let entry = analysis.block()?;
            analysis.function(entry, DEPTH, &mut chance)?;
            library[number % kept].set(Some(entry));
            analysis.loops(entry)
        })?;
        checksum.add(sum);
    }
    Ok(checksum.0)
}

struct Analysis<'a, 'gc> {
    mc: &'a Mutation<'gc>,
}

impl<'gc> Analysis<'_, 'gc> {
    fn block(&self) -> Result<Gc<'gc, Block<'gc>>, Full> {
        self.mc.alloc(Block {
            number: Cell::new(0),
            last: Cell::new(0),
            next: Cell::new(None),
            before: Cell::new(None),
            united: Cell::new(None),
            header: Cell::new(None),
            is_header: Cell::new(false),
            is_irreducible: Cell::new(false),
        })
    }

    fn push(&self, list: &Slot<'gc, Edge<'gc>>, block: Gc<'gc, Block<'gc>>) -> Result<(), Full> {
        let next = list.get();
        list.set(Some(self.mc.alloc(Edge { block, next })?));
        Ok(())
    }

    fn connect(&self, from: Gc<'gc, Block<'gc>>, to: Gc<'gc, Block<'gc>>) -> Result<(), Full> {
        self.push(&from.next, to)?;
        self.push(&to.before, from)
    }

    /// Adds a block after another one.
    fn after(&self, from: Gc<'gc, Block<'gc>>) -> Result<Gc<'gc, Block<'gc>>, Full> {
        let block = self.block()?;
        self.connect(from, block)?;
        Ok(block)
    }

    /// Generates a part of a function that begins after a block. Returns the part's last block.
    fn function(
        &self,
        from: Gc<'gc, Block<'gc>>,
        depth: u32,
        chance: &mut Chance,
    ) -> Result<Gc<'gc, Block<'gc>>, Full> {
        let mut last = from;
        for _ in 0..1 + chance.below(4) {
            let first = self.after(last)?;
            last = match if depth == 0 { 0 } else { chance.below(3) } {
                0 => first,
                1 => {
                    let (one, other) = (self.after(first)?, self.after(first)?);
                    let end = self.after(self.function(one, depth - 1, chance)?)?;
                    self.connect(other, end)?;
                    end
                }
                _ => {
                    let end = self.function(first, depth - 1, chance)?;
                    self.connect(end, first)?;
                    if chance.below(10) == 0 {
                        self.connect(from, end)?;
                    }
                    self.after(end)?
                }
            };
        }
        Ok(last)
    }

    /// Finds all loops. Returns a sum over them.
    fn loops(&self, entry: Gc<'gc, Block<'gc>>) -> Result<u64, Full> {
        let blocks = number(entry);
        for &header in blocks.iter().rev() {
            self.find_loop(header)?;
        }
        let mut sum = Checksum::default();
        for block in blocks {
            let outer = block.header.get().map_or(0, |header| header.number.get());
            let kind =
                u64::from(block.is_header.get()) << 1 | u64::from(block.is_irreducible.get());
            sum.add(u64::from(outer) << 2 | kind);
        }
        Ok(sum.0)
    }

    /// The loop of a header, if the block is a header.
    fn find_loop(&self, header: Gc<'gc, Block<'gc>>) -> Result<(), Full> {
        let (body, work) = (Cell::new(None), Cell::new(None));
        for before in list(&header.before) {
            if is_below(before, header) {
                header.is_header.set(true);
                self.gather(before, header, &body, &work)?;
            }
        }
        while let Some(edge) = work.get() {
            work.set(edge.next);
            for before in list(&edge.block.before).filter(|before| !is_below(*before, edge.block)) {
                match is_below(find(before), header) {
                    true => self.gather(before, header, &body, &work)?,
                    false => header.is_irreducible.set(true),
                }
            }
        }
        for block in list(&body) {
            block.united.set(Some(header));
            block.header.set(Some(header));
        }
        Ok(())
    }

    /// Adds the representative of a block to the body of a loop, unless it is there already.
    fn gather(
        &self,
        block: Gc<'gc, Block<'gc>>,
        header: Gc<'gc, Block<'gc>>,
        body: &Slot<'gc, Edge<'gc>>,
        work: &Slot<'gc, Edge<'gc>>,
    ) -> Result<(), Full> {
        let block = find(block);
        if block.ptr_eq(header) || list(body).any(|other| other.ptr_eq(block)) {
            return Ok(());
        }
        self.push(body, block)?;
        self.push(work, block)
    }
}

fn list<'gc>(list: &Slot<'gc, Edge<'gc>>) -> impl Iterator<Item = Gc<'gc, Block<'gc>>> {
    std::iter::successors(list.get(), |edge| edge.next).map(|edge| edge.block)
}

/// Numbers all blocks depth first. Returns them by number.
fn number<'gc>(entry: Gc<'gc, Block<'gc>>) -> Vec<Gc<'gc, Block<'gc>>> {
    let mut blocks = vec![entry];
    entry.number.set(1);
    let mut path = vec![(entry, entry.next.get())];
    while let Some((block, edge)) = path.pop() {
        let Some(edge) = edge else {
            block.last.set(blocks.len() as u32);
            continue;
        };
        path.push((block, edge.next));
        if edge.block.number.get() == 0 {
            blocks.push(edge.block);
            edge.block.number.set(blocks.len() as u32);
            path.push((edge.block, edge.block.next.get()));
        }
    }
    blocks
}

/// Whether a block was reached from another one, or is the same.
fn is_below(block: Gc<'_, Block<'_>>, other: Gc<'_, Block<'_>>) -> bool {
    (other.number.get()..=other.last.get()).contains(&block.number.get())
}

/// The representative of a block; shortens the path to it.
fn find<'gc>(mut block: Gc<'gc, Block<'gc>>) -> Gc<'gc, Block<'gc>> {
    while let Some(next) = block.united.get() {
        if let Some(far) = next.united.get() {
            block.united.set(Some(far));
        }
        block = next;
    }
    block
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 → 2 → 3 → 4 → 2, 3 → 3, 4 → 5: a loop of 2, 3, 4, and in it one of 3 alone.
    #[test]
    fn a_loop_in_a_loop_is_found() {
        let mut region = vec![MaybeUninit::uninit(); 1 << 16];
        let mut arena = Arena::<Rootable!['gc => ()]>::new(&mut region, |_| Ok(())).expect("room");
        arena.mutate(|mc, ()| {
            let analysis = Analysis { mc };
            let [a, b, c, d, e] = [(); 5].map(|()| analysis.block().expect("room"));
            for (from, to) in [(a, b), (b, c), (c, d), (d, b), (c, c), (d, e)] {
                analysis.connect(from, to).expect("room");
            }
            analysis.loops(a).expect("room");
            let headers =
                [a, b, c, d, e].map(|it| it.header.get().map(|header| header.number.get()));
            assert_eq!(headers, [None, None, Some(2), Some(2), None]);
            assert_eq!(
                [a, b, c, d, e].map(|it| it.is_header.get()),
                [false, true, true, false, false]
            );
            assert!(![a, b, c, d, e].iter().any(|it| it.is_irreducible.get()));
        });
    }

    /// 1 → 2 → 3 → 2, 1 → 3: the loop of 2 and 3 is entered at both.
    #[test]
    fn a_loop_with_two_entries_is_irreducible() {
        let mut region = vec![MaybeUninit::uninit(); 1 << 16];
        let mut arena = Arena::<Rootable!['gc => ()]>::new(&mut region, |_| Ok(())).expect("room");
        arena.mutate(|mc, ()| {
            let analysis = Analysis { mc };
            let [a, b, c] = [(); 3].map(|()| analysis.block().expect("room"));
            for (from, to) in [(a, c), (a, b), (b, c), (c, b)] {
                analysis.connect(from, to).expect("room");
            }
            analysis.loops(a).expect("room");
            assert!([b, c].iter().any(|it| it.is_irreducible.get()));
        });
    }
}
