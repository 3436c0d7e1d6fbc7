#![allow(unused)]

use surefit_compact::{KeyHeap, Wide};

fn keys_that_never_go_stale(heap: KeyHeap<'_, Wide, ()>) {}

fn main() {}
