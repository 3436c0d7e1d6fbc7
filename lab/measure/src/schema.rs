//! The JSON schemas of the commands' output. They are committed in `schemas/`, and tests compare
//! them with the types.

use std::path::PathBuf;

use schemars::{JsonSchema, schema_for};

/// If this variable is set, tests write the schemas instead of comparing them.
const BLESS: &str = "SUREFIT_BLESS";

/// Compares a committed schema with that of a type; for tests.
///
/// # Panics
/// The schemas differ, or the file does not exist.
pub fn is_committed<T: JsonSchema>(name: &str) {
    let made = serde_json::to_string_pretty(&schema_for!(T)).expect("JSON") + "\n";
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../schemas")
        .join(name);
    if std::env::var_os(BLESS).is_some() {
        std::fs::write(&path, &made).expect("a file");
    }
    let committed = std::fs::read_to_string(&path).expect("a committed schema");
    assert_eq!(
        committed, made,
        "{name} is out of date: run the tests with {BLESS}=1"
    );
}
