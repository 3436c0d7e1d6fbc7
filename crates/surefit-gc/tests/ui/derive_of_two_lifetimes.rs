use core::cell::Cell;
use core::mem::MaybeUninit;
use surefit_gc::{Arena, Gc, Rootable, Trace};

#[derive(Trace)]
struct Pair<'a, 'b>(Cell<Option<Gc<'a, Gc<'b, u32>>>>);

type Root = Rootable!['gc => Pair<'static, 'gc>];

fn main() {
    let mut region = [MaybeUninit::uninit(); 4096];
    let mut arena = Arena::<Root>::new(&mut region, |_| Ok(Pair(Default::default()))).unwrap();
    let escaped: Gc<'static, u32> = arena.mutate(|mc, _| mc.alloc(7).unwrap());
    arena.collect();
    assert_eq!(*escaped, 7);
}
