//! What the runs took: a table and a sentence, or a document.

use std::ffi::OsString;

use schemars::JsonSchema;
use serde::Serialize;
use surefit_measure::error::one_line;
use surefit_measure::grid::Grid;
use surefit_measure::ratio::{Ratio, median};
use surefit_measure::results::SCHEMA;
use surefit_measure::sizes::{Size, counted};

use super::mallocs::{BASE, Malloc};
use super::once::Took;
use crate::screen::wrapped_to;

/// Fewer rounds than this say nothing for sure: of three rounds of one malloc under two names, one
/// name is least in all of them in one trial of four.
const SURE: u32 = 5;

/// How many times the least the others have to be.
const LEAST_RATIO: f64 = 1.01;

/// The longest command in the title, in characters.
const MOST_TITLE: usize = 60;

/// The document of `surefit try --format json`.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct Document {
    /// The version of this format.
    schema: u32,
    /// The program and its arguments; bytes that are no UTF-8 are replaced here.
    command: Vec<String>,
    /// Interleaved rounds.
    rounds: u32,
    /// The known malloc that the program is linked with: it serves where nothing is preloaded, and
    /// stands in the place of glibc. Absent if it is linked with none.
    #[serde(skip_serializing_if = "Option::is_none")]
    linked: Option<String>,
    /// The mallocs; glibc is first.
    mallocs: Vec<Row>,
    /// The malloc that took the least processor time in every round of five or more, by
    /// 1 % or more in the median; absent if none did.
    #[serde(skip_serializing_if = "Option::is_none")]
    least_cpu: Option<String>,
    /// The malloc whose peak of resident memory was the least in every round of five or more,
    /// by 1 % or more in the median; absent if none was.
    #[serde(skip_serializing_if = "Option::is_none")]
    least_resident: Option<String>,
}

/// A malloc, and what the program took under it, round by round.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct Row {
    /// Its name.
    name: String,
    /// The library that was preloaded; absent for glibc's own malloc.
    #[serde(skip_serializing_if = "Option::is_none")]
    library: Option<String>,
    /// Processor time, user and system.
    cpu_ns: Vec<u64>,
    /// Time on the wall's clock.
    wall_ns: Vec<u64>,
    /// The peak of resident memory of the largest process; absent in a round in which it was not
    /// above that of this command.
    peak_resident_bytes: Vec<Option<u64>>,
    /// The mean over time of the resident memory of the first process; absent in a round that was
    /// too short.
    mean_resident_bytes: Vec<Option<u64>>,
    /// Processor time over glibc's, round by round.
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu_over_glibc: Option<Ratio>,
    /// Time on the wall's clock over glibc's, round by round.
    #[serde(skip_serializing_if = "Option::is_none")]
    wall_over_glibc: Option<Ratio>,
    /// Peak of resident memory over glibc's, round by round.
    #[serde(skip_serializing_if = "Option::is_none")]
    resident_over_glibc: Option<Ratio>,
    /// Why it was not tried, or how the program failed under it; absent if it did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<String>,
    #[serde(skip)]
    malloc: Malloc,
}

impl Row {
    pub(super) fn new(malloc: Malloc) -> Self {
        let library = malloc.library.as_ref();
        Self {
            name: malloc.name.clone(),
            library: library.map(|library| library.display().to_string()),
            cpu_ns: Vec::new(),
            wall_ns: Vec::new(),
            peak_resident_bytes: Vec::new(),
            mean_resident_bytes: Vec::new(),
            cpu_over_glibc: None,
            wall_over_glibc: None,
            resident_over_glibc: None,
            failed: malloc.missing.clone(),
            malloc,
        }
    }

    pub(super) fn malloc(&self) -> &Malloc {
        &self.malloc
    }

    pub(super) fn failed(&self) -> Option<&str> {
        self.failed.as_deref()
    }

