use core::mem::MaybeUninit;
use surefit_freelist::{Bitmap, Immediate, Segregated, Tree};
use surefit_gc::{Collector, FreeList, Incremental, Object, Settings};

type Lists<'m> = FreeList<'m, Segregated<Bitmap, Immediate, Tree, 256>>;

fn main() {
    let mut region = [MaybeUninit::uninit(); 4096];
    let gc = Collector::<Lists>::new(&mut region, Settings::default()).unwrap();
    let mut gc = Incremental::over(gc);
    let cell = gc.alloc_as_is(8).unwrap();
    gc.store(cell, 0, Object::number(cell) << 1);
}
