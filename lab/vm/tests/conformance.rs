//! Programs that write the same as on HotSpot: `java/expected/` has what that wrote.

use std::fs;
use std::io::sink;
use std::mem::MaybeUninit;
use std::path::{Path, PathBuf};

use surefit_clients::lists::{Finds, Lists, MERGES};
use surefit_gc::CompactFit;
use surefit_vm::{Call, Collecting, Program, Ran, Refusal, Space, least_heap, run};

const CONFORMANCE: [&str; 15] = [
    "Arithmetic",
    "Arrays2",
    "Dispatch",
    "Entered",
    "Exceptions",
    "Initialisation",
    "Interned",
    "Memory",
    "Names",
    "OddCollections",
    "OddTexts",
    "Repeated",
    "Texts",
    "Threads",
    "Weak",
];

/// Programs, each with a heap in which it is collected often.
const PROGRAMS: [(&str, usize); 7] = [
    ("Compile", 2 << 20),
    ("Compress", 2 << 20),
    ("Database", 1 << 20),
    ("Generate", 5 << 19),
    ("Raytrace", 512 << 10),
    ("RaytraceThreads", 512 << 10),
    ("Rules", 2 << 20),
];

fn java() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("java")
}

fn programs() -> Program {
    Program::open(&java().join("programs.jar")).expect("a jar")
}

fn expected(name: &str) -> String {
    let file = java().join("expected").join(format!("{name}.txt"));
    fs::read_to_string(&file).expect("what HotSpot wrote")
}

fn usual() -> Space {
    Space::Segregated(Lists::usual(Finds::Bitmap, MERGES[2]))
}

/// Runs a program; what it wrote, on both streams.
fn ran(
    program: &Program,
    main: &str,
    (space, collecting): (&Space, Collecting),
    bytes: usize,
) -> (Result<Ran, Refusal>, String, String) {
    let call = Call {
        program,
        main,
        arguments: &[],
        space,
        collecting,
        steps: u64::MAX,
    };
    let mut region = vec![MaybeUninit::uninit(); bytes];
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let ran = run(&call, &mut region, &mut out, &mut err);
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (ran, text(out), text(err))
}

fn writes_as_hotspot(name: &str, space: &Space, collecting: Collecting, bytes: usize) -> Ran {
    let (ran, out, err) = ran(&programs(), name, (space, collecting), bytes);
    assert_eq!(err, "", "{name} {space:?} {collecting:?}");
    assert_eq!(out, expected(name), "{name} {space:?} {collecting:?}");
    let ran = ran.expect("it runs");
    assert_eq!(ran.status, 0);
    ran
}

#[test]
fn conformance_programs_write_what_hotspot_wrote() {
    for name in CONFORMANCE {
        writes_as_hotspot(name, &usual(), Collecting::AtOnce, 4 << 20);
    }
}

#[test]
fn programs_write_what_hotspot_wrote_while_the_heap_is_collected() {
    for (name, bytes) in PROGRAMS {
        let ran = writes_as_hotspot(name, &usual(), Collecting::AtOnce, bytes);
        assert!(ran.totals.collections > 5, "{name}: {:?}", ran.totals);
    }
}

#[test]
fn every_collector_runs_a_program_that_fills_its_heap() {
    let compact_fit = Space::CompactFit(Box::new(CompactFit::CONFIG));
    let steps = Collecting::InSteps {
        trigger: 512 << 10,
        units: 512,
    };
    let generations = Collecting::TwoGenerations {
        nursery: 0,
        young_bytes: u64::MAX,
    };
    let nursery = Collecting::TwoGenerations {
        nursery: 64 << 10,
        young_bytes: u64::MAX,
    };
    for (space, collecting) in [
        (usual(), Collecting::AtOnce),
        (usual(), steps),
        (usual(), generations),
        (Space::Tlsf, steps),
        (compact_fit.clone(), Collecting::AtOnce),
        (compact_fit.clone(), steps),
        (compact_fit.clone(), generations),
        (compact_fit, nursery),
    ] {
        for (name, is_full) in [("Memory", true), ("Interned", false)] {
            let ran = writes_as_hotspot(name, &space, collecting, 2 << 20);
            assert_eq!(ran.was_full, is_full, "{name} {space:?} {collecting:?}");
            assert!(
                ran.totals.collections > 3,
                "{name} {space:?} {collecting:?}"
            );
        }
    }
}

#[test]
fn the_smallest_heap_suffices_and_a_smaller_one_does_not() {
    let program = programs();
    let space = usual();
    let call = Call {
        program: &program,
        main: "Dispatch",
        arguments: &[],
        space: &space,
        collecting: Collecting::AtOnce,
        steps: u64::MAX,
    };
    let mut region = vec![MaybeUninit::uninit(); 4 << 20];
    let least = least_heap(|_| call, &mut region)
        .expect("it runs")
        .expect("4 MiB suffice");
    // In the same region: of another alignment, a heap of a size has more or fewer bytes of objects.
    let mut suffices = |bytes| {
        let mut out = Vec::new();
        let ran = run(&call, &mut region[..bytes], &mut out, &mut sink());
        matches!(ran, Ok(ran) if !ran.was_full) && out == expected("Dispatch").as_bytes()
    };
    assert!(suffices(least.bytes));
    assert!(!suffices(least.bytes - least.bytes / 32));
}

