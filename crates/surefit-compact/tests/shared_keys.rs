//! Shared keys. From one thread against a model, with every invariant checked
//! after each operation; from several threads, with objects that know what they hold; and single
//! cases.

#[path = "shared_keys/corners.rs"]
mod corners;
#[path = "shared_keys/objects.rs"]
mod objects;
#[path = "shared_keys/script.rs"]
mod script;
#[path = "shared_keys/threads.rs"]
mod threads;
