//! Every certificate holds in exactly its bytes: no region has slack that the certificate does not name.

#![allow(dead_code)] // for a commit: the adaptors before what drives them

mod heaps;
mod keys;
mod setup;
mod single_class;
