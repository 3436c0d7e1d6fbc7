//! The tables of `surefit trace stats`: one column per trace, in groups that fit 80 columns.

use comfy_table::{CellAlignment, Table, presets};
use surefit_trace::{Facts, Stats};

use super::facts::lines;
use surefit_measure::error::one_line;
use surefit_measure::output::grouped;
use surefit_measure::sizes::per_cent;

/// The most traces in one table.
const TRACES_A_TABLE: usize = 3;

/// The longest name shown, in characters.
const NAME_CHARS: usize = 13;

/// The statistics of all traces as tables for people.
pub(super) fn tables(all: &[Stats], top: usize) -> String {
    let mut text = String::new();
    for group in all.chunks(TRACES_A_TABLE) {
        for table in [figures(group), frequent(group, top), classes(group)] {
            text.push_str(&table.trim_fmt());
            text.push_str("\n\n");
        }
    }
    text.pop();
    text
}

/// What is known of the recorded processes, for people.
pub(super) fn processes(all: &[Stats], facts: &[Option<Facts>]) -> String {
    let known = all.iter().zip(facts);
    let known = known.filter_map(|(stats, facts)| Some((stats, facts.as_ref()?)));
    known
        .map(|(stats, facts)| format!("\n{}", lines(&stats.name, facts, &stats.counts)))
        .collect()
}

/// A table without lines; the first column is a label, the others are numbers.
pub(super) fn table(header: Vec<String>) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_header(header);
    for (place, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        if place > 0 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// A name from a file, shortened and safe to print.
pub(super) fn shown(name: &str) -> String {
    let name = one_line(name);
    if name.chars().count() <= NAME_CHARS {
        return name;
    }
    name.chars().take(NAME_CHARS - 1).chain(['…']).collect()
}

fn header(first: &str, group: &[Stats]) -> Vec<String> {
    let names = group.iter().map(|stats| shown(&stats.name));
    [first.to_owned()].into_iter().chain(names).collect()
}

/// The label of a figure, and how to get it from a trace.
type Figure = (&'static str, fn(&Stats) -> String);

const FIGURES: [Figure; 20] = [
    ("events", |s| grouped(s.counts.events)),
    ("  malloc %", |s| of_events(s, s.calls.malloc)),
    ("  calloc (zeroed) %", |s| of_events(s, s.calls.calloc)),
    ("  aligned %", |s| of_events(s, s.calls.aligned)),
    ("  realloc %", |s| of_events(s, s.calls.realloc)),
    ("  free %", |s| of_events(s, s.calls.free)),
    ("objects", |s| grouped(s.counts.objects)),
    ("  live at the end", |s| grouped(s.counts.live_at_end)),
    ("  most live", |s| grouped(s.counts.peak_objects)),
    ("  mean life in events", |s| {
        s.mean_life_events()
            .map_or_else(none, |life| grouped(life.round() as u64))
    }),
    ("peak live bytes", |s| grouped(s.counts.peak_bytes)),
    ("  objects at that time", |s| grouped(s.peak.live_objects)),
    ("  after event", |s| grouped(s.peak.event)),
    ("requested bytes, total", |s| grouped(s.counts.total_bytes)),
    ("distinct sizes", |s| grouped(s.sizes.len() as u64)),
    ("largest size, bytes", |s| {
        s.max_size().map_or_else(none, grouped)
    }),
    ("threads", |s| grouped(s.counts.threads)),
    ("  switches", |s| grouped(s.thread_switches)),
    ("  frees by others %", |s| {
        format!("{:.2}", per_cent(s.foreign_frees, s.calls.free))
    }),
    ("most common alignment", most_asked_alignment),
];

fn none() -> String {
    "-".to_owned()
}

fn of_events(stats: &Stats, part: u64) -> String {
    format!("{:.2}", per_cent(part, stats.counts.events))
}

fn most_asked_alignment(stats: &Stats) -> String {
    let most = stats.alignments.iter().max_by_key(|(_, events)| *events);
    most.map_or_else(none, |(align, _)| grouped(align.bytes() as u64))
}

fn figures(group: &[Stats]) -> Table {
    let mut table = table(header("trace", group));
    for (label, figure) in FIGURES {
        let values = group.iter().map(figure);
        table.add_row([label.to_owned()].into_iter().chain(values));
    }
    table
}

/// The most frequent sizes: `size: % of requests`.
fn frequent(group: &[Stats], top: usize) -> Table {
    let mut table = table(header("frequent sizes: %", group));
    let sizes: Vec<_> = group.iter().map(|stats| stats.top_sizes(top)).collect();
    let longest = sizes.iter().map(Vec::len).max().unwrap_or(0);
    for rank in 0..longest {
        let cells = group.iter().zip(&sizes).map(|(stats, sizes)| {
            sizes.get(rank).map_or_else(none, |count| {
                let share = per_cent(count.requests, stats.requests());
                format!("{}: {share:.1}", count.size)
            })
        });
        table.add_row([format!("  {}", rank + 1)].into_iter().chain(cells));
    }
    table
}

/// Power-of-two classes: `% of requests / % of the objects live at the peak`.
fn classes(group: &[Stats]) -> Table {
    let mut table = table(header("% requests / % at peak", group));
    let histograms: Vec<_> = group.iter().map(Stats::histogram).collect();
    let mut bounds: Vec<u64> = histograms
        .iter()
        .flatten()
        .map(|class| class.up_to)
        .collect();
    bounds.sort_unstable();
    bounds.dedup();
    for bound in bounds {
        let cells = group.iter().zip(&histograms).map(|(stats, classes)| {
            let class = classes.iter().find(|class| class.up_to == bound);
            class.map_or_else(none, |class| {
                let requests = per_cent(class.requests, stats.requests());
                let live = per_cent(class.live_at_peak, stats.peak.live_objects);
                format!("{requests:.2} / {live:.2}")
            })
        });
        let label = format!("  to {} B", grouped(bound));
        table.add_row([label].into_iter().chain(cells));
    }
    table
}

#[cfg(test)]
mod tests {
    use surefit_trace::generate::{Churn, emacs_paper};
    use surefit_trace::{Call, Event, MAX_SIZE, Op, Stats, Trace};

    use super::{shown, tables};

    fn extreme() -> Stats {
        let alloc = Op::Alloc {
            id: 0,
            size: MAX_SIZE,
            call: Call::Malloc,
        };
        let trace = Trace::new("a very long name of a program", vec![Event::new(0, alloc)]);
        Stats::of(&trace.expect("valid"))
    }

    #[test]
    fn tables_fit_80_columns() {
        let churn = Churn {
            allocations: 1000,
            ..Churn::EMACS
        };
        let usual = Stats::of(&emacs_paper(&churn).expect("valid"));
        let text = tables(&vec![usual; 12], 5);
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest.is_some_and(|width| width <= 80), "{text}");
        assert!(tables(&[extreme()], 5).lines().all(|line| line.len() <= 80));
    }

    #[test]
    fn a_trace_without_events_has_a_table() {
        let empty = Stats::of(&Trace::new("", Vec::new()).expect("valid"));
        let text = tables(&[empty], 5);
        let life = text.lines().find(|line| line.contains("mean life"));
        assert!(life.is_some_and(|line| line.ends_with(" -")), "{text}");
    }

    #[test]
    fn names_are_short_and_plain() {
        assert_eq!(shown("redis-drift"), "redis-drift");
        assert_eq!(shown("a\n\u{1b}very long name"), "a  very long…");
    }
}
