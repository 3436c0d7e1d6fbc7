use core::cell::Cell;
use surefit_gc::{Gc, Trace};

#[derive(Trace)]
#[repr(C, packed)]
struct Packed<'gc> {
    tag: u8,
    next: Cell<Option<Gc<'gc, u32>>>,
}

fn main() {}
