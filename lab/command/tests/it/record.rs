//! `surefit record` as a user runs it, on programs of our own.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use serde_json::Value;
use surefit_testkit::{broken, schema};
use surefit_trace::{Call, Op, Trace};
use tempfile::TempDir;

/// `recorded.c`, compiled once. Rust links by the C compiler, so whoever builds this has one.
pub(crate) fn program() -> &'static Path {
    static PROGRAM: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    &PROGRAM
        .get_or_init(|| {
            let folder = folder();
            let path = compiled(folder.path(), "recorded", &[]);
            (folder, path)
        })
        .1
}

pub(crate) fn compiled(folder: &Path, name: &str, options: &[&str]) -> PathBuf {
    let path = folder.join(name);
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let made = compile(Command::new(compiler), "recorded.c", &path)
        .args(options)
        .status();
    let made = made.expect("a C compiler: `cc`, or what CC names");
    assert!(made.success(), "the program does not compile");
    path
}

/// What compiles a source beside this file.
pub(crate) fn compile(mut compiler: Command, source: &str, to: &Path) -> Command {
    let source = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/it")
        .join(source);
    compiler
        .args(["-O1", "-w", "-fno-builtin", "-pthread", "-o"])
        .arg(to)
        .arg(source);
    compiler
}

pub(crate) fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

pub(crate) fn record(folder: &TempDir, options: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_surefit"));
    command.args(["record", "-o", "a.sft.zst"]).args(options);
    command.current_dir(folder.path());
    command
}

/// Records what our program does; the exit status, the document and the program's own trace.
pub(crate) fn recorded(
    folder: &TempDir,
    options: &[&str],
    what: &str,
) -> (Option<i32>, Value, Trace) {
    let mut command = record(folder, options);
    let output = command
        .args(["--format", "json", "--"])
        .arg(program())
        .arg(what)
        .output();
    let output = output.expect("the command runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    let document: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{errors}"));
    let schema = schema("record.json");
    assert_eq!(broken(&schema, &schema, &document, what), None);
    let trace = Trace::load(folder.path().join("a.sft.zst")).expect("a sound trace");
    (output.status.code(), document, trace)
}

fn files(folder: &TempDir) -> Vec<String> {
    let entries = folder.path().read_dir().expect("a folder");
    let mut names: Vec<_> = entries
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    names.sort();
    names
}

/// The events of a trace on objects whose requests are at least this large at first.
fn on_objects_from(trace: &Trace, least: u64) -> Vec<Op> {
    let mut ours = Vec::new();
    let mut kept = Vec::new();
    for event in trace.events() {
        let op = event.op();
        let is_ours = match op {
            Op::Alloc { id, size, .. } if size >= least => {
                ours.push(id);
                true
            }
            Op::Alloc { .. } => false,
            Op::Realloc { id, .. } | Op::Free { id } => ours.contains(&id),
        };
        if is_ours {
            kept.push(op);
        }
    }
    kept
}

#[test]
fn each_call_of_the_family_is_an_event_and_refused_ones_are_none() {
    let folder = folder();
    let (status, document, trace) = recorded(&folder, &[], "family");
    assert_eq!(status, Some(0));
    let all = on_objects_from(&trace, 1001);
    let sizes: Vec<(u64, Option<usize>)> = all
        .iter()
        .filter_map(|op| match *op {
            Op::Alloc {
                size,
                call: Call::Aligned(align),
                ..
            } => Some((size, Some(align.bytes()))),
            Op::Alloc { size, .. } | Op::Realloc { size, .. } => Some((size, None)),
            Op::Free { .. } => None,
        })
        .collect();
    let page = 4096;
    let expected = [
        (1001, None),
        (1002, None),
        (1003, None),
        (1020, None),
        (1088, Some(64)),
        (1005, Some(4096)),
        (1006, Some(32)),
        (1007, Some(page)),
        (4096, Some(page)),
        (1009, None),
        (1010, None),
    ];
    assert_eq!(sizes, expected);
    let frees = all
        .iter()
        .filter(|op| matches!(op, Op::Free { .. }))
        .count();
    assert_eq!(frees, 8, "all but the last");
    assert_eq!(document["recorded"][0]["missed_frees"], 0);
    assert_eq!(files(&folder), ["a.sft.zst"]);
}

