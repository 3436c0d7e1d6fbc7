//! `surefit record`: runs a program with the recorder in it, and makes a trace of each process.

mod chosen;
mod facts;
mod report;

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, ExitStatus};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, bail};
use surefit_measure::error::say;
use surefit_measure::output::{self, Format};
use surefit_measure::sizes;
use surefit_recorder::begun;
use surefit_recorder::convert::convert;
use surefit_recorder::program::{self, Unrecordable};
use surefit_recorder::read::{Described, Reader};
use surefit_recorder::session::{self, Session, Stacks, StartError, Unwinding};
use surefit_recorder::{LIBRARY, sites};

use crate::trace_file;
use chosen::{FEW, chosen};
use facts::{Asked, Watched};
use report::{Document, Recorded};

/// The arguments of `surefit record`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The file to write; it is compressed if its name ends in .zst
    ///
    /// Each further process gets a file of its own beside it, with its number and name.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Record only so long, such as 60s, 5m or 1h; the program goes on
    #[arg(long = "for", value_name = "TIME", value_parser = duration)]
    time: Option<Duration>,
    /// The most bytes of a log while the program runs, 24 for each event [default: 64G]
    #[arg(long, value_name = "BYTES", value_parser = log_bytes)]
    max_size: Option<usize>,
    /// Record who called as well: at most so many frames of each stack [default: 16]
    ///
    /// `surefit trace stats --sites` then says who allocates most, and who holds the peak.
    #[arg(
        long,
        value_name = "DEPTH",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "16",
        value_parser = clap::value_parser!(u32).range(1..=MOST_DEPTH)
    )]
    stacks: Option<u32>,
    /// Find the callers by frame pointers: faster, but only for what was built with
    /// -fno-omit-frame-pointer
    #[arg(long, requires = "stacks")]
    frame_pointers: bool,
    /// Record what comes through malloc of a program that brings an allocator of its own
    ///
    /// What that allocator serves is not in the trace; tune and certify are of malloc's part then.
    #[arg(long)]
    malloc_only: bool,
    /// Make traces of logs that an interrupted recording left behind, instead of running a program
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["command", "time", "max_size", "stacks", "malloc_only"])]
    logs: Option<PathBuf>,
    /// How the result is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// The program and its arguments
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "logs")]
    command: Vec<OsString>,
}

/// The most frames that can be asked for: those of the recorder itself come on top.
const MOST_DEPTH: i64 = 56;

/// A time such as `60s`, `5m` or `1h`.
fn duration(text: &str) -> Result<Duration> {
    let wrong = || anyhow!("`{text}` is not a time: write 60s, 5m or 1h");
    let seconds = match text.as_bytes().last() {
        Some(b's') => 1,
        Some(b'm') => 60,
        Some(b'h') => 3600,
        _ => return Err(wrong()),
    };
    let number: u32 = text[..text.len() - 1].parse().map_err(|_| wrong())?;
    if number == 0 {
        bail!("`{text}` records nothing: give at least 1s");
    }
    Ok(Duration::from_secs(u64::from(number) * seconds))
}

/// The least bytes of a log: beside its header, a few events.
const LEAST_LOG_BYTES: usize = 8192;

/// The most bytes of a log.
fn log_bytes(text: &str) -> Result<usize> {
    let bytes = sizes::bytes(text)?;
    if bytes < LEAST_LOG_BYTES {
        bail!("`{text}` is too little for a log: give at least 8K");
    }
    Ok(bytes)
}

