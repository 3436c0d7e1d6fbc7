//! How the instructions of calls grow with what there may be many of: a table in `docs/growth/`,
//! and the benchmarks that count it.
//!
//! A benchmark names scenes and calls ([`Table::row`]), and hands them to [`main`]. That runs the
//! program a second time under valgrind's callgrind, which collects inside one function alone and
//! writes a total each time it ends. A call whose instructions grow although its documentation says
//! that they do not fails, and so does a count that is not the table's.

use core::fmt::Write as _;
use core::hint::black_box;
use std::path::Path;
use std::process::{Command, ExitCode};

/// How the name of the function in which callgrind collects begins.
const COUNTED: &str = "surefit_testkit::growth::growth_counts_this_call";
/// The argument of the program that runs under callgrind.
const CHILD: &str = "--counted";

/// What a call's documentation says of its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grows {
    /// Not at all: a tenth more is not growth, nor are sixteen instructions.
    No,
    /// With what there is more of, as documented in these words.
    With(&'static str),
}

#[derive(Debug)]
struct Row {
    heap: &'static str,
    call: &'static str,
    many: &'static str,
    sizes: [usize; 2],
    grows: Grows,
}

/// The rows of a table, and, in the child, what counts them.
#[derive(Debug)]
pub struct Table {
    rows: Vec<Row>,
    heap: &'static str,
    counts: bool,
}

/// What callgrind counts. Never inlined, so that it has a name.
#[inline(never)]
fn growth_counts_this_call<R>(call: impl FnOnce() -> R) -> R {
    black_box(call())
}

impl Table {
    /// The rows that follow are of this heap.
    pub fn heap(&mut self, heap: &'static str) {
        self.heap = heap;
    }

    /// One row: `call` in the scenes that `scene` makes of each of `sizes`, a few and many of
    /// `many`. What a scene holds is not dropped.
    pub fn row<S, R>(
        &mut self,
        name: &'static str,
        (many, sizes): (&'static str, [usize; 2]),
        grows: Grows,
        scene: impl Fn(usize) -> S,
        call: impl Fn(&mut S) -> R,
    ) {
        let heap = self.heap;
        self.rows.push(Row {
            heap,
            call: name,
            many,
            sizes,
            grows,
        });
        if self.counts {
            for size in sizes {
                let mut scene = scene(size);
                core::mem::forget(growth_counts_this_call(|| call(black_box(&mut scene))));
                core::mem::forget(scene);
            }
        }
    }

    /// The table as Markdown, the counts in the order of the rows.
    fn printed(&self, title: &str, counts: &[u64]) -> String {
        let mut text = format!("{title}\n\n");
        let mut heap = "";
        for (row, count) in self.rows.iter().zip(counts.chunks_exact(2)) {
            if row.heap != heap {
                heap = row.heap;
                let _ = write!(
                    text,
                    "{}## {heap}\n\n| call | beside | instructions | documented |\n|---|---|---|---|\n",
                    if text.ends_with("|\n") { "\n" } else { "" },
                );
            }
            let documented = match row.grows {
                Grows::No => "does not grow",
                Grows::With(words) => words,
            };
            let _ = writeln!(
                text,
                "| {} | {} / {} {} | {} / {} | {documented} |",
                row.call, row.sizes[0], row.sizes[1], row.many, count[0], count[1],
            );
        }
        text
    }

    /// A line for each call that grows although its documentation says that it does not.
    fn grown(&self, counts: &[u64]) -> Vec<String> {
        let rows = self.rows.iter().zip(counts.chunks_exact(2));
        rows.filter(|(row, count)| row.grows == Grows::No && count[1] > count[0] * 11 / 10 + 16)
            .map(|(row, count)| {
                format!(
                    "{}, {}: {} instructions beside {} {}, {} beside {}: it grows",
                    row.heap, row.call, count[0], row.sizes[0], row.many, count[1], row.sizes[1]
                )
            })
            .collect()
    }
}

/// Counts every row of `scenes` and compares the table with the file, which `--write` writes anew.
/// The file begins with `title`, Markdown of a heading and what the rows are.
pub fn main(file: &Path, title: &str, scenes: impl Fn(&mut Table)) -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let counts = arguments.iter().any(|argument| argument == CHILD);
    let mut table = Table {
        rows: Vec::new(),
        heap: "",
        counts,
    };
    scenes(&mut table);
    if counts {
        return ExitCode::SUCCESS;
    }
    let outcome = counted().and_then(|counts| {
        judged(
            &table,
            &counts,
            file,
            title,
            arguments.iter().any(|a| a == "--write"),
        )
    });
    match outcome {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(lines) => {
            eprintln!("{lines}");
            ExitCode::FAILURE
        }
    }
}

