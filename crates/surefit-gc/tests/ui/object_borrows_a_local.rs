#![allow(unused)]

use core::cell::Cell;
use core::mem::MaybeUninit;
use surefit_gc::{Arena, Full, Gc, Rootable, Trace};

type Slot = Rootable!['gc => Cell<Option<Gc<'gc, u32>>>];

fn arena(region: &mut [MaybeUninit<u8>]) -> Arena<'_, Slot> {
    Arena::new(region, |_| Ok(Cell::new(None))).unwrap()
}

fn main() {
    let mut region = [MaybeUninit::uninit(); 4096];
    let mut arena = arena(&mut region);
    let local = Cell::new(7);
    arena.mutate(|mc, _| mc.alloc(&local).map(drop)).unwrap();
}