#[test]
fn forked_children_have_files_of_their_own() {
    let folder = folder();
    let (status, document, trace) = recorded(&folder, &[], "forks");
    assert_eq!(status, Some(5));
    let own = on_objects_from(&trace, 2001);
    assert!(
        matches!(own[..], [Op::Alloc { size: 2001, .. }, Op::Free { .. }]),
        "{own:?}"
    );
    assert_eq!(
        files(&folder),
        ["a-2-recorded.sft.zst", "a-3-recorded.sft.zst", "a.sft.zst"]
    );
    // The longest first: the child, then its own child.
    let forked = |index: usize, least, events| {
        let row = &document["recorded"][index];
        assert_eq!(row["forked"], true);
        let file = folder.path().join(row["file"].as_str().expect("a name"));
        let trace = Trace::load(file).expect("sound");
        assert_eq!(on_objects_from(&trace, least).len(), events);
    };
    forked(1, 2001, 100);
    forked(2, 2003, 1);
    assert_eq!(document["recorded"][1]["unknown_frees"], 1);
}

#[test]
fn a_program_begun_in_the_same_process_is_the_one_that_is_recorded() {
    let folder = folder();
    let mut command = record(&folder, &["--", "sh", "-c", "exec \"$0\" forks"]);
    let status = command.arg(program()).status().expect("the command runs");
    assert_eq!(status.code(), Some(5));
    let trace = Trace::load(folder.path().join("a.sft.zst")).expect("sound");
    assert_eq!(on_objects_from(&trace, 2001).len(), 2);
}

#[test]
fn the_order_is_that_in_which_threads_took_turns() {
    let folder = folder();
    let (_, document, trace) = recorded(&folder, &[], "order");
    let all = on_objects_from(&trace, 3000);
    let mut next = 3000;
    let mut freed = 0;
    let mut ids = Vec::new();
    for op in all {
        match op {
            Op::Alloc { id, size, .. } => {
                assert_eq!(size, next);
                ids.push(id);
                next += 1;
            }
            Op::Free { id } => {
                assert_eq!(id, ids[freed], "the object of the turn before");
                freed += 1;
            }
            Op::Realloc { .. } => panic!("there is none"),
        }
    }
    assert_eq!((next, freed), (5000, 2000));
    assert_eq!(document["recorded"][0]["trace"]["threads"], 2);
}

#[test]
fn no_object_of_four_threads_is_unknown_or_lives_twice() {
    let folder = folder();
    let (status, document, trace) = recorded(&folder, &[], "threads");
    assert_eq!(status, Some(0));
    let own = &document["recorded"][0];
    assert_eq!(
        (&own["unknown_frees"], &own["missed_frees"]),
        (&0.into(), &0.into())
    );
    assert_eq!(own["trace"]["threads"], 5);
    assert!(trace.header().counts.objects >= 200_000);
    assert!(
        trace.header().counts.live_at_end < 100,
        "{:?}",
        trace.header()
    );
}

/// The smallest of the objects that `handed.cpp` hands on, and of its answers; its threads, and how
/// often each does it.
const FIRST: u64 = 100_000;
const ANSWERS: u64 = 200_000;
const THREADS: u64 = 4;
const ROUNDS: u64 = 5000;