    pub(super) fn add(&mut self, took: Took) {
        self.cpu_ns.push(took.cpu_ns);
        self.wall_ns.push(took.wall_ns);
        self.peak_resident_bytes.push(took.peak_resident_bytes);
        self.mean_resident_bytes.push(took.mean_resident_bytes);
    }

    pub(super) fn fail(&mut self, why: String) {
        self.failed = Some(why);
    }

    /// The peaks, if each round has one.
    fn resident(&self) -> Option<Vec<f64>> {
        known(&self.peak_resident_bytes)
    }

    /// The median of the rounds' means over time, if each round has one.
    fn mean(&self) -> Option<Size> {
        let mean = median(&known(&self.mean_resident_bytes)?)?;
        Some(Size(mean as u64))
    }
}

/// The figures, if there are all.
fn known(figures: &[Option<u64>]) -> Option<Vec<f64>> {
    let figures = figures.iter();
    figures.map(|figure| Some((*figure)? as f64)).collect()
}

fn floats(figures: &[u64]) -> Vec<f64> {
    figures.iter().map(|figure| *figure as f64).collect()
}

impl Document {
    pub(super) fn new(
        command: &[OsString],
        rounds: u32,
        linked: Option<&str>,
        mut rows: Vec<Row>,
    ) -> Self {
        let Some(base) = rows.first() else {
            unreachable!("glibc is among them")
        };
        let (cpu, wall, resident) = (floats(&base.cpu_ns), floats(&base.wall_ns), base.resident());
        for row in rows.iter_mut().skip(1).filter(|row| row.failed.is_none()) {
            row.cpu_over_glibc = Ratio::round_by_round(&floats(&row.cpu_ns), &cpu);
            row.wall_over_glibc = Ratio::round_by_round(&floats(&row.wall_ns), &wall);
            row.resident_over_glibc = row
                .resident()
                .zip(resident.as_ref())
                .and_then(|(own, base)| Ratio::round_by_round(&own, base));
        }
        let is_sure = rounds >= SURE;
        let least = |figure: &dyn Fn(&Row) -> Option<Vec<f64>>| {
            least(&rows, figure).filter(|_| is_sure).map(str::to_owned)
        };
        Self {
            schema: SCHEMA,
            command: command
                .iter()
                .map(|word| word.to_string_lossy().into_owned())
                .collect(),
            rounds,
            linked: linked.map(str::to_owned),
            least_cpu: least(&|row| Some(floats(&row.cpu_ns))),
            least_resident: least(&Row::resident),
            mallocs: rows,
        }
    }

    /// What serves where nothing is preloaded.
    fn base(&self) -> String {
        let linked = self.linked.as_ref();
        linked.map_or_else(|| BASE.to_owned(), |name| format!("its own {name}"))
    }

    /// A malloc as the text names it.
    fn shown(&self, name: &str) -> String {
        if name == BASE {
            self.base()
        } else {
            name.to_owned()
        }
    }

    /// The table and what follows from it; prose has at most `width` columns.
    pub(super) fn to_text(&self, width: usize) -> String {
        let wrapped = |text: &str| wrapped_to(text, width);
        let command = one_line(&self.command.join(" "));
        let command = surefit_measure::grid::elided(&command, MOST_TITLE);
        let title = format!(
            "surefit try: {command}: {}; ratios are to {}, round by round",
            counted(u64::from(self.rounds), "interleaved round"),
            self.base()
        );
        let mut lines = vec![wrapped(&title), self.grid().to_text()];
        let failed = self.mallocs.iter();
        let failed = failed.filter_map(|row| Some((row, row.failed()?)));
        lines.extend(failed.map(|(row, why)| wrapped(&format!("{}: {}", row.name, one_line(why)))));
        lines.extend(self.over_time().map(|text| wrapped(&text)));
        lines.push(wrapped(&self.verdict()));
        lines.join("\n") + "\n"
    }

