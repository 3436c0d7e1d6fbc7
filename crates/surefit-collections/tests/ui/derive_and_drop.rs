use surefit_collections::{ByteString, Release};

#[derive(Release)]
struct Record {
    name: ByteString,
}

impl Drop for Record {
    fn drop(&mut self) {}
}

fn main() {}
