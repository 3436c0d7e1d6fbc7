use surefit_gc::Trace;

#[derive(Trace)]
union Either {
    number: u32,
    bytes: [u8; 4],
}

fn main() {}
