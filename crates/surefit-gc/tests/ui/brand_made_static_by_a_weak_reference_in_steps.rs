use core::mem::MaybeUninit;
use surefit_gc::{Gc, Rootable, StepArena, StepWeak};

type Root = Rootable!['gc => Option<StepWeak<'static, Gc<'gc, u32>>>];

fn main() {
    let mut region = [MaybeUninit::uninit(); 4096];
    let mut arena = StepArena::<Root>::new(&mut region, |_| Ok(None)).unwrap();
    let escaped: Gc<'static, u32> = arena.mutate(|mc, _| mc.alloc(7).unwrap());
    arena.collect();
    assert_eq!(*escaped, 7);
}
