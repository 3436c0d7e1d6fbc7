use surefit_collections::Release;

#[derive(Release)]
struct Field {
    #[release(forget)]
    number: u32,
}

#[derive(Release)]
#[release(skip)]
struct Type {
    number: u32,
}

#[derive(Release)]
enum Variants {
    #[release(skip)]
    One(u32),
}

fn main() {}
