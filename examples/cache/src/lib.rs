//! A cache that speaks the Redis protocol on loopback. Each shard holds its keys, values and index
//! in one heap that does not fragment, through the containers of `surefit-collections`.
//!
//! ```text
//! server      accepts clients; a thread for each
//!   resp        the protocol: where the arguments of a request are
//!   command     what a command does
//!     shards      which shard has a key; a lock for each shard
//!       store       what a shard does: on surefit's heap (packed), or on std's containers (plain)
//!         reply       the protocol: what is answered
//! ```
#![forbid(unsafe_code)]

pub mod command;
pub mod reply;
pub mod resp;
pub mod server;
pub mod shards;
pub mod store;
