#![allow(unused)]

use core::cell::Cell;
use core::mem::MaybeUninit;
use surefit_gc::{Arena, Rootable};

fn main() {
    let mut region = [MaybeUninit::uninit(); 4096];
    let local = Cell::new(7);
    let arena = <Arena<'_, Rootable!['gc => &'gc Cell<u32>]>>::new(&mut region, |_| Ok(&local)).unwrap();
}
