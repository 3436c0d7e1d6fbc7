use surefit_gc::{Gc, Trace, Tracer};

struct Node<'gc>(Gc<'gc, u32>);

impl Trace for Node<'_> {
    const TRACED: bool = false;
    fn trace(&self, _: &mut Tracer<'_>) {}
}

fn main() {}
