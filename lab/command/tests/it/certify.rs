//! `surefit certify` from outside.

use crate::common::{error_line, surefit};
use serde_json::Value;
use surefit_trace::{Call, Event, Op, Trace};

pub(crate) fn certify(options: &[&str]) -> Value {
    let output = surefit()
        .args(["certify", "--format", "json"])
        .args(options)
        .output()
        .expect("the command runs");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaint}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

pub(crate) fn bytes(value: &Value) -> u64 {
    value.as_u64().expect("a number of bytes")
}

#[test]
fn the_bundled_traces_are_certified_for_little_more_than_their_page_blocks() {
    for name in ["bundled:emacs", "bundled:redis-drift"] {
        let report = certify(&["--trace", name]);
        let [block_bytes, heap] =
            [&report["demand"]["block_bytes"], &report["heap_bytes"]].map(bytes);
        let parts = report["parts"].as_object().expect("parts");
        assert_eq!(
            parts.values().map(bytes).sum::<u64>(),
            heap,
            "the parts add up"
        );
        let handles = bytes(&parts["handle_bytes"]);
        assert!(
            (heap - handles) as f64 <= 1.3 * block_bytes as f64,
            "{report}"
        );
        assert!(bytes(&report["moved_bytes_max_per_op"]) <= 2 * 4096);
        let [joint, classes, both] =
            [0, 1, 2].map(|n| bytes(&report["certificates"][n]["heap_bytes"]));
        assert!(
            joint == heap && both <= joint && both <= classes,
            "{report}"
        );
    }
}

/// Replays a trace in the bytes that are certified for it.
fn completes_as_certified(trace: &str, spec: &str) {
    let report = certify(&["--trace", trace, "--allocator", spec]);
    let heap = bytes(&report["heap_bytes"]).to_string();
    let options = ["--no-touch", "--rounds", "1", "--allocator", spec];
    let output = surefit()
        .args(["replay", trace, "--heap", &heap])
        .args(options)
        .output();
    assert!(
        output.expect("the command runs").status.success(),
        "{spec} in {heap} bytes"
    );
}

#[test]
fn a_replay_completes_in_a_heap_of_the_certified_size() {
    for spec in ["cf", "cf:k=1", "cf:holes=32,frac=0", "cf:width=24"] {
        completes_as_certified("bundled:emacs", spec);
    }
}

#[test]
fn a_demand_comes_from_a_file_too() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let text = r#"{"objects": 100, "block_bytes": 10000, "largest_request_bytes": 64}"#;
    std::fs::write(file.path(), text).expect("writable");
    let path = file.path().to_str().expect("a plain name");
    let report = certify(&["--demand", path]);
    assert_eq!(report["certificates"][0]["demand"], "joint");
    assert!(bytes(&report["heap_bytes"]) < 10 * (16 << 10));
}

#[test]
fn what_has_no_certificate_is_one_line() {
    for (options, word) in [
        (
            ["--trace", "bundled:emacs", "--allocator", "tlsf"],
            "certificate",
        ),
        (
            ["--trace", "bundled:emacs", "--allocator", "cf:pieces=off"],
            "pieces",
        ),
        (
            [
                "--trace",
                "bundled:emacs",
                "--allocator",
                "cf:width=16,page=1K",
            ],
            "number",
        ),
        (
            ["--demand", "/nonexistent.json", "--allocator", "cf"],
            "/nonexistent.json",
        ),
    ] {
        let output = surefit().arg("certify").args(options).output();
        let line = error_line(&output.expect("the command runs"), 2);
        assert!(line.contains(word), "{line}");
    }
}

#[test]
fn an_object_larger_than_any_heap_is_one_line_that_names_its_event() {
    let directory = tempfile::tempdir().expect("a directory");
    for (log2, spec) in [
        (47, "cf"),
        (47, "cf:keys"),
        (40, "cf:pieces=64"),
        (56, "cf"),
    ] {
        let sizes = [100, 1 << log2, 100].into_iter().zip(0..);
        let events = sizes.map(|(size, id)| {
            Event::new(
                0,
                Op::Alloc {
                    id,
                    size,
                    call: Call::Malloc,
                },
            )
        });
        let trace = Trace::new("huge", events.collect()).expect("a sound trace");
        let path = directory.path().join("huge.sft");
        std::fs::write(&path, trace.to_bytes()).expect("a file");
        let options = ["certify", "--allocator", spec, "--trace"];
        let output = surefit().args(options).arg(&path).output();
        let line = error_line(&output.expect("the command runs"), 2);
        assert!(line.contains("huge: event 1: "), "{line}");
        assert!(line.contains("larger pieces"), "{line}");
    }
}

