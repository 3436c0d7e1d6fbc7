//! From recordings of other tools to the events of a trace.
//!
//! ```text
//! importer   recognises a recording by its content, and gives its events one by one
//! heaptrack  lines of text, raw or interpreted; lines reads them
//! places     its call sites
//! board      frames of bytes (deframe), put in order (order), objects by address (objects)
//! unpack     what is compressed, unpacked
//! ```

mod board;
mod deframe;
mod error;
mod heaptrack;
mod importer;
mod lines;
mod objects;
mod order;
mod places;
mod threads;
mod unpack;

pub use board::BoardNotes;
pub use error::ImportError;
pub use importer::{Importer, Kind, Notes};
