//! The system refuses memory, at each call in turn.

use crate::program::{compiled, preloaded, succeeds, text};

#[test]
fn a_program_that_checks_for_null_survives_each_refusal_of_the_system() {
    let program = compiled("faults", "");
    let count = |at: u32, after: bool, delay: &str| {
        let mut command = preloaded(&program);
        command
            .env("FAULT_AT", at.to_string())
            .env("SUREFIT_PURGE_MS", delay);
        if after {
            command.env("FAULT_AFTER", "1");
        }
        let output = succeeds(&mut command);
        assert_eq!(text(&output.stderr), "");
        text(&output.stdout)
            .trim()
            .parse::<u32>()
            .expect("the number of calls")
    };
    // With calls that give memory back, there are thousands: the first ones, and some later ones.
    for (delay, step) in [("-1", 1), ("0", 97)] {
        let all = count(0, false, delay);
        assert!(all > 10);
        let first = 1..=all.min(40);
        for at in first.chain((41..=all).step_by(step)).take(150) {
            assert!(count(at, false, delay) > 0);
            assert!(count(at, true, delay) >= at);
        }
    }
}

#[test]
fn a_process_with_few_addresses_has_a_smaller_heap() {
    let program = compiled("conformance", "few");
    let script = format!("ulimit -v 400000; exec {}", program.display());
    let mut command = preloaded(std::path::Path::new("/bin/sh"));
    let output = command.arg("-c").arg(script).output().expect("a shell");
    // It asks for 4 GiB at once, which are not there: it says so, and ends by itself.
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output.stderr).contains("conformance.c"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn addresses_that_are_not_used_are_left_to_others() {
    let program = compiled("addresses", "");
    let script = format!("ulimit -v 1100000; exec {}", program.display());
    let mut limited = preloaded(std::path::Path::new("/bin/sh"));
    limited.arg("-c").arg(script);
    let told = |what: &str| {
        let mut command = preloaded(&program);
        command.arg(what);
        command
    };
    for mut command in [limited, told("itself"), told("lock"), told("back")] {
        let output = succeeds(&mut command);
        assert_eq!(text(&output.stdout), "done\n");
        assert_eq!(text(&output.stderr), "");
    }
}
