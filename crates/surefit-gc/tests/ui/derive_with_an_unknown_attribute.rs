use surefit_gc::Trace;

#[derive(Trace)]
struct Field {
    #[trace(ignore)]
    name: u32,
}

#[derive(Trace)]
#[trace(static)]
struct Type {
    name: u32,
}

#[derive(Trace)]
enum Variant {
    #[trace(skip)]
    Name(u32),
}

fn main() {}
