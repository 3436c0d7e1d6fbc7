//! Replays whose pages are known.

use surefit_measure::steps::Steps;
use surefit_trace::{Align, Call, Event, Op, Trace};

use super::survey::{Moment, Seen, survey};
use crate::kit::{Request, Verdict};

fn steps(ops: impl IntoIterator<Item = Op>) -> Steps {
    let events = ops.into_iter().map(|op| Event::new(0, op)).collect();
    Steps::new(&Trace::new("t", events).expect("sound")).expect("small")
}

fn alloc(id: u32, size: u64) -> Op {
    let call = Call::Malloc;
    Op::Alloc { id, size, call }
}

fn free(id: u32) -> Op {
    Op::Free { id }
}

/// Two pages of eight objects of 1 KiB, then those with the given numbers are freed.
fn two_pages(freed: impl IntoIterator<Item = u32>) -> Seen {
    let ops = (0..16).map(|id| alloc(id, 1024));
    survey(&steps(ops.chain(freed.into_iter().map(free))), 4).expect("seen")
}

fn last(seen: &Seen) -> &Moment {
    seen.moments.last().expect("a look after the last event")
}

#[test]
fn halves_of_two_pages_fit_or_overlap() {
    // even page-blocks of the first page, odd ones of the second
    let apart = two_pages((0..4).flat_map(|at| [2 * at + 1, 8 + 2 * at]));
    let all = last(&apart).all();
    assert_eq!((all.pages, all.not_full, all.found, all.most), (2, 2, 1, 1));
    assert_eq!(last(&apart).share(all.found), 0.5);
    assert_eq!(apart.most_share(), 0.5);
    // the same ones of both
    let same = two_pages((0..4).flat_map(|at| [2 * at, 8 + 2 * at]));
    let all = last(&same).all();
    assert_eq!((all.pages, all.not_full, all.found, all.most), (2, 2, 0, 1));
}

#[test]
fn the_peak_is_where_most_is_held_and_full_pages_never_fit() {
    let seen = two_pages(1..16);
    let peak = seen.peak();
    // the second page is opened by the ninth object; then nothing more is held
    assert_eq!(
        (peak.event, peak.held_bytes, peak.live_bytes),
        (9, 2 * 8192, 9 * 1024)
    );
    let all = peak.all();
    assert_eq!((all.pages, all.not_full, all.found), (2, 1, 0));
    assert_eq!(last(&seen).held_bytes, 8192);
}

#[test]
fn runs_are_held_as_they_are() {
    let call = Call::Aligned(Align::new(4096).expect("a power of two"));
    let aligned = Op::Alloc {
        id: 3,
        size: 1,
        call,
    };
    let grown = Op::Realloc { id: 0, size: 3000 };
    let ops = [alloc(0, 40), alloc(1, 2049), alloc(2, 0), aligned, grown];
    let seen = survey(&steps(ops), 5).expect("seen");
    let held: Vec<_> = seen
        .moments
        .iter()
        .map(|moment| moment.held_bytes)
        .collect();
    let kib = [8, 8 + 3, 8 + 8 + 3, 8 + 8 + 3 + 1, 8 + 3 + 1 + 3];
    assert_eq!(held, kib.map(|kib| kib * 1024));
    assert_eq!(last(&seen).live_bytes, 3000 + 2049 + 1);
    assert_eq!(seen.peak().event, 4);
}

#[test]
fn what_is_freed_at_the_end_leaves_nothing_to_save() {
    let seen = survey(&steps([alloc(0, 8), free(0)]), 40).expect("seen");
    assert_eq!(last(&seen).held_bytes, 0);
    assert_eq!(last(&seen).share(last(&seen).all().found), 0.0);
    assert_eq!(seen.moments.len(), 2);
    let error = survey(&steps([]), 40).expect_err("no events");
    assert!(error.to_string().contains("no events"), "{error}");
}

#[test]
fn a_request_that_no_heap_of_four_times_the_peak_serves_is_one_line() {
    // 64 of them need 4 MiB wherever the heap begins, which is more than it has beside the objects
    let call = Call::Aligned(Align::new(64 << 10).expect("a power of two"));
    let ops = (0..64).map(|id| Op::Alloc { id, size: 1, call });
    let error = survey(&steps(ops), 1).expect_err("no such address");
    let error = format!("{error:#}");
    assert!(
        error.starts_with("t: event ") && error.contains(": cf-direct refused in "),
        "{error}"
    );
}

#[test]
fn looks_at_a_real_program_are_the_same_again_and_judged() {
    let request = Request {
        files: vec!["bundled:redis-drift".into()],
        quick: true,
        ..Request::default()
    };
    let reports = [(), ()].map(|()| (super::ENTRY.run)(&request).expect("a report"));
    let [one, two] = reports.each_ref().map(serde_json::to_string);
    assert_eq!(one.expect("JSON"), two.expect("JSON"));
    let points = &reports[0].plots[0].series[0].points;
    assert!(points.iter().all(|(x, y)| *x <= 100.0 && *y < 100.0));
    assert!((8..=9).contains(&points.len()));
    assert_ne!(reports[0].claims[0].verdict, Verdict::NotComparable);
}
