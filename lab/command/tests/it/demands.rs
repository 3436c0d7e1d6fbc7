//! Demand files: what they state is certified whole, and served in exactly the certified bytes.

use std::path::Path;

use crate::certify::{TINY, bytes, certify, demand};
use crate::common::{error_line, surefit};
use serde_json::Value;
use surefit_trace::{Align, Call, Event, Op, Trace};

/// The table of a demand.
fn table(text: &str, spec: &str) -> Value {
    let file = demand(text);
    let path = file.path().to_str().expect("a plain name");
    certify(&["--demand", path, "--allocator", spec])
}

/// The error line of a demand that is refused.
fn refused(text: &str, spec: &str) -> String {
    let file = demand(text);
    let output = surefit()
        .args(["certify", "--allocator", spec, "--demand"])
        .arg(file.path())
        .output();
    error_line(&output.expect("the command runs"), 2)
}

/// So many objects of each size and alignment live at once; every second one is freed, and served
/// again after others.
pub(crate) fn churn(kinds: &[(u64, usize, u32)]) -> Trace {
    let (mut events, mut live, mut id) = (Vec::new(), Vec::new(), 0);
    let mut allocate = |events: &mut Vec<Event>, (size, align): (u64, usize)| {
        let call = Call::Aligned(Align::new(align).expect("a power of two"));
        events.push(Event::new(0, Op::Alloc { id, size, call }));
        id += 1;
        (id - 1, (size, align))
    };
    for &(size, align, count) in kinds {
        for _ in 0..count {
            live.push(allocate(&mut events, (size, align)));
        }
    }
    for _ in 0..4 {
        let mut freed = Vec::new();
        for (at, (id, kind)) in std::mem::take(&mut live).into_iter().enumerate() {
            if at % 2 == 0 {
                events.push(Event::new(0, Op::Free { id }));
                freed.push(kind);
            } else {
                live.push((id, kind));
            }
        }
        for kind in freed.into_iter().rev() {
            live.push(allocate(&mut events, kind));
        }
    }
    Trace::new("churn", events).expect("a sound trace")
}

/// Replays a trace in the bytes that are certified for a demand.
pub(crate) fn completes(trace: &Trace, table: &Value, spec: &str) {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("churn.sft");
    std::fs::write(&path, trace.to_bytes()).expect("a file");
    let output = surefit()
        .arg("replay")
        .arg(&path)
        .args(["--heap", &bytes(&table["heap_bytes"]).to_string()])
        .args(["--no-touch", "--rounds", "1", "--allocator", spec])
        .output()
        .expect("the command runs");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaint}");
}

/// In the tiny configuration 176 bytes at 16 lie in page-blocks of 256 bytes, and of 200 without
/// alignment.
#[test]
fn a_budget_at_an_alignment_is_served_in_its_bytes() {
    let requests =
        "request_bytes = 70400\nsmallest_request_bytes = 176\nlargest_request_bytes = 176\n";
    let blocks = "objects = 400\nblock_bytes = 102400\nlargest_request_bytes = 176\n";
    let further = "[[budgets]]\nobjects = 400\nblock_bytes = 102400\nlargest_request_bytes = 176\n";
    assert_eq!(
        bytes(&table(requests, TINY)["demand"]["block_bytes"]),
        400 * 200
    );
    assert_eq!(bytes(&table(blocks, TINY)["moved_bytes_max_per_op"]), 200);
    let trace = churn(&[(176, 16, 400)]);
    for stated in [requests, blocks, further] {
        let certified = table(&format!("{stated}align_bytes = 16\n"), TINY);
        assert_eq!(bytes(&certified["demand"]["objects"]), 400, "{stated}");
        assert_eq!(
            bytes(&certified["demand"]["block_bytes"]),
            400 * 256,
            "{stated}"
        );
        assert_eq!(bytes(&certified["moved_bytes_max_per_op"]), 256, "{stated}");
        completes(&trace, &certified, TINY);
    }
}

#[test]
fn alignments_that_no_heap_has_are_one_line() {
    let budget = "objects = 4\nblock_bytes = 1024\n";
    for (text, word) in [
        (format!("{budget}align_bytes = 12\n"), "power of two"),
        (
            format!("{budget}align_bytes = 2048\n"),
            "a page has 1024 bytes",
        ),
        (
            "request_bytes = 9\nalign_bytes = 2048\n".to_owned(),
            "a page has 1024 bytes",
        ),
        (
            format!("{budget}[[per_class]]\nrequest_bytes = 8\nobjects = 1\nalign_bytes = 4096\n"),
            "a page has 1024 bytes",
        ),
        (
            "[[per_class]]\nrequest_bytes = 8\nobjects = 1\nalign_bytes = 3\n".to_owned(),
            "power of two",
        ),
    ] {
        let line = refused(&text, TINY);
        assert!(line.contains(word), "{text}: {line}");
    }
}

