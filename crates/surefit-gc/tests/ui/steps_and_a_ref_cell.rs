use core::cell::RefCell;
use core::mem::MaybeUninit;
use surefit_gc::{Rootable, StepArena};

fn main() {
    let mut region = [MaybeUninit::uninit(); 4096];
    let mut arena = StepArena::<Rootable!['gc => ()]>::new(&mut region, |_| Ok(())).unwrap();
    arena.mutate(|mc, ()| {
        let seven = mc.alloc(7).unwrap();
        mc.alloc(RefCell::new(vec![seven])).unwrap();
    });
}
