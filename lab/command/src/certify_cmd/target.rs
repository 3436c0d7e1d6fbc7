//! The worst case of each call on a processor, from the tables in `firmware/worst`.

use std::fmt;

use anyhow::{Context, Result, bail};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surefit_compact::pieces::Pieces;
use surefit_compact::{Config, Narrow, Width};
use surefit_measure::spec::Spec;
use surefit_measure::steps::LEAST_ALIGN;
use surefit_measure::subjects::compact::{Options, Words};

/// What `ci/extra/worst.sh` measured and bounded.
const CORTEX_M4: &str = include_str!("../../../../firmware/worst/cortex-m4.csv");

/// A configuration that was measured.
struct Measured {
    spec: &'static str,
    config: Config,
    /// What the table calls its heap.
    heap: &'static str,
}

/// The configurations that were measured.
static MEASURED: [Measured; 2] = [
    Measured {
        spec: "cf:page=1K,width=16,spacing=1/4,k=1",
        config: Config::TINY,
        heap: "Heap",
    },
    Measured {
        spec: "cf:page=1K,width=16,classes=[32 64 128 256 512],k=1",
        config: Config::MICRO,
        heap: "Heap (MICRO)",
    },
];

/// How the measured image was compiled.
const OPT_LEVEL: &str = "s";

/// The worst calls on a target.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Target {
    /// Its name.
    pub(crate) name: String,
    /// The compiler of the measured image.
    pub(crate) compiler: String,
    /// How it optimised: `s`, for size.
    pub(crate) opt_level: String,
    /// The largest request of the figures, in bytes: larger ones have several page-blocks.
    pub(crate) largest_request_bytes: u64,
    /// The largest alignment of the figures, in bytes.
    pub(crate) largest_align_bytes: u64,
    /// The worst call of each kind.
    pub(crate) calls: Vec<Call>,
}

/// The worst call of one kind.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Call {
    /// What is called, and which transition it causes.
    pub(crate) event: String,
    /// Instructions of the worst call that a search found, copied bytes apart.
    pub(crate) instructions: u64,
    /// The most instructions of any call, copied bytes apart; absent if no bound is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) bound: Option<u64>,
    /// Instructions for each copied byte.
    pub(crate) per_copied_byte: f64,
    /// Bytes of stack.
    pub(crate) stack_bytes: u64,
}

impl Target {
    /// The figures of a target for the heap of a spec.
    ///
    /// # Errors
    /// No such target; the heap was not measured.
    pub(super) fn find(name: &str, spec: &Spec, options: &Options) -> Result<Self> {
        if name != "cortex-m4" {
            bail!("no figures for the target {name:?}; there are some for cortex-m4");
        }
        let Some(heap) = measured(options) else {
            let [tiny, micro] = &MEASURED;
            let (tiny, micro) = (tiny.spec, micro.spec);
            bail!("{spec}: not measured on {name}; choose '{tiny}' or '{micro}'");
        };
        Self::of(name, heap, CORTEX_M4)
    }

    /// The lines of a table that are about a heap.
    fn of(name: &str, heap: &str, table: &str) -> Result<Self> {
        let mut target = Self {
            name: name.to_owned(),
            opt_level: OPT_LEVEL.to_owned(),
            largest_request_bytes: largest() as u64,
            largest_align_bytes: LEAST_ALIGN as u64,
            ..Self::default()
        };
        for line in table.lines().skip(1) {
            let cells: Vec<&str> = line.split(',').collect();
            let [of, event, instructions, bound, copied, stack, compiler] = cells[..] else {
                bail!("the table of {name}: not seven cells: {line}");
            };
            if of != heap {
                continue;
            }
            compiler.clone_into(&mut target.compiler);
            target.calls.push(Call {
                event: event.to_owned(),
                instructions: instructions.parse().context("instructions")?,
                bound: (!bound.is_empty())
                    .then(|| bound.parse().context("bound"))
                    .transpose()?,
                per_copied_byte: copied.parse().context("per_copied_byte")?,
                stack_bytes: stack.parse().context("stack_bytes")?,
            });
        }
        Ok(target)
    }
}

/// What the table calls the heap, if it has a configuration that was measured. (A spec with words
/// of two bytes has no keys and no brands.)
fn measured(options: &Options) -> Option<&'static str> {
    if !matches!(options.words, Words::Narrow) {
        return None;
    }
    let config = format!("{:?}", options.config);
    let found = MEASURED
        .iter()
        .find(|it| format!("{:?}", it.config) == config);
    found.map(|it| it.heap)
}

/// How many page-blocks an object has: all measured configurations have the same pieces.
fn blocks(bytes: usize) -> u64 {
    let division = Config::TINY.division();
    let runs = Pieces::new(bytes, LEAST_ALIGN, division, Narrow::SPINE_WORD_BYTES);
    runs.map(|run| run.count as u64).sum()
}

/// The longest object of one page-block.
pub(super) fn largest() -> usize {
    let page = Config::TINY.geometry().page_bytes();
    (1..=page).rev().find(|&it| blocks(it) == 1).unwrap_or(0)
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            compiler,
            opt_level,
            largest_request_bytes: bytes,
            largest_align_bytes: align,
            ..
        } = self;
        writeln!(
            f,
            "On {name} ({compiler}, opt-level={opt_level}), the worst calls with objects of up to {bytes} bytes, aligned to {align}: one page-block each (QEMU counts instructions, not cycles):"
        )?;
        for call in &self.calls {
            let copied = match call.per_copied_byte {
                0.0 => String::new(),
                each => format!(" + {each:.2} per copied byte"),
            };
            write!(f, "  {:<14} ", call.event)?;
            match call.bound {
                Some(bound) => write!(
                    f,
                    "at most {bound} instructions{copied}; a search found {}",
                    call.instructions
                )?,
                None => write!(
                    f,
                    "no bound; a search found {} instructions{copied}",
                    call.instructions
                )?,
            }
            writeln!(f, "; {} B of stack", call.stack_bytes)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::certified::options;
    use super::{Config, MEASURED, Spec, Target, measured};

    #[test]
    fn only_the_measured_configurations_have_figures() {
        let rows = |spec: &str| {
            let spec = Spec::parse(spec).expect("a spec");
            measured(options(&spec).expect("a handle heap"))
        };
        for it in &MEASURED {
            assert_eq!(rows(it.spec), Some(it.heap));
            for other in ["keys", "branded"] {
                assert!(Spec::parse(&format!("{},{other}", it.spec)).is_err());
            }
            assert_eq!(it.config.division(), Config::TINY.division());
        }
        assert_eq!(rows("cf"), None);
        assert_eq!(rows("cf:page=1K,width=16,spacing=1/4,k=2"), None);
    }

    #[test]
    fn the_bound_comes_first_and_other_heaps_are_left_out() {
        let table =
            "header\nHeap,free F2,300,310,1.00,108,rustc 1\nTlsf,free,162,,0.00,48,rustc 1\n";
        let target = Target::of("board", "Heap", table).expect("a table");
        assert_eq!(target.calls.len(), 1);
        let text = target.to_string();
        let line = "free F2        at most 310 instructions + 1.00 per copied byte; a search found 300; 108 B";
        assert!(text.contains(line), "{text}");
        let text = Target::of("board", "Tlsf", table)
            .expect("a table")
            .to_string();
        let line = "free           no bound; a search found 162 instructions; 48 B of stack";
        assert!(text.contains(line), "{text}");
        assert!(Target::of("board", "Heap", "header\nHeap,free\n").is_err());
    }
}
