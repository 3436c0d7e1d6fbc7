//! `--save` and `--against`: a comparison beside an earlier one, and which differences are more
//! than noise.
//!
//! # The rules
//! - Counted figures are exact: any difference above `--tolerance` counts. Instructions may differ
//!   by [`COUNTED`], because valgrind counts the C library's start too.
//! - Times are compared as ratios to the baseline allocator, and only if both runs have
//!   [`LEAST_ROUNDS`] rounds or more. A difference counts if the medians are further apart than
//!   [`SPREADS`] times both spreads together, and by more than [`LEAST_TIME`]. Two runs of one
//!   program are then told apart in less than one of two hundred tries; a test draws them.
//! - Single calls have no spread, and are not compared.
//! - What one of the two lacks is said, and is no failure.

use std::path::Path;

use anyhow::{Context, Result, bail};
use surefit_measure::error::{Broken, one_line};
use surefit_measure::judged::{Against, Difference};
use surefit_measure::ratio::Ratio;
use surefit_measure::results::{AllocatorResult, Comparison, SCHEMA, TraceResults};
use surefit_measure::small_file;

use super::figures::{self, Row, shown};

/// Fewer rounds have no spread that says anything.
const LEAST_ROUNDS: usize = 3;

/// How many times both spreads together a difference must be. Three rounds show less than half of
/// what many would.
const SPREADS: f64 = 1.5;

/// Times closer than this count as equal, whatever their spread.
const LEAST_TIME: f64 = 0.03;

/// Counts of instructions closer than this count as equal.
const COUNTED: f64 = 0.01;

/// Figures that are counted, and how far apart they may be: smaller ones are better.
const EXACT: [(&str, f64); 9] = [
    ("min_heap_bytes", 0.0),
    ("certified_bytes", 0.0),
    ("peak_footprint_bytes", 0.0),
    ("moves_total", 0.0),
    ("moved_bytes_total", 0.0),
    ("moved_bytes_max_per_op", 0.0),
    ("moved_bytes_max_per_section", 0.0),
    ("instructions_per_malloc", COUNTED),
    ("instructions_per_free", COUNTED),
];

/// A time as a ratio to the baseline, and its rounds.
struct Timed {
    ratio: Ratio,
    rounds: usize,
}

impl Timed {
    fn of(ratio: Option<Ratio>, rounds: Option<&Vec<f64>>) -> Option<Self> {
        let rounds = rounds.map_or(0, Vec::len);
        Some(Self {
            ratio: ratio?,
            rounds,
        })
    }
}

/// A time that is compared.
struct Time {
    name: &'static str,
    figure: &'static str,
    of: fn(&AllocatorResult) -> Option<Timed>,
}

const TIMES: [Time; 2] = [
    Time {
        name: "time",
        figure: "time_over_baseline",
        of: |row| Timed::of(row.ratio_to_baseline, row.pair_ns_rounds.as_ref()),
    },
    Time {
        name: "time with access",
        figure: "access_over_baseline",
        of: |row| {
            let rounds = row.access_pair_ns_rounds.as_ref();
            Timed::of(row.access_ratio_to_baseline, rounds)
        },
    },
];

/// Reads a comparison that `--save` wrote.
///
/// # Errors
/// One line that names the file and the remedy.
pub(super) fn load(file: &Path) -> Result<Comparison> {
    let name = file.display();
    let text = small_file::read(file)?;
    let read: Comparison = serde_json::from_slice(&text)
        .with_context(|| format!("{name}: is not a comparison; write one with --save"))?;
    if read.schema != SCHEMA {
        bail!(
            "{name}: has version {} of the format, this command {SCHEMA}: write it anew with --save",
            read.schema
        );
    }
    Ok(read)
}

/// Compares two comparisons, the earlier one from a file.
///
/// # Errors
/// They have no trace in common, or a trace of one name is another recording.
pub(super) fn differences(
    (before, file): (&Comparison, &Path),
    now: &Comparison,
    tolerance: f64,
) -> Result<Against> {
    let mut found = Against {
        file: file.display().to_string(),
        ..Against::default()
    };
    let mut common = 0;
    let has_same_base = before.baseline == now.baseline;
    if !has_same_base {
        found.notes.push(format!(
            "times are not compared: the baseline was {}, and is {}",
            before.baseline, now.baseline
        ));
    }
    for trace in &now.traces {
        let name = one_line(&trace.name);
        match before.traces.iter().find(|other| other.name == trace.name) {
            None => found
                .notes
                .push(format!("{name}: not in the earlier comparison")),
            Some(other) => {
                same_recording(other, trace)?;
                common += 1;
                let mut pair = Pair {
                    before: (other, &before.baseline),
                    now: (trace, &now.baseline),
                    tolerance,
                    has_same_base,
                    found: &mut found,
                };
                pair.compare();
            }
        }
    }
    let is_gone = |other: &&TraceResults| now.traces.iter().all(|trace| trace.name != other.name);
    let gone = before.traces.iter().filter(is_gone);
    let gone =
        gone.map(|trace| format!("{}: only in the earlier comparison", one_line(&trace.name)));
    found.notes.extend(gone);
    if common == 0 {
        bail!("--against: the two comparisons have no trace in common: compare the same traces");
    }
    Ok(found)
}

