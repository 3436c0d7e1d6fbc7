use core::cell::Cell;
use core::mem::MaybeUninit;
use surefit_gc::{Rootable, StepArena};

fn main() {
    let mut region = [MaybeUninit::uninit(); 4096];
    let mut arena = StepArena::<Rootable!['gc => ()]>::new(&mut region, |_| Ok(())).unwrap();
    arena.mutate(|mc, ()| {
        let seven = mc.alloc(7).unwrap();
        mc.alloc_array(3, |_| Cell::new(seven)).unwrap();
    });
}
