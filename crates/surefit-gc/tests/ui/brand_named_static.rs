#![allow(unused)]

use core::cell::Cell;
use core::mem::MaybeUninit;
use surefit_gc::{Arena, Gc, Rootable, Trace};

#[derive(Trace)]
struct Root<'gc>(Cell<Option<Gc<'gc, u32>>>)
where
    'gc: 'static;

fn main() {
    let mut region = [MaybeUninit::uninit(); 4096];
    let mut arena = Arena::<Rootable!['gc => Root<'gc>]>::new(&mut region, |_| Ok(Root(Cell::new(None)))).unwrap();
    let escaped = arena.mutate(|mc, _| mc.alloc(7).unwrap());
    arena.collect();
    assert_eq!(*escaped, 7);
}
