//! Certified heaps as source text: what is written is what the tests of other crates compile and
//! run, and its region is that of the table.

use crate::certify::{TINY, bytes, certify, demand};
use crate::common::{error_line, surefit};
use crate::demands::churn;
use serde_json::Value;

/// What the command writes for a demand in the example's folder. With `SUREFIT_WRITE_HEADER` set,
/// the file is written.
fn is_written_today(language: &str, demand: &str, spec: &str, file: &str) {
    let crates = concat!(env!("CARGO_MANIFEST_DIR"), "/../../crates");
    let output = surefit()
        .current_dir(format!("{crates}/surefit/examples/certified"))
        .args(["certify", "--emit", language, "--allocator", spec])
        .args(["--demand", demand])
        .output()
        .expect("the command runs");
    assert!(output.status.success(), "{demand}");
    let file = format!("{crates}/{file}");
    if std::env::var_os("SUREFIT_WRITE_HEADER").is_some() {
        std::fs::write(&file, &output.stdout).expect("written");
    }
    let committed = std::fs::read_to_string(&file).expect("a file");
    assert_eq!(String::from_utf8_lossy(&output.stdout), committed, "{file}");
}

/// The modules of the library's example; that they compile, and that their heaps refuse nothing,
/// the example shows.
#[test]
fn what_is_emitted_is_the_example() {
    for (demand, page, bound) in [
        ("heap_4k.json", "1K", ",k=1"),
        ("heap_64k.json", "1K", ",k=1"),
        ("heap_1m.json", "4K", ""),
        ("heap_mixed.toml", "1K", ",k=1"),
    ] {
        let spec = format!("cf:page={page},width=16,spacing=1/4{bound}");
        let (module, _) = demand.split_once('.').expect("a name");
        let file = format!("surefit/examples/certified/{module}.rs");
        is_written_today("rust", demand, &spec, &file);
    }
}

/// The headers of the C interface's tests, which compile and run them.
#[test]
fn what_is_emitted_in_c_is_what_its_tests_run() {
    for (demand, spec, header) in [
        ("heap_4k.json", TINY, "peaks"),
        ("heap_64k.json", "cf:page=2K,width=24,spacing=1/4", "budget"),
        ("heap_mixed.toml", TINY, "mixed"),
    ] {
        let file = format!("surefit-c/tests/c/emitted/{header}/heap.h");
        is_written_today("c", demand, spec, &file);
    }
}

/// The number behind a name in source text.
pub(crate) fn number_after(text: &str, name: &str) -> u64 {
    let (_, after) = text.split_once(name).expect("the name");
    let digits = after.trim_start().replace('_', "");
    let end = digits.find(|it: char| !it.is_ascii_digit());
    let digits = &digits[..end.unwrap_or(digits.len())];
    digits.parse().expect("a number")
}

/// A budget of aligned requests.
const ALIGNED: &str = "request_bytes = 3000\nlargest_request_bytes = 150\nalign_bytes = 64\n";
/// What is resized of it.
const RESIZED: &str = "resized_bytes = 150\n";
/// A further budget, of another alignment.
const FURTHER: &str =
    "[[budgets]]\nobjects = 5\nblock_bytes = 9000\nlargest_request_bytes = 2000\n";
/// Peaks, of objects in pieces too.
const PEAKS: &str = "[[per_class]]\nrequest_bytes = 200\nobjects = 100\n\
                     [[per_class]]\nrequest_bytes = 72\nalign_bytes = 128\nobjects = 3\n\
                     [[per_class]]\nrequest_bytes = 5000\nobjects = 2\n";

/// The bytes of a table's region that begins at a page, without the control structure.
pub(crate) fn region(table: &Value) -> u64 {
    let parts = &table["parts"];
    bytes(&table["heap_bytes"]) - bytes(&parts["alignment_bytes"]) - bytes(&parts["control_bytes"])
}

/// A heap as source text.
pub(crate) fn emit(language: &str, options: &[&str]) -> String {
    let output = surefit()
        .args(["certify", "--emit", language])
        .args(options)
        .output()
        .expect("the command runs");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaint}");
    String::from_utf8(output.stdout).expect("text")
}

