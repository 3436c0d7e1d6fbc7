use surefit_compact::Heap;

fn assert_sync<T: Sync>() {}

fn main() {
    assert_sync::<Heap>();
}
