//! Object graphs: what a program with a garbage collector allocated, and which object referred to
//! which.
//!
//! The format is in [`mod@format`]. A recording is a sequence of allocations, interrupted by walks.
//! A walk goes through the reachable objects and logs what changed since the last one: objects
//! never seen before, references, roots, deaths. Whoever replays a recording on a heap allocates
//! what was allocated, changes the references when a walk ends, and finds out by marking which
//! objects died.
//!
//! [`Reader`] gives a recording as [`Step`]s, in the order in which they can be replayed:
//!
//! ```text
//! Class      a class is declared
//! Allocate   a new object; a root until the next walk ends
//! Find       an object that is there although its allocation was not seen; a root until the next walk ends
//! Revive     an object that a walk had missed is there again, under its old id; a root until the next walk ends
//! Walk       all at once: the new references of the objects that changed, the roots, the deaths
//! ```
//!
//! Class objects are roots as long as they live: [`Walk::roots_gained`] lists them too.
//!
//! A step names only objects that a step before gave; the references of a [`Walk`] name only
//! objects that live when it ends. The recorder's slot numbers are numbers of fields, with gaps;
//! the reader numbers the slots of a class densely as they appear, so that slot numbers are less
//! than [`Object::slots`]. On a first reading, found objects may have more slots than they use; a
//! second one that [knows](Reader::knowing) the [`Layouts`] of the first gives exact ones.
//! References of a class object on behalf of its class (static fields, constants) have no slot in
//! the object: [`Change::class_level`] lists them apart.
//!
//! [`Writer`] takes such steps and writes a recording.
//!
//! # Bounds
//! The reader takes 20 bytes for each object ever seen, 8 for each reference of the walk being
//! read, and some 20 for each distinct field. No more than 2^27 objects, and no more than 2^24
//! references, root changes or deaths in one walk, are taken.
//!
//! # Errors
//! A [`TraceError`](crate::TraceError) as for the other traces: the file, the byte of the record,
//! what is wrong with it, and the mend.
//!
//! # Examples
//! ```
//! # fn main() -> Result<(), surefit_trace::TraceError> {
//! use surefit_trace::graph::{Reader, Step};
//! // the class object is object 1; an instance of 24 bytes with one field; its reference to itself; nothing died
//! let bytes = b"H\x01\x00\x60\x00C\x01\x01\x03LA;A\x01\x18S\x01\x01\x18E\x02\x01\x07\x00R+\x02.D\x00";
//! let mut reader = Reader::new(&bytes[..])?;
//! let steps = reader.by_ref().collect::<Result<Vec<_>, _>>()?;
//! let Step::Walk(walk) = &steps[3] else { unreachable!() };
//! let change = walk.changes().next().expect("one object changed");
//! assert_eq!((change.object, change.references[0].slot, change.references[0].target), (2, 0, 2));
//! # Ok(())
//! # }
//! ```

mod encode;
pub mod format;
mod layouts;
mod objects;
mod reader;
mod record;
mod rules;
mod stats;
mod step;
mod walk;
mod writer;

pub use layouts::Layouts;
pub use reader::Reader;
pub use stats::{SizeCount, Stats};
pub use step::{Class, Object, Step};
pub use walk::{Change, Live, Reference, Walk};
pub use writer::{Writer, compressed};
