//! What is exported says what the trace says.

use surefit_formats::export::{
    Frame, HeaptrackWriter, PprofWriter, UNKNOWN, frames_without_call_sites, without_call_sites,
};
use surefit_formats::import::Kind;
use surefit_trace::{Call, Event, Op, Trace};

use crate::{called_from, import, profile, sizes};

const RAW: &[u8] = include_bytes!("recordings/raw.zst");

fn alloc(id: u32, size: u64) -> Op {
    let call = Call::Malloc;
    Op::Alloc { id, size, call }
}

/// Two threads; the peak of 1,100 bytes is at the reallocation, and there once more at the end.
fn small() -> Trace {
    let events = [
        (0, alloc(0, 100)),
        (1, alloc(1, 600)),
        (0, Op::Realloc { id: 0, size: 500 }),
        (1, Op::Free { id: 1 }),
        (0, alloc(2, 100)),
        (0, Op::Free { id: 0 }),
        (1, alloc(3, 1000)),
    ];
    let events = events.map(|(thread, op)| Event::new(thread, op));
    Trace::new("small\nname", events.to_vec()).expect("sound")
}

fn heaptrack(
    trace: &Trace,
    stack: impl Fn(Event) -> u64,
    frames: impl Fn(u64) -> Vec<Frame>,
) -> String {
    let mut writer = HeaptrackWriter::new(Vec::new(), trace.header()).expect("memory");
    for event in trace.events() {
        writer
            .event(*event, stack(*event), &frames)
            .expect("memory");
    }
    String::from_utf8(writer.finish().expect("memory")).expect("UTF-8")
}

fn pprof(
    trace: &Trace,
    stack: impl Fn(Event) -> u64,
    frames: impl Fn(u64) -> Vec<Frame>,
) -> profile::Profile {
    let mut writer = PprofWriter::new(Vec::new(), trace.header());
    for event in trace.events() {
        writer.event(*event, stack(*event), &frames);
    }
    profile::read(&writer.finish().expect("memory"))
}

#[test]
fn heaptracks_format_is_written_line_by_line() {
    let text = heaptrack(&small(), without_call_sites, frames_without_call_sites);
    let expected = "v 10400 3\nX smallname\nI 1000 0\n\
        s 8 thread 0\ni 1 0 1\nt 1 0\ns f 65 to 128 bytes\ni 2 0 2\nt 2 1\na 64 2\n+ 0\n\
        s 8 thread 1\ni 3 0 3\nt 3 0\ns 11 513 to 1024 bytes\ni 4 0 4\nt 4 3\na 258 4\n+ 1\n\
        s 10 257 to 512 bytes\ni 5 0 5\nt 5 1\na 1f4 5\n- 0\n+ 2\n\
        - 1\n+ 0\n- 2\na 3e8 4\n+ 3\nc 7\n";
    assert_eq!(text, expected);
}

#[test]
fn what_is_exported_to_heaptrack_is_imported_again() {
    let trace = import(RAW).expect("a recording").trace;
    let text = heaptrack(&trace, without_call_sites, frames_without_call_sites);
    let again = import(text.as_bytes()).expect("heaptrack's format");
    assert_eq!(again.kind, Kind::HeaptrackInterpreted);
    assert_eq!(again.name.as_deref(), Some("imported"));
    assert_eq!(sizes(again.trace.events()), sizes(trace.events()));
    assert_eq!(again.trace.header().counts.peak_bytes, 78_742);
}

/// Two stacks of real frames: the first two have a common caller.
fn frames(stack: u64) -> Vec<Frame> {
    let frame = |function: &str, line, address| Frame {
        function: function.to_owned(),
        file: "a file.c".to_owned(),
        line,
        module: "/bin/program".to_owned(),
        address,
    };
    let unknown = Frame {
        address: 0x99,
        ..Frame::default()
    };
    match stack {
        7 => vec![frame("inner\nbroken", 5, 0x1005), frame("main", 9, 0x1009)],
        8 => vec![frame("other", 6, 0x1006), frame("main", 9, 0x1009)],
        _ => vec![unknown],
    }
}

fn stack(event: Event) -> u64 {
    7 + u64::from(event.thread())
}

#[test]
fn real_frames_become_places_and_stacks_of_heaptrack() {
    let text = heaptrack(&small(), stack, frames);
    let first = "s c /bin/program\ns 4 main\ns 8 a file.c\ni 1009 1 2 3 9\nt 1 0\n\
        s c inner broken\ni 1005 1 4 3 5\nt 2 1\na 64 2\n+ 0\ns 5 other\ni 1006 1 5 3 6\nt 3 1\n";
    assert!(text.contains(first), "{text}");
    let unknown = heaptrack(&small(), |_| 1, frames);
    assert!(unknown.contains("\ni 99 0\nt 1 0\n"), "{unknown}");
}

#[test]
fn a_profile_has_four_values_of_each_stack() {
    let profile = pprof(&small(), without_call_sites, frames_without_call_sites);
    let types = [
        ("alloc_objects", "count"),
        ("alloc_space", "bytes"),
        ("inuse_objects", "count"),
        ("inuse_space", "bytes"),
    ];
    assert_eq!(
        profile.sample_types,
        types.map(|(name, unit)| (name.to_owned(), unit.to_owned()))
    );
    assert_eq!(profile.default_sample_type, "inuse_space");
    assert!(profile.comment.contains("at the peak"));
    let samples: Vec<_> = profile
        .samples
        .iter()
        .map(|(frames, values)| (frames.join(" / "), &values[..]))
        .collect();
    let name = |class: &str, thread: u16| format!("{class} bytes :0  0 / thread {thread} :0  0");
    assert_eq!(
        samples,
        [
            (name("257 to 512", 0), &[1, 500, 1, 500][..]),
            (name("513 to 1024", 1), &[2, 1600, 1, 600]),
            (name("65 to 128", 0), &[2, 200, 0, 0]),
        ]
    );
}

