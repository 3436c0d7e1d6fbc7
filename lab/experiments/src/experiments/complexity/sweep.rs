//! One parameter grows, the others stay: the heaps that are probed, what was counted of each, and
//! what the papers' expressions say of it.
#![deny(unsafe_code)]

use anyhow::{Context, Result};

use crate::shared::threads::probe::{Counts, Shape, probe};

/// Bytes of a word that a move copies.
const WORD: f64 = 8.0;

/// Locks that any call may take, whatever the parameters: of the size-class, of the thread's
/// buffer, of the pool for pages and for entries. How many of them the worst of some thousand calls
/// meets is chance, so fewer count as so many.
const LOCKS: u64 = 4;

/// The page in which β grows: the largest that there is.
const LARGEST_PAGE: usize = 64 << 10;

/// The five configurations: their name, whether they are sharded, and whether κ and ι are finite.
pub(super) const CONFIGURATIONS: [(&str, bool, bool, bool); 5] = [
    ("1-CF(∞,∞)", false, false, false),
    ("1-CF(κ,∞)", false, true, false),
    ("n-CF(∞,∞)", true, false, false),
    ("n-CF(κ,∞)", true, true, false),
    ("1-CF(κ,ι)", false, true, true),
];

/// What grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parameter {
    /// n.
    Threads,
    /// m.
    Live,
    /// β in one page, whose π falls.
    BlockBytes,
    /// P, and β with it, so that π stays.
    Page,
    /// κ.
    Kappa,
    /// ι.
    Increment,
}

impl Parameter {
    /// All of them.
    pub(super) const ALL: [Self; 6] = [
        Self::Threads,
        Self::Live,
        Self::BlockBytes,
        Self::Page,
        Self::Kappa,
        Self::Increment,
    ];

    /// Its letter.
    pub(super) const fn letter(self) -> &'static str {
        match self {
            Self::Threads => "n",
            Self::Live => "m",
            Self::BlockBytes => "β",
            Self::Page => "P",
            Self::Kappa => "κ",
            Self::Increment => "ι",
        }
    }

    /// Its values: five over three decades; pages, which have from 1 to 64 KiB, cannot.
    pub(super) const fn values(self) -> &'static [u32] {
        match self {
            Self::Threads | Self::Kappa => &[1, 6, 36, 216, 1296],
            Self::Live => &[32, 192, 1152, 6912, 41_472],
            Self::BlockBytes => &[32, 176, 1024, 5656, 32_000],
            Self::Page => &[1024, 4096, 16_384, 65_536],
            Self::Increment => &[16, 96, 544, 3072, 16_384],
        }
    }

    /// Whether a configuration has it.
    fn is_of(self, configuration: usize) -> bool {
        let (_, _, is_bounded, is_stepwise) = CONFIGURATIONS[configuration];
        match self {
            Self::Kappa => is_bounded,
            Self::Increment => is_stepwise,
            _ => true,
        }
    }
}

/// The columns of the papers' table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    Malloc,
    Free,
    Latency,
    Memory,
    Fragmentation,
}

impl Column {
    /// All of them.
    pub(super) const ALL: [Self; 5] = [
        Self::Malloc,
        Self::Free,
        Self::Latency,
        Self::Memory,
        Self::Fragmentation,
    ];

    /// Its name.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Malloc => "malloc",
            Self::Free => "free",
            Self::Latency => "latency",
            Self::Memory => "memory",
            Self::Fragmentation => "fragmentation",
        }
    }

    /// The papers' expression for a configuration.
    pub(super) const fn papers(self, configuration: usize) -> &'static str {
        let of_each = match self {
            Self::Malloc => ["O(n)", "O(n)", "O(1)", "O(1)", "O(n)"],
            Self::Free => ["O(n)", "O(n+β)", "O(1)", "O(β)", "O(n+β+β/ι)"],
            Self::Latency => ["O(1)", "O(β)", "O(1)", "O(β)", "O(min(β,ι))"],
            Self::Memory => [
                "O(nmπβ)",
                "O((nm+κ(π-1))β)",
                "O(nmπβ)",
                "O(n(m+κ(π-1))β)",
                "O((nm+nπ+κ(π-1))β)",
            ],
            Self::Fragmentation => [
                "O(nm(π-1)β)",
                "O(κ(π-1)β)",
                "O(nm(π-1)β)",
                "O(nκ(π-1)β)",
                "O((nπ+κ(π-1))β)",
            ],
        };
        of_each[configuration]
    }

    /// The papers' expression without the n that is waiting for a lock.
    pub(super) const fn without_waiting(self, configuration: usize) -> &'static str {
        match (self, configuration) {
            (Self::Malloc, _) => "O(1)",
            (Self::Free, 0) => "O(1)",
            (Self::Free, 1) => "O(β)",
            (Self::Free, 4) => "O(β+β/ι)",
            _ => self.papers(configuration),
        }
    }

    /// Whether the papers' expression has a part for page-blocks that moves in flight hold.
    pub(super) const fn has_transient(self, configuration: usize) -> bool {
        let (_, _, _, is_stepwise) = CONFIGURATIONS[configuration];
        is_stepwise && matches!(self, Self::Memory | Self::Fragmentation)
    }
}

/// One heap that was probed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Probed {
    pub(super) configuration: usize,
    pub(super) parameter: Parameter,
    /// What it has grown to.
    pub(super) value: u32,
    pub(super) shape: Shape,
    /// π.
    pub(super) blocks: u32,
    pub(super) counts: Counts,
    /// `None` without valgrind.
    pub(super) instructions: Option<Instructions>,
}

/// The most instructions of a sampled call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Instructions {
    pub(super) malloc: u64,
    pub(super) free: u64,
}

