//! A program of tests/programs, compiled by the C compiler, with the library in front of it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const FLAGS: [&str; 7] = [
    "-std=gnu11",
    "-O1",
    "-g",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-pthread",
];

/// The library. `cargo test -p surefit-malloc` builds it; with `--test` Cargo builds no example.
pub(crate) fn library() -> PathBuf {
    let tests = std::env::current_exe().expect("a test");
    let folder = tests.ancestors().nth(2).expect("a profile's folder");
    let library = folder.join("examples/libsurefit_malloc.so");
    assert!(
        library.exists(),
        "{} is not there: `cargo test -p surefit-malloc` builds it",
        library.display()
    );
    library
}

/// Compiles a program; each test has its own.
pub(crate) fn compiled(name: &str, of: &str) -> PathBuf {
    let to = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{of}"));
    // The library is linked to what the program defines.
    compile(name, &to, &["-rdynamic", "-fPIC", "-pie"]);
    to
}

/// Compiles a file of tests/programs with flags of its own.
pub(crate) fn compile(name: &str, to: &Path, flags: &[&str]) {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let made = Command::new(compiler)
        .args(FLAGS)
        // What the library exports is not there when the program is linked.
        .arg("-Wl,--unresolved-symbols=ignore-in-object-files")
        // Those symbols need a place in the table of the linker at run time.
        .args(flags)
        .arg("-fno-builtin")
        .arg("-I")
        .arg(crate_folder.join("include"))
        .arg("-o")
        .arg(to)
        .arg(
            crate_folder
                .join("tests/programs")
                .join(format!("{name}.c")),
        )
        .status();
    let made = made.expect("a C compiler: `cc`, or what CC names");
    assert!(made.success(), "{name}.c does not compile");
}

/// A program in front of which the library is loaded, with nothing else of the environment that
/// concerns it.
pub(crate) fn preloaded(program: &Path) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("SUREFIT_") {
            command.env_remove(name);
        }
    }
    command.env("LD_PRELOAD", library());
    command
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs it; it succeeds.
pub(crate) fn succeeds(command: &mut Command) -> Output {
    let output = command.output().expect("the program starts");
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}{}",
        output.status,
        text(&output.stdout),
        text(&output.stderr)
    );
    output
}
