//! What is printed of one heap: a line to read for each kind of call, and one for the file of
//! figures.

use semihosting::{print, println};

use crate::event::{ALL, Event};
use crate::marks::Marks;
use crate::record::{LIVE, Line, Record};

/// Prints the worst call of each kind.
pub fn print(heap: &str, handles: bool, record: &Record) {
    println!("{heap}: {} calls measured", record.calls());
    for event in ALL {
        let Some(line) = record.line(event) else {
            continue;
        };
        row(event.name(handles), event, line, record);
        figures(heap, event.name(handles), line, record.stack_bytes(event));
    }
}

/// The line to read; the last columns are N with each number of live objects.
fn row(name: &str, event: Event, line: Line, record: &Record) {
    let Line {
        instructions,
        hundredths,
    } = line;
    print!("  {name:<16} {instructions:>6}");
    print!(" + {}.{:02} per byte", hundredths / 100, hundredths % 100);
    print!(", stack {:>4} B; with", record.stack_bytes(event));
    for (level, live) in LIVE.iter().enumerate() {
        match record.with(event, level, hundredths) {
            Some(n) => print!(" {live} objects {n},"),
            None => print!(" {live} objects -,"),
        }
    }
    println!();
}

/// The line for the file.
fn figures(heap: &str, name: &str, line: Line, stack_bytes: u32) {
    let (n, c) = (line.instructions, line.hundredths);
    println!(
        "csv,{heap},{name},{n},{}.{:02},{stack_bytes}",
        c / 100,
        c % 100
    );
}

/// The lines that say which mark follows which call.
pub fn print_marks(heap: &str, handles: bool, record: &Record, marks: Marks) {
    let seen = ALL
        .into_iter()
        .filter(|&event| record.line(event).is_some());
    for event in seen {
        println!(
            "mark,{},{heap},{}",
            marks.number(event),
            event.name(handles)
        );
    }
}