/// The totals that callgrind writes, in the order of the calls.
fn counted() -> Result<Vec<u64>, String> {
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    let written = std::env::temp_dir().join(format!("growth.{}", std::process::id()));
    let status = Command::new("valgrind")
        .args([
            "--tool=callgrind",
            "--collect-atstart=no",
            "--combine-dumps=yes",
            "-q",
        ])
        // Two patterns: callgrind obeys one of the options if both have the same.
        .arg(format!("--toggle-collect=*{COUNTED}*"))
        .arg(format!("--dump-after={COUNTED}*"))
        .arg(format!("--callgrind-out-file={}", written.display()))
        .arg(this)
        .arg(CHILD)
        .status()
        .map_err(|error| {
            format!("valgrind: {error}; install it, for it counts the instructions")
        })?;
    if !status.success() {
        return Err(format!("the counted run failed: {status}"));
    }
    let text = std::fs::read_to_string(&written).map_err(|error| error.to_string());
    let _ = std::fs::remove_file(&written);
    Ok(totals(&text?))
}

/// The totals of the parts that end with the function. The last part is the program's end.
fn totals(text: &str) -> Vec<u64> {
    let mut totals: Vec<u64> = text
        .lines()
        .filter_map(|line| line.strip_prefix("summary: "))
        .filter_map(|total| total.trim().parse().ok())
        .collect();
    totals.pop();
    totals
}

fn judged(
    table: &Table,
    counts: &[u64],
    file: &Path,
    title: &str,
    write: bool,
) -> Result<String, String> {
    if counts.len() != 2 * table.rows.len() {
        return Err(format!(
            "{} counts of {} rows",
            counts.len(),
            table.rows.len()
        ));
    }
    let text = table.printed(title, counts);
    let grown = table.grown(counts);
    if !grown.is_empty() {
        return Err(grown.join("\n"));
    }
    if write {
        std::fs::write(file, text).map_err(|error| format!("{}: {error}", file.display()))?;
        return Ok(format!(
            "{} rows written to {}",
            table.rows.len(),
            file.display()
        ));
    }
    let known =
        std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let lines = known
        .lines()
        .zip(text.lines())
        .filter(|(old, new)| !alike(old, new));
    let changed: Vec<String> = lines
        .map(|(old, new)| format!("was {old}\nis  {new}"))
        .collect();
    if !changed.is_empty() || known.lines().count() != text.lines().count() {
        let advice = "write it anew with `-- --write` once the reason is known";
        return Err(format!(
            "{}\n{} differs; {advice}",
            changed.join("\n"),
            file.display()
        ));
    }
    Ok(format!(
        "{} rows as in {}",
        table.rows.len(),
        file.display()
    ))
}

/// Whether two lines say the same, each number within a twentieth or eight.
fn alike(old: &str, new: &str) -> bool {
    let (old, new): (Vec<_>, Vec<_>) = (old.split(' ').collect(), new.split(' ').collect());
    old.len() == new.len()
        && old.iter().zip(&new).all(
            |(old, new)| match (old.parse::<u64>(), new.parse::<u64>()) {
                (Ok(old), Ok(new)) => old.abs_diff(new) <= (old / 20).max(8),
                _ => old == new,
            },
        )
}

#[cfg(test)]
mod tests {
    use super::{Grows, Row, Table, alike, totals};

    #[test]
    fn lines_with_other_numbers_or_words_are_not_alike() {
        assert!(alike("| free | 100 / 200 |", "| free | 104 / 201 |"));
        assert!(!alike("| free | 100 / 200 |", "| free | 100 / 240 |"));
        assert!(!alike("| free | 100 / 200 |", "| get | 100 / 200 |"));
    }

    #[test]
    fn the_totals_are_those_of_the_parts_before_the_last() {
        assert_eq!(
            totals("summary: 12\nfn=x\nsummary: 40\nsummary: 0\n"),
            [12, 40]
        );
    }

    #[test]
    fn a_call_that_grows_undocumented_is_told() {
        let row = |grows| Row {
            heap: "Heap",
            call: "free",
            many: "objects",
            sizes: [100, 100_000],
            grows,
        };
        let table = Table {
            rows: vec![
                row(Grows::No),
                row(Grows::With("O(objects)")),
                row(Grows::No),
            ],
            heap: "",
            counts: false,
        };
        let told = table.grown(&[100, 126, 100, 9000, 100, 127]);
        assert_eq!(
            told,
            ["Heap, free: 100 instructions beside 100 objects, 127 beside 100000: it grows"]
        );
    }
}
