//! What the papers on Compact-fit had and users do not need: reconstructions, for comparisons.
//!
//! - [`block_table`]: the non-moving implementation, with frames behind a block table. It has a
//!   certificate and a `check`, like the heaps of `surefit-compact`, on which it is built.
//! - [`cf_paper`]: Compact-fit without moves and without abstract addresses, as the papers compared
//!   it with TLSF.
//!
//! The laboratory measures both (`cf-block-table` and `cf-paper` of `surefit compare`); the library
//! has neither.

pub mod block_table;
pub mod cf_paper;
