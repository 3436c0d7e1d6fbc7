//! A Lua virtual machine whose memory is a surefit heap, and programs to run on it.
//!
//! Lua requests all its memory through one callback. Here a [`RawHeap`](surefit_core::RawHeap)
//! serves it. Lua's own collector is stopped: it collects only when a request is refused, unless
//! [`Collecting`] starts it.
//!
//! ```text
//! request:  serve; else refuse -> Lua collects and requests again: serve;
//!           else Lua's own error, "not enough memory"
//! a buffer: serve; else make Lua collect, and serve; else the error
//! ```
//! Lua performs the collection: it marks its objects and frees the dead ones, with one call for
//! each. So the free lists see single frees, in the order in which objects were made, and nothing
//! is rebuilt in one pass.
//!
//! | file | holds |
//! | --- | --- |
//! | `collecting` | when a machine collects |
//! | `layout` | the layouts of what Lua requests |
//! | `memory` | serves requests: counters, and refusals |
//! | `reserve` | memory that is kept in long pieces |
//! | `vm` | all calls of the C library |
//! | `restrain.lua` | removes the functions of the libraries that could break memory |
//! | `programs` | the programs that come with surefit |
//!
//! # Departures
//! Temporary buffers of Lua's libraries have no finalizer here. They are closed when their use
//! ends. A finalizer would keep them until a script calls `collectgarbage`, because a collection
//! after a refused request runs no finalizers.
//!
//! # Drawbacks
//! Finalizers (`__gc`) of a script run when the script calls `collectgarbage`, or at its end. Until
//! then the objects stay. `collectgarbage("restart")` lets Lua collect whenever it decides to.
//!
//! # Source
//! Lua 5.4, reference manual: `lua_Alloc`, `lua_gc`.

mod collecting;
mod layout;
mod memory;
mod programs;
mod reserve;
mod vm;

pub use collecting::Collecting;
pub use memory::Counts;
pub use programs::{PROGRAMS, Program};
pub use vm::{Failure, Options, Output, Ran, Script, run, run_and_look};
