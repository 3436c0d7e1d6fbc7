//! The commands of docs/guide.md run in its order, in one folder, and answer.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

const GUIDE: &str = include_str!("../../../../docs/guide.md");

/// The lines of its shell blocks, but for those that build something or preload it: tests of other
/// crates and ci/examples.sh run these.
fn commands() -> impl Iterator<Item = &'static str> {
    let blocks = GUIDE.split("```sh\n").skip(1);
    let lines = blocks.filter_map(|block| block.split("```").next());
    let lines = lines.flat_map(str::lines);
    lines.filter(|line| !line.starts_with("cargo ") && !line.contains("LD_PRELOAD"))
}

#[test]
fn the_commands_of_the_guide_run_in_order() {
    let folder = tempfile::tempdir().expect("a folder");
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    symlink(checkout.join("README.md"), folder.path().join("README.md")).expect("linked");
    let mut path = assert_cmd::cargo::cargo_bin!("surefit")
        .parent()
        .expect("a folder")
        .as_os_str()
        .to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let mut ran = 0;
    for line in commands() {
        let mut shell = Command::new("sh");
        shell.args(["-c", line]).current_dir(folder.path());
        let output = shell.env("PATH", &path).output().expect("a shell");
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{line}\n{complaint}");
        ran += 1;
    }
    assert_eq!(ran, 7);
    let header = std::fs::read_to_string(folder.path().join("heap.h")).expect("it was written");
    assert!(header.contains("surefit.h"), "{header}");
}
