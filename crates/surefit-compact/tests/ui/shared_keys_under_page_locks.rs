#![allow(unused)]

use surefit_compact::shared::{PerPage, SharedKeyHeap};

fn heap(_: SharedKeyHeap<'_, parking_lot::RawMutex, PerPage>) {}

fn main() {}