/// Objects of four C++ threads that go from one to the next through queues: what one thread did
/// before it handed an object on is before what the other does after it took it.
#[test]
fn the_order_is_that_in_which_objects_were_handed_on() {
    let folder = folder();
    let path = folder.path().join("handed");
    let compiler = std::env::var_os("CXX").unwrap_or_else(|| "c++".into());
    match compile(Command::new(compiler), "handed.cpp", &path).status() {
        Ok(made) => assert!(made.success(), "the program does not compile"),
        Err(_) => return eprintln!("NOT RUN: there is no C++ compiler; CXX can name one"),
    }
    let output = record(&folder, &["--format", "json", "--"])
        .arg(path)
        .output()
        .expect("the command runs");
    assert_eq!(output.status.code(), Some(0), "{}", last_line(&output));
    let printed = String::from_utf8_lossy(&output.stdout);
    let document = printed.strip_prefix("done\n").expect("the program's own");
    let document: Value = serde_json::from_str(document).expect("JSON");
    let own = &document["recorded"][0];
    assert_eq!(own["unknown_frees"], 0);
    assert_eq!(own["missed_frees"], 0);
    assert_eq!(own["trace"]["threads"], THREADS + 1);
    let trace = Trace::load(folder.path().join("a.sft.zst")).expect("a sound trace");
    let made = handed_on(&trace);
    assert_eq!(made.len() as u64, 2 * THREADS * ROUNDS);
    for round in 0..ROUNDS {
        (0..THREADS).for_each(|me| assert_handed(&made, round, me));
    }
}

/// An event by its number and thread.
type At = (usize, u16);

/// The allocation and the free of each object that was handed on, by its size.
fn handed_on(trace: &Trace) -> HashMap<u64, (usize, u16, Option<At>)> {
    let mut made = HashMap::new();
    let mut ids = HashMap::new();
    for (number, event) in trace.events().iter().enumerate() {
        match event.op() {
            Op::Alloc { id, size, call } if size >= FIRST => {
                let is_answer = size >= ANSWERS;
                assert_eq!(is_answer, matches!(call, Call::Aligned(_)), "{size}");
                assert_eq!(made.insert(size, (number, event.thread(), None)), None);
                ids.insert(id, size);
            }
            Op::Free { id } => {
                if let Some((_, _, freed)) = ids.get(&id).and_then(|size| made.get_mut(size)) {
                    *freed = Some((number, event.thread()));
                }
            }
            _ => {}
        }
    }
    made
}

/// One round of one thread: it takes the object of the thread before, and answers.
fn assert_handed(made: &HashMap<u64, (usize, u16, Option<At>)>, round: u64, me: u64) {
    let size = FIRST + 10 * round;
    let before = (me + THREADS - 1) % THREADS;
    let (given, giver, taken) = made[&(size + before)];
    let answer = |round| made[&(ANSWERS + 64 * (THREADS * round + me))];
    let (answered, taker, freed) = answer(round);
    let (taken, freed) = (taken.expect("freed"), freed.expect("freed"));
    assert!(given < answered && answered < taken.0 && taken.0 < freed.0);
    assert!(giver != taker && taken.1 == taker && freed.1 == taker);
    // And each thread's own order.
    let (own, maker, _) = made[&(size + me)];
    assert!(maker == taker && own < answered);
    assert!(round == 0 || answer(round - 1).2.expect("freed").0 < own);
}

#[test]
fn a_program_at_a_fixed_place_is_recorded() {
    let folder = folder();
    let fixed = compiled(folder.path(), "fixed", &["-no-pie", "-fno-pie"]);
    let output = record(&folder, &["--"]).arg(fixed).arg("pointer").output();
    let output = output.expect("the command runs");
    assert_eq!(output.status.code(), Some(0), "{}", last_line(&output));
    let trace = Trace::load(folder.path().join("a.sft.zst")).expect("sound");
    assert_eq!(on_objects_from(&trace, 4000).len(), 2);
}

/// The one line, or the last of several, on standard error.
pub(crate) fn last_line(output: &Output) -> String {
    let errors = String::from_utf8_lossy(&output.stderr);
    errors.lines().last().unwrap_or_default().to_owned()
}

#[test]
fn what_a_killed_program_did_is_recorded() {
    let folder = folder();
    let mut command = record(&folder, &["--"]);
    let output = command
        .arg(program())
        .arg("killed")
        .output()
        .expect("the command runs");
    assert_eq!(output.status.code(), Some(128 + 9));
    assert!(last_line(&output).contains("ended by signal 9"));
    let trace = Trace::load(folder.path().join("a.sft.zst")).expect("sound");
    assert_eq!(on_objects_from(&trace, 4000).len(), 2000);
}

