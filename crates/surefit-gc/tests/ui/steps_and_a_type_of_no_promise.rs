use core::cell::Cell;
use core::mem::MaybeUninit;
use surefit_gc::{Gc, Rootable, StepArena, Trace, Tracer};

struct ByHand<'gc>(Cell<Option<Gc<'gc, u32>>>);

unsafe impl Trace for ByHand<'_> {
    const TRACED: bool = true;
    fn trace(&self, tracer: &mut Tracer<'_>) {
        self.0.trace(tracer);
    }
}

#[derive(Trace)]
struct Holder<'gc>(ByHand<'gc>);

fn main() {
    let mut region = [MaybeUninit::uninit(); 4096];
    let mut arena = StepArena::<Rootable!['gc => ()]>::new(&mut region, |_| Ok(())).unwrap();
    arena.mutate(|mc, ()| mc.alloc(Holder(ByHand(Cell::new(None)))).map(drop)).unwrap();
}
