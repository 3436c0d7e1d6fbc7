//! What people see: tables of figures, every one of them computed from the results. No line is
//! wider than the terminal, but with `--wide`.

mod answers;
mod columns;
mod creep;
mod fit;
mod notes;
mod race;
mod replay;
#[cfg(test)]
mod rules;
#[cfg(test)]
mod tests;
mod verdict;
mod words;

use std::fmt::Write as _;

use surefit_measure::results::TraceResults;
use surefit_measure::sizes::{HeapSize, Size, counted};
use surefit_measure::subject::HandleCost;
use surefit_measure::wrap::{clamped, columns as terminal};

pub(crate) use columns::all as all_columns;
pub(crate) use notes::{Notes, Setting};
pub(crate) use replay::replay;
pub(crate) use surefit_measure::spec::shown;
pub(crate) use verdict::fastest_names as fastest;
pub(crate) use words::{listed, name, short, wrapped, wrapped_to};

use words::left_out;

/// How much is compared, in words.
pub(crate) fn setting(setting: &Setting) -> String {
    let (least, most) = setting.rounds;
    let rounds = if least == most {
        counted(u64::from(least), "interleaved round")
    } else {
        format!("{least} to {most} interleaved rounds")
    };
    let heap = match setting.heap {
        HeapSize::TimesPeak(times) => format!("heap {times} x the peak of live bytes"),
        HeapSize::Bytes(_) => format!("heap {}", setting.heap),
    };
    let programs = counted(setting.traces as u64, "recorded program");
    format!("{programs}, {rounds}, {heap}")
}

/// What stands before the first table: what is compared, and what the columns mean.
pub(crate) fn head(about: &Setting, notes: &Notes, counts_instructions: bool) -> String {
    head_within(about, notes, counts_instructions, terminal())
}

/// As [`head()`], on a terminal of so many columns.
fn head_within(about: &Setting, notes: &Notes, counts_instructions: bool, width: usize) -> String {
    let mut lines = vec![
        format!("surefit compare: {}", setting(about)),
        String::new(),
    ];
    lines.extend(key(notes, counts_instructions));
    let lines = lines.iter().map(|line| wrapped_to(line, clamped(width)));
    lines.collect::<Vec<_>>().join("\n") + "\n\n"
}

/// What the columns mean: a name and its explanation, one a line.
fn key(notes: &Notes, counts_instructions: bool) -> Vec<String> {
    let mut lines = vec![
        "time: of malloc, first write and free, without the replay's own; with access: the same with 8 accesses \
         of live objects per event."
            .to_owned(),
        "min heap: the smallest region that suffices. live: the peak of live requests. certified: a region that \
         provably suffices in any order of calls."
            .to_owned(),
    ];
    if let Some((_, cost)) = notes.moving {
        lines.push(format!("*: {}", handle_line(cost)));
    }
    lines.extend(region_line(notes));
    lines.push(match counts_instructions {
        true => "instructions: the mean of a call, counted by valgrind.".to_owned(),
        false => {
            "resident: what is resident over what is live, the mean over the trace.".to_owned()
        }
    });
    lines
}

/// The allocators that live in no region.
pub(crate) fn region_line(notes: &Notes) -> Option<String> {
    let names = listed(&notes.without_region);
    let verb = match notes.without_region.len() {
        0 => return None,
        1 => "has",
        _ => "have",
    };
    Some(format!(
        "{names} {verb} no region: page faults are in the times."
    ))
}

/// What a handle is, and which objects it names in pieces.
pub(crate) fn handle_line(cost: HandleCost) -> String {
    let short = cost.in_short_regions;
    let bytes = cost.bytes_per_object;
    let less = short.map_or_else(String::new, |short| {
        format!("; {} B where the region is short", short.bytes_per_object)
    });
    let line = format!(
        "the program reaches the object through a handle ({bytes} B per object, included{less})."
    );
    let Some(piece) = cost.piece_bytes else {
        return line;
    };
    let least = short.and_then(|short| short.piece_bytes);
    let least = least.filter(|least| *least != piece);
    let less = least.map_or_else(String::new, |least| {
        format!(", where it is shortest over {},", Size(least as u64))
    });
    let piece = Size(piece as u64);
    format!("{line} An object over {piece}{less} lies in pieces: it is not contiguous.")
}

/// One trace: its title, its table, and what follows from it.
pub(crate) fn trace(trace: &TraceResults, notes: &Notes) -> String {
    trace_within(trace, notes, terminal())
}

