use core::mem::MaybeUninit;
use surefit_gc::{Gc, GcCell, Rootable, StepArena};

type Root = Rootable!['gc => GcCell<'static, Option<Gc<'gc, u32>>>];

fn main() {
    let mut region = [MaybeUninit::uninit(); 4096];
    let mut arena = StepArena::<Root>::new(&mut region, |_| Ok(GcCell::new(None))).unwrap();
    arena.mutate(|mc, root| root.set(mc, mc.alloc(7).ok()));
}
