//! Our size-class: a move changes nothing until its commit.
//!
//! | file | holds |
//! | --- | --- |
//! | `class` | pages, lists, counts; allocate, free, pin: a section each |
//! | `parked` | parked blocks: park, take, give back |
//! | `rounds` | the rounds of a call: begin, step, commit |
//! | `actions` | what may happen next, and what must be true |

mod actions;
mod class;
mod parked;
mod rounds;

pub use actions::Action;
pub use class::{Class, Pinned, Place, Rules, Slip};