    fn grid(&self) -> Grid {
        let header = ["malloc", "CPU s", "ratio", "wall s", "peak", "ratio"];
        let rows = self.mallocs.iter().filter(|row| row.failed.is_none());
        let seconds = |figures: &[u64]| {
            let median = median(&floats(figures));
            median.map_or_else(String::new, |ns| format!("{:.3}", ns / 1e9))
        };
        let ratio = |ratio: Option<Ratio>| ratio.map_or_else(String::new, |it| it.to_string());
        let peak = |row: &Row| {
            let median = row.resident().and_then(|peaks| median(&peaks));
            median.map_or_else(|| "small".to_owned(), |it| Size(it as u64).to_string())
        };
        Grid {
            header: header.map(str::to_owned).to_vec(),
            rows: rows
                .map(|row| {
                    vec![
                        match row.library {
                            None => self.base(),
                            Some(_) => row.name.clone(),
                        },
                        seconds(&row.cpu_ns),
                        ratio(row.cpu_over_glibc),
                        seconds(&row.wall_ns),
                        peak(row),
                        ratio(row.resident_over_glibc),
                    ]
                })
                .collect(),
            text_columns: 1,
        }
    }

    /// What the first process held over time, if it ran long enough under every malloc.
    fn over_time(&self) -> Option<String> {
        let ran = self.mallocs.iter().filter(|row| row.failed.is_none());
        let means = ran.map(|row| Some(format!("{} {}", self.shown(&row.name), row.mean()?)));
        let means: Vec<_> = means.collect::<Option<_>>()?;
        let means = means.join(", ");
        Some(format!(
            "Resident in the mean over time, of the first process: {means}."
        ))
    }

    /// What all rounds say, in one sentence.
    fn verdict(&self) -> String {
        let times = |name: &str, ratio: fn(&Row) -> Option<Ratio>| {
            let row = self.mallocs.iter().find(|row| row.name == name);
            let ratio = row.and_then(ratio);
            let base = self.base();
            ratio.map_or_else(String::new, |it| format!(" ({:.2} x {base})", it.median))
        };
        let cpu = self.least_cpu.as_ref().map(|name| {
            let times = times(name, |row| row.cpu_over_glibc);
            let name = self.shown(name);
            format!("{name} takes the least processor time{times}")
        });
        let resident = self.least_resident.as_ref().map(|name| {
            let times = times(name, |row| row.resident_over_glibc);
            let name = self.shown(name);
            format!("{name} has the least peak of resident memory{times}")
        });
        let cpu = cpu.or_else(|| self.faster());
        let said: Vec<_> = cpu.into_iter().chain(resident).collect();
        let ran = self
            .mallocs
            .iter()
            .filter(|row| row.failed.is_none())
            .count();
        match said.as_slice() {
            [] if ran < 2 => format!("No verdict: only {} ran.", self.base()),
            [] if self.rounds < SURE => "No verdict: that takes five rounds or more.".to_owned(),
            [] => "No verdict: no malloc is best in every round, by 1 % or more in the median."
                .to_owned(),
            said => format!("In every round {}.", said.join(", and ")),
        }
    }
    /// Those that take less processor time than the base in every round, though none of them less
    /// than all others.
    fn faster(&self) -> Option<String> {
        let is_faster = |row: &&Row| {
            let ratio = row.cpu_over_glibc;
            ratio.is_some_and(|ratio| ratio.max < 1.0 && ratio.median * LEAST_RATIO <= 1.0)
        };
        let names = self.mallocs.iter().filter(is_faster);
        let names: Vec<_> = names.map(|row| row.name.as_str()).collect();
        let verb = if names.len() == 1 {
            "takes"
        } else {
            "each take"
        };
        (self.rounds >= SURE && !names.is_empty()).then(|| {
            let base = self.base();
            format!(
                "{} {verb} less processor time than {base}",
                names.join(", ")
            )
        })
    }
}

