//! `surefit record` on programs that bring an allocator of their own, and what comes of such a
//! trace.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use surefit_trace::Facts;
use tempfile::TempDir;

use crate::record::{folder, record};

/// `brings/allocator.rs`, with these parts of it.
fn program(folder: &TempDir, parts: &[&str]) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/brings/allocator.rs");
    let path = folder.path().join("program");
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut command = Command::new(compiler);
    command.args([
        "--edition",
        "2024",
        "-Aunexpected_cfgs",
        "-Adead_code",
        "-o",
    ]);
    command.arg(&path).arg(source);
    for part in parts {
        command.args(["--cfg", part]);
    }
    let made = command
        .output()
        .expect("a Rust compiler: `rustc`, or what RUSTC names");
    assert!(made.status.success(), "{}", said(&made.stderr));
    path
}

fn said(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn run(mut command: Command) -> Output {
    command.output().expect("the command runs")
}

/// The command on the trace of the folder.
fn surefit(folder: &TempDir, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_surefit"));
    command.args(arguments).current_dir(folder.path());
    run(command)
}

fn recorded(folder: &TempDir, program: &Path, options: &[&str]) -> Output {
    let mut command = record(folder, options);
    command.arg("--").arg(program);
    run(command)
}

#[test]
fn an_allocator_of_a_known_name_is_refused_before_the_program_runs() {
    let folder = folder();
    let program = program(&folder, &["own", "named"]);
    let refused = recorded(&folder, &program, &[]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(refused.stdout.is_empty());
    let errors = said(&refused.stderr);
    assert_eq!(errors.lines().count(), 1, "{errors}");
    for part in ["(mi_malloc_aligned)", "std::alloc::System", "--malloc-only"] {
        assert!(errors.contains(part), "{part}: {errors}");
    }
    assert!(!folder.path().join("a.sft.zst").exists());
    let path = program.to_str().expect("a plain path");
    let tried = surefit(&folder, &["try", "--", path]);
    assert_eq!(tried.status.code(), Some(2));
    assert!(said(&tried.stderr).contains("(mi_malloc_aligned)"));
    let taken = recorded(&folder, &program, &["--malloc-only"]);
    assert_eq!(taken.status.code(), Some(0));
    let facts = Facts::load(folder.path().join("a.sft.zst"));
    let facts = facts.expect("sound").expect("facts");
    assert_eq!(facts.own_allocator.as_deref(), Some("mi_malloc_aligned"));
    assert!(facts.is_malloc_only);
    let why = "the program has an allocator of its own (mi_malloc_aligned)";
    is_of_mallocs_part(&folder, why);
    let compare = ["compare", "a.sft.zst", "--allocators", "cf,tlsf"];
    let options = ["--rounds", "1", "--find-min-heap"];
    let table = surefit(&folder, &[&compare[..], &options].concat());
    let flat = said(&table.stdout);
    let flat = flat.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        flat.contains(&format!("Of malloc's part only: {why}")),
        "{flat}"
    );
    assert!(
        !flat.contains("No advice") && flat.contains("Only tlsf completed."),
        "{flat}"
    );
}

/// What tune and certify say of such a trace.
fn is_of_mallocs_part(folder: &TempDir, why: &str) {
    for judged in [
        &["tune", "a.sft.zst"][..],
        &["certify", "--trace", "a.sft.zst"],
    ] {
        let output = surefit(folder, judged);
        let errors = said(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{judged:?}: {errors}");
        let line = format!("a.sft.zst: what follows is of malloc's part only: {why}");
        assert_eq!(errors.matches(&line).count(), 1, "{judged:?}: {errors}");
        assert!(!errors.contains("--malloc-only"), "{judged:?}: {errors}");
    }
}

/// As CPython is with mimalloc.
#[test]
fn a_program_in_c_that_holds_such_a_function_is_recorded() {
    let folder = folder();
    let source = folder.path().join("held.c");
    let text = "#include <stdlib.h>\nvoid *mi_malloc(size_t n) { return malloc(n); }\n\
                int main(void) { return mi_malloc(9) == 0; }\n";
    std::fs::write(&source, text).expect("written");
    let program = folder.path().join("held");
    let mut made = Command::new("cc");
    made.arg("-o").arg(&program).arg(&source);
    assert!(made.status().expect("a compiler").success());
    let output = recorded(&folder, &program, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output.stderr));
    let path = program.to_str().expect("a plain path");
    let tried = surefit(
        &folder,
        &["try", "--rounds", "1", "--only", "glibc", "--", path],
    );
    assert_eq!(tried.status.code(), Some(0), "{}", said(&tried.stderr));
}

#[test]
fn a_program_that_only_has_one_is_recorded() {
    let folder = folder();
    let program = program(&folder, &["named"]);
    let output = recorded(&folder, &program, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output.stderr));
    let facts = Facts::load(folder.path().join("a.sft.zst"));
    let facts = facts.expect("sound").expect("facts");
    assert!(facts.grown_bytes > Some(60 << 20), "{facts:?}");
    assert!(!said(&output.stderr).contains("not the program's heap"));
}

