use core::cell::RefMut;
use surefit_gc::Trace;

#[derive(Trace)]
struct Node<'gc> {
    guard: RefMut<'gc, u32>, // would be used while the collector reads the cell
}

fn main() {}
