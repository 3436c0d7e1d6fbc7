//! A cache that speaks the Redis protocol on loopback. Its keys, its values and its index lie in
//! one heap: surefit's handle heap, a free-list heap (TLSF), or the C library's malloc.
//!
//! ```text
//! server      the event loop (mio): accepts, reads, writes, ticks
//!   connection  bytes in, bytes out, of one client
//!     request     the protocol: arguments of one command (redis-protocol parses them)
//!     command     what a command does; replies
//!       cache       records, index, order of use, deadlines, the limit
//!         store       the heap: objects of bytes, named by a word
//! ```

pub mod cache;
pub mod command;
pub mod connection;
pub mod reply;
pub mod request;
pub mod server;
pub mod store;
