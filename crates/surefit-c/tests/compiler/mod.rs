//! C compilers on the library, for the tests that call them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const WARNINGS: [&str; 5] = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"];
const SANITIZERS: [&str; 2] = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];

/// The folder of this crate.
pub(crate) fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The static library, which Cargo builds beside the tests.
fn library() -> PathBuf {
    let tests = std::env::current_exe().expect("a test");
    let library = tests.with_file_name("libsurefit_c.a");
    assert!(
        library.exists(),
        "{} is built with the tests",
        library.display()
    );
    library
}

/// Runs a compiler; `None` if it is not here.
pub(crate) fn compile(compiler: &str, arguments: &[&str]) -> Option<Output> {
    let mut command = Command::new(compiler);
    command
        .arg("-I")
        .arg(folder().join("include"))
        .args(WARNINGS)
        .args(arguments);
    match command.output() {
        Ok(output) => Some(output),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => panic!("{compiler}: {error}"),
    }
}

pub(crate) fn assert_success(output: &Output, what: &str) {
    let said = [&output.stdout[..], &output.stderr[..]].concat();
    assert!(
        output.status.success(),
        "{what}: {}",
        String::from_utf8_lossy(&said)
    );
}

/// Compiles a program by every compiler that is here, with sanitizers where there are some, and
/// runs it: it prints that nothing failed. `flags` are given as they are; `paths` lie in the folder
/// of this crate: sources, and folders of headers.
#[allow(
    dead_code,
    reason = "each test is a crate of its own, with this module"
)]
pub(crate) fn assert_no_failure(sources: &[&str], folders: &[&str], flags: &[&str]) {
    let target = tempfile::tempdir().expect("a folder");
    let text = |path: PathBuf| path.to_str().expect("a plain name").to_owned();
    let mut common = vec!["-std=c99".to_owned(), "-g".to_owned(), "-O1".to_owned()];
    common.extend(flags.iter().map(ToString::to_string));
    common.extend(
        folders
            .iter()
            .map(|path| format!("-I{}", text(folder().join(path)))),
    );
    common.extend(sources.iter().map(|path| text(folder().join(path))));
    common.push(text(library()));
    for (compiler, sanitizers) in [
        ("cc", &[][..]),
        ("gcc", &SANITIZERS),
        ("clang", &SANITIZERS),
    ] {
        let program = text(target.path().join(compiler));
        let mut arguments: Vec<&str> = common.iter().map(String::as_str).collect();
        arguments.extend(["-o", &program, "-lpthread", "-ldl", "-lm"]);
        arguments.extend(sanitizers);
        let Some(built) = compile(compiler, &arguments) else {
            assert_ne!(compiler, "cc", "a C compiler is here");
            println!("NOT RUN: {} with {compiler} (it is not here)", sources[0]);
            continue;
        };
        let said = String::from_utf8_lossy(&built.stderr);
        if said.contains("libasan") || said.contains("libclang_rt") || said.contains("lasan") {
            println!("NOT RUN: {compiler} has no sanitizers here");
            continue;
        }
        assert_success(&built, compiler);
        let run = Command::new(&program).output().expect("the program runs");
        assert_success(&run, compiler);
        assert_eq!(String::from_utf8_lossy(&run.stdout), "0 failures\n");
    }
}