#[test]
fn the_smallest_heap_of_threads_that_wait_for_one_that_found_no_room() {
    let program = programs();
    let space = usual();
    let call = Call {
        program: &program,
        main: "RaytraceThreads",
        arguments: &["8".to_owned()],
        space: &space,
        collecting: Collecting::AtOnce,
        steps: u64::MAX,
    };
    let mut region = vec![MaybeUninit::uninit(); 4 << 20];
    let least = least_heap(|_| call, &mut region).expect("no search ends in a deadlock");
    let least = least.expect("4 MiB suffice").bytes;
    let ran = run(&call, &mut region[..least], &mut sink(), &mut sink());
    assert!(!ran.expect("it runs").was_full);
}

#[test]
fn the_smallest_heap_is_searched_with_the_collector_of_each_size() {
    let program = programs();
    let compact_fit = Space::CompactFit(Box::new(CompactFit::CONFIG));
    let nursery = |bytes| Collecting::TwoGenerations {
        nursery: bytes / 8,
        young_bytes: u64::MAX,
    };
    let steps = |bytes| Collecting::InSteps {
        trigger: bytes as u64 / 2,
        units: 1024,
    };
    let collectors: [&dyn Fn(usize) -> Collecting; 2] = [&nursery, &steps];
    for collecting in collectors {
        let call = |bytes| Call {
            program: &program,
            main: "Dispatch",
            arguments: &[],
            space: &compact_fit,
            collecting: collecting(bytes),
            steps: u64::MAX,
        };
        let mut region = vec![MaybeUninit::uninit(); 32 << 20];
        let least = least_heap(call, &mut region).expect("it runs");
        let bytes = least.expect("32 MiB suffice").bytes;
        assert!(bytes < 4 << 20, "{bytes}");
        // In the same region: of another alignment, a heap of this size has fewer bytes of objects.
        let own = &mut region[..bytes];
        let ran = run(&call(bytes), own, &mut sink(), &mut sink());
        assert!(!ran.expect("it runs").was_full, "{bytes}");
    }
}

#[test]
fn what_is_not_there_is_refused_by_name() {
    let (ran, ..) = ran(
        &programs(),
        "Nothing",
        (&usual(), Collecting::AtOnce),
        1 << 20,
    );
    let refusal = ran.expect_err("no such class").to_string();
    assert_eq!(
        refusal,
        "class Nothing: neither the program nor the class library has it"
    );
}

#[test]
fn threads_that_wait_for_each_other_are_refused() {
    let (ran, out, err) = ran(
        &programs(),
        "Deadlock",
        (&usual(), Collecting::AtOnce),
        1 << 20,
    );
    let refusal = ran.expect_err("nobody can run").to_string();
    assert_eq!(
        refusal,
        "all threads wait: thread 0 for a notification of a Deadlock$Eater, \
         thread 1 for the monitor of a Deadlock$Fork, thread 2 for the monitor of a Deadlock$Fork"
    );
    assert_eq!(out + &err, "");
}

#[test]
fn an_exception_ends_its_own_thread_only() {
    let (ran, out, err) = ran(
        &programs(),
        "Uncaught",
        (&usual(), Collecting::AtOnce),
        1 << 20,
    );
    assert_eq!(ran.expect("it runs").status, 1);
    assert_eq!(out, "joined\nruns on\n");
    let lines: Vec<&str> = err.lines().filter(|line| !line.starts_with('\t')).collect();
    let said = |thread, what| {
        format!("Exception in thread \"{thread}\" java.lang.IllegalStateException: {what}")
    };
    assert_eq!(
        lines,
        [said("worker", "in a thread"), said("main", "in main")]
    );
}

#[test]
fn an_initialiser_that_had_to_wait_for_a_failed_one_never_runs() {
    let space = (&usual(), Collecting::AtOnce);
    let (ended, out, err) = ran(&programs(), "NoRoom", space, 40_000);
    assert_eq!(ended.expect("it runs").status, 1);
    assert_eq!(out, "");
    assert!(err.contains("OutOfMemoryError"), "{err}");
    let (ended, out, err) = ran(&programs(), "NoRoom", space, 1 << 20);
    assert_eq!(ended.expect("it runs").status, 0);
    assert_eq!((out.as_str(), err.as_str()), ("begun\nruns\n", ""));
}

#[test]
fn a_heap_that_is_too_small_is_refused_or_ends_the_program() {
    let mut ended = 0;
    for bytes in [0, 100, 4096, 8192, 12288, 16384, 18000] {
        let (ran, _, err) = ran(
            &programs(),
            "Dispatch",
            (&usual(), Collecting::AtOnce),
            bytes,
        );
        match ran {
            Err(Refusal::NoRoom(_)) => assert!(bytes <= 4096, "{bytes}"),
            Ok(ran) => {
                assert_eq!(ran.status, 1, "{bytes}: {err}");
                assert!(err.contains("OutOfMemoryError"), "{bytes}: {err}");
                ended += 1;
            }
            Err(other) => panic!("{other}"),
        }
    }
    assert!(ended > 1);
}

#[test]
fn the_class_library_is_small() {
    let library = fs::metadata(java().join("library.jar")).expect("committed");
    assert!(library.len() <= 150 << 10, "{} bytes", library.len());
}
