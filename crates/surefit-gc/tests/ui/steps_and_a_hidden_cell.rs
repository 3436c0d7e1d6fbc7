use core::cell::Cell;
use core::mem::MaybeUninit;
use surefit_gc::{Gc, GcCell, Rootable, StepArena, Trace};

#[derive(Trace)]
struct Hidden<'gc>(Option<Box<[Cell<Option<Gc<'gc, u32>>>; 2]>>);

#[derive(Trace)]
struct Node<'gc> {
    next: GcCell<'gc, Option<Gc<'gc, Node<'gc>>>>,
    hidden: Hidden<'gc>,
}

fn main() {
    let mut region = [MaybeUninit::uninit(); 4096];
    let mut arena = StepArena::<Rootable!['gc => ()]>::new(&mut region, |_| Ok(())).unwrap();
    arena.mutate(|mc, ()| {
        let seven = mc.alloc(7).ok();
        let hidden = Hidden(Some(Box::new([Cell::new(seven), Cell::new(None)])));
        let next = GcCell::new(None);
        mc.alloc(Node { next, hidden }).unwrap();
    });
}