/// A shape of a sweep.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grown {
    parameter: Parameter,
    /// What it has grown to.
    value: u32,
    pub(super) shape: Shape,
    /// π.
    blocks: u32,
}

/// The shapes of one configuration, in all its parameters.
///
/// # Errors
/// A shape that no heap has.
pub(super) fn shapes(configuration: usize) -> Result<Vec<Grown>> {
    let mut shapes = Vec::new();
    let of_it = Parameter::ALL
        .into_iter()
        .filter(|one| one.is_of(configuration));
    for parameter in of_it {
        for &value in parameter.values() {
            let shape = grown(base(configuration), parameter, value);
            let blocks = shape.blocks()?;
            shapes.push(Grown {
                parameter,
                value,
                shape: filled(shape, blocks),
                blocks,
            });
        }
    }
    Ok(shapes)
}

/// Probes one configuration in all its parameters; `instructions` are those of its shapes.
///
/// # Errors
/// A refusal; no memory.
pub(super) fn probe_configuration(
    configuration: usize,
    instructions: Option<&[Instructions]>,
) -> Result<Vec<Probed>> {
    let mut probed = Vec::new();
    for (at, grown) in shapes(configuration)?.into_iter().enumerate() {
        let Grown {
            parameter,
            value,
            shape,
            blocks,
        } = grown;
        let counts = probe(&shape).with_context(|| format!("probing {shape:?}"))?;
        probed.push(Probed {
            configuration,
            parameter,
            value,
            shape,
            blocks,
            counts,
            instructions: instructions.map(|all| all[at]),
        });
    }
    Ok(probed)
}

/// Where nothing grows.
pub(super) fn base(configuration: usize) -> Shape {
    let (_, is_sharded, is_bounded, is_stepwise) = CONFIGURATIONS[configuration];
    Shape {
        is_sharded,
        threads: 2,
        live: 16,
        page_bytes: 4096,
        block_bytes: 248,
        kappa: is_bounded.then_some(2),
        increment: is_stepwise.then_some(64),
    }
}

/// The shape with one parameter grown. Where there are many objects, pages are small, so that few
/// page-blocks fill eight of them.
fn grown(shape: Shape, parameter: Parameter, value: u32) -> Shape {
    match parameter {
        Parameter::Threads => Shape {
            threads: value as u16,
            page_bytes: 1024,
            ..shape
        },
        Parameter::Live => Shape {
            live: value,
            page_bytes: 1024,
            ..shape
        },
        Parameter::BlockBytes => Shape {
            page_bytes: LARGEST_PAGE,
            block_bytes: value,
            ..shape
        },
        Parameter::Page => Shape {
            page_bytes: value as usize,
            block_bytes: value / 16 - 8,
            ..shape
        },
        // more live page-blocks than κ pages have, so that pages are full and some free moves one
        Parameter::Kappa => Shape {
            kappa: Some(value),
            live: 2048,
            ..shape
        },
        Parameter::Increment => Shape {
            page_bytes: LARGEST_PAGE,
            block_bytes: 32_000,
            increment: Some(value),
            ..shape
        },
    }
}

/// The shape with enough live page-blocks for some full pages, where frees move any.
fn filled(shape: Shape, blocks: u32) -> Shape {
    let live = match shape.kappa {
        Some(_) => shape.live.max(8 * blocks),
        None => shape.live,
    };
    Shape { live, ..shape }
}

impl Probed {
    /// What was counted for a column: locks and words for work, bytes for space.
    pub(super) fn counted(&self, column: Column) -> f64 {
        let counts = &self.counts;
        match column {
            Column::Malloc => counts.malloc_locks.max(LOCKS) as f64,
            Column::Free => counts.free_locks.max(LOCKS) as f64 + counts.free_bytes as f64 / WORD,
            Column::Latency => 1.0 + counts.section_bytes as f64 / WORD,
            Column::Memory => counts.pages as f64 * self.shape.page_bytes as f64,
            Column::Fragmentation => counts.holes as f64 * f64::from(self.shape.block_bytes),
        }
    }

    /// Instructions of the dearest sampled call of a column; `None` where it is no call, or nobody
    /// counted.
    pub(super) fn instructions(&self, column: Column) -> Option<f64> {
        let instructions = self.instructions?;
        match column {
            Column::Malloc => Some(instructions.malloc as f64),
            Column::Free => Some(instructions.free as f64),
            _ => None,
        }
    }

    /// What is claimed for it, without waiting, and with the locks of any call as the constant: β
    /// and ι in words where they are work.
    pub(super) fn claimed(&self, column: Column) -> f64 {
        let shape = self.shape;
        let (n, m) = (f64::from(shape.threads), f64::from(shape.live));
        let (pi, beta) = (f64::from(self.blocks), f64::from(shape.block_bytes));
        let kappa = f64::from(shape.kappa.unwrap_or(0));
        let iota = f64::from(shape.increment.unwrap_or(u32::MAX));
        let (_, is_sharded, is_bounded, is_stepwise) = CONFIGURATIONS[self.configuration];
        let instances = if is_sharded { n } else { 1.0 };
        let sparse = if is_bounded { instances * kappa } else { n * m };
        let reserved = if is_stepwise { n * pi } else { 0.0 };
        let copied = if is_bounded { beta / WORD } else { 0.0 };
        let steps = if is_stepwise {
            (beta / iota).ceil()
        } else {
            0.0
        };
        match column {
            Column::Malloc => LOCKS as f64,
            Column::Free => LOCKS as f64 + copied + steps,
            Column::Latency if is_bounded => 1.0 + beta.min(iota) / WORD,
            Column::Latency => 1.0,
            Column::Memory => (n * m + reserved + sparse * (pi - 1.0)) * beta,
            Column::Fragmentation => (reserved + sparse * (pi - 1.0)) * beta,
        }
    }
}
