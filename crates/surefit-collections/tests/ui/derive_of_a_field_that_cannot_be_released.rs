use surefit_collections::{ByteString, Release};
use surefit_compact::BoxedHeap;

struct Owner(ByteString);

#[derive(Release)]
struct Record {
    owner: Owner,
}

fn release(record: Record, heap: &mut BoxedHeap) {
    record.release(heap);
}

fn main() {}
