use core::mem::MaybeUninit;
use surefit_gc::{Arena, Gc, Rootable, Trace};

trait Family<U> {
    type Member: Trace;
}

impl<'a> Family<&'static &'a ()> for () {
    type Member = ();
}

#[derive(Trace)]
struct Root<T: Family<U>, U>(T::Member); // does not name `U`

fn main() {
    let mut region = [MaybeUninit::uninit(); 4096];
    let mut arena =
        Arena::<Rootable!['gc => Root<(), &'static &'gc ()>]>::new(&mut region, |_| Ok(Root(()))).unwrap();
    let escaped: Gc<'static, u32> = arena.mutate(|mc, _| mc.alloc(7).unwrap());
    arena.collect();
    assert_eq!(*escaped, 7);
}
