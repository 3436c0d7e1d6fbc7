//! The collected program of docs/guide.md: two objects that refer to each other.

use std::cell::Cell;
use std::error::Error;
use std::mem::MaybeUninit;

use surefit::gc::{Arena, Full, Gc, Rootable, Trace};

#[derive(Trace)]
#[trace(crate = surefit::gc)]
struct Station<'gc> {
    name: String,
    next: Cell<Option<Gc<'gc, Station<'gc>>>>,
}
type First = Rootable!['gc => Cell<Option<Gc<'gc, Station<'gc>>>>];

fn main() -> Result<(), Box<dyn Error>> {
    let mut memory = vec![MaybeUninit::uninit(); 64 << 10];
    let mut line = Arena::<First>::new(&mut memory, |_| Ok(Cell::new(None)))?;
    line.mutate(|mc, first| {
        let station = |name: &str, next| {
            mc.alloc(Station {
                name: name.into(),
                next: Cell::new(next),
            })
        };
        let east = station("East", None)?;
        let west = station("West", Some(east))?;
        east.next.set(Some(west)); // a cycle: neither could be freed by counting
        first.set(Some(east));
        Ok::<_, Full>(())
    })?;
    let first = line.collect(); // the root leads to both
    line.mutate(|_, first| first.set(None));
    let second = line.collect(); // nothing does: both are dropped and freed
    println!(
        "freed {} objects, then {}",
        first.freed_objects, second.freed_objects
    );
    Ok(())
}
