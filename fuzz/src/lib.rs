//! What the fuzz targets do: arbitrary bytes become operations, every heap runs beside a model.
//!
//! | target | drives |
//! | --- | --- |
//! | `heap` | every method of `Heap`, both widths, all bounds: contents, promises, refusals, parked pairs, forged names, `check` after each operation |
//! | `key_heap` | `KeyHeap` with live, stale and foreign keys, also of parked pairs, generations of one byte to four |
//! | `contiguous` | contiguous objects of any length among page-blocks and pieces: every byte, what calls copy, `check` |
//! | `pieces` | `ByteVec`, cursors, `IoSlice` and `&[T]` views of pieces beside `Vec<u8>` and the standard library's cursor |
//! | `collections` | vectors, strings, maps of both kinds, deques and caches in one heap beside their models: contents, refusals, `check` after each operation, nothing left |
//! | `cache` | the cache server of `examples/cache`: bytes of a client, and commands on both of its stores, with room and under a limit |
//! | `branded` | branded heaps: branded, checked and foreign handles, one brand after another |
//! | `os_heap` | `OsHeap` on real system calls: limits, delays, what is resident, memory given back and used again |
//! | `shared_heap` | `SharedHeap` from one thread: every lock, bound and increment, pins held across frees, `check` |
//! | `block_table` | `BlockTableHeap`, both widths: contents, where frames are, `check` after each operation |
//! | `direct` | `DirectHeap` beside the test kit's shadow heap |
//! | `freelist` | TLSF, first fit, best fit and one of the other free-list systems, likewise |
//! | `buddy` | the buddy system with blocks of 8, 16 and 64 bytes, likewise |
//! | `jamaica` | objects and arrays in blocks of 16, 32 and 128 bytes: bytes, exact space, links followed, `check` |
//! | `gc` | the collector over sixteen free-list systems, at once and in steps, and in steps over Compact-fit, beside the judges of its tests |
//! | `generations` | the collector with two generations over twelve free-list systems and over Compact-fit with a nursery and without, likewise |
//! | `arena` | an arena over seven of them beside a model: what lives, what is dropped, weak references, arrays, strings |
//! | `replay` | recordings of arbitrary bytes, replayed in nine spaces |
//! | `trace_reader` | the readers of trace files on arbitrary bytes |
//! | `graph_reader` | the reader of object graphs on arbitrary bytes, beside a model of what lives |
//! | `class_file` | the Java machine on changed class files, and on jars of arbitrary bytes |
//! | `writers` | the writers of both formats on events and steps that break every rule |
//!
//! Run one from the workspace's root: `cargo +nightly fuzz run heap`.

pub mod arena;
pub mod branded;
pub mod cache;
pub mod class_file;
pub mod collections;
pub mod config;
pub mod contiguous;
pub mod gc;
pub mod generations;
pub mod graph_reader;
pub mod heap;
pub mod input;
pub mod jamaica;
pub mod key_heap;
mod ordered;
pub mod os_heap;
pub mod pieces;
mod queues;
pub mod raw;
pub mod region;
pub mod replay;
pub mod shared_heap;
pub mod trace_reader;
pub mod writers;
