#![doc = include_str!("../docs/traces.md")]
