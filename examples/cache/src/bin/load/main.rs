//! The load.

fn main() {}
