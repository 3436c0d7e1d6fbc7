use core::cell::Cell;
use surefit_gc::Trace;

#[derive(Trace)]
struct Node<'gc> {
    value: Cell<&'gc u32>,
}

fn main() {}
