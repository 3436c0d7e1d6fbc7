//! Answers beside the table: what the platform's allocator holds, and what threads change.

use surefit_measure::ratio::{Ratio, median};
use surefit_measure::results::{AllocatorResult, TraceResults};
use surefit_measure::sizes::Size;

use super::words::{name, short};

/// The platform's allocator: the program's own, unless it brings one.
const OWN: &str = "system";

/// `The platform's allocator (system) holds 36.2 MB at most, 1.39 x live in the mean; cf needs
/// 26.8 MB (0.74 x).`
pub(super) fn held(trace: &TraceResults) -> Option<String> {
    let own = trace.results.iter().find(|row| row.allocator == OWN)?;
    let most = own.peak_resident_bytes?;
    let mean = own
        .resident_over_live_mean
        .map_or_else(String::new, |mean| {
            format!(", {mean:.2} x live in the mean")
        });
    let least = trace
        .results
        .iter()
        .filter_map(|row| Some((row, row.min_heap_bytes?)))
        .min_by_key(|(_, bytes)| *bytes);
    let least = least.map_or_else(String::new, |(row, bytes)| {
        let times = bytes as f64 / most.max(1) as f64;
        format!(
            "; {} needs {} ({times:.2} x)",
            short(&row.allocator),
            Size(bytes)
        )
    });
    Some(format!(
        "The platform's allocator ({OWN}) holds {} at most{mean}{least}.",
        Size(most)
    ))
}

/// Fewer rounds, or rounds that do not agree, say nothing of time on threads.
const SURE: usize = 3;

/// How much of the recorded run its calls would be at the baseline's pace: roughly, and of the
/// program's own time more, for the run has the recorder's work in it.
pub(super) fn share(trace: &TraceResults, baseline: &str) -> Option<String> {
    let taken = trace.recorded_cpu_ns.filter(|ns| *ns > 0)? as f64;
    let base = trace.results.iter().find(|row| row.allocator == baseline)?;
    let calls = base.pair_ns_mean? * (base.mallocs + base.reallocs) as f64;
    if calls > taken {
        return None;
    }
    let percent = match 100.0 * calls / taken {
        few if few < 1.0 => "less than 1 % of that".to_owned(),
        percent => format!("{percent:.0} % of that or more"),
    };
    Some(format!(
        "{} took {:.1} s of processor time, recording included; at {}'s pace its calls are roughly \
         {percent}. surefit try -- COMMAND measures the program itself.",
        name(trace),
        taken / 1e9,
        short(baseline)
    ))
}

/// `16 threads, at most 4 at once`.
pub(super) fn thread_count(trace: &TraceResults) -> String {
    let threads = trace.threads;
    match trace.threads_at_once {
        Some(most) if most < threads => format!("{threads} threads, at most {most} at once"),
        _ => format!("{threads} threads"),
    }
}

/// What changes where each thread of the trace has a thread of its own.
pub(super) fn threads(trace: &TraceResults) -> Option<String> {
    if trace.threads < 2 {
        return None;
    }
    let name = name(trace);
    let threads = thread_count(trace);
    let text =
        format!("{name} ran on {threads}; here one thread makes all calls, in the recorded order.");
    let measured: Vec<_> = trace.results.iter().filter_map(of_row).collect();
    if measured.is_empty() {
        return Some(format!(
            "{text} On threads of their own: surefit replay FILE --threads --allocator {OWN}."
        ));
    }
    let clocks = match trace.results.iter().any(|row| on_threads(row).is_some()) {
        true => " (times: the wall's clock there over processor time on one thread)",
        false => "",
    };
    Some(format!(
        "{text} On threads that begin and end as its own{clocks}: {}. The others are replayed on one thread only.",
        measured.join("; ")
    ))
}

/// `system takes 1.85 x [1.80-1.91], and holds 40.1 MB rather than 36.2 MB`
fn of_row(row: &AllocatorResult) -> Option<String> {
    let own = row.on_threads.as_ref()?;
    let time = on_threads(row)
        .map(|Ratio { median, min, max }| format!("takes {median:.2} x [{min:.2}-{max:.2}]"));
    let held = own.peak_resident_bytes.zip(row.peak_resident_bytes);
    let held = held.map(|(own, alone)| format!("holds {} rather than {}", Size(own), Size(alone)));
    let said: Vec<_> = time.into_iter().chain(held).collect();
    (!said.is_empty()).then(|| format!("{} {}", short(&row.allocator), said.join(", and ")))
}

