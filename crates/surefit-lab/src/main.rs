//! The `surefit` command.

fn main() {}