/// The malloc whose figure is the least in every round, and by 1 % or more in the median, if there
/// are others.
fn least<'r>(rows: &'r [Row], figure: &dyn Fn(&Row) -> Option<Vec<f64>>) -> Option<&'r str> {
    let ran: Vec<_> = rows.iter().filter(|row| row.failed.is_none()).collect();
    let all: Vec<_> = ran.iter().map(|row| figure(row)).collect::<Option<_>>()?;
    let best = all
        .iter()
        .enumerate()
        .min_by(|(_, a), (_, b)| {
            median(a)
                .partial_cmp(&median(b))
                .unwrap_or(std::cmp::Ordering::Equal)
        })
        .map(|(place, _)| place)?;
    let mut others = all.iter().enumerate().filter(|(place, _)| *place != best);
    let is_least = others.all(|(_, other)| {
        let ratio = Ratio::round_by_round(other, &all[best]);
        ratio.is_some_and(|ratio| ratio.min > 1.0 && ratio.median >= LEAST_RATIO)
    });
    (is_least && all.len() > 1).then(|| ran[best].name.as_str())
}

#[cfg(test)]
mod tests {
    use super::super::mallocs::BASE;
    use super::{Document, Malloc, Row, Took};

    fn row(name: &str, rounds: &[(u64, u64)]) -> Row {
        let library = (name != BASE).then(|| format!("/lib/{name}.so").into());
        let mut row = Row::new(Malloc {
            name: name.to_owned(),
            library,
            missing: None,
        });
        for (cpu, peak) in rounds {
            row.add(Took {
                cpu_ns: cpu * 1_000_000,
                wall_ns: cpu * 2_000_000,
                peak_resident_bytes: Some(peak << 20).filter(|peak| *peak > 0),
                mean_resident_bytes: None,
            });
        }
        row
    }

    fn document(rows: Vec<Row>) -> Document {
        let rounds = rows[0].cpu_ns.len() as u32;
        Document::new(&["sort".into(), "-u".into()], rounds, None, rows)
    }

    #[test]
    fn a_malloc_that_the_program_is_linked_with_stands_in_the_place_of_glibc() {
        let rounds = [(100, 50); 5];
        let rows = vec![row(BASE, &rounds), row("fast", &[(50, 50); 5])];
        let document = Document::new(&["redis".into()], 5, Some("jemalloc"), rows);
        let expected = "\
surefit try: redis: 5 interleaved rounds; ratios are to its own jemalloc, round
  by round
 malloc            CPU s             ratio  wall s     peak             ratio
 its own jemalloc  0.100                     0.200  52.4 MB
 fast              0.050  0.50 [0.50-0.50]   0.100  52.4 MB  1.00 [1.00-1.00]
In every round fast takes the least processor time (0.50 x its own jemalloc).
";
        assert_eq!(document.to_text(80), expected);
        let rows = vec![row(BASE, &[(50, 50); 5]), row("slow", &rounds)];
        let text = Document::new(&["redis".into()], 5, Some("jemalloc"), rows).to_text(80);
        assert!(
            text.contains("its own jemalloc takes the least processor"),
            "{text}"
        );
        assert!(!text.contains("glibc"), "{text}");
    }

    #[test]
    fn a_malloc_that_is_best_in_every_round_is_named() {
        let mut gone = row("gone", &[(1, 1)]);
        gone.fail("the program ended with signal: 11".to_owned());
        let glibc = row(
            BASE,
            &[(100, 50), (120, 50), (110, 51), (110, 50), (110, 50)],
        );
        let fast = row("fast", &[(50, 60), (60, 60), (66, 60), (55, 60), (55, 60)]);
        let small = row(
            "small",
            &[(90, 40), (130, 40), (100, 40), (100, 40), (100, 40)],
        );
        let document = document(vec![glibc, fast, small, gone]);
        let text = document.to_text(80);
        let expected = "\
surefit try: sort -u: 5 interleaved rounds; ratios are to glibc, round by round
 malloc  CPU s             ratio  wall s     peak             ratio
 glibc   0.110                     0.220  52.4 MB
 fast    0.055  0.50 [0.50-0.60]   0.110  62.9 MB  1.20 [1.18-1.20]
 small   0.100  0.91 [0.90-1.08]   0.200  41.9 MB  0.80 [0.78-0.80]
gone: the program ended with signal: 11
In every round fast takes the least processor time (0.50 x glibc), and small has
  the least peak of resident memory (0.80 x glibc).
";
        assert_eq!(text, expected);
    }

