//! C programs on the library: compiled without a warning by every compiler that is here, and run
//! under the address and the undefined-behaviour sanitizer.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const WARNINGS: [&str; 5] = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"];

fn folder() -> &'static Path {
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
fn compile(compiler: &str, arguments: &[&str]) -> Option<Output> {
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

fn assert_success(output: &Output, what: &str) {
    let said = [&output.stdout[..], &output.stderr[..]].concat();
    assert!(
        output.status.success(),
        "{what}: {}",
        String::from_utf8_lossy(&said)
    );
}

#[test]
fn the_header_is_c99_and_cpp_without_a_warning() {
    let header = folder().join("include/surefit.h");
    let header = header.to_str().expect("a plain name");
    let mut found = 0;
    for (compiler, arguments) in [
        ("cc", &["-std=c99", "-fsyntax-only", "-x", "c"][..]),
        ("gcc", &["-std=c99", "-fsyntax-only", "-x", "c"]),
        ("clang", &["-std=c99", "-fsyntax-only", "-x", "c"]),
        (
            "arm-none-eabi-gcc",
            &["-std=c99", "-ffreestanding", "-fsyntax-only", "-x", "c"],
        ),
        ("g++", &["-std=c++11", "-fsyntax-only", "-x", "c++"]),
    ] {
        // A header that is compiled by itself has no `once`.
        if let Some(output) = compile(compiler, &[arguments, &[header]].concat()) {
            assert_success(&output, compiler);
            found += 1;
        }
    }
    assert!(found > 0, "a C compiler is here");
}

#[test]
fn a_c_program_keeps_its_bytes_and_every_misuse_is_an_answer() {
    let target = tempfile::tempdir().expect("a folder");
    let (library, source) = (library(), folder().join("tests/c/program.c"));
    let paths = [&source, &library].map(|path| path.to_str().expect("a plain name"));
    for (compiler, sanitizers) in [
        ("cc", &[][..]),
        (
            "gcc",
            &["-fsanitize=address,undefined", "-fno-sanitize-recover=all"],
        ),
        (
            "clang",
            &["-fsanitize=address,undefined", "-fno-sanitize-recover=all"],
        ),
    ] {
        let program = target.path().join(compiler);
        let output = [
            "-std=c99",
            "-g",
            "-O1",
            "-o",
            program.to_str().expect("a plain name"),
        ];
        let libraries = ["-lpthread", "-ldl", "-lm"];
        let arguments = [&output[..], sanitizers, &paths, &libraries].concat();
        let Some(built) = compile(compiler, &arguments) else {
            assert_ne!(compiler, "cc", "a C compiler is here");
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