#[test]
fn of_a_heap_that_grew_beside_malloc_nobody_advises() {
    let folder = folder();
    let program = program(&folder, &["own"]);
    let output = recorded(&folder, &program, &[]);
    assert_eq!(output.status.code(), Some(0));
    let line = "the trace is not the program's heap: the process grew by";
    assert!(
        said(&output.stderr).contains(line),
        "{}",
        said(&output.stderr)
    );

    let stats = said(&surefit(&folder, &["trace", "stats", "a.sft.zst"]).stdout);
    assert!(stats.contains(line), "{stats}");
    for refused in [
        &["tune", "a.sft.zst"][..],
        &["certify", "--trace", "a.sft.zst"],
    ] {
        let output = surefit(&folder, refused);
        let errors = said(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{refused:?}: {errors}");
        assert!(
            errors.contains("a.sft.zst") && errors.contains(line),
            "{errors}"
        );
        assert_eq!(errors.lines().count(), 1, "{errors}");
    }
    let compare = [
        "compare",
        "a.sft.zst",
        "--allocators",
        "cf,tlsf",
        "--rounds",
        "1",
    ];
    let table = said(&surefit(&folder, &compare).stdout);
    let flat = table.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains(&format!("No advice: {line}")), "{table}");
    assert!(
        !table.contains("Take ") && !table.contains("fastest"),
        "{table}"
    );
    let json = [&compare[..], &["--format", "json"]].concat();
    let document: Value = serde_json::from_slice(&surefit(&folder, &json).stdout).expect("JSON");
    let grown = &document["traces"][0]["beside_malloc"]["grown_bytes"];
    assert!(grown.as_u64() > Some(60 << 20), "{grown}");
    let output = recorded(&folder, &program, &["--malloc-only"]);
    assert_eq!(output.status.code(), Some(0));
    let recorded = said(&output.stderr);
    let why = "the process grew by";
    assert!(recorded.contains(why), "{recorded}");
    assert!(
        !recorded.contains("--malloc-only"),
        "it is what was done: {recorded}"
    );
    is_of_mallocs_part(&folder, why);
}

#[test]
fn of_every_process_it_is_known_that_malloc_alone_was_asked_for() {
    let folder = folder();
    let mut command = record(&folder, &["--malloc-only", "--", "sh", "-c"]);
    command.args(["sh -c 'exit 0'; ls >/dev/null; exit 0"]);
    assert_eq!(run(command).status.code(), Some(0));
    let files = folder.path().read_dir().expect("a folder");
    let files: Vec<_> = files.map(|file| file.expect("a file").path()).collect();
    assert!(files.len() > 1, "{files:?}");
    for file in files {
        let facts = Facts::load(&file).expect("sound").expect("facts");
        assert!(facts.is_malloc_only, "{}", file.display());
    }
}
