//! What several experiments share. Nothing here knows an experiment.
//!
//! ```text
//! programs     the traces: files, bundled ones, gen:emacs-lives and gen:hummingbird-lives at the paper's size
//! settings     κ as in the papers, the original page order, and hole bounds
//! size_class   a size-class as the papers' automaton
//! in_rust      programs in Rust that are recorded in memory
//! growth       exponents with their intervals, and the rules of O(1), O(log n), O(n)
//! callgrind    instructions of chosen calls in a child process
//! merges       the policies of coalescing
//! collector_gain  what the Next Hit Table gains under a collector, beside explicit frees
//! threads      heaps that threads share, their locks, programs and probes
//! thesis       Java programs in heaps of segregated lists
//! ```

pub(crate) mod callgrind;
pub(crate) mod collector_gain;
pub(crate) mod growth;
pub(crate) mod in_rust;
pub(crate) mod merges;
pub(crate) mod programs;
pub(crate) mod settings;
pub(crate) mod size_class;
pub(crate) mod thesis;
pub(crate) mod threads;