fn same_recording(before: &TraceResults, now: &TraceResults) -> Result<()> {
    let of = |trace: &TraceResults| (trace.events, trace.objects, trace.peak_live_bytes);
    if of(before) != of(now) || before.left_out != now.left_out {
        bail!(
            "--against: {} is another recording there ({} events, {} here), or has other objects left out",
            one_line(&now.name),
            before.events,
            now.events
        );
    }
    Ok(())
}

/// One trace in both comparisons.
struct Pair<'a> {
    before: (&'a TraceResults, &'a str),
    now: (&'a TraceResults, &'a str),
    tolerance: f64,
    has_same_base: bool,
    found: &'a mut Against,
}

impl Pair<'_> {
    fn compare(&mut self) {
        let (before, now) = (self.before.0, self.now.0);
        let name = one_line(&now.name);
        for own in &now.results {
            match before
                .results
                .iter()
                .find(|other| other.allocator == own.allocator)
            {
                Some(other) => self.rows(other, own),
                None => self.note(format!(
                    "{name}: {}: not in the earlier comparison",
                    own.allocator
                )),
            }
        }
        for other in &before.results {
            if now
                .results
                .iter()
                .all(|own| own.allocator != other.allocator)
            {
                self.note(format!(
                    "{name}: {}: only in the earlier comparison",
                    other.allocator
                ));
            }
        }
    }

    fn note(&mut self, note: String) {
        self.found.notes.push(note);
    }

    fn rows(&mut self, before: &AllocatorResult, now: &AllocatorResult) {
        let who = format!("{}: {}", one_line(&self.now.0.name), now.allocator);
        if before.completed != now.completed {
            let line = match now.completed {
                true => "completes now",
                false => "does not complete any more",
            };
            let as_number = |completed: bool| f64::from(u8::from(completed));
            let completed = (as_number(before.completed), as_number(now.completed));
            let words = format!("{who} {line}");
            let difference = self.difference(&now.allocator, "completed", completed, words);
            match now.completed {
                true => self.found.better.push(difference),
                false => self.found.worse.push(difference),
            }
            return;
        }
        if before.heap_bytes != now.heap_bytes {
            self.note(format!("{who}: the heap has another size: only smallest heaps and certificates are compared"));
        }
        self.counted(&who, &now.allocator);
        self.found_times(&who, before, now);
    }

    fn counted(&mut self, who: &str, allocator: &str) {
        let heap_bytes = |trace: &TraceResults| {
            let row = trace.results.iter().find(|row| row.allocator == allocator);
            row.and_then(|row| row.heap_bytes)
        };
        let has_same_heap = heap_bytes(self.before.0) == heap_bytes(self.now.0);
        for (name, least) in EXACT {
            let Some(figure) = figures::find(name) else {
                continue;
            };
            let of = |(trace, _): (&TraceResults, &str)| {
                Row::find(trace, allocator).and_then(|row| (figure.of)(&row))
            };
            if !has_same_heap && !matches!(name, "min_heap_bytes" | "certified_bytes") {
                continue;
            }
            match (of(self.before), of(self.now)) {
                (Some(before), Some(now)) => {
                    let is_apart = (now - before).abs() > before.abs() * self.tolerance.max(least);
                    let (was, is) = (shown(before, figure.unit), shown(now, figure.unit));
                    let percent = change(before, now);
                    let words = format!("{who}: {name} was {was}, is {is} ({percent:+.2} %)");
                    let difference = self.difference(allocator, name, (before, now), words);
                    self.judge(is_apart, now > before, difference);
                }
                (None, None) => {}
                (before, _) => {
                    let only = if before.is_some() {
                        "earlier"
                    } else {
                        "present"
                    };
                    self.note(format!("{who}: {name}: only in the {only} comparison"));
                }
            }
        }
    }

    fn judge(&mut self, is_apart: bool, is_more: bool, difference: Difference) {
        self.found.compared += 1;
        match (is_apart, is_more) {
            (false, _) => {}
            (true, true) => self.found.worse.push(difference),
            (true, false) => self.found.better.push(difference),
        }
    }

    fn difference(
        &self,
        allocator: &str,
        figure: &str,
        (before, now): (f64, f64),
        words: String,
    ) -> Difference {
        Difference {
            trace: self.now.0.name.clone(),
            allocator: allocator.to_owned(),
            figure: figure.to_owned(),
            before,
            now,
            words,
        }
    }

    fn found_times(&mut self, who: &str, before: &AllocatorResult, now: &AllocatorResult) {
        if !self.has_same_base || before.heap_bytes != now.heap_bytes {
            return;
        }
        if self.before.0.timed_events != self.now.0.timed_events {
            self.note(format!(
                "{who}: times are of other events: they are not compared"
            ));
            return;
        }
        for time in &TIMES {
            let (Some(was), Some(is)) = ((time.of)(before), (time.of)(now)) else {
                continue;
            };
            if was.rounds.min(is.rounds) < LEAST_ROUNDS {
                self.note(format!(
                    "{who}: times are not compared: {LEAST_ROUNDS} rounds or more are needed in both"
                ));
                return;
            }
            self.found_time(who, time, (was.ratio, is.ratio), &now.allocator);
        }
    }

    fn found_time(&mut self, who: &str, time: &Time, (was, is): (Ratio, Ratio), allocator: &str) {
        let name = time.name;
        let percent = change(was.median, is.median);
        let base = self.now.1;
        let words = format!("{who}: {name}÷{base} was {was}, is {is} ({percent:+.1} %)");
        let medians = (was.median, is.median);
        let difference = self.difference(allocator, time.figure, medians, words);
        self.judge(
            is_beyond_spread(was, is),
            is.median > was.median,
            difference,
        );
    }
}

