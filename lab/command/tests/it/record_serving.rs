//! `surefit record` says in which library a program's malloc is.

use std::process::{Command, Output};

use serde_json::Value;
use surefit_testkit::{broken, schema};

use crate::resident::hoarder;

/// Records `sort`, which allocates, after another library if one is given.
fn recorded(folder: &tempfile::TempDir, library: Option<&str>, format: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_surefit"));
    command
        .args(["record", "-o", "a.sft.zst", "--format", format])
        .args(["--", "sort", "/dev/null"])
        .current_dir(folder.path());
    if let Some(library) = library {
        command.env("LD_PRELOAD", library);
    }
    let output = command.output().expect("the command runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    output
}

fn allocator(output: &Output) -> Value {
    let document: Value = serde_json::from_slice(&output.stdout).expect("a document");
    let schema = schema("record.json");
    assert_eq!(broken(&schema, &schema, &document, "record"), None);
    document["recorded"][0]["allocator"].clone()
}

#[test]
fn a_malloc_in_a_library_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let library = hoarder(folder.path()).display().to_string();
    assert_eq!(
        allocator(&recorded(&folder, Some(&library), "json")),
        Value::from(library.as_str())
    );
    let said = recorded(&folder, Some(&library), "table").stderr;
    let said = String::from_utf8_lossy(&said).into_owned();
    assert!(said.contains(&format!("preload:{library}\n")), "{said}");
    assert_eq!(allocator(&recorded(&folder, None, "json")), Value::Null);
}
