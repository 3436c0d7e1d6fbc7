use core::cell::Cell;
use core::mem::MaybeUninit;
use surefit_gc::{Arena, Gc, Rootable};

type Root = Rootable!['gc => Cell<Option<Gc<'static, Option<Gc<'gc, u32>>>>>];

fn main() {
    let mut region = [MaybeUninit::uninit(); 4096];
    let mut arena = Arena::<Root>::new(&mut region, |_| Ok(Default::default())).unwrap();
    let escaped: Gc<'static, u32> = arena.mutate(|mc, _| mc.alloc(7).unwrap());
    arena.collect();
    assert_eq!(*escaped, 7);
}
