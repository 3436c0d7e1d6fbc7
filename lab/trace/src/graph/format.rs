#![doc = include_str!("../../docs/graphs.md")]