/// Its time on threads over that on one, if there are enough rounds and they agree.
fn on_threads(row: &AllocatorResult) -> Option<Ratio> {
    let own = row.on_threads.as_ref()?;
    let alone = row.pair_ns_rounds.as_deref().and_then(median)?;
    let ratios: Vec<_> = own.pair_ns_rounds.iter().map(|ns| ns / alone).collect();
    let is_sure = |ratio: &Ratio| ratios.len() >= SURE && (ratio.min > 1.0 || ratio.max < 1.0);
    Ratio::of(&ratios).filter(is_sure)
}

#[cfg(test)]
mod tests {
    use super::{held, share, threads};
    use surefit_measure::results::{AllocatorResult, OnThreads, TraceResults};

    fn trace(threads: u64, on_threads: Option<OnThreads>) -> TraceResults {
        let system = AllocatorResult {
            allocator: "system".to_owned(),
            completed: true,
            pair_ns_rounds: Some(vec![100.0, 90.0, 110.0]),
            peak_resident_bytes: Some(36_200_000),
            resident_over_live_mean: Some(1.39),
            on_threads,
            ..AllocatorResult::default()
        };
        let cf = AllocatorResult {
            allocator: "cf".to_owned(),
            min_heap_bytes: Some(26_800_000),
            ..AllocatorResult::default()
        };
        TraceResults {
            name: "redis".to_owned(),
            events: 20,
            objects: 10,
            threads,
            threads_at_once: Some(2),
            recorded_cpu_ns: None,
            timed_events: None,
            peak_live_bytes: 25_000_000,
            left_out: None,
            beside_malloc: None,
            rounds: 3,
            ablation: None,
            hinted: None,
            results: vec![cf, system],
        }
    }

    #[test]
    fn what_the_programs_own_allocator_holds_is_said() {
        assert_eq!(
            held(&trace(1, None)).as_deref(),
            Some(
                "The platform's allocator (system) holds 36.2 MB at most, 1.39 x live in the mean; \
                 cf needs 26.8 MB (0.74 x)."
            )
        );
        let mut without = trace(1, None);
        without.results.pop();
        assert_eq!(held(&without), None);
    }

    #[test]
    fn what_the_calls_can_be_of_the_programs_time_is_said() {
        let mut trace = trace(1, None);
        assert_eq!(share(&trace, "system"), None, "the time is not known");
        trace.recorded_cpu_ns = Some(2_500_000_000);
        assert_eq!(share(&trace, "cf"), None, "it was not timed");
        trace.results[1].pair_ns_mean = Some(100.0);
        (trace.results[1].mallocs, trace.results[1].reallocs) = (1_500_000, 500_000);
        let said = share(&trace, "system").expect("both are known");
        let words = "redis took 2.5 s of processor time, recording included; at system's pace its \
                     calls are roughly 8 % of that or more.";
        assert!(said.starts_with(words), "{said}");
        trace.recorded_cpu_ns = Some(1000);
        assert_eq!(share(&trace, "system"), None, "more than all of it");
    }

    #[test]
    fn what_threads_change_is_said() {
        assert_eq!(threads(&trace(1, None)), None);
        let untimed = threads(&trace(
            3,
            Some(OnThreads {
                pair_ns_rounds: Vec::new(),
                peak_resident_bytes: Some(40_100_000),
            }),
        ));
        let held = "as its own: system holds 40.1 MB rather than 36.2 MB. The others";
        assert!(untimed.is_some_and(|text| text.contains(held)));
        let text = threads(&trace(3, None)).expect("several");
        assert!(text.contains("surefit replay FILE --threads"), "{text}");
        let text = threads(&trace(
            3,
            Some(OnThreads {
                pair_ns_rounds: vec![180.0, 190.0, 170.0],
                peak_resident_bytes: Some(40_100_000),
            }),
        ));
        assert_eq!(
            text.as_deref(),
            Some(
                "redis ran on 3 threads, at most 2 at once; here one thread makes all calls, in the \
                 recorded order. On threads that begin and end as its own (times: the wall's clock \
                 there over processor time on one thread): system takes 1.80 x [1.70-1.90], and \
                 holds 40.1 MB rather than 36.2 MB. The others are replayed on one thread only."
            )
        );
        for rounds in [vec![180.0, 190.0, 95.0], vec![180.0, 190.0]] {
            let own = OnThreads {
                pair_ns_rounds: rounds,
                peak_resident_bytes: Some(40_100_000),
            };
            let unsure = threads(&trace(3, Some(own))).expect("several");
            assert!(!unsure.contains("takes") && unsure.contains("holds 40.1 MB"));
        }
    }
}
