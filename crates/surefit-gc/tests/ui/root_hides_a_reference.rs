use core::cell::Cell;
use core::mem::MaybeUninit;
use surefit_gc::{Arena, Gc, Rootable};

struct Hidden<'gc>(Cell<Option<Gc<'gc, u32>>>);

fn main() {
    let mut region = [MaybeUninit::uninit(); 4096];
    let mut arena = <Arena<'_, Rootable!['gc => Hidden<'gc>]>>::new(&mut region, |_| Ok(Hidden(Cell::new(None)))).unwrap();
    arena.mutate(|mc, root| root.0.set(mc.alloc(7).ok()));
    arena.collect();
    arena.mutate(|_, root| assert_eq!(*root.0.get().unwrap(), 7));
}
