use core::mem::MaybeUninit;
use surefit_gc::{Gc, GcCell, Rootable, StepArena};

type Slot = Rootable!['gc => Option<Gc<'gc, GcCell<'gc, Option<Gc<'gc, u32>>>>>];

fn arena(region: &mut [MaybeUninit<u8>]) -> StepArena<'_, Slot> {
    StepArena::new(region, |_| Ok(None)).unwrap()
}

fn main() {
    let mut regions = [[MaybeUninit::uninit(); 4096]; 2];
    let [one, other] = &mut regions;
    let (mut one, mut other) = (arena(one), arena(other));
    one.mutate(|mc, _| {
        let cell = mc.alloc(GcCell::new(mc.alloc(7).ok())).unwrap();
        other.mutate(|other, _| cell.set(other, None));
    });
}
