//! Heaps of raw pointers beside the test kit's shadow heap.

use std::mem::MaybeUninit;
use std::ops::Range;

use surefit_core::{RawHeap, Refused};
use surefit_direct::{DirectDemand, DirectHeap, PooledHeap, Standard, Tiny};
use surefit_freelist::{
    BestFit, Bins, Bitmap, Buddy, Deferred, FirstFit, Heap, Immediate, Index, Linear, Never, Next,
    NextHitTable, PowersOfTwo, Scan, Segregated, SingleList, SizeTree, Tlsf, Tree, Worst,
};
use surefit_testkit::{ops_from_bytes, run_script};

use crate::input::Input;
use crate::region::Region;

/// What the heaps with pools are certified for: a few objects of every class that scripts use, and
/// of three lengths of runs.
const DEMAND: [DirectDemand; 8] = [
    DirectDemand::new(8, 9),
    DirectDemand::new(24, 20),
    DirectDemand::new(64, 9),
    DirectDemand {
        bytes: 64,
        align: 64,
        objects: 3,
    },
    DirectDemand::new(128, 7),
    DirectDemand::new(200, 5),
    DirectDemand::new(1000, 4),
    DirectDemand::new(3000, 3),
];

/// Runs an input's operations on a `DirectHeap`, on one with small pages, and on their certified
/// modes.
pub fn direct(data: &[u8]) {
    run(data, 1, |memory, drive| {
        drive(&mut DirectHeap::new(memory)?)
    });
    run(data, 1, |memory, drive| {
        drive(&mut DirectHeap::<Tiny>::with(memory)?)
    });
    run(data, 1, |memory, drive| {
        drive(&mut PooledHeap::<Tiny>::certified(memory, &DEMAND)?)
    });
    run(data, 1, |memory, drive| {
        drive(&mut PooledHeap::<Standard>::certified(memory, &DEMAND)?)
    });
}

/// Free-list systems, each with how many operations lie between two checks.
///
/// A refusal of a heap with deferred coalescing changes its parts, since headers become free bytes;
/// the test kit compares parts only if it checks after every operation.
macro_rules! systems {
    ($($every:literal $index:ty;)*) => {
        &[$((|data| list::<$index>(data, $every)) as fn(&[u8]),)*]
    };
}

const FREE_LISTS: &[fn(&[u8])] = systems! {
    1 SingleList<Worst>;
    1 SingleList<Next>;
    1 PowersOfTwo;
    1 SizeTree;
    1 Bins;
    1 Segregated<Scan, Never, Tree, 16>;
    1 Segregated<Scan, Never, Linear, 64>;
    2 Segregated<Scan, Deferred, Tree, 64>;
    2 Segregated<Scan, Deferred, Linear, 16>;
    1 Segregated<Scan, Immediate, Tree, 64>;
    1 Segregated<Scan, Immediate, Linear, 16>;
    1 Segregated<NextHitTable, Never, Tree, 64>;
    1 Segregated<NextHitTable, Never, Linear, 16>;
    2 Segregated<NextHitTable, Deferred, Tree, 16>;
    2 Segregated<NextHitTable, Deferred, Linear, 300>;
    1 Segregated<NextHitTable, Immediate, Tree, 255>;
    1 Segregated<NextHitTable, Immediate, Linear, 16>;
    1 Segregated<Bitmap, Never, Tree, 100>;
    1 Segregated<Bitmap, Never, Linear, 16>;
    2 Segregated<Bitmap, Deferred, Tree, 16>;
    2 Segregated<Bitmap, Deferred, Linear, 64>;
    1 Segregated<Bitmap, Immediate, Tree, 256>;
    1 Segregated<Bitmap, Immediate, Linear, 16>;
    2 Segregated<NextHitTable, Deferred, Tree, 33, 16>;
    1 Segregated<Bitmap, Immediate, Tree, 128, 16>;
};

/// Runs an input's operations on TLSF, first fit and best fit, and on another free-list system of
/// its choice.
pub fn freelist(data: &[u8]) {
    run(data, 1, |memory, drive| drive(&mut Tlsf::new(memory)?));
    run(data, 1, |memory, drive| drive(&mut FirstFit::new(memory)?));
    run(data, 1, |memory, drive| drive(&mut BestFit::new(memory)?));
    let choice = data.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte));
    FREE_LISTS[usize::from(choice) % FREE_LISTS.len()](data);
}

/// Runs an input's operations on buddy systems with three sizes of the smallest block.
pub fn buddy(data: &[u8]) {
    run(data, 1, |memory, drive| {
        drive(&mut Buddy::<8>::new(memory)?)
    });
    run(data, 1, |memory, drive| {
        drive(&mut Buddy::<16>::new(memory)?)
    });
    run(data, 1, |memory, drive| {
        drive(&mut Buddy::<64>::new(memory)?)
    });
}

/// Runs an input's operations on the free-list system of an index.
fn list<I: Index>(data: &[u8], check_every: usize) {
    run(data, check_every, |memory, drive| {
        let mut heap = Heap::<I>::new(memory)?;
        drive(&mut heap)?;
        heap.coalesce();
        heap.check().unwrap_or_else(|broken| panic!("{broken}"));
        Ok(())
    });
}

/// What is done with a heap once it is made.
type Drive<'d> = &'d dyn Fn(&mut dyn AnyHeap) -> Result<(), Refused>;

/// A heap, whatever its type.
trait AnyHeap {
    fn run(&mut self, region: Range<usize>, data: &[u8], largest: usize, check_every: usize);
}

impl<H: RawHeap> AnyHeap for H {
    fn run(&mut self, region: Range<usize>, data: &[u8], largest: usize, check_every: usize) {
        let ops = ops_from_bytes(data, largest);
        run_script(self, region, &ops, check_every).unwrap_or_else(|fault| panic!("{fault}"));
    }
}

fn run(
    data: &[u8],
    check_every: usize,
    make: impl Fn(&mut [MaybeUninit<u8>], Drive<'_>) -> Result<(), Refused>,
) {
    let mut input = Input::new(data);
    let (bytes, offset) = (input.region_bytes().min(1 << 16), input.below(17));
    let mut region = Region::new(bytes, 16, offset);
    let span = region.span();
    let rest = data.get(3..).unwrap_or_default();
    let drive = |heap: &mut dyn AnyHeap| {
        heap.run(span.clone(), rest, bytes + 1, check_every);
        Ok(())
    };
    // A region that is too small is refused, and that is all.
    let _ = make(region.memory(), &drive);
}
