use core::mem::ManuallyDrop;
use surefit_gc::{Gc, Trace};

#[derive(Trace)]
struct Node<'gc> {
    next: ManuallyDrop<Gc<'gc, u32>>,
}

fn main() {}