/// Whether two ratios are further apart than their spreads explain.
pub(super) fn is_beyond_spread(was: Ratio, is: Ratio) -> bool {
    let spreads = (was.max - was.min) + (is.max - is.min);
    (is.median - was.median).abs() > (SPREADS * spreads).max(LEAST_TIME * was.median)
}

fn change(before: f64, now: f64) -> f64 {
    if before == 0.0 {
        return 100.0;
    }
    100.0 * (now - before) / before.abs()
}

/// What was found, in lines below the tables.
pub(super) fn lines(found: &Against) -> Vec<String> {
    let mut lines = vec![format!(
        "Against {}: {} figures compared, {} worse, {} better.",
        one_line(&found.file),
        found.compared,
        found.worse.len(),
        found.better.len()
    )];
    let with = |word: &'static str, of: &[Difference]| -> Vec<String> {
        let lines = of.iter().map(|it| format!("{word}: {}", it.words));
        lines.collect()
    };
    lines.extend(with("worse", &found.worse));
    lines.extend(with("better", &found.better));
    lines.extend(found.notes.clone());
    lines
}

/// # Errors
/// [`Broken`], in one line, if anything is worse.
pub(super) fn check(found: &Against) -> Result<()> {
    if found.worse.is_empty() {
        return Ok(());
    }
    let worse: Vec<_> = found.worse.iter().map(|it| it.words.as_str()).collect();
    Err(Broken(format!("--against: worse: {}", worse.join("; "))).into())
}

#[cfg(test)]
mod tests {
    use super::super::tests::comparison;
    use super::{check, is_beyond_spread, lines};
    use anyhow::Result;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use std::path::Path;
    use surefit_measure::error::status;
    use surefit_measure::judged::{Against, Difference};
    use surefit_measure::ratio::Ratio;
    use surefit_measure::results::Comparison;

    const ROUNDS: [f64; 3] = [1.0, 1.1, 1.2];

    fn differences(before: &Comparison, now: &Comparison, tolerance: f64) -> Result<Against> {
        super::differences((before, Path::new("base.json")), now, tolerance)
    }

    fn words(found: &[Difference]) -> Vec<&str> {
        found.iter().map(|it| it.words.as_str()).collect()
    }

    #[test]
    fn the_same_comparison_differs_in_nothing() {
        let one = comparison(&ROUNDS);
        let found = differences(&one, &one, 0.0).expect("comparable");
        assert!(found.worse.is_empty() && found.better.is_empty() && found.notes.is_empty());
        assert!(found.compared >= 4, "{found:?}");
        assert!(check(&found).is_ok());
    }