/// Whatever a file states, every form has the bytes of the table's first line. Heaps of C have
/// keys.
#[test]
fn an_emitted_region_is_that_of_the_table() {
    for parts in [
        &[ALIGNED][..],
        &[PEAKS],
        &[ALIGNED, PEAKS],
        &[ALIGNED, RESIZED, PEAKS],
        &[ALIGNED, RESIZED, FURTHER, PEAKS],
    ] {
        let file = demand(&parts.concat());
        let path = file.path().to_str().expect("a plain name");
        for (spec, margin) in [
            ("cf:page=4K,k=1", "0"),
            ("cf:keys,page=4K,k=1", "12.5"),
            ("cf:keys,spacing=1/4", "0"),
        ] {
            let options = ["--demand", path, "--margin", margin, "--allocator", spec];
            let table = certify(&options);
            let what = format!("{parts:?} {spec}");
            let module = emit("rust", &options);
            // One byte says whether the region was taken.
            let emitted = number_after(&module, "REGION_BYTES: usize = ");
            assert_eq!(emitted, region(&table) + 1, "{what}: {module}");
            if !spec.contains("keys") {
                continue;
            }
            let header = emit("c", &options);
            assert!(!header.contains("cannot say"), "{what}: {header}");
            let emitted = number_after(&header, "HEAP_CERTIFIED_BYTES ");
            assert_eq!(emitted, region(&table), "{what}: {header}");
            assert!(
                header.contains("have neither, and 0 more for keys"),
                "{what}: {header}"
            );
            let moved = number_after(&header, "HEAP_MOVED_BYTES_MAX ");
            assert_eq!(moved, bytes(&table["moved_bytes_max_per_op"]), "{what}");
        }
    }
}

/// A library without pieces needs more for such a demand, so its headers do not link with it.
#[test]
fn a_header_that_counts_pieces_calls_what_only_a_library_with_them_has() {
    let pages = "cf:keys,page=1K,k=1";
    for (longest, spec, calls) in [
        (520, pages, true),
        (256, pages, false),
        (520, "cf:keys,page=1K,k=1,pieces=off", false),
    ] {
        let text = format!("request_bytes = 10400\nlargest_request_bytes = {longest}\n");
        let file = demand(&text);
        let path = file.path().to_str().expect("a plain name");
        let header = emit("c", &["--demand", path, "--allocator", spec]);
        let has = header.contains("surefit_has_pieces();");
        assert_eq!(has, calls, "{longest} {spec}: {header}");
    }
    let peaks = demand(PEAKS);
    let path = peaks.path().to_str().expect("a plain name");
    let header = emit(
        "c",
        &["--demand", path, "--allocator", "cf:keys,page=4K,k=1"],
    );
    assert!(header.contains("surefit_has_pieces();"), "{header}");
}

/// The table of handles and the header of keys are two sums: the header says how they differ.
#[test]
fn a_header_says_how_it_differs_from_the_table() {
    let file = demand(ALIGNED);
    let options = ["--demand", file.path().to_str().expect("a plain name")];
    let table = certify(&options);
    let header = emit("c", &options).replace(',', "");
    let printed = number_after(&header, "Of the ");
    assert_eq!(printed, bytes(&table["heap_bytes"]), "{header}");
    let keys = number_after(&header, "have neither and ");
    let certified = number_after(&header, "HEAP_CERTIFIED_BYTES ");
    assert_eq!(certified, region(&table) + keys, "{header}");
    assert!(keys > 0);
}

/// `surefit_demand` says size-classes by the largest request; a trace may use any.
#[test]
fn a_header_for_more_size_classes_than_the_table_says_so() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("churn.sft");
    let trace = churn(&[(24, 8, 10), (200, 8, 10)]);
    std::fs::write(&path, trace.to_bytes()).expect("a file");
    let path = path.to_str().expect("a plain name");
    let options = ["--trace", path, "--allocator", "cf:keys,page=4K"];
    let table = certify(&options);
    let module = emit("rust", &options);
    let emitted = number_after(&module, "REGION_BYTES: usize = ");
    assert_eq!(emitted, region(&table) + 1, "{module}");
    let header = emit("c", &options);
    let told = "surefit_demand cannot say which 2 size-classes the demand has";
    assert!(header.contains(told), "{header}");
    assert!(
        !header.contains("that `surefit certify` prints"),
        "{header}"
    );
    assert!(number_after(&header, "HEAP_CERTIFIED_BYTES ") >= region(&table));
}

