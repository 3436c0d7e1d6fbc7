//! `surefit trace export`: writes a trace as text for spreadsheets, data frames and scripts, and in
//! the formats of heaptrack and pprof.

mod call_sites;

use std::io::{self, IsTerminal as _, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};
use flate2::Compression;
use flate2::write::GzEncoder;
use surefit_formats::export::{HeaptrackWriter, PprofWriter};
use surefit_trace::CheckedReader;

use self::call_sites::{CallSites, HEAP, fragmentation};
use super::open::{CHECKED, open_all};
use super::report::EventRow;
use surefit_measure::output;

/// The arguments of `surefit trace export`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The trace: a .sft or .sft.zst file, or bundled:NAME (redis, redis-drift, emacs, python-a,
    /// python-b)
    file: PathBuf,
    /// The format
    #[arg(long, value_enum, default_value_t)]
    to: To,
    /// The file to write; - is standard output
    #[arg(short, long, default_value = "-", value_name = "FILE")]
    output: PathBuf,
}

/// The formats.
#[derive(Clone, Copy, Debug, Default, clap::ValueEnum)]
enum To {
    /// Comma-separated values with a header line
    #[default]
    Csv,
    /// One JSON object per line
    Jsonl,
    /// heaptrack's format, for heaptrack_print and heaptrack_gui; packed if the file's name ends in
    /// .gz
    Heaptrack,
    /// A profile for pprof: allocations, what is in use at the peak, and with call sites
    /// fragmentation
    Pprof,
}

/// An opened trace.
type Events = CheckedReader<Box<dyn Read>>;

pub(super) fn run(args: &Args) -> Result<ExitCode> {
    refuse_what_misleads(args)?;
    // the trace is opened first, so that a missing trace starts no output
    let mut reader = open_all(&args.file, CHECKED)?;
    output::to_file(&args.output, |out| match args.to {
        To::Csv => write_csv(&mut reader, out),
        To::Jsonl => write_jsonl(&mut reader, out),
        To::Heaptrack if ends_in(&args.output, "gz") => {
            let packed = GzEncoder::new(out, Compression::default());
            write_heaptrack(&mut reader, packed)?.finish()?;
            Ok(())
        }
        To::Heaptrack => write_heaptrack(&mut reader, out).map(drop),
        To::Pprof => write_pprof(&mut reader, &args.file, out),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Refuses a profile on a terminal, and a name that says what the file is not.
fn refuse_what_misleads(args: &Args) -> Result<()> {
    let is_stdout = args.output == Path::new("-");
    match args.to {
        To::Pprof if is_stdout && io::stdout().is_terminal() => {
            bail!("trace export: a profile is no text; name a file with -o")
        }
        To::Heaptrack if ends_in(&args.output, "zst") => bail!(
            "trace export: heaptrack's format is written plain, or packed by gzip; name a file that \
             ends in .gz or in neither"
        ),
        _ => Ok(()),
    }
}

fn ends_in(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found == extension)
}

fn write_csv(reader: &mut Events, out: &mut dyn Write) -> Result<()> {
    writeln!(out, "event,thread,call,object,size_bytes,align_bytes")?;
    for (number, event) in (0..).zip(reader) {
        write_values(out, &EventRow::new(number, event?))?;
    }
    Ok(())
}

fn write_jsonl(reader: &mut Events, out: &mut dyn Write) -> Result<()> {
    for (number, event) in (0..).zip(reader) {
        write_object(out, &EventRow::new(number, event?))?;
    }
    Ok(())
}

fn write_heaptrack<W: Write>(reader: &mut Events, out: W) -> Result<W> {
    let sites = CallSites::new(reader.sites());
    let mut writer = HeaptrackWriter::new(out, reader.header())?;
    if !sites.are_known() {
        writer = writer.without_call_sites()?;
    }
    while let Some(event) = reader.next().transpose()? {
        let stack = reader.stack();
        let frames = |number| sites.frames(number, stack);
        writer.event(event, sites.number(event, stack), frames)?;
    }
    Ok(writer.finish()?)
}

fn write_pprof(reader: &mut Events, file: &Path, out: &mut dyn Write) -> Result<()> {
    let sites = CallSites::new(reader.sites());
    let mut writer = PprofWriter::new(out, reader.header());
    while let Some(event) = reader.next().transpose()? {
        let stack = reader.stack();
        let frames = |number| sites.named_frames(number, stack);
        writer.event(event, sites.number(event, stack), frames);
    }
    if let Some(stacks) = sites.are_known().then(|| fragmentation(file)).flatten() {
        writer.fragmentation(HEAP, stacks);
    }
    writer.finish()?;
    Ok(())
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
    serde_json::to_writer(&mut *out, row).map_err(io::Error::from)?;
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
