use surefit_gc::Trace;

#[derive(Trace)]
struct Wrapper<T>(T); // `T` may be a `Gc`

impl<T> Drop for Wrapper<T> {
    fn drop(&mut self) {}
}

fn main() {}
