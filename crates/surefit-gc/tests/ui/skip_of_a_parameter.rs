use core::mem::MaybeUninit;
use surefit_gc::{Arena, Gc, Rootable, Trace};

#[derive(Trace)]
struct Node<T> {
    #[trace(skip)]
    value: T, // `T` may be a `Gc`, but then it is not `Trace`
}

fn main() {
    let mut region = [MaybeUninit::uninit(); 4096];
    let arena = Arena::<Rootable!['gc => Node<Gc<'gc, u32>>]>::new(&mut region, |mc| {
        Ok(Node { value: mc.alloc(7)? })
    });
    drop(arena);
}
