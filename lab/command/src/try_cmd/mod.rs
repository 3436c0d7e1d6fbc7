//! `surefit try`: runs a program under each malloc that can be preloaded into it, in interleaved
//! rounds.

mod left;
mod mallocs;
mod once;
mod report;
mod sampled;

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use surefit_measure::output::{self, Format};
use surefit_measure::progress::Progress;
use surefit_measure::wrap::width;
use surefit_recorder::program;

use once::Run;
use report::{Document, Row};

/// What the verb does, for `--help`.
const HELP: &str = "\
In each round the program runs once under each malloc: glibc (nothing is
preloaded; if the program is linked with another malloc, that one serves, and
system-glibc is glibc's, by preloading libc.so.6), and jemalloc, mimalloc,
tcmalloc and surefit-malloc where this machine has them; the variable
SUREFIT_MALLOC_LIBRARY=PATH names the last one. Nothing can stand in for a
malloc that is linked statically: such a program is refused. Its output is not
shown; if it fails, its last line is. Processor time and the peak of resident
memory are those of the program and of the programs that it starts and waits
for; what goes on when it has ended is ended, and an error: a script should exec
its program. A server runs until --load has ended, in the foreground.

Examples:
  surefit try -- sort -u words.txt
  surefit try --with mine=/opt/lib/libmine.so --rounds 9 -- ./service --once
  surefit try --load 'sleep 1; redis-benchmark -p 7000 -q' -- \\
    redis-server --port 7000
";

/// The arguments of `surefit try`.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Args {
    /// Rounds; in each, the program runs once under each malloc
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,
    /// Further mallocs, or other files of known ones
    #[arg(long, value_name = "NAME=PATH,…", value_delimiter = ',')]
    with: Vec<String>,
    /// Only these beside glibc and those of --with
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    only: Vec<String>,
    /// What the program reads as its standard input, from its beginning in each run
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// A command of the shell that puts load on the program; when it ends, SIGTERM ends the program
    #[arg(long, value_name = "CMD")]
    load: Option<String>,
    /// How the result is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// The program and its arguments
    #[arg(last = true, value_name = "COMMAND", required = true)]
    command: Vec<OsString>,
}

/// Runs `surefit try`.
///
/// # Errors
/// Nothing can be preloaded into the program; there is no such malloc; the program fails on glibc.
pub(crate) fn run(args: &Args) -> Result<()> {
    let program = args.command.first().context("name a program")?;
    program::check(program).context("try")?;
    let linked = mallocs::linked(program);
    let mallocs = mallocs::all(&args.with, &args.only, linked.as_ref())?;
    let run = Run {
        command: &args.command,
        input: args.input.as_deref(),
        load: args.load.as_deref(),
    };
    left::adopt()?;
    let mut rows: Vec<_> = mallocs.into_iter().map(Row::new).collect();
    rounds(&run, args.rounds, &mut rows)?;
    let linked = linked.map(|linked| linked.name);
    let document = Document::new(&args.command, args.rounds, linked, rows);
    match args.format {
        Format::Json => output::print_json(&document),
        Format::Table => output::print(&document.to_text(width())),
    }
}

/// All rounds. The order of the mallocs moves on by one from round to round; who fails has no
/// further ones.
fn rounds(run: &Run<'_>, count: u32, rows: &mut [Row]) -> Result<()> {
    let name = run.command[0].to_string_lossy();
    let runs = rows.iter().filter(|row| row.failed().is_none()).count();
    let progress = Progress::new(u64::from(count) * runs as u64);
    for round in 0..count as usize {
        for place in 0..rows.len() {
            let place = (place + round) % rows.len();
            let row = &mut rows[place];
            if row.failed().is_some() {
                continue;
            }
            progress.step(&name, &format!("round {}", round + 1), &row.malloc().name);
            match once::run(run, row.malloc()) {
                Ok(took) => row.add(took),
                Err(error) if row.malloc().library.is_none() => bail!("try: {error:#}"),
                Err(error) => row.fail(format!("{error:#}")),
            }
        }
    }
    progress.finish();
    Ok(())
}
