use surefit_gc::{Gc, Trace};

#[derive(Trace)]
struct Node<'gc> {
    #[trace(skip)]
    next: Option<Gc<'gc, u32>>,
}

fn main() {}
