//! The policies of coalescing, by the names that all experiments give them.

pub(crate) use surefit_clients::lists::{MERGES, merges_name};
