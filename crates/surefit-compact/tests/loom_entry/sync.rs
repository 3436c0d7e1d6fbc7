//! The atomic word of the models.

pub(crate) use loom::sync::atomic::AtomicU32;
