//! What the tests of the command share: how it is run.

#![allow(dead_code, unused_imports, reason = "each test file uses a part of it")]

use std::path::Path;
use std::process::Command;

use serde_json::Value;

pub(crate) use surefit_testkit::{SmallTrace, error_line, small_trace};
