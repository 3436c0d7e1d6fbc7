//! Classic programs.
#![deny(unsafe_code)]
