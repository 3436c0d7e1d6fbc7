//! `surefit gc java`: runs a Java program on a small virtual machine, whose heap is surefit's.
//!
//! Standard output and standard error are the program's; counts go to standard error after it.

pub(crate) mod report;

use std::io::{stderr, stdout};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use surefit_os::Reservation;
use surefit_vm::{Call, Collecting, Program, least_heap, run as run_program};

use self::report::{Document, Subject};
use surefit_measure::collector::spaces::SpaceSpec;
use surefit_measure::error::{Broken, say};
use surefit_measure::memory;
use surefit_measure::output::Format;
use surefit_measure::sizes::HeapSize;

/// The largest heap that is tried when the smallest one is searched.
const LARGEST: usize = 256 << 20;

/// The arguments of `gc java`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A jar, or a folder of class files, as `javac --release 8` makes them
    path: PathBuf,
    /// The class whose `main` is run; without it, the one that the jar's manifest names
    #[arg(long, value_name = "CLASS")]
    main: Option<String>,
    /// The space in which objects lie
    #[arg(long, value_name = "SPEC", default_value = "segregated")]
    space: String,
    /// The heap size with tables: bytes, such as 16M, or a multiple of the smallest heap in which
    /// the program runs, such as 2x: that is searched first, by running the program
    #[arg(long, value_name = "BYTES|Nx", default_value = "16M", value_parser = HeapSize::asked)]
    heap: HeapSize,
    /// When the collector works
    #[arg(long, value_enum, default_value_t)]
    collect: When,
    /// How the counts are printed, on standard error
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// The arguments of the program, after `--`
    #[arg(last = true)]
    arguments: Vec<String>,
}

/// When the collector works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// When a request finds no room: the program stops for a whole collection
    #[default]
    Full,
    /// In steps, from half of the heap on: 1,024 units of work after every 4 KiB
    Steps,
    /// In two generations
    Generations,
    /// In two generations, with a nursery of an eighth of the heap in front of compact-fit
    Nursery,
}

impl When {
    fn collecting(self, heap_bytes: usize) -> Collecting {
        match self {
            Self::Full => Collecting::AtOnce,
            Self::Steps => Collecting::InSteps {
                trigger: heap_bytes as u64 / 2,
                units: 1024,
            },
            Self::Generations => Collecting::TwoGenerations {
                nursery: 0,
                young_bytes: u64::MAX,
            },
            Self::Nursery => Collecting::TwoGenerations {
                nursery: heap_bytes / 8,
                young_bytes: u64::MAX,
            },
        }
    }
}

/// Runs a program.
///
/// # Errors
/// Bad input; what the machine does not run; no heap that suffices.
pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let spec = SpaceSpec::parse(&args.space)?;
    if args.collect == When::Nursery && !matches!(spec.space, surefit_vm::Space::CompactFit(_)) {
        bail!("{spec}: a nursery stands in front of compact-fit only: add --space compact-fit");
    }
    let program = Program::open(&args.path)?;
    let main = args.main.clone().map(|main| main.replace('.', "/"));
    let main = main.or_else(|| program.main_class().map(str::to_owned));
    let file = args.path.display();
    let main = main
        .with_context(|| format!("{file}: its manifest names no class to run: add --main CLASS"))?;
    let call = |heap_bytes| Call {
        program: &program,
        main: &main,
        arguments: &args.arguments,
        space: &spec.space,
        collecting: args.collect.collecting(heap_bytes),
        steps: u64::MAX,
    };
    let (heap_bytes, smallest) = match args.heap {
        HeapSize::Bytes(bytes) => (bytes, None),
        times @ HeapSize::TimesPeak(_) => {
            let mut region = Reservation::new(LARGEST)?;
            let least = least_heap(call, region.memory())?;
            let least = least.ok_or_else(|| {
                Broken(format!(
                    "{file}: {spec} needs more than 256 MiB: give --heap in bytes"
                ))
            })?;
            (times.bytes(least.bytes as u64), Some(least))
        }
    };
    memory::affordable("a heap", heap_bytes as u64)?;
    let mut region = Reservation::new(heap_bytes)?;
    region.fault_in();
    let ran = run_program(
        &call(heap_bytes),
        region.memory(),
        &mut stdout().lock(),
        &mut stderr(),
    );
    let ran = ran?;
    let subject = Subject {
        file: file.to_string(),
        main,
        space: spec.to_string(),
        heap_bytes,
        smallest,
    };
    let document = Document::new(subject, &ran);
    match args.format {
        Format::Json => say(&(serde_json::to_string_pretty(&document)? + "\n")),
        Format::Table => say(&document.text()),
    }
    Ok(ExitCode::from(ran.status as u8))
}
