//! Allocators, and the passes that measure them on recorded programs.
//!
//! | module | holds |
//! | --- | --- |
//! | `arguments`, `error`, `suggest`, `sizes`, `spec`, `config_file`, `output`, `progress`, `grid`, `narrow`, `wrap`, `html` | what people type and see, and how a command fails |
//! | `requests`, `profile` | a demand in requests, whatever the size-classes; sizes and lifetimes of what a program asks for |
//! | `source`, `recorded`, `leave_out`, `steps`, `lives`, `small_file`, `memory` | traces prepared for replaying, what is known of their processes, and small files that people write |
//! | `keys`, `pointer_heap`, `subject`, `subjects`, `registry`, `libraries` | the allocators |
//! | `passes` | one replay each: timing, accesses, percentiles, checking, counting, the heap map, the smallest heap |
//! | `plan`, `single`, `threaded`, `timed`, `rounds`, `child`, `as_child`, `instructions` | many replays: of one allocator, of many in rounds, in child processes, under valgrind |
//! | `ratio`, `held`, `certified`, `growth`, `refusal` | ratios over rounds, what is held over a run, proven bounds, growth of the process, why a replay stopped |
//! | `collector` | recorded object graphs, the collector's spaces, and a Lua machine on any heap |
//! | `results`, `judged`, `schema` | the figures, what they are judged by, and their JSON |

pub mod any;
pub mod arguments;
pub mod as_child;
pub mod certified;
pub mod child;
pub mod collector;
pub mod config_file;
pub mod error;
pub(crate) mod feed;
pub mod grid;
mod growth;
pub mod held;
pub mod html;
pub mod instructions;
pub mod judged;
pub mod keys;
mod leave_out;
pub mod libraries;
mod lives;
pub mod memory;
mod narrow;
pub mod output;
pub mod passes;
pub(crate) mod plan;
pub mod pointer_heap;
pub mod profile;
pub mod progress;
pub mod ratio;
pub mod recorded;
pub mod refusal;
pub mod registry;
pub mod requests;
pub mod results;
pub mod rounds;
pub mod schema;
pub mod single;
pub mod sizes;
pub mod small_file;
pub mod source;
pub mod spec;
pub mod steps;
pub mod stream;
pub mod subject;
pub mod subjects;
pub mod suggest;
pub mod threaded;
pub(crate) mod timed;
pub mod wrap;