/// Budgets and peaks of a file are live at once.
#[test]
fn a_budget_and_peaks_are_added_up_and_served_in_their_bytes() {
    let budget = "request_bytes = 512\nlargest_request_bytes = 32\nresized_bytes = 32\n";
    let peaks = "[[per_class]]\nrequest_bytes = 200\nalign_bytes = 64\nobjects = 100\n\
                 [[per_class]]\nrequest_bytes = 700\nobjects = 5\n";
    let [small, large] = [budget, peaks].map(|text| table(text, TINY));
    let both = table(&[budget, peaks].concat(), TINY);
    let readings = both["certificates"].as_array().expect("certificates");
    assert_eq!(readings.len(), 1, "{both}");
    for alone in [&small, &large] {
        assert!(
            bytes(&both["heap_bytes"]) > bytes(&alone["heap_bytes"]),
            "{both}"
        );
    }
    // In pieces: two of 256 bytes, one of 200, a spine.
    let objects = bytes(&small["demand"]["objects"]) + 100 + 5 * 4;
    assert_eq!(bytes(&both["demand"]["objects"]), objects);
    completes(
        &churn(&[(32, 8, 16), (200, 64, 100), (700, 8, 5)]),
        &both,
        TINY,
    );
    let line = refused(&format!("resized_bytes = 32\n{peaks}"), TINY);
    assert!(line.contains("counts at both lengths"), "{line}");
}

/// What guards pin may be aligned as the demand says.
#[test]
fn pinned_objects_may_be_aligned() {
    let with = |pinned: u32, align: u32| {
        let text = format!(
            "request_bytes = 65536\nlargest_request_bytes = 256\nalign_bytes = {align}\nthreads = 2\n\
             pins = 12\nlargest_pinned_bytes = {pinned}\n"
        );
        let certified = table(&text, "1-cf:k=1,page=4K");
        bytes(&certified["parts"]["pin_bytes"])
    };
    // At 64, both lie in page-blocks of 64 bytes at most.
    assert_eq!(with(50, 64), with(64, 64));
    assert!(with(50, 8) < with(64, 8));
}

/// The blocks of a page in a language.
fn blocks<'a>(page: &'a str, language: &str) -> impl Iterator<Item = &'a str> {
    let blocks = page
        .split(&format!("```{language}\n"))
        .skip(1)
        .collect::<Vec<_>>();
    let ends = blocks.into_iter().map(|it| it.split("```").next());
    ends.map(|it| it.expect("a block ends"))
}

/// Writes the demand files of a page: blocks of TOML whose first line is their name.
fn write_files(page: &str, folder: &Path) {
    for block in blocks(page, "toml") {
        let first = block.lines().next().unwrap_or_default();
        if let Some(name) = first.strip_prefix("# ").filter(|it| it.ends_with(".toml")) {
            std::fs::write(folder.join(name), block).expect("written");
        }
    }
}

/// The demand files of the pages are accepted by the commands below them.
#[test]
fn the_demand_files_of_the_pages_are_certified() {
    let mut ran = 0;
    for page in [
        include_str!("../../../../docs/command.md"),
        include_str!("../../../../docs/heaps.md"),
        include_str!("../../../../docs/firmware.md"),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        write_files(page, folder.path());
        for line in blocks(page, "sh").flat_map(str::lines) {
            let is_of_file = line.contains("certify --demand ") && !line.contains("--demand FILE");
            if line.starts_with("echo ") || is_of_file {
                let command = assert_cmd::cargo::cargo_bin!("surefit");
                let line = line.replace("surefit ", &format!("{} ", command.display()));
                let mut shell = std::process::Command::new("sh");
                shell.args(["-c", &line]).current_dir(folder.path());
                let output = shell.output().expect("a shell");
                let complaint = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success(), "{line}\n{complaint}");
                ran += usize::from(is_of_file);
            }
        }
    }
    assert!(ran >= 5, "{ran} commands");
}

/// Of a run, the table says what its three readings are.
#[test]
fn the_readings_of_a_run_are_explained() {
    let output = surefit()
        .args(["certify", "--trace", "bundled:redis-drift"])
        .output()
        .expect("the command runs");
    let table = String::from_utf8_lossy(&output.stdout);
    for words in ["both: within both", "--emit writes joint"] {
        assert!(table.contains(words), "{words}: {table}");
    }
}

/// Threads and pins belong to shared heaps, of which no source text is written.
#[test]
fn what_no_source_text_says_is_refused() {
    let file = demand("request_bytes = 4096\nthreads = 2\npins = 2\n");
    let path = file.path().to_str().expect("a plain name");
    for (allocator, language, word) in [
        ("cf", "rust", "leave them out, or choose 1-cf or n-cf"),
        ("1-cf", "rust", "--emit writes heaps of one owner"),
        ("n-cf", "c", "--emit writes heaps of one owner"),
        ("cf:k=8,order=original", "c", "leave order out"),
    ] {
        let plain = demand("request_bytes = 4096\n");
        let plain = plain.path().to_str().expect("a plain name");
        let file = if allocator.contains("order") {
            plain
        } else {
            path
        };
        let output = surefit()
            .args(["certify", "--emit", language, "--allocator", allocator])
            .args(["--demand", file])
            .output();
        let line = error_line(&output.expect("the command runs"), 2);
        assert!(line.contains(word), "{allocator}: {line}");
    }
}
