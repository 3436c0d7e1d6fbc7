//! Recorded Java programs, replayed on the collector.
#![deny(unsafe_code)]
