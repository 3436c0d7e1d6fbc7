use surefit_gc::Trace;

#[derive(Trace)]
struct Node<T> {
    #[trace(skip)]
    value: T, // `T` may be a `Gc`
}

fn main() {}
