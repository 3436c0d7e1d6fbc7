use surefit_gc::Trace;

#[derive(Trace)]
struct Later<'gc> {
    run: Box<dyn Fn() -> u32 + 'gc>, // may hold a `Gc`, and nobody could see it
}

fn main() {}
