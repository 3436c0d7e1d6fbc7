//! What a malloc without a region holds is measured from outside: a known hoard is seen, whatever
//! was freed before.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::result;
use surefit_trace::{Call, Event, Op, Trace};
use tempfile::TempDir;

/// Objects of the hoard, and their bytes: a power of two less than a page is what any malloc adds
/// to them.
const HOARD: u32 = 768;
const BYTES: u64 = 65_536;

/// Small objects that come and go before: reading so many events takes more memory than the hoard
/// does.
const EARLIER: u32 = 400_000;

/// A trace of small objects, one alive at a time, and then of a hoard; compressed, so that reading
/// it takes memory.
fn hoard(directory: &Path) -> PathBuf {
    let call = Call::Malloc;
    let alloc = |id, size| Op::Alloc { id, size, call };
    let earlier = (0..EARLIER).flat_map(|id| [alloc(id, 32), Op::Free { id }]);
    let ids = EARLIER..EARLIER + HOARD;
    let kept = ids.clone().map(|id| alloc(id, BYTES));
    let freed = ids.map(|id| Op::Free { id });
    let ops = earlier.chain(kept).chain(freed);
    let trace = Trace::new("hoard", ops.map(|op| Event::new(0, op)).collect());
    let path = directory.join("hoard.sft.zst");
    let mut file = std::fs::File::create(&path).expect("a file");
    let trace = trace.expect("a sound trace");
    trace
        .write_compressed(&mut file, 3, |_| {})
        .expect("a file");
    path
}

/// The malloc of `hoarder.c` as a library. Rust links by the C compiler, so whoever builds this has
/// one.
pub(crate) fn hoarder(directory: &Path) -> PathBuf {
    let library = directory.join("libhoarder.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/hoarder.c");
    let made = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()))
        .args(["-O1", "-shared", "-fPIC", "-fno-builtin", "-o"])
        .arg(&library)
        .arg(source)
        .status();
    let made = made.expect("a C compiler: `cc`, or what CC names");
    assert!(made.success(), "the hoarder does not compile");
    library
}

fn sees_the_hoard(file: &Path, allocator: &str, options: &[&str]) {
    let row = result(file, allocator, options);
    let grown = row["peak_resident_bytes"].as_u64().expect("Linux says");
    let share = grown as f64 / (u64::from(HOARD) * BYTES) as f64;
    assert!((0.95..=1.05).contains(&share), "{allocator}: {share}");
}

fn directory() -> TempDir {
    tempfile::tempdir().expect("a directory")
}

#[test]
fn a_hoard_of_the_platforms_malloc_is_seen() {
    let directory = directory();
    let file = hoard(directory.path());
    sees_the_hoard(&file, "system", &[]);
}

#[test]
fn a_hoard_of_a_malloc_that_gives_nothing_back_is_seen() {
    let directory = directory();
    let file = hoard(directory.path());
    let allocator = format!("preload:{}", hoarder(directory.path()).display());
    sees_the_hoard(&file, &allocator, &[]);
    // the same trace without some objects that it does not have
    sees_the_hoard(&file, &allocator, &["--largest", "64K"]);
}
