//! `surefit trace export`: writes the events as text for spreadsheets, data frames and scripts.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;

use super::open::{CHECKED, open_all};
use super::report::EventRow;
use surefit_measure::output;

/// The arguments of `surefit trace export`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The trace: a .sft or .sft.zst file, or bundled:NAME (redis, redis-drift, emacs, python-a,
    /// python-b)
    file: PathBuf,
    /// The format of the text
    #[arg(long, value_enum, default_value_t)]
    to: Text,
    /// The file to write; - is standard output
    #[arg(short, long, default_value = "-", value_name = "FILE")]
    output: PathBuf,
}

/// The text formats.
#[derive(Clone, Copy, Debug, Default, clap::ValueEnum)]
enum Text {
    /// Comma-separated values with a header line
    #[default]
    Csv,
    /// One JSON object per line
    Jsonl,
}

pub(super) fn run(args: &Args) -> Result<ExitCode> {
    // the trace is opened first, so that a missing trace starts no output
    let mut reader = open_all(&args.file, CHECKED)?;
    output::to_file(&args.output, |out| {
        if let Text::Csv = args.to {
            writeln!(out, "event,thread,call,object,size_bytes,align_bytes")?;
        }
        for (number, event) in (0..).zip(reader.by_ref()) {
            let row = EventRow::new(number, event?);
            match args.to {
                Text::Csv => write_values(out, &row)?,
                Text::Jsonl => write_object(out, &row)?,
            }
        }
        Ok(())
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Writes a row as comma-separated values; no value contains a comma or a quote.
fn write_values(out: &mut dyn Write, row: &EventRow) -> Result<()> {
    let EventRow {
        event,
        thread,
        call,
        object,
        ..
    } = row;
    write!(out, "{event},{thread},{call},{object},")?;
    if let Some(size) = row.size_bytes {
        write!(out, "{size}")?;
    }
    out.write_all(b",")?;
    if let Some(align) = row.align_bytes {
        write!(out, "{align}")?;
    }
    Ok(out.write_all(b"\n")?)
}

fn write_object(out: &mut dyn Write, row: &EventRow) -> Result<()> {
    serde_json::to_writer(&mut *out, row).map_err(std::io::Error::from)?;
    Ok(out.write_all(b"\n")?)
}

#[cfg(test)]
mod tests {
    use surefit_trace::{Align, Call, Event, Op};

    use super::{EventRow, write_object, write_values};

    #[test]
    fn a_row_is_the_same_in_both_texts() {
        let align = Align::new(64).expect("a power of two");
        let call = Call::Aligned(align);
        let (id, size) = (7, 100);
        let alloc = Event::new(2, Op::Alloc { id, size, call });
        let free = Event::new(0, Op::Free { id });
        let mut text = Vec::new();
        for row in [EventRow::new(9, alloc), EventRow::new(10, free)] {
            write_values(&mut text, &row).expect("memory does not fail");
            write_object(&mut text, &row).expect("memory does not fail");
        }
        assert_eq!(
            String::from_utf8_lossy(&text),
            "9,2,aligned,7,100,64\n\
             {\"event\":9,\"thread\":2,\"call\":\"aligned\",\"object\":7,\"size_bytes\":100,\"align_bytes\":64}\n\
             10,0,free,7,,\n\
             {\"event\":10,\"thread\":0,\"call\":\"free\",\"object\":7}\n"
        );
    }
}