#[test]
fn what_destructors_of_keys_free_is_their_threads() {
    let folder = folder();
    let (status, document, trace) = recorded(&folder, &[], "keys");
    assert_eq!(status, Some(0));
    assert_eq!(document["recorded"][0]["trace"]["threads"], 6);
    let ours = on_objects_from(&trace, 4000);
    assert_eq!(ours.len(), 2 * 5 * 6);
}

#[test]
fn aligned_calls_fail_as_the_platforms_do() {
    let folder = folder();
    let (status, _, _) = recorded(&folder, &[], "aligned");
    assert_eq!(status, Some(0));
}

#[test]
fn the_program_goes_on_after_the_time_that_is_recorded() {
    let folder = folder();
    let mut command = record(&folder, &["--for", "1s", "--"]);
    command
        .arg(program())
        .arg("waits")
        .stdin(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("the command runs");
    let lines = BufReader::new(child.stderr.take().expect("piped")).lines();
    // The program ends only after this.
    let said = lines
        .map(|line| line.expect("text"))
        .find(|line| line.contains("goes on"));
    assert!(said.is_some());
    drop(child.stdin.take());
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    let trace = Trace::load(folder.path().join("a.sft.zst")).expect("sound");
    assert_eq!(on_objects_from(&trace, 4000).len(), 2000);
    assert_eq!(files(&folder), ["a.sft.zst"]);
}

#[test]
fn a_process_that_is_left_behind_is_said_to_run_on() {
    let folder = folder();
    let said = std::fs::File::create(folder.path().join("said")).expect("a file");
    let mut command = record(&folder, &["--format", "json", "--"]);
    command.arg(program()).arg("leaves");
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(said)
        .stderr(Stdio::null())
        .spawn()
        .expect("the command runs");
    // What is left behind still has the other end.
    let _input = child.stdin.take();
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    let text = std::fs::read(folder.path().join("said")).expect("text");
    let document: Value = serde_json::from_slice(&text).expect("JSON");
    let rows = document["recorded"].as_array().expect("rows");
    let of = |forked| rows.iter().find(|row| row["forked"] == forked);
    let left = of(true).expect("the child's trace");
    let why = left["ended"].as_str().expect("it ended");
    assert!(why.contains("runs on"), "{why}");
    assert_eq!(left["trace"]["events"], 2000);
    assert!(of(false).expect("the program's")["ended"].is_null());
}

#[test]
fn a_place_whose_name_cannot_stand_in_the_environment_serves_too() {
    let folder = folder();
    let place = folder.path().join("with: blanks");
    std::fs::create_dir(&place).expect("a folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_surefit"));
    command.args(["record", "-o", "a.sft", "--"]).arg(program());
    let output = command.arg("pointer").current_dir(&place).output();
    let output = output.expect("the command runs");
    assert_eq!(output.status.code(), Some(0), "{}", last_line(&output));
    let trace = Trace::load(place.join("a.sft")).expect("sound");
    assert_eq!(on_objects_from(&trace, 4000).len(), 2);
    assert_eq!(place.read_dir().expect("a folder").count(), 1);
}

