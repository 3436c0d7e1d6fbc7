use core::mem::MaybeUninit;
use surefit_compact::{Config, Heap};

static CONFIG: Config = Config::DEFAULT;

fn main() {
    let mut memory = [MaybeUninit::uninit(); 1 << 16];
    let mut heap: Heap = Heap::new(&mut memory, &CONFIG).unwrap();
    let handle = {
        let local = String::from("gone");
        heap.insert(local.as_str()).unwrap()
    };
    heap.get(&handle);
}