/// Runs `surefit record`. The exit status is the program's own.
///
/// # Errors
/// The program cannot be recorded, or a trace cannot be written: then the logs stay.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    if let Some(folder) = &args.logs {
        // It is the user's: whatever comes of it, it stays.
        let mut document = traces(folder, &logs_in(folder)?, None, args)?;
        document.note_lost(folder, None);
        return print(args, &document).map(|()| ExitCode::SUCCESS);
    }
    let (program, own_allocator) = recordable(args)?;
    let folder = folder_beside(&args.output)?;
    let most = args.max_size.map(|bytes| bytes as u64);
    let output = args.output.clone();
    let leave = move |logs: &Path| interrupted(logs, &output);
    let session = Session::start(&args.command, folder.path(), most, stacks(args), leave)
        .map_err(|error| not_started(error, &args.output, &program))?;
    let begun = Instant::now();
    let ended = session.wait(args.time)?;
    let watched = Watched {
        pid: session.pid(),
        seen: session.seen(),
        time: begun.elapsed(),
        has_ended: ended.is_some(),
        own_allocator,
    };
    // Those that it leaves behind too.
    session
        .stop()
        .map_err(|cause| not_stopped(folder.path(), cause))?;
    let left = if ended.is_some() {
        session.living()
    } else {
        Vec::new()
    };
    // From here on the logs stay until every trace is written.
    let folder = folder.keep();
    let mut document = traces(&folder, &session::logs(&folder)?, Some(&watched), args)
        .with_context(|| kept(&folder, &args.output))?;
    document.program_seconds = Some(watched.time.as_secs_f64());
    document.note_lost(&folder, Some(session.pid()));
    if ended.is_some() {
        document.note_left_behind(&left, session::runs);
    }
    let status = print(args, &document).and_then(|()| match ended {
        Some(status) => Ok(status),
        None => go_on(&session, &program),
    });
    // A process that goes on without us may still have the folder; what it writes there is not
    // read.
    let _ = fs::remove_dir_all(&folder);
    exit(&program, status?)
}

fn stacks(args: &Args) -> Option<Stacks> {
    args.stacks.map(|depth| Stacks {
        depth,
        unwinding: if args.frame_pointers {
            Unwinding::FramePointers
        } else {
            Unwinding::Tables
        },
    })
}

/// The program, if it can be recorded and there is a place for the trace, and a function of the
/// allocator that it brings, if that is accepted.
fn recordable(args: &Args) -> Result<(PathBuf, Option<String>)> {
    if LIBRARY.is_empty() {
        bail!(
            "record: this command was built for a system without the GNU C library; build it on 64-bit Linux with it"
        );
    }
    if args.output == Path::new("-") {
        bail!("record: the program has standard output; name a file with -o");
    }
    output::writable(&args.output)?;
    let first = args.command.first().context("name a program")?;
    match program::check(first) {
        Ok(program) => Ok((program, None)),
        Err(Unrecordable::OwnAllocator(program, function)) if args.malloc_only => {
            Ok((program, Some(function)))
        }
        Err(error @ Unrecordable::OwnAllocator(..)) => bail!(
            "record: {error}; or take what comes through malloc all the same, with --malloc-only"
        ),
        Err(error) => Err(error).context("record"),
    }
}

/// A folder for the logs: on the disk that the trace is for, which shows early whether it is full.
fn folder_beside(path: &Path) -> Result<tempfile::TempDir> {
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    tempfile::Builder::new()
        .prefix("surefit-record-")
        .tempdir_in(parent.unwrap_or(Path::new(".")))
        .map_err(|cause| output::unwritable(&path.display().to_string(), &cause))
}

/// The error for a recording that cannot be started: a full disk is not the program's fault.
fn not_started(error: StartError, path: &Path, program: &Path) -> anyhow::Error {
    match error {
        StartError::Write(cause) => output::unwritable(&path.display().to_string(), &cause),
        StartError::Run(cause) => {
            anyhow::Error::new(cause).context(format!("cannot run {}", program.display()))
        }
    }
}

/// The error for a recording that cannot be ended.
fn not_stopped(folder: &Path, cause: io::Error) -> anyhow::Error {
    let name = folder.display();
    if folder.exists() {
        anyhow!("record: the logs in {name} cannot be ended: {cause}; check its permissions")
    } else {
        anyhow!(
            "record: {name}, which had the logs, was removed while the program ran: nothing is recorded; leave it until the program ends"
        )
    }
}