#[test]
fn a_profile_names_real_frames() {
    let profile = pprof(&small(), stack, frames);
    let stacks: Vec<_> = profile.samples.keys().cloned().collect();
    let main = "main a file.c:9 /bin/program 1009";
    assert_eq!(
        stacks,
        [
            ["inner\nbroken a file.c:5 /bin/program 1005", main],
            ["other a file.c:6 /bin/program 1006", main],
        ]
    );
}

/// The sums over all stacks are the counters of the trace.
#[test]
fn a_profile_of_a_real_program_adds_up() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/python-a.sft.zst");
    let trace = Trace::load(file).expect("a bundled trace");
    let profile = pprof(&trace, without_call_sites, frames_without_call_sites);
    let mut sums = [0; 4];
    for values in profile.samples.values() {
        assert_eq!(values.len(), 4);
        for (sum, value) in sums.iter_mut().zip(values) {
            *sum += value;
        }
    }
    let counts = trace.header().counts;
    let is_realloc = |event: &&Event| matches!(event.op(), Op::Realloc { .. });
    let reallocs = trace.events().iter().filter(is_realloc).count() as u64;
    let peak = trace.peak();
    let expected = [
        counts.objects + reallocs,
        counts.total_bytes,
        peak.live_objects,
        peak.live_bytes,
    ];
    assert_eq!(sums, expected);
}

/// Two objects: one is resized from nobody knows where.
fn resized() -> Trace {
    let ops = [
        alloc(0, 100),
        alloc(1, 30),
        Op::Realloc { id: 0, size: 150 },
        Op::Free { id: 0 },
    ];
    let events = ops.map(|op| Event::new(0, op)).to_vec();
    Trace::new("resized", events).expect("sound")
}

#[test]
fn a_reallocation_from_nobody_knows_where_stays_with_who_allocated() {
    let stack = |event: Event| match event.op() {
        Op::Alloc { id, .. } => 9 - u64::from(id),
        _ => UNKNOWN,
    };
    let profile = pprof(&resized(), stack, frames);
    let samples: Vec<_> = profile.samples.values().cloned().collect();
    let (of_1, of_0) = ([1, 30, 1, 30].to_vec(), [2, 250, 1, 150].to_vec());
    assert_eq!(samples, [of_0, of_1]);
    // A place without a function is a module and an address.
    assert_eq!(
        profile.samples.keys().next(),
        Some(&vec!["?  99".to_owned()])
    );
    let text = heaptrack(&resized(), stack, frames);
    assert!(text.contains("a 96 1\n- 0\n+ 2\n- 2\n"), "{text}");
}

#[test]
fn a_profile_says_the_fragmentation_of_each_stack_that_somebody_knows() {
    let trace = small();
    let mut writer = PprofWriter::new(Vec::new(), trace.header());
    for event in trace.events() {
        writer.event(*event, stack(*event), frames);
    }
    writer.fragmentation("cf", [(8, 4000), (7, 96), (99, 1)]);
    let profile = profile::read(&writer.finish().expect("memory"));
    let fifth = ("fragmentation_space".to_owned(), "bytes".to_owned());
    assert_eq!(profile.sample_types.last(), Some(&fifth));
    let values: Vec<_> = profile.samples.values().cloned().collect();
    assert_eq!(values, [[3, 700, 1, 500, 96], [2, 1600, 1, 600, 4000]]);
    assert!(
        profile.comment.contains("free page-blocks of cf"),
        "{}",
        profile.comment
    );
}

#[test]
fn call_sites_that_are_exported_to_heaptrack_are_imported_again() {
    let trace = small();
    let text = heaptrack(&trace, stack, frames);
    let again = import(text.as_bytes()).expect("heaptrack's format");
    let main = "main /bin/program 1009";
    assert_eq!(
        called_from(&again.trace, 0),
        ["inner broken /bin/program 1005", main]
    );
    assert_eq!(
        called_from(&again.trace, 1),
        ["other /bin/program 1006", main]
    );
    // What stands in for call sites is not taken for some, if the file says so.
    let writer = HeaptrackWriter::new(Vec::new(), trace.header()).expect("memory");
    let mut writer = writer.without_call_sites().expect("memory");
    for event in trace.events() {
        let stack = without_call_sites(*event);
        let written = writer.event(*event, stack, frames_without_call_sites);
        written.expect("memory");
    }
    let again = import(&writer.finish().expect("memory")).expect("heaptrack's format");
    assert_eq!(again.trace.sites(), None);
    assert_eq!(again.trace.header().counts.peak_bytes, 1100);
    // Amid the events it is a comment like others.
    let later = b"v 10400 3\nt 5 0\n+ 1 1 1\n# surefit: no call sites\n+ 1 1 2\n";
    let later = import(later).expect("a recording").trace;
    assert_eq!(called_from(&later, 1), ["?  5"]);
}

#[test]
fn a_trace_without_events_is_exported() {
    let trace = Trace::new("", Vec::new()).expect("sound");
    let text = heaptrack(&trace, without_call_sites, frames_without_call_sites);
    assert_eq!(text, "v 10400 3\nX \nI 1000 0\nc 0\n");
    let profile = pprof(&trace, without_call_sites, frames_without_call_sites);
    assert!(profile.samples.is_empty());
}
