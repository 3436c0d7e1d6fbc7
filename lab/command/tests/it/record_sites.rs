//! `surefit record --stacks`: who called is recorded, and nothing else changes.

use std::process::{Command, Output};

use serde_json::Value;
use surefit_testkit::{broken, schema};
use surefit_trace::{Op, Trace};
use tempfile::TempDir;

use crate::record::{compiled, folder, last_line, record, recorded};

/// The functions that allocated objects of a first size, the innermost first.
fn functions(trace: &Trace, size: u64) -> Vec<Vec<String>> {
    let sites = trace.sites().expect("call sites");
    let all = trace.events().iter().enumerate();
    let ours = all.filter(|(_, event)| match event.op() {
        Op::Alloc { size: its, .. } | Op::Realloc { size: its, .. } => its == size,
        Op::Free { .. } => false,
    });
    ours.map(|(number, _)| {
        let frames = sites.frames(trace.stack(number));
        let name = |frame: surefit_trace::Frame<'_>| frame.function.unwrap_or("?").to_owned();
        frames.map(name).collect()
    })
    .collect()
}

#[test]
fn who_called_is_recorded_and_named() {
    for options in [&["--stacks"][..], &["--stacks=9", "--frame-pointers"]] {
        let folder = folder();
        let path = compiled(folder.path(), "named", &["-fno-omit-frame-pointer"]);
        let output = record(&folder, options)
            .arg("--")
            .arg(path)
            .arg("callers")
            .output();
        let output = output.expect("the command runs");
        assert_eq!(output.status.code(), Some(0), "{}", last_line(&output));
        let trace = Trace::load(folder.path().join("a.sft.zst")).expect("a sound trace");
        let kept = functions(&trace, 6001);
        assert_eq!(kept.len(), 100);
        assert!(kept.iter().all(|stack| stack == &kept[0]));
        assert_eq!(
            kept[0][..4],
            ["inner", "outer", "callers", "main"],
            "{options:?}"
        );
        assert!(kept[0].len() <= 16);
        let freed = functions(&trace, 6002);
        assert_eq!(freed.len(), 1000);
        assert_eq!(freed[0][..3], ["inner", "callers", "main"], "{options:?}");
        assert_eq!(
            functions(&trace, 700_000)[0][..2],
            ["callers", "main"],
            "{options:?}"
        );
        let sites = command(&folder, &["trace", "stats", "--sites", "a.sft.zst"]);
        let text = String::from_utf8_lossy(&sites.stdout).into_owned();
        assert!(text.contains("6,002,000"), "{text}");
        assert!(text.contains("inner < callers < main"), "{text}");
        let json = [
            "trace",
            "stats",
            "--sites=3",
            "--format",
            "json",
            "a.sft.zst",
        ];
        let document: Value =
            serde_json::from_slice(&command(&folder, &json).stdout).expect("JSON");
        let schema = schema("trace-sites.json");
        assert_eq!(broken(&schema, &schema, &document, "sites"), None);
        let most = &document["traces"][0]["most_at_peak"][0];
        assert_eq!(most["live_at_peak_bytes"], 700_000);
        assert_eq!(most["frames"][0]["function"], "callers");
    }
}

#[test]
fn a_forked_child_has_stacks_of_its_own() {
    let folder = folder();
    let (status, document, trace) = recorded(&folder, &["--stacks"], "fork-between");
    assert_eq!(status, Some(0));
    let child = document["recorded"][1]["file"].as_str().expect("a name");
    let child = Trace::load(folder.path().join(child)).expect("sound");
    for (trace, objects) in [(&trace, 10), (&child, 5)] {
        let all = functions(trace, 6003);
        assert_eq!(all.len(), objects);
        assert!(
            all.iter().all(|stack| stack == &all[0] && stack.len() > 3),
            "{all:?}"
        );
    }
}

fn command(folder: &TempDir, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_surefit"));
    let output = command.args(args).current_dir(folder.path()).output();
    output.expect("the command runs")
}

#[test]
fn stacks_do_not_disturb_threads_forks_and_calls() {
    for what in ["threads", "forks", "order", "family"] {
        let folder = folder();
        let (_, plain, _) = recorded(&folder, &[], what);
        let folder = self::folder();
        let (status, document, trace) = recorded(&folder, &["--stacks=20"], what);
        assert_eq!(status, Some(if what == "forks" { 5 } else { 0 }));
        let own = &document["recorded"][0];
        assert_eq!(own["missed_frees"], 0, "{what}");
        assert_eq!(own["lost_stacks"], 0, "{what}");
        assert_eq!(
            own["trace"]["threads"],
            plain["recorded"][0]["trace"]["threads"]
        );
        let sites = trace.sites().expect("call sites");
        let known = (0..trace.events().len()).filter(|event| trace.stack(*event).is_known());
        assert!(known.count() * 3 > trace.events().len(), "{what}");
        assert!(
            sites
                .stacks()
                .all(|stack| sites.frames(stack).count() <= 20)
        );
    }
}

#[test]
fn what_stacks_cannot_be_is_refused_in_one_line() {
    let folder = folder();
    for (args, words) in [
        (&["record", "-o", "a", "--stacks=0", "--", "ls"][..], "0"),
        (&["record", "-o", "a", "--stacks=57", "--", "ls"], "57"),
        (
            &["record", "-o", "a", "--frame-pointers", "--", "ls"],
            "--stacks",
        ),
        (
            &["trace", "stats", "--sites", "bundled:emacs"],
            "record the program with --stacks",
        ),
    ] {
        let output = command(&folder, args);
        assert_eq!(output.status.code(), Some(2));
        let line = last_line(&output);
        assert_eq!(
            String::from_utf8_lossy(&output.stderr).lines().count(),
            1,
            "{line}"
        );
        assert!(line.contains(words), "{line}");
    }
}