/// A second Ctrl-C ends the command while it makes traces: the logs stay, unless all is done.
fn interrupted(logs: &Path, output: &Path) {
    if logs.exists() {
        say(&format!(
            "\nsurefit: interrupted; what was recorded is in {logs}: `surefit record -o {output} --logs {logs}` makes the traces of it\n",
            logs = logs.display(),
            output = output.display()
        ));
    }
}

fn kept(folder: &Path, output: &Path) -> String {
    format!(
        "what was recorded is in {folder}: once that is mended, `surefit record -o {output} --logs {folder}` goes on from there",
        folder = folder.display(),
        output = output.display()
    )
}

/// The logs in a folder that the user names.
fn logs_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let name = folder.display();
    let logs = session::logs(folder).with_context(|| format!("cannot read {name}"))?;
    if logs.is_empty() {
        bail!("--logs {name}: has no log; name the folder surefit-record-… of the recording");
    }
    Ok(logs)
}

/// Makes a trace of each log of a folder.
fn traces(
    folder: &Path,
    found: &[PathBuf],
    watched: Option<&Watched>,
    args: &Args,
) -> Result<Document> {
    let output = &*args.output;
    let mut readers = Vec::new();
    for log in found {
        match Reader::open(log) {
            Ok(reader) => readers.push(reader),
            // The process was killed while it began its log: it had asked for nothing yet.
            Err(surefit_recorder::read::ReadError::NoLog { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let logs: Vec<_> = readers
        .iter()
        .map(|reader| reader.described().clone())
        .collect();
    let all = begun::begun(folder);
    let mut unheard = begun::unheard(&all, &logs);
    let first = watched.map(|it| it.pid);
    let chosen = chosen(&logs, first, (&all, &unheard), args.malloc_only);
    let main = chosen.log;
    let mut document = Document::new(chosen.why_not);
    let is_meant = |pid| chosen.without == Some(pid);
    unheard.retain(|it| !is_meant(it.pid));
    document.note_unheard(unheard);
    let mut others = 1;
    for (index, mut reader) in readers.into_iter().enumerate() {
        let log = reader.described().clone();
        if is_meant(log.pid) && !log.forked && log.events < FEW {
            continue;
        }
        if log.events == 0 {
            document.skip(&log, Some(index) == main);
            continue;
        }
        let is_own = Some(index) == main;
        let path = if is_own {
            output.to_owned()
        } else {
            numbered(output, others + 1, name_of(&log))
        };
        let watched = watched.filter(|_| is_own);
        match make(&mut reader, (&log, watched), &path, args)? {
            Some(recorded) if is_own => document.add_own(recorded, chosen.by.clone()),
            Some(recorded) => {
                others += 1;
                document.add(recorded);
            }
            None => document.skip(&log, is_own),
        }
    }
    document.sort();
    Ok(document)
}

/// Makes a trace of a log, unless no event is left: a copy may only have freed its parent's
/// objects.
fn make(
    reader: &mut Reader,
    (log, watched): (&Described, Option<&Watched>),
    path: &Path,
    args: &Args,
) -> Result<Option<Recorded>> {
    let progress = trace_file::progress_bar("reading", log.events)?;
    let called = sites::read(&log.path);
    let has_stacks = called.is_some();
    let mut spool = trace_file::spool(path, has_stacks)?;
    let called = called.unwrap_or_default();
    let position = |records| progress.set_position(records);
    let gaps = convert(reader, position, |(event, stack)| {
        let written = spool.write_at(event, called.stack(stack));
        written.map_err(|error| trace_file::unwritten(error, path))
    })?;
    progress.finish_and_clear();
    if spool.counts().events == 0 {
        return Ok(None);
    }
    let peak = spool.peak();
    let asked = Asked {
        stacks: has_stacks,
        malloc_only: args.malloc_only,
    };
    let facts = facts::of(log, watched, asked);
    let (header, bytes) =
        trace_file::write(spool, name_of(log), &called.sites, Some(&facts), path)?;
    let lost = match has_stacks || args.stacks.is_none() {
        true => called.lost,
        // There was no room for their file.
        false => header.counts.objects,
    };
    let trace = report::Described::new(&header, peak);
    let process = (&facts, &header.counts);
    Ok(Some(Recorded::new(
        (path, bytes),
        log,
        (trace, process),
        (gaps, lost),
    )))
}

/// The program's name, without its folder.
fn name_of(log: &Described) -> &str {
    let name = log.program.rsplit('/').next().unwrap_or_default();
    if name.is_empty() { "program" } else { name }
}

/// `a.sft.zst` becomes `a-2-name.sft.zst`, whatever bytes the name has.
fn numbered(output: &Path, number: usize, name: &str) -> PathBuf {
    let file = output.file_name().unwrap_or_default().as_bytes();
    let at = file.windows(4).position(|bytes| bytes == b".sft");
    let (stem, extension) = file.split_at(at.unwrap_or(file.len()));
    let middle = format!("-{number}-{name}");
    let file = [stem, middle.as_bytes(), extension].concat();
    output.with_file_name(OsString::from_vec(file))
}

fn print(args: &Args, document: &Document) -> Result<()> {
    match args.format {
        Format::Json => output::print_json(document)?,
        // The program has standard output.
        Format::Table => say(&document.to_text()),
    }
    if let Some(reason) = document.no_trace() {
        bail!("record: {reason}");
    }
    Ok(())
}

fn go_on(session: &Session, program: &Path) -> Result<ExitStatus> {
    say(&format!(
        "the recording has ended; {} goes on\n",
        program.display()
    ));
    session.wait(None)?.context("the program has not ended")
}

/// The exit status of a shell for a program that ended so.
fn exit(program: &Path, status: ExitStatus) -> Result<ExitCode> {
    if let Some(signal) = status.signal() {
        say(&format!(
            "surefit: {} was ended by signal {signal}; what it did until then is recorded\n",
            program.display()
        ));
        return Ok(ExitCode::from(128 + u8::try_from(signal).unwrap_or(0)));
    }
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(code.unwrap_or(1)))
}

#[cfg(test)]
mod tests {
    use super::{duration, log_bytes, numbered};
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    use std::path::Path;
    use std::time::Duration;

    #[test]
    fn times_have_a_unit() {
        assert_eq!(duration("90s").ok(), Some(Duration::from_secs(90)));
        assert_eq!(duration("2m").ok(), Some(Duration::from_secs(120)));
        assert_eq!(duration("1h").ok(), Some(Duration::from_secs(3600)));
        for wrong in ["", "60", "s", "1.5m", "-1s", "1d", "é"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
        for none in ["0s", "00m"] {
            let error = duration(none).expect_err("no time").to_string();
            assert!(error.contains("records nothing"), "{error}");
        }
    }

    #[test]
    fn a_log_that_has_no_room_is_refused() {
        assert_eq!(log_bytes("8K").ok(), Some(8192));
        for little in ["1", "1K", "8191"] {
            let error = log_bytes(little).expect_err("too little").to_string();
            assert!(error.contains("at least 8K"), "{error}");
        }
        assert!(log_bytes("x").is_err());
    }

    #[test]
    fn files_of_further_processes_are_numbered_before_the_extension() {
        let beside = |output| numbered(Path::new(output), 2, "git");
        assert_eq!(beside("x/a.sft.zst"), Path::new("x/a-2-git.sft.zst"));
        assert_eq!(beside("a.b"), Path::new("a.b-2-git"));
        let [odd, further] =
            [&b"x/\xff\xe4.sft"[..], b"x/\xff\xe4-2-git.sft"].map(OsStr::from_bytes);
        assert_eq!(numbered(Path::new(odd), 2, "git"), Path::new(further));
    }
}
