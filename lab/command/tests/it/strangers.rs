//! A trace may come from a stranger: what it says of its program loads nothing here.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use surefit_trace::{Facts, Trace};
use tempfile::TempDir;

use crate::common::{SmallTrace, small_trace, surefit};

/// A small trace whose facts say that this file served malloc.
fn served_by(folder: &TempDir, library: &Path) -> PathBuf {
    let SmallTrace { path, .. } = &small_trace(1);
    let facts = Facts {
        allocator: Some(library.display().to_string()),
        ..Facts::default()
    };
    let mut bytes = Vec::new();
    let trace = Trace::load(path).expect("a sound trace");
    trace
        .write_compressed(&mut bytes, 3, |_| {})
        .expect("written");
    bytes.extend(facts.to_frame());
    let file = folder.path().join("theirs.sft.zst");
    fs::write(&file, bytes).expect("written");
    file
}

fn compared(file: &Path, options: &[&str]) -> Output {
    let mut command = surefit();
    command.args(["compare", "--rounds", "1"]).args(options);
    command.arg(file).output().expect("the command runs")
}

#[test]
fn a_library_that_a_trace_names_is_not_loaded() {
    let folder = tempfile::tempdir().expect("a folder");
    let marker = folder.path().join("was-loaded");
    let source = folder.path().join("theirs.c");
    let text = format!(
        "#include <fcntl.h>\n__attribute__((constructor)) static void run(void) \
         {{ open(\"{}\", O_CREAT | O_WRONLY, 0600); }}\n\
         void *__libc_malloc(unsigned long);\n\
         void *malloc(unsigned long bytes) {{ return __libc_malloc(bytes); }}\n",
        marker.display()
    );
    fs::write(&source, text).expect("written");
    let library = folder.path().join("libtheirs.so");
    let mut made = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
    made.args(["-w", "-shared", "-fPIC", "-o"]);
    let made = made.arg(&library).arg(&source).status();
    assert!(made.expect("a C compiler").success());
    let file = served_by(&folder, &library);

    let output = compared(&file, &["--format", "json"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    assert!(!String::from_utf8_lossy(&output.stdout).contains("libtheirs"));
    assert!(!marker.exists(), "it ran");
    let path = library.display();
    let line = format!("preload:{path}");
    assert!(errors.contains(&line), "{errors}");
    assert_eq!(errors.lines().count(), 1, "{errors}");

    // The user names it.
    let allocators = format!("tlsf,preload:{path}");
    let output = compared(&file, &["--allocators", &allocators]);
    assert!(output.status.success() && output.stderr.is_empty());
    assert!(marker.exists());
}
