use core::mem::MaybeUninit;
use surefit_gc::{Rootable, StepArena};

fn main() {
    let mut region = [MaybeUninit::uninit(); 4096];
    let mut arena = StepArena::<Rootable!['gc => ()]>::new(&mut region, |_| Ok(())).unwrap();
    let seven = arena.mutate(|mc, ()| mc.alloc(7).unwrap());
    arena.step(1);
    assert_eq!(*seven, 7);
}
