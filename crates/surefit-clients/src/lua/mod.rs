//! A Lua virtual machine whose memory is a heap of surefit's, and programs to run on it.
//!
//! Lua asks for all its memory through one callback. Here a [`RawHeap`](surefit_core::RawHeap) answers it, and Lua's own
//! collector is stopped: only a refused request makes it collect.
//!
//! ```text
//! request:  serve; else refuse -> Lua collects and asks once more: serve; else Lua's own error, "not enough memory"
//! ```
//! A collection is Lua's: it marks its objects and frees the dead ones, one call each. So the free lists see frees one by one,
//! in the order in which objects were made, and nothing is rebuilt in one pass.
//!
//! | file | holds |
//! | --- | --- |
//! | `memory` | what answers a request: counters, refusals, and the reserve |
//! | `vm` | everything that is said to the C library |
//! | `restrain.lua` | takes from the libraries what could break memory |
//! | `programs` | the programs that come with surefit |
//!
//! # Departures
//! Temporary buffers of Lua's libraries have no finalizer here. They are closed when their use ends, and a finalizer would
//! keep them until somebody calls `collectgarbage`: collections on a refused request run none.
//!
//! # Drawbacks
//! Finalizers (`__gc`) of a script run when the script calls `collectgarbage`, or at its end; until then what they finalize
//! stays. `collectgarbage("restart")` lets Lua collect when it likes.
//!
//! # Source
//! Lua 5.4, reference manual: `lua_Alloc`, `lua_gc`.

mod memory;
mod programs;
mod vm;

pub use memory::Counts;
pub use programs::{PROGRAMS, Program};
pub use vm::{Failure, Options, Output, Ran, Script, run, run_and_look};