#[test]
fn logs_of_an_interrupted_recording_become_traces() {
    let folder = folder();
    let mut command = record(&folder, &["--"]);
    command
        .arg(program())
        .arg("waits")
        .stdin(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().expect("the command runs");
    // Wait until the program has done its first half.
    let logs = loop {
        let logs = folder
            .path()
            .read_dir()
            .expect("a folder")
            .map(|entry| entry.expect("an entry").path());
        let logs = logs.into_iter().find(|path| path.is_dir());
        let log = logs
            .as_ref()
            .and_then(|logs| surefit_recorder::session::logs(logs).ok()?.pop());
        let events = log.and_then(|log| {
            Some(
                surefit_recorder::read::Reader::open(&log)
                    .ok()?
                    .described()
                    .events,
            )
        });
        if events.is_some_and(|events| events >= 2000) {
            break logs.expect("a folder");
        }
        std::thread::yield_now();
    };
    child.kill().expect("it runs");
    drop(child.stdin.take());
    child.wait().expect("it ended");
    let logs = logs
        .file_name()
        .expect("a name")
        .to_str()
        .expect("plain")
        .to_owned();
    let output = record(&folder, &["--logs", &logs])
        .output()
        .expect("the command runs");
    assert_eq!(output.status.code(), Some(0), "{}", last_line(&output));
    let trace = Trace::load(folder.path().join("a.sft.zst")).expect("sound");
    assert!(on_objects_from(&trace, 4000).len() >= 2000);
}

#[test]
fn what_cannot_be_recorded_is_refused_in_one_line() {
    let folder = folder();
    let refused = |mut command: Command, words: &str| {
        let output = command.output().expect("the command runs");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert_eq!(errors.lines().count(), 1, "{errors}");
        assert!(errors.contains(words), "{errors}");
        assert!(output.stdout.is_empty());
    };
    refused(
        record(&folder, &["--", "no-such-program"]),
        "no-such-program",
    );
    refused(record(&folder, &["--"]), "COMMAND");
    refused(
        record(&folder, &["--for", "60", "--", "ls"]),
        "60s, 5m or 1h",
    );
    refused(record(&folder, &["--logs", "nowhere"]), "nowhere");
    let own = folder.path().join("own");
    std::fs::create_dir(&own).expect("a folder");
    std::fs::write(own.join("kept"), "of the user").expect("written");
    refused(record(&folder, &["--logs", "own"]), "own: has no log");
    // A log that was begun and no more: still nothing of the user's goes.
    std::fs::write(own.join("7-1.log"), "").expect("written");
    refused(record(&folder, &["--logs", "own"]), "nothing was recorded");
    assert_eq!(own.read_dir().expect("a folder").count(), 2);
    let fixed = compiled(folder.path(), "fixed", &["-static", "-DSTATIC"]);
    refused(
        record(&folder, &["--", fixed.to_str().expect("plain")]),
        "linked statically",
    );
    let text = folder.path().join("a.sft.zst");
    std::fs::create_dir(&text).expect("a folder");
    refused(
        record(&folder, &["--", "ls"]),
        "a.sft.zst: cannot be written",
    );
}

#[test]
fn programs_that_a_recorded_one_begins_and_that_cannot_be_recorded_are_named() {
    let folder = folder();
    compiled(folder.path(), "fixed", &["-static", "-DSTATIC"]);
    // A shell that waits for it, and a program that becomes it.
    for begin in ["./fixed many; ./fixed many; true", "env ./fixed many"] {
        let args = ["--format", "json", "--", "sh", "-c", begin];
        let output = record(&folder, &args).output().expect("the command runs");
        assert_eq!(output.status.code(), Some(2), "{}", last_line(&output));
        let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let reason = document["no_trace"].as_str().expect("a reason");
        assert!(reason.contains("linked statically"), "{reason}");
        assert!(reason.contains("/fixed"), "{reason}");
    }
    // Beside a program that is recorded.
    let begin = format!("./fixed many; {} many", program().display());
    let args = ["--format", "json", "--", "sh", "-c", &begin];
    let output = record(&folder, &args).output().expect("the command runs");
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let named = document["not_recorded"].as_array().expect("rows");
    assert_eq!(named.len(), 1, "{document}");
    let reason = named[0]["reason"].as_str().expect("a reason");
    assert!(reason.contains("linked statically"), "{reason}");
    assert!(
        named[0]["program"]
            .as_str()
            .expect("a name")
            .ends_with("fixed")
    );
    assert!(named[0]["pid"].as_u64().expect("a number") > 0);
    assert_eq!(
        files(&folder)
            .iter()
            .filter(|name| name.contains("begun"))
            .count(),
        0
    );
}