    #[test]
    fn a_counted_figure_that_grew_is_worse_and_one_that_shrank_better() {
        let (before, mut now) = (comparison(&ROUNDS), comparison(&ROUNDS));
        now.traces[0].results[0].min_heap_bytes = Some(1_075);
        now.traces[0].results[1].min_heap_bytes = Some(1_300);
        let found = differences(&before, &now, 0.0).expect("comparable");
        assert_eq!(
            words(&found.worse),
            ["small: cf: min_heap_bytes was 1074 B, is 1075 B (+0.09 %)"]
        );
        let worse = &found.worse[0];
        assert_eq!((worse.before, worse.now), (1074.0, 1075.0));
        assert_eq!(worse.figure, "min_heap_bytes");
        assert_eq!(found.better.len(), 1);
        let error = check(&found).expect_err("worse");
        assert_eq!(status(&error), 1);
        let lines = lines(&found);
        assert!(lines[0].starts_with("Against base.json: "), "{lines:?}");
        let tolerated = differences(&before, &now, 0.001).expect("comparable");
        assert!(tolerated.worse.is_empty(), "{tolerated:?}");
    }

    #[test]
    fn a_time_counts_only_beyond_what_the_spreads_explain() {
        let of = |rounds: &[f64]| differences(&comparison(&ROUNDS), &comparison(rounds), 0.0);
        let within = of(&[1.2, 1.3, 1.4]).expect("comparable");
        assert!(within.worse.is_empty(), "{within:?}");
        let beyond = of(&[1.8, 1.9, 2.0]).expect("comparable");
        assert_eq!(beyond.worse.len(), 1, "{beyond:?}");
        assert!(
            beyond.worse[0]
                .words
                .contains("time÷tlsf was 1.10 [1.00-1.20], is 1.90")
        );
        let few = of(&[9.0, 9.0]).expect("comparable");
        assert!(
            few.worse.is_empty() && few.notes[0].contains("3 rounds or more"),
            "{few:?}"
        );
    }

    #[test]
    fn a_time_with_accesses_counts_in_the_same_way() {
        let of = |rounds: &[f64]| {
            let mut comparison = comparison(&ROUNDS);
            let row = &mut comparison.traces[0].results[0];
            row.access_pair_ns_rounds = Some(rounds.to_vec());
            row.access_ratio_to_baseline = Ratio::of(rounds);
            comparison
        };
        let before = of(&ROUNDS);
        let found = |now| differences(&before, &now, 0.0).expect("comparable").worse;
        assert!(found(of(&[1.2, 1.3, 1.4])).is_empty());
        let worse = found(of(&[1.8, 1.9, 2.0]));
        assert_eq!(worse[0].figure, "access_over_baseline");
        assert!(
            worse[0]
                .words
                .contains("time with access÷tlsf was 1.10 [1.00-1.20], is 1.90"),
            "{worse:?}"
        );
    }

    #[test]
    fn what_one_of_the_two_lacks_is_said() {
        let (mut before, mut now) = (comparison(&ROUNDS), comparison(&ROUNDS));
        before.traces[0].results[0].allocator = "dl".to_owned();
        now.traces[0].results[1].min_heap_bytes = None;
        let found = differences(&before, &now, 0.0).expect("comparable");
        let notes = found.notes.join("\n");
        for words in [
            "cf: not in the earlier comparison",
            "dl: only in the earlier comparison",
            "min_heap_bytes: only in the earlier comparison",
        ] {
            assert!(notes.contains(words), "{words}: {notes}");
        }
        assert!(found.worse.is_empty());
    }

    #[test]
    fn an_allocator_that_fails_now_is_worse() {
        let (before, mut now) = (comparison(&ROUNDS), comparison(&ROUNDS));
        now.traces[0].results[0].completed = false;
        let found = differences(&before, &now, 0.0).expect("comparable");
        assert_eq!(
            words(&found.worse),
            ["small: cf does not complete any more"]
        );
    }

    #[test]
    fn other_recordings_are_refused() {
        let (before, mut now) = (comparison(&ROUNDS), comparison(&ROUNDS));
        now.traces[0].events += 1;
        assert!(differences(&before, &now, 0.0).is_err());
        now.traces[0].name = "another".to_owned();
        let error = differences(&before, &now, 0.0).expect_err("nothing in common");
        assert!(error.to_string().contains("no trace in common"), "{error}");
    }

    /// Rounds that scatter by 5 %, as on a busy machine.
    #[test]
    fn two_runs_of_one_program_are_told_apart_in_less_than_one_of_200_tries() {
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let mut normal = || (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
        for rounds in [3, 5] {
            let mut run = || {
                let figures: Vec<_> = (0..rounds).map(|_| 1.0 + 0.05 * normal()).collect();
                Ratio::of(&figures).expect("finite")
            };
            let alarms = (0..5000).filter(|_| is_beyond_spread(run(), run())).count();
            assert!(alarms < 25, "{rounds} rounds: {alarms}");
        }
    }
}