/// A demand in a file that lives as long as what is returned.
pub(crate) fn demand(text: &str) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), text).expect("writable");
    file
}

#[test]
fn a_demand_in_requests_costs_what_its_configuration_makes_of_it() {
    let file = demand(r#"{"request_bytes": 65536, "largest_request_bytes": 256}"#);
    let path = file.path().to_str().expect("a plain name");
    let of = |spec: &str| certify(&["--demand", path, "--allocator", spec]);
    let (coarse, fine) = (of("cf:spacing=1/2"), of("cf:spacing=1/16"));
    let block_bytes = |report: &Value| bytes(&report["demand"]["block_bytes"]);
    assert!(block_bytes(&fine) < block_bytes(&coarse));
    for report in [&coarse, &fine] {
        assert_eq!(report["demand"]["objects"], 65536 / 16);
        assert!(block_bytes(report) >= 65536);
        assert!(bytes(&report["heap_bytes"]) > block_bytes(report));
    }
}

#[test]
fn the_cheapest_configuration_is_proposed_with_what_each_choice_costs() {
    let file = demand(r#"{"request_bytes": 8192, "largest_request_bytes": 256}"#);
    let path = file.path().to_str().expect("a plain name");
    let with = |spec: &str| certify(&["--demand", path, "--allocator", spec, "--propose"]);
    let report = with("cf");
    let cheapest = &report["proposals"]["cheapest"];
    let least = bytes(&cheapest["heap_bytes"]);
    let choices = report["proposals"]["choices"].as_array().expect("choices");
    let of = |choice: &Value| bytes(&choice["proposal"]["heap_bytes"]);
    assert!(least < bytes(&report["heap_bytes"]) / 5, "{report}");
    assert!(choices.iter().all(|choice| of(choice) >= least));
    assert_eq!(
        choices.iter().filter(|choice| of(choice) == least).count(),
        5,
        "{report}"
    );
    // It is what certify says of it.
    let spec = cheapest["allocator"].as_str().expect("a spec");
    assert_eq!(
        bytes(&certify(&["--demand", path, "--allocator", spec])["heap_bytes"]),
        least
    );
    // The cheapest with contiguous objects is no cheaper.
    let whole = &report["proposals"]["contiguous"];
    assert!(bytes(&whole["heap_bytes"]) >= least, "{report}");
    let spec = whole["allocator"].as_str().expect("a spec");
    assert!(spec.contains("pieces=off"), "{spec}");
    // What is given is kept.
    let kept = with("cf:page=4K,k=1");
    let spec = kept["proposals"]["cheapest"]["allocator"]
        .as_str()
        .expect("a spec");
    assert!(spec.starts_with("cf:page=4K,k=1,"), "{spec}");
    let names = kept["proposals"]["choices"]
        .as_array()
        .expect("choices")
        .iter();
    let names: Vec<_> = names.filter_map(|it| it["choice"].as_str()).collect();
    assert!(
        names
            .iter()
            .all(|it| !it.starts_with("page") && !it.starts_with("k=")),
        "{names:?}"
    );
}

/// What a newcomer reads: what the choices are, and what to type next.
#[test]
fn a_proposal_explains_itself_and_says_what_comes_next() {
    let file = demand("request_bytes = 5343\nlargest_request_bytes = 256\n");
    let output = surefit()
        .args(["certify", "--propose", "--allocator", "cf:pieces=off"])
        .arg("--demand")
        .arg(file.path())
        .output()
        .expect("the command runs");
    let text = String::from_utf8_lossy(&output.stdout);
    // Few size-classes serve few bytes best: those of `Config::MICRO`. A shell needs the quotes.
    let micro = "'cf:pieces=off,page=1K,width=16,classes=[32 64 128 256 512],k=1'";
    for words in [micro, "What the choices are:", "--emit rust"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    for line in text
        .lines()
        .skip_while(|line| !line.starts_with("Fewest bytes"))
    {
        let is_spec = line.contains("cf:");
        assert!(is_spec || line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn what_cannot_be_served_is_refused_with_what_can() {
    // Two-byte words number too few pages of 16 KiB for both; smaller pages serve the first.
    for (live, word) in [
        (400_000, "serves it in"),
        (4_000_000, "no configuration serves"),
    ] {
        let file = demand(&format!(
            r#"{{"request_bytes": {live}, "largest_request_bytes": 256}}"#
        ));
        let options = [
            "certify",
            "--allocator",
            "cf:width=16",
            "--propose",
            "--demand",
        ];
        let output = surefit().args(options).arg(file.path()).output();
        let line = error_line(&output.expect("the command runs"), 2);
        assert!(line.contains(word), "{line}");
        assert_eq!(
            line.contains("cf:width=16,page=1K"),
            live == 400_000,
            "{line}"
        );
    }
}

#[test]
fn demands_in_requests_that_contradict_themselves_are_one_line() {
    for (text, word) in [
        (r#"{"smallest_request_bytes": 8}"#, "give both"),
        (
            r#"{"request_bytes": 100, "objects": 3}"#,
            "give one of the two",
        ),
        (
            r#"{"request_bytes": 100, "largest_request_bytes": 200}"#,
            "at most all",
        ),
        (
            r#"{"request_bytes": 100, "smallest_request_bytes": 0}"#,
            "at least 1",
        ),
        (
            r#"{"request_bytes": 9, "smallest_request_bytes": 8, "largest_request_bytes": 7}"#,
            "at most the largest",
        ),
    ] {
        let file = demand(text);
        let output = surefit()
            .args(["certify", "--demand"])
            .arg(file.path())
            .output();
        let line = error_line(&output.expect("the command runs"), 2);
        assert!(line.contains(word), "{text}: {line}");
    }
}

/// The configurations that were measured on boards.
pub(crate) const TINY: &str = "cf:page=1K,width=16,spacing=1/4,k=1";
const MICRO: &str = "cf:page=1K,width=16,classes=[32 64 128 256 512],k=1";

/// What `certify --target` does with a small demand.
fn on_target(target: &str, spec: &str) -> std::process::Output {
    let objects = r#"{"per_class": [{"request_bytes": 24, "objects": 36}]}"#;
    demand_on_target(target, spec, objects)
}

fn demand_on_target(target: &str, spec: &str, objects: &str) -> std::process::Output {
    let file = demand(objects);
    let mut command = surefit();
    command.args([
        "certify",
        "--target",
        target,
        "--allocator",
        spec,
        "--demand",
    ]);
    let output = command.arg(file.path()).output();
    output.expect("the command runs")
}

#[test]
fn the_worst_calls_on_a_processor_are_those_of_its_table() {
    for (spec, heap) in [(TINY, "Heap"), (MICRO, "Heap (MICRO)")] {
        let output = on_target("cortex-m4", spec);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{text}");
        let calls = worst_calls(heap);
        assert!(!calls.is_empty());
        for line in calls {
            assert!(text.contains(&line), "{line} is not in {text}");
        }
        assert!(text.contains("at most"), "{text}");
        let said: Vec<_> = text.split_whitespace().collect();
        assert!(
            said.join(" ")
                .contains("QEMU counts instructions, not cycles")
        );
    }
}

/// How the lines begin that are printed of a heap in the table.
fn worst_calls(heap: &str) -> Vec<String> {
    let table = include_str!("../../../../firmware/worst/cortex-m4.csv");
    let lines = table.lines().map(|line| line.split(',').collect());
    let of_heap = lines.filter(|cells: &Vec<&str>| cells[0] == heap);
    let printed = of_heap.map(|cells| match cells[3] {
        "" => format!("{:<14} no bound; a search found {}", cells[1], cells[2]),
        bound => format!("{:<14} at most {bound} instructions", cells[1]),
    });
    printed.collect()
}

#[test]
fn a_processor_or_a_heap_without_figures_is_refused() {
    let line = error_line(&on_target("z80", TINY), 2);
    assert!(line.contains("no figures for the target \"z80\""), "{line}");
    let line = error_line(&on_target("cortex-m4", "cf"), 2);
    assert!(line.contains("cf: not measured on cortex-m4"), "{line}");
    assert!(line.contains(TINY) && line.contains(MICRO), "{line}");
}

#[test]
fn a_demand_with_objects_of_several_page_blocks_has_no_figures() {
    let aligned = r#"{"per_class": [{"request_bytes": 24, "align_bytes": 16, "objects": 1}]}"#;
    for refused in [
        r#"{"per_class": [{"request_bytes": 257, "objects": 1}]}"#,
        r#"{"request_bytes": 16384}"#,
        r#"{"request_bytes": 16384, "largest_request_bytes": 256, "resized_bytes": 300}"#,
        r#"{"objects": 10, "block_bytes": 1000, "largest_request_bytes": 257}"#,
        r#"{"objects": 10, "block_bytes": 1000}"#,
        aligned,
    ] {
        let line = error_line(&demand_on_target("cortex-m4", TINY, refused), 2);
        assert!(
            line.contains("one page-block: at most 256 bytes, aligned to at most 8"),
            "{line}"
        );
    }
    for served in [
        r#"{"per_class": [{"request_bytes": 256, "objects": 1}]}"#,
        r#"{"request_bytes": 16384, "largest_request_bytes": 256}"#,
        r#"{"objects": 10, "block_bytes": 1000, "largest_request_bytes": 256}"#,
    ] {
        let output = demand_on_target("cortex-m4", TINY, served);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{text}");
        assert!(text.contains("opt-level=s"), "{text}");
    }
}

/// Certificates for more than one run of a program.
fn of_both_runs(options: &[&str]) -> Value {
    certify(
        &[
            &["--trace", "bundled:python-a", "bundled:python-b"],
            options,
        ]
        .concat(),
    )
}

#[test]
fn the_greatest_of_several_runs_is_certified() {
    let both = of_both_runs(&[]);
    let runs = both["runs"]["runs"].as_array().expect("runs");
    assert_eq!(runs.len(), 2);
    for key in ["objects", "block_bytes"] {
        let most = runs.iter().map(|run| bytes(&run[key])).max();
        assert_eq!(Some(bytes(&both["demand"][key])), most, "{key}");
    }
    for name in ["bundled:python-a", "bundled:python-b"] {
        let alone = certify(&["--trace", name]);
        assert!(alone.get("runs").is_none());
        assert!(bytes(&both["heap_bytes"]) >= bytes(&alone["heap_bytes"]));
    }
    assert!(both["runs"]["objects_apart"].as_f64() > Some(1.0), "{both}");
    assert!(
        both.get("margin_percent").is_none(),
        "a margin is proposed, not taken"
    );
}

#[test]
fn a_margin_is_on_the_figures_and_in_the_source_text() {
    let (bare, more) = (of_both_runs(&[]), of_both_runs(&["--margin", "5"]));
    for key in ["objects", "block_bytes"] {
        let expected = (bytes(&bare["demand"][key]) * 105).div_ceil(100);
        assert_eq!(bytes(&more["demand"][key]), expected, "{key}");
    }
    let pages = &more["data_pages"];
    let sum =
        ["page_block_bytes", "back_reference_bytes", "unused_bytes"].map(|it| bytes(&pages[it]));
    assert_eq!(
        sum.iter().sum::<u64>(),
        bytes(&more["parts"]["data_page_bytes"])
    );
    let blocks = ["requested_bytes", "rounding_bytes", "margin_bytes"].map(|it| bytes(&pages[it]));
    assert_eq!(blocks.iter().sum::<u64>(), sum[0]);
    assert!(blocks[2] > 0, "{pages}");
    let output = surefit()
        .args(["certify", "--margin", "5", "--emit", "rust", "--trace"])
        .args(["bundled:python-a", "bundled:python-b"])
        .output()
        .expect("the command runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        text.contains("with a margin of 5 %") && text.contains("2 runs"),
        "{text}"
    );
    let plain = text.replace('_', "");
    let objects = bytes(&more["demand"]["objects"]);
    assert!(plain.contains(&format!("objects: {objects}")), "{text}");
    // The region of the constant begins at a page: only the skipped bytes and the control structure
    // are not in it, and one byte says whether it was taken.
    let parts = &more["parts"];
    let region = bytes(&more["heap_bytes"])
        - bytes(&parts["alignment_bytes"])
        - bytes(&parts["control_bytes"])
        + 1;
    let region = format!("REGIONBYTES: usize = {region}");
    assert!(plain.contains(&region), "{region}: {text}");
}

#[test]
fn a_margin_that_runs_propose_is_taken_if_it_is_asked_for() {
    let bare = of_both_runs(&[]);
    let proposed = &bare["runs"]["proposed_margin_percent"];
    let more = of_both_runs(&["--margin", "auto"]);
    assert_eq!(&more["margin_percent"], proposed, "{bare}");
    assert!(proposed.as_f64() >= Some(10.0), "{bare}");
    for (options, word) in [
        (
            &["--trace", "bundled:python-a", "--margin", "auto"][..],
            "one run says nothing",
        ),
        (&["--trace", "bundled:python-a", "--margin=-1"], "margin"),
        (
            &["--trace", "bundled:python-a", "--margin", "x"],
            "is not a margin",
        ),
        (
            &["--trace", "bundled:python-a", "--demand", "x.toml"],
            "cannot be used",
        ),
    ] {
        let output = surefit().arg("certify").args(options).output();
        let line = error_line(&output.expect("the command runs"), 2);
        assert!(line.contains(word), "{word}: {line}");
    }
}

/// A demand of shared heaps in TOML.
const SHARED: &str = "request_bytes = 65536\nlargest_request_bytes = 256\nresized_bytes = 200\n\
                      threads = 4\npins = 12\nlargest_pinned_bytes = 64\n";

#[test]
fn threads_and_pins_are_certified_for_shared_heaps() {
    let file = demand(SHARED);
    let path = file.path().to_str().expect("a plain name");
    let with = |options: &[&str]| certify(&[&["--demand", path], options].concat());
    let one = with(&["--allocator", "1-cf:k=1,page=4K"]);
    assert_eq!(one["allocator"], "1-cf:k=1,page=4K,threads=4,pins=15");
    assert_eq!(one["users"]["threads"], 4);
    let parts = one["parts"].as_object().expect("parts");
    assert_eq!(
        parts.values().map(bytes).sum::<u64>(),
        bytes(&one["heap_bytes"])
    );
    assert!(bytes(&parts["pin_bytes"]) > 0 && bytes(&parts["page_buffer_bytes"]) > 0);
    let fewer = with(&["--allocator", "1-cf:k=1,page=4K", "--pins", "0"]);
    assert!(bytes(&fewer["heap_bytes"]) < bytes(&one["heap_bytes"]));
    let many = with(&["--allocator", "n-cf:k=1,page=4K"]);
    assert_eq!(many["users"]["instances"], 4);
    assert!(bytes(&many["heap_bytes"]) > bytes(&one["heap_bytes"]));
    for (spec, word) in [
        ("cf", "choose 1-cf or n-cf"),
        ("1-cf:threads=2", "write threads=4"),
        ("1-cf:pins=3", "pin"),
    ] {
        let output = surefit()
            .args(["certify", "--demand", path, "--allocator", spec])
            .output();
        let line = error_line(&output.expect("the command runs"), 2);
        assert!(line.contains(word), "{spec}: {line}");
    }
}

#[test]
fn a_shared_heap_of_the_certified_size_serves_its_trace() {
    for spec in ["1-cf", "n-cf:k=2"] {
        completes_as_certified("bundled:python-a", spec);
    }
}

#[test]
fn a_mistake_in_a_demand_file_is_one_line_that_names_its_place() {
    let directory = tempfile::tempdir().expect("a directory");
    for (name, text, word) in [
        (
            "d.toml",
            "request_bytes = 10\nrequest_byte = 1\n",
            "line 2: unknown field",
        ),
        ("d.json", "{\"request_bytes\": }", "line 1"),
        ("d.txt", "objects = 1\n", "give largest_request_bytes"),
        ("d.txt", "block_bytes = 1\n", "goes with objects"),
        (
            "d.toml",
            "objects = 2\n\nlargest_request_bytes = -1\n",
            "line 3: ",
        ),
        ("d.toml", "\u{0}", "line 1"),
        ("d.toml", "", "states no demand"),
        ("d.toml", "[[budgets]]\n", "a budget states nothing"),
    ] {
        let path = directory.path().join(name);
        std::fs::write(&path, text).expect("writable");
        let output = surefit().args(["certify", "--demand"]).arg(&path).output();
        let line = error_line(&output.expect("the command runs"), 2);
        assert!(line.contains(word) && line.contains(name), "{word}: {line}");
    }
}
