//! The schemas of what commands print as JSON: committed in `schemas/`, and compared with the types by tests.

use std::path::PathBuf;

use schemars::{JsonSchema, schema_for};

/// Set this variable to write the schemas anew.
const BLESS: &str = "SUREFIT_BLESS";

/// Compares the committed schema of a name with that of a type; for the tests of the types' crates.
///
/// # Panics
/// They differ, or there is no such file.
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
