//! Heaps of raw pointers beside the test kit's shadow heap.

use std::mem::MaybeUninit;
use std::ops::Range;

use surefit_compact::direct::DirectHeap;
use surefit_core::{RawHeap, Refused};
use surefit_freelist::{BestFit, FirstFit, Tlsf};
use surefit_testkit::{ops_from_bytes, run_script};

use crate::input::Input;
use crate::region::Region;

/// Runs an input's operations on a `DirectHeap`.
pub fn direct(data: &[u8]) {
    run(data, |memory, drive| drive(&mut DirectHeap::new(memory)?));
}

/// Runs an input's operations on each free-list system.
pub fn freelist(data: &[u8]) {
    run(data, |memory, drive| drive(&mut Tlsf::new(memory)?));
    run(data, |memory, drive| drive(&mut FirstFit::new(memory)?));
    run(data, |memory, drive| drive(&mut BestFit::new(memory)?));
}

/// What is done with a heap once it is made.
type Drive<'d> = &'d dyn Fn(&mut dyn AnyHeap) -> Result<(), Refused>;

/// A heap, whatever its type.
trait AnyHeap {
    fn run(&mut self, region: Range<usize>, data: &[u8], largest: usize);
}

impl<H: RawHeap> AnyHeap for H {
    fn run(&mut self, region: Range<usize>, data: &[u8], largest: usize) {
        let ops = ops_from_bytes(data, largest);
        run_script(self, region, &ops, 1).unwrap_or_else(|fault| panic!("{fault}"));
    }
}

fn run(data: &[u8], make: impl Fn(&mut [MaybeUninit<u8>], Drive<'_>) -> Result<(), Refused>) {
    let mut input = Input::new(data);
    let (bytes, offset) = (input.region_bytes().min(1 << 16), input.below(17));
    let mut region = Region::new(bytes, 16, offset);
    let span = region.span();
    let rest = data.get(3..).unwrap_or_default();
    let drive = |heap: &mut dyn AnyHeap| {
        heap.run(span.clone(), rest, bytes + 1);
        Ok(())
    };
    // A region that is too small is refused, and that is all.
    let _ = make(region.memory(), &drive);
}