/// Peaks are in the header as the file states them, with the margin.
#[test]
fn peaks_are_emitted_as_they_are_stated() {
    let file = demand(&[ALIGNED, PEAKS].concat());
    let path = file.path().to_str().expect("a plain name");
    let header = emit("c", &["--margin", "10", "--demand", path]);
    let peaks = "heap_peaks[] = {{200, 0, 110}, {72, 128, 4}, {5000, 0, 3}};";
    assert!(header.contains(peaks), "{header}");
    assert!(
        header.contains("heap_demand = {heap_peaks, 3, "),
        "{header}"
    );
    assert!(header.contains(", 150, 0, 0, 64, 0, 0};"), "{header}");
}

/// Two heaps in one program have names of their own, and a file's name ends no comment.
#[test]
fn what_is_emitted_is_called_as_the_program_likes() {
    let folder = tempfile::tempdir().expect("a folder");
    let inner = folder.path().join("a*");
    std::fs::create_dir(&inner).expect("a folder");
    let file = inner.join("d.json");
    let text = r#"{"per_class": [{"request_bytes": 24, "objects": 36}]}"#;
    std::fs::write(&file, text).expect("written");
    let emit = |language: &str, name: &str| {
        let mut command = surefit();
        command.args(["certify", "--emit", language, "--name", name, "--allocator"]);
        command.arg(TINY).arg("--demand").arg(&file);
        command.output().expect("the command runs")
    };
    let header = emit("c", "sensors");
    let header = String::from_utf8_lossy(&header.stdout);
    for name in [
        "SENSORS_H",
        "SENSORS_PAGE_BYTES",
        " sensors_init(",
        "{sensors_peaks, 1,",
    ] {
        assert!(header.contains(name), "{name}: {header}");
    }
    assert!(header.contains("surefit_heap_init(sensors_memory, sizeof sensors_memory"));
    assert!(
        !header.contains("HEAP_") && !header.contains(" heap_"),
        "{header}"
    );
    let comment = header.split("#ifndef").next().expect("a comment");
    assert_eq!(comment.matches("*/").count(), 1, "{comment}");
    let module = emit("rust", "sensors");
    let module = String::from_utf8_lossy(&module.stdout);
    assert!(module.contains("&sensors::CONFIG"), "{module}");
    for name in ["", "2", "Heap", "a-b"] {
        let line = error_line(&emit("c", name), 2);
        assert!(line.contains("name"), "{line}");
    }
}

/// Size-classes that no spacing has are a list in the header.
#[test]
fn a_list_of_size_classes_is_emitted_in_c() {
    let file = demand(r#"{"per_class": [{"request_bytes": 24, "objects": 36}]}"#);
    let spec = "cf:page=1K,width=16,pieces=256,large=512,classes=[16 24 256 512],k=1";
    let output = surefit()
        .args(["certify", "--emit", "c", "--allocator", spec, "--demand"])
        .arg(file.path())
        .output()
        .expect("the command runs");
    let header = String::from_utf8_lossy(&output.stdout);
    for line in [
        "static const uint32_t block_bytes[] = {16, 24, 256, 512, 1024};",
        "options = {1024, 2, 0, 1, 0, 0, 256, 512, 5, block_bytes};",
    ] {
        assert!(header.contains(line), "{line}: {header}");
    }
}

#[test]
fn a_configuration_that_c_cannot_say_is_refused() {
    let file = demand(r#"{"per_class": [{"request_bytes": 24, "objects": 36}]}"#);
    let output = surefit()
        .args([
            "certify",
            "--emit",
            "c",
            "--allocator",
            "cf:k=inf",
            "--demand",
        ])
        .arg(file.path())
        .output();
    let line = error_line(&output.expect("the command runs"), 2);
    assert!(
        line.contains("surefit_options cannot say this configuration"),
        "{line}"
    );
}

#[test]
fn an_object_that_c_cannot_have_is_refused() {
    let file = demand(r#"{"per_class": [{"request_bytes": 5000000000, "objects": 1}]}"#);
    let output = surefit()
        .args(["certify", "--emit", "c", "--demand"])
        .arg(file.path())
        .output();
    let line = error_line(&output.expect("the command runs"), 2);
    assert!(line.contains("at most 4294967295"), "{line}");
}
