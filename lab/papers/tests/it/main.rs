//! The block table as its users see it, and its certificate: against every script of small demands,
//! and in exactly its bytes.

mod block_table;
mod exact;
mod exhausted;
