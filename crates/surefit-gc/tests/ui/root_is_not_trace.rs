use core::mem::MaybeUninit;
use surefit_gc::{Arena, Rootable};

struct Plain(u32);

fn main() {
    let mut region = [MaybeUninit::uninit(); 4096];
    let mut arena = <Arena<'_, Rootable!['gc => Plain]>>::new(&mut region, |_| Ok(Plain(7))).unwrap();
    arena.collect();
}
