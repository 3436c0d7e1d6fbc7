use surefit_gc::{Gc, Trace};

#[derive(Trace)]
struct Node<'gc> {
    next: Option<Gc<'gc, Node<'gc>>>,
}

impl Drop for Node<'_> {
    fn drop(&mut self) {
        let _read = self.next.map(|next| next.next.is_some()); // may have been freed
    }
}

fn main() {}
