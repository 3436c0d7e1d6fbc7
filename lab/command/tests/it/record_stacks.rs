//! The recorder's own walk of a stack, beside the platform's unwinder: the same callers, frame by
//! frame, on stacks of every kind.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use surefit_recorder::session::{self, Session, Stacks, Unwinding};
use surefit_recorder::sites::{Compared, compared};
use tempfile::TempDir;

/// A compiler from the environment, with what all programs here need.
fn compiler(variable: &str, usual: &str) -> Command {
    let name = std::env::var_os(variable).unwrap_or_else(|| usual.into());
    let mut compiler = Command::new(name);
    compiler.args(["-w", "-fno-builtin", "-pthread"]);
    compiler
}

/// Compiles a source beside this file; `None` if there is no compiler.
fn compiled(mut compiler: Command, source: &str, options: &[&str], to: &Path) -> Option<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/it")
        .join(source);
    compiler.args(options).arg("-o").arg(to).arg(source);
    let made = compiler.status().ok()?;
    assert!(made.success(), "{compiler:?}");
    Some(to.to_owned())
}

/// Two libraries of the same code but for the bytes of their frames.
fn libraries(folder: &Path) -> Option<[OsString; 2]> {
    let library = |frame: &str| {
        let options = ["-O2", "-fomit-frame-pointer", "-shared", "-fPIC", frame];
        let to = folder.join(frame);
        let made = compiled(compiler("CC", "cc"), "stacks_plugin.c", &options, &to);
        made.map(PathBuf::into_os_string)
    };
    Some([library("-DFRAME=40")?, library("-DFRAME=104")?])
}

/// Runs a program, whose callers are found twice.
fn compare(command: &[OsString], depth: u32) -> Compared {
    let folder = TempDir::new().expect("a folder");
    let stacks = Stacks {
        depth,
        unwinding: Unwinding::Compared,
    };
    let session =
        Session::start(command, folder.path(), None, Some(stacks), |_| {}).expect("it starts");
    let status = session.wait(None).expect("it ends").expect("it ended");
    assert!(status.success(), "{command:?}: {status}");
    let logs = session::logs(folder.path()).expect("a folder");
    assert_eq!(logs.len(), 1);
    compared(&logs[0]).expect("stacks")
}

#[test]
fn our_walk_finds_what_the_platforms_unwinder_finds() {
    let folder = TempDir::new().expect("a folder");
    let Some(libraries) = libraries(folder.path()) else {
        return eprintln!("NOT RUN: there is no C compiler; CC can name one");
    };
    for (number, options) in [
        &["-O2", "-fomit-frame-pointer"][..],
        &["-O0"],
        &["-O2", "-fno-omit-frame-pointer", "-no-pie", "-fno-pie"],
    ]
    .into_iter()
    .enumerate()
    {
        let to = folder.path().join(number.to_string());
        let Some(program) = compiled(compiler("CXX", "c++"), "stacks.cpp", options, &to) else {
            return eprintln!("NOT RUN: there is no C++ compiler; CXX can name one");
        };
        let mut command = vec![program.into_os_string()];
        command.extend_from_slice(&libraries);
        for depth in [16, 3, 56] {
            let found = compare(&command, depth);
            assert_eq!(found.different, 0, "{options:?}, depth {depth}: {found:?}");
            // Signals, coroutines and aligned frames are the platform's; the rest is ours.
            assert!(found.alike > 30_000, "{options:?}: {found:?}");
            assert!(
                found.by_platform * 20 < found.alike,
                "{options:?}: {found:?}"
            );
        }
        // What is unloaded is forgotten: no rule of a library is used for its successor.
        command.push("libraries".into());
        let found = compare(&command, 16);
        assert_eq!(found.different, 0, "{options:?}: {found:?}");
        assert!(
            found.alike > 500 && found.by_platform < 20,
            "{options:?}: {found:?}"
        );
    }
}

#[test]
fn our_walk_knows_the_way_in_a_program_of_rust() {
    // This one: it lists its tests. (How much more it allocates depends on the terminal.)
    let program = std::env::current_exe().expect("a program").into_os_string();
    let list = [program, "--list".into()];
    let found = compare(&list, 16);
    assert_eq!(found.different, 0, "{found:?}");
    assert!(found.alike > 300 && found.by_platform < 20, "{found:?}");
}
