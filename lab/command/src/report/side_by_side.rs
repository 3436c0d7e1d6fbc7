//! Two programs, or one before and after a change, side by side: first whether it helped, then each
//! figure of both, on the same axes.

use std::fmt::Write as _;

use surefit_measure::grid::Grid;
use surefit_measure::html::{escaped, table};
use surefit_measure::results::AllocatorResult;
use surefit_measure::sizes::{Size, counted};

use super::bars::{Bar, Bars, Lane};
use super::change::{self, Change, Verdict};
use super::figure::{Key, Sample, legend};
use super::figures;
use super::input::View;
use crate::screen;

/// Two views; the scale of both is the same.
pub(super) struct Pair<'a> {
    /// Before.
    pub(super) a: View<'a>,
    /// After.
    pub(super) b: View<'a>,
}

/// An allocator of both, and what changed.
struct Changed<'a> {
    row: &'a AllocatorResult,
    changes: Vec<Change>,
}

impl Pair<'_> {
    /// Appends the pair.
    pub(super) fn write(&self, page: &mut String) {
        self.write_verdicts(page);
        self.write_figures(page);
    }

    fn changed(&self) -> Vec<Changed<'_>> {
        let baseline = |view: View<'_>| view.section.notes.baseline.clone();
        let (first, second) = (baseline(self.a), baseline(self.b));
        let rows = self.b.section.trace.results.iter();
        let rows = rows.filter_map(|b| {
            let mut rows = self.a.section.trace.results.iter();
            let a = rows.find(|a| a.allocator == b.allocator)?;
            let same = first == second && b.allocator != first;
            let from = (self.a.section.trace, a);
            let changes = change::of(from, (self.b.section.trace, b), same);
            Some(Changed { row: b, changes })
        });
        rows.filter(|changed| !changed.changes.is_empty()).collect()
    }

    fn write_verdicts(&self, page: &mut String) {
        let changed = self.changed();
        page.push_str("<ul>\n");
        for line in self.lines(&changed) {
            let _ = writeln!(page, "<li>{}</li>", escaped(&line));
        }
        page.push_str("</ul>\n");
        if changed.is_empty() {
            return;
        }
        self.write_bars(page, &changed);
        table(page, &grid(&changed));
        let _ = writeln!(page, "<p>{RULE}</p>");
    }

    fn lines(&self, changed: &[Changed<'_>]) -> Vec<String> {
        let program = |name: &str, view: View<'_>| {
            format!(
                "{name} is {}: {}, {}, peak live {}.",
                view.section.origin,
                screen::name(view.trace()),
                counted(view.trace().events, "event"),
                Size(view.trace().peak_live_bytes)
            )
        };
        let mut lines = vec![program("A", self.a), program("B", self.b)];
        lines.extend(changed.iter().map(Changed::line));
        let only = |view: View<'_>, other: View<'_>| {
            let rows = other.section.trace.results.iter();
            let known: Vec<_> = rows.map(|row| row.allocator.clone()).collect();
            let own = view.section.trace.results.iter();
            let own = own.filter(|row| !known.contains(&row.allocator));
            own.map(|row| screen::short(&row.allocator))
                .collect::<Vec<_>>()
        };
        for (name, names) in [("A", only(self.a, self.b)), ("B", only(self.b, self.a))] {
            if !names.is_empty() {
                lines.push(format!("Only {name} has {}.", screen::listed(&names)));
            }
        }
        lines
    }

    /// Bars of B over A: less than 1 is better.
    fn write_bars(&self, page: &mut String, changed: &[Changed<'_>]) {
        page.push_str("<div class=\"multiples\">\n");
        for figure in ["smallest heap", "time of all calls", "touched at most"] {
            let rows: Vec<_> = changed
                .iter()
                .filter_map(|it| self.bar(it, figure))
                .collect();
            if rows.is_empty() {
                continue;
            }
            let bars = Bars {
                label: format!(
                    "Bars: {figure} of A and of B, for each allocator. Less is better. The table below has the figures."
                ),
                rows,
                mark: None,
                is_cut: true,
                most: None,
            };
            let _ = writeln!(
                page,
                "<figure class=\"figure\"><figcaption><b>{}</b>: A above, B below; B ÷ A</figcaption>{}</figure>",
                capitalised(figure),
                bars.html()
            );
        }
        page.push_str("</div>\n");
        let sample = |opacity| Sample::Area(super::colours::PROGRAM, opacity);
        let key = |opacity, text: &str| Key {
            sample: sample(opacity),
            text: text.to_owned(),
        };
        legend(
            page,
            &[key(0.4, "A, in the colour of the allocator"), key(1.0, "B")],
        );
    }

    fn bar(&self, changed: &Changed<'_>, figure: &str) -> Option<Bar> {
        let change = changed
            .changes
            .iter()
            .find(|change| change.figure == figure)?;
        let [a, b] = change.values;
        Some(Bar {
            name: screen::short(&changed.row.allocator),
            full: None,
            style: self.b.style(changed.row),
            lanes: Lane::two(a, b).into(),
            text: format!("{:.3}, {}", change.ratio.median, change.verdict.words()),
        })
    }

    fn write_figures(&self, page: &mut String) {
        for (a, b) in figures::of(self.a).into_iter().zip(figures::of(self.b)) {
            if a.is_empty() && b.is_empty() {
                continue;
            }
            page.push_str("<div class=\"pair\">\n");
            for (name, figures) in [("A", a), ("B", b)] {
                page.push_str("<div>");
                for mut figure in figures {
                    figure.title = format!("{name}: {}", figure.title);
                    figure.write(page);
                }
                page.push_str("</div>\n");
            }
            page.push_str("</div>\n");
        }
    }
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

impl Changed<'_> {
    /// `cf: smallest heap less (0.95 x), certified the same, time of all calls no difference seen.`
    fn line(&self) -> String {
        let parts = self.changes.iter().map(|change| match change.verdict {
            Verdict::Less | Verdict::More => format!(
                "{} {} ({:.2} ×)",
                change.figure,
                change.verdict.words(),
                change.ratio.median
            ),
            other => format!("{}: {}", change.figure, other.words()),
        });
        let parts: Vec<_> = parts.collect();
        format!(
            "{}: {}.",
            screen::short(&self.row.allocator),
            parts.join("; ")
        )
    }
}

/// When two figures differ.
const RULE: &str = "Bytes are counted: they differ if they differ by more than 1 %. A time differs only if no round of A is as fast \
    as any round of B, or the other way round; there must be three rounds of each. Times from different runs or machines \
    can differ for other reasons: time ÷ baseline, taken inside each round, depends less on the machine.";

fn grid(changed: &[Changed<'_>]) -> Grid {
    let rows = changed.iter().flat_map(|it| {
        it.changes.iter().map(|change| {
            let Change {
                figure,
                words,
                ratio,
                verdict,
                ..
            } = change;
            let [a, b] = words.clone();
            let ratio = if ratio.min < ratio.max {
                format!("{:.3} [{:.3}–{:.3}]", ratio.median, ratio.min, ratio.max)
            } else {
                format!("{:.3}", ratio.median)
            };
            let name = screen::shown(&it.row.allocator).to_owned();
            vec![
                name,
                (*figure).to_owned(),
                verdict.words().to_owned(),
                ratio,
                a,
                b,
            ]
        })
    });
    Grid {
        header: ["allocator", "figure", "B is", "B ÷ A", "A", "B"]
            .map(str::to_owned)
            .into(),
        rows: rows.collect(),
        text_columns: 3,
    }
}
