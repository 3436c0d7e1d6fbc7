//! What programs are promised.

use std::path::Path;

use crate::program::{compiled, preloaded, succeeds, text};

fn assert_done(name: &str, variables: &[(&str, &str)], arguments: &[&str]) {
    let program = compiled(name, &format!("{}{}", variables.len(), arguments.len()));
    let mut command = preloaded(&program);
    command.envs(variables.iter().copied()).args(arguments);
    let output = succeeds(&mut command);
    assert!(text(&output.stdout).starts_with("done\n"));
    assert_eq!(text(&output.stderr), "");
}

#[test]
fn every_function_does_what_the_standards_say() {
    assert_done("conformance", &[], &[]);
}

#[test]
fn the_names_of_gnus_library_are_the_same_functions() {
    assert_done("names", &[], &[]);
}

#[test]
fn what_is_hardly_written_takes_no_memory_that_is_there() {
    assert_done("sparse", &[], &[]);
}

#[test]
fn destructors_and_functions_at_the_end_allocate_and_free() {
    let program = compiled("conformance", "end");
    let output = succeeds(&mut preloaded(&program));
    assert_eq!(text(&output.stdout), "done\nlate\nlast\n");
}

#[test]
fn every_function_does_it_while_each_free_is_checked_and_memory_goes_back_at_once() {
    let variables = [
        ("SUREFIT_CHECK", "1"),
        ("SUREFIT_PURGE_MS", "0"),
        ("SUREFIT_SHARING", "1"),
    ];
    assert_done("conformance", &variables, &[]);
}

#[test]
fn every_function_does_it_in_huge_pages_or_where_there_are_none() {
    assert_done("conformance", &[("SUREFIT_HUGE_PAGES", "1")], &[]);
}

#[test]
fn the_system_is_asked_for_huge_pages_where_it_has_them() {
    let asked = |variables: &[(&str, &str)]| {
        let mut command = preloaded(Path::new("/bin/cat"));
        let maps = succeeds(
            command
                .envs(variables.iter().copied())
                .arg("/proc/self/smaps"),
        );
        let maps = text(&maps.stdout);
        // `hg` among a mapping's flags.
        maps.lines()
            .filter_map(|line| line.strip_prefix("VmFlags:"))
            .any(|flags| flags.split_whitespace().any(|flag| flag == "hg"))
    };
    assert!(!asked(&[]));
    let has_some = Path::new("/sys/kernel/mm/transparent_hugepage").exists();
    assert_eq!(asked(&[("SUREFIT_HUGE_PAGES", "1")]), has_some);
}

#[test]
fn threads_free_each_others_objects_and_leave_nothing_behind() {
    assert_done("threads", &[], &["20000"]);
}

#[test]
fn threads_that_share_instances_do_too() {
    assert_done("threads", &[("SUREFIT_SHARING", "2")], &["500"]);
}

#[test]
fn threads_do_too_while_each_free_is_checked() {
    assert_done(
        "threads",
        &[("SUREFIT_CHECK", "1"), ("SUREFIT_PURGE_MS", "0")],
        &["500"],
    );
}

#[test]
fn threads_whose_first_call_is_late_leave_nothing_behind() {
    assert_done("late", &[], &[]);
}

#[test]
fn a_fork_waits_for_streams_before_it_has_the_heap() {
    assert_done("forks_streams", &[], &[]);
    assert_done("forks_streams", &[("SUREFIT_SHARING", "2")], &[]);
    assert_done("forks_flushing", &[], &[]);
}

#[test]
fn a_child_of_a_process_with_threads_uses_what_it_inherits() {
    assert_done("forks", &[], &[]);
}

#[test]
fn a_child_does_too_if_threads_share_instances() {
    assert_done("forks", &[("SUREFIT_SHARING", "3")], &[]);
}

#[test]
fn a_program_whose_sizes_drift_holds_little_more_than_what_lives() {
    let alone = held_by_live("0");
    assert!(alone < 1.6, "held / live: {alone}");
}

#[test]
fn a_program_that_leaks_gets_null_at_the_limit_and_goes_on() {
    let variables = [("SUREFIT_LIMIT", "64M"), ("SUREFIT_SOFT_LIMIT", "32M")];
    assert_done("limit", &variables, &[]);
}

/// What a hash table holds, as a multiple of what lives in it. Its sizes drift.
fn held_by_live(asks: &str) -> f64 {
    let program = compiled("hash_table", "");
    let output = succeeds(preloaded(&program).arg(asks));
    let said = text(&output.stdout);
    let mut numbers = said
        .split_whitespace()
        .map(|it| it.parse::<f64>().expect("a number"));
    let live = numbers.next().expect("live bytes");
    numbers.next().expect("held bytes") / live
}

#[test]
fn a_program_that_asks_what_to_move_needs_less() {
    let (alone, asking) = (held_by_live("0"), held_by_live("1"));
    assert!(
        asking < 1.25 && alone > 1.1 * asking,
        "held / live: {alone}, asking {asking}"
    );
}
