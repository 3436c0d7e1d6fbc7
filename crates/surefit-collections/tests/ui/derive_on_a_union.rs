use surefit_collections::Release;

#[derive(Release)]
union Either {
    number: u32,
    bytes: [u8; 4],
}

fn main() {}
