use surefit_gc::{Gc, Trace};

#[derive(Trace)]
#[trace(skip)]
struct Node<'gc>(Option<Gc<'gc, u32>>);

fn main() {}