    #[test]
    fn those_that_are_faster_than_the_base_are_named_if_none_is_fastest() {
        let base = row(BASE, &[(100, 50); 5]);
        let one = row("one", &[(50, 60), (60, 60), (50, 60), (60, 60), (55, 60)]);
        let two = row("two", &[(60, 60), (50, 60), (60, 60), (50, 60), (55, 60)]);
        let slow = row("slow", &[(99, 60), (101, 60), (99, 60), (99, 60), (99, 60)]);
        let text = document(vec![base, one, two, slow]).to_text(100);
        let expected = "\
In every round one, two each take less processor time than glibc, and glibc has the least peak of
  resident memory.
";
        assert!(text.ends_with(expected), "{text}");
    }

    #[test]
    fn rounds_that_do_not_agree_give_no_verdict() {
        let rows = |rounds: usize| {
            let glibc = [(100, 50), (120, 50), (110, 50), (110, 50), (110, 50)];
            let other = [(90, 50), (130, 50), (100, 50), (100, 50), (100, 50)];
            vec![row(BASE, &glibc[..rounds]), row("other", &other[..rounds])]
        };
        let disagree = document(rows(5));
        assert_eq!(
            (&disagree.least_cpu, &disagree.least_resident),
            (&None, &None)
        );
        assert!(
            disagree
                .to_text(80)
                .ends_with("best in every round, by 1 % or more in the median.\n")
        );
        let few = document(rows(4));
        assert!(
            few.to_text(80)
                .ends_with("that takes five rounds or more.\n")
        );
        let near = |cpu| [(cpu, 50); 5];
        let near = document(vec![row(BASE, &near(1000)), row("other", &near(991))]);
        assert_eq!(near.least_cpu, None);
        let alone = document(vec![row(BASE, &[(1, 1); 5])]);
        assert!(alone.to_text(80).ends_with("No verdict: only glibc ran.\n"));
    }

    #[test]
    fn what_is_held_over_time_is_said_if_every_round_knows_it() {
        let mut rows = vec![row(BASE, &[]), row("small", &[])];
        for (row, mean) in rows.iter_mut().zip([30, 20]) {
            for bytes in [mean << 20, mean << 20, 1] {
                row.add(Took {
                    cpu_ns: 1,
                    wall_ns: 1,
                    peak_resident_bytes: Some(1),
                    mean_resident_bytes: Some(bytes),
                });
            }
        }
        let known = Document::new(&["redis".into()], 3, Some("jemalloc"), rows);
        let text = known.to_text(100);
        let said = "\
Resident in the mean over time, of the first process: its own jemalloc 31.5 MB, small 21.0 MB.
";
        assert!(text.contains(said), "{text}");
        let unknown = document(vec![row(BASE, &[(9, 9); 3])]).to_text(80);
        assert!(!unknown.contains("over time"), "{unknown}");
    }

    #[test]
    fn a_peak_that_is_not_known_has_no_ratio() {
        let rows = vec![
            row(BASE, &[(9, 0), (9, 1), (9, 1), (9, 1), (9, 1)]),
            row("other", &[(1, 1); 5]),
        ];
        let document = document(rows);
        assert_eq!(document.mallocs[1].resident_over_glibc, None);
        assert_eq!(document.least_cpu.as_deref(), Some("other"));
        assert!(document.to_text(80).contains("small"));
    }

    #[test]
    fn the_committed_schema_is_that_of_the_type() {
        surefit_measure::schema::is_committed::<Document>("try.json");
    }
}