/// As [`trace()`], on a terminal of so many columns.
fn trace_within(trace: &TraceResults, notes: &Notes, width: usize) -> String {
    let prose = |text: &str| wrapped_to(text, clamped(width));
    let (rows, not_shown) = match notes.is_wide {
        true => (columns::wide(trace, notes).to_text(), Vec::new()),
        false => fit::fitted(columns::narrow(trace, notes), width),
    };
    let mut screen = format!("{}\n{rows}\n", prose(&title(trace)));
    if !not_shown.is_empty() {
        let names = format!("not shown: {} (--wide)", not_shown.join(", "));
        let _ = writeln!(screen, "{}", prose(&names));
    }
    for line in lines(trace, notes) {
        let _ = writeln!(screen, "{}", prose(&line));
    }
    screen
}

/// What follows from the table of a trace: what the times are worth, one paragraph on who is best,
/// then one line for each particular.
pub(crate) fn lines(trace: &TraceResults, notes: &Notes) -> Vec<String> {
    let mut lines = Vec::new();
    match &trace.beside_malloc {
        Some(beside) if beside.is_malloc_only => {
            lines.push(format!("Of malloc's part only: {}.", beside.why()));
        }
        Some(beside) => {
            lines.push(format!("No advice: {}.", beside.why()));
            lines.extend(verdict::failures(trace));
            return lines;
        }
        None => {}
    }
    let moving = notes.moving.map(|(row, _)| row);
    let (best, duels) = verdict::sentences(trace, &notes.baseline, moving);
    // What an answer is worth stands before it.
    lines.extend(answers::threads(trace));
    lines.extend(answers::share(trace, &notes.baseline));
    lines.push(best);
    lines.extend(duels);
    lines.extend(answers::held(trace));
    lines.extend(creep::lines(trace));
    lines.extend(verdict::saved(trace));
    lines.extend(verdict::failures(trace));
    lines.extend(smaller_lines(trace));
    lines
}

/// What stands after the last table.
pub(crate) fn foot(is_bundled: bool) -> String {
    let next = if is_bundled {
        "Next: surefit compare YOUR.sft.zst; --wide for all columns, --report FILE.html for charts."
    } else {
        "Next: --wide for all columns; --report FILE.html for charts; --rounds N for more rounds."
    };
    format!("{}\n", wrapped(next))
}

/// The name of a trace and what it holds.
fn title(trace: &TraceResults) -> String {
    format!("{}: {}", name(trace), contents(trace))
}

/// What a trace holds.
pub(crate) fn contents(trace: &TraceResults) -> String {
    let pieces = trace
        .results
        .iter()
        .find_map(|row| Some((row, row.bytes_in_pieces_at_peak?)))
        .filter(|(_, bytes)| *bytes > 0);
    let pieces = pieces.map_or_else(String::new, |(row, bytes)| {
        let (share, who) = (percent(bytes, trace.peak_live_bytes), short(&row.allocator));
        let share = if share < 0.5 {
            "less than 1".to_owned()
        } else {
            format!("{share:.0}")
        };
        format!("; {who} keeps {share} % of it in pieces, not contiguous")
    });
    let threads = match trace.threads {
        0 | 1 => String::new(),
        _ => format!(" of {}", answers::thread_count(trace)),
    };
    let without = trace.left_out.map_or_else(String::new, |these| {
        format!("; left out: {}", left_out(these))
    });
    let timed = trace.timed_events.map_or_else(String::new, |events| {
        format!("; times are of the first {}", counted(events, "event"))
    });
    format!(
        "{}{threads}, peak live {}{pieces}{without}{timed}",
        counted(trace.events, "event"),
        Size(trace.peak_live_bytes)
    )
}

fn percent(part: u64, whole: u64) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

/// The allocators that cannot use a region as large as the others'.
fn smaller_lines(trace: &TraceResults) -> impl Iterator<Item = String> {
    let most = trace.results.iter().filter_map(|row| row.heap_bytes).max();
    let smaller = trace
        .results
        .iter()
        .filter_map(move |row| Some((row, row.heap_bytes?)));
    smaller
        .filter(move |(_, bytes)| Some(*bytes) < most)
        .map(|(row, bytes)| {
            let (name, bytes) = (short(&row.allocator), Size(bytes));
            format!("{name} can name no more than {bytes}: that is its heap here.")
        })
}
