#![allow(unused)]

use core::cell::Cell;
use core::mem::MaybeUninit;
use surefit_gc::{Arena, Full, Gc, Rootable, Trace};

type Slot = Rootable!['gc => Cell<Option<Gc<'gc, u32>>>];

fn arena(region: &mut [MaybeUninit<u8>]) -> Arena<'_, Slot> {
    Arena::new(region, |_| Ok(Cell::new(None))).unwrap()
}

fn main() {
    let mut regions = [[MaybeUninit::uninit(); 4096]; 2];
    let [one, other] = &mut regions;
    let (mut one, mut other) = (arena(one), arena(other));
    one.mutate_root(|_, root| other.mutate_root(|_, theirs| core::mem::swap(root, theirs)));
}
