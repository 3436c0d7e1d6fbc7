use core::mem::MaybeUninit;
use surefit_gc::{Rootable, StepArena};

fn arena(region: &mut [MaybeUninit<u8>]) -> StepArena<'_, Rootable!['gc => ()]> {
    StepArena::new(region, |_| Ok(())).unwrap()
}

fn main() {
    let mut regions = [[MaybeUninit::uninit(); 4096]; 2];
    let [one, other] = &mut regions;
    let (mut one, mut other) = (arena(one), arena(other));
    one.mutate(|mc, ()| {
        let weak = mc.downgrade(mc.alloc(7).unwrap()).unwrap();
        other.mutate(|other, ()| weak.upgrade(other).is_some())
    });
}
