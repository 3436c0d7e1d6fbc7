//! Certificates for collected heaps: what a program declares, and the schedule and the bytes that
//! are enough for it.
//!
//! ```text
//! M, R, V          what lives; roots; weak references
//! A                by work: chosen          by time: (n − 1)·a, n = ⌈W/w⌉
//! occupied         M + 2A                   M + 2A + a             at most; over free lists with 8 bytes
//!                                                                  for each object that are left over
//! W                the work of a cycle that frees M + A (by time: + a), in a heap of so many bytes
//! region           the heap's certificate for what is occupied, the bits, a mark stack of N entries
//! ```
//! By time W depends on A and on the region, and these on W. All grow with each other, so the least
//! solution is found from below; there may be none: then the collector does not keep up.
#![deny(unsafe_code)]

use core::error::Error;
use core::fmt;

use super::load::Load;
use super::{Amount, ByTime, ByWork, Quanta, Schedule};

/// What a program keeps at most.
///
/// Its [`Client::scan`](crate::Client::scan) takes a slot for a word: one call looks at all of an
/// object, or at [`Edges::STRIDE`](crate::Edges::STRIDE) words and the last one at the rest. A
/// client that looks at fewer in a call is called more often, and a cycle has more work than the
/// certificate counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Program {
    /// M: what lives at most, in chunks or page-blocks: what its roots lead to, the object of the
    /// present request, and what it may still upgrade weak references to. It is the sum of `cost`
    /// of their requests, as for all that is declared.
    pub live: Amount,
    /// References that its roots report at most.
    pub roots: u64,
    /// Weak references that it has at most, cleared ones included that
    /// [`Client::weak_from`](crate::Client::weak_from) still passes. Each of its calls but the last
    /// passes one at least.
    pub weak: u64,
}

/// How the collector is to keep up with a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Headroom {
    /// By work: A, what may be allocated during a cycle. The more, the slower the rate.
    ByWork(Amount),
    /// By time: the quanta, and what is declared: what the program allocates at most in requests
    /// that begin within one quantum of its own, and the units of work that a quantum of the
    /// collector has time for, at least.
    ByTime {
        /// The quanta.
        quanta: Quanta,
        /// Allocated in a quantum of the program, at most.
        allocated: Amount,
        /// Worked in a quantum of the collector, at least.
        units: u64,
    },
}

/// The schedule, and the bytes of region, that are enough for a program.
///
/// A collector over a region of exactly so many bytes, with this mark stack and under this
/// schedule, refuses nothing and never finishes a cycle at once, as long as the program keeps to
/// what it declared.
///
/// If the work of a cycle is more than W, a schedule by work still refuses nothing: a cycle that
/// has not ended when A is used up is finished before the next request, which waits as long as that
/// takes. It is counted: [`Paced::cycles_overdue`](super::Paced::cycles_overdue).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CollectedCertificate {
    /// The schedule.
    pub schedule: Schedule,
    /// What is ever occupied, at most.
    pub occupied: Amount,
    /// W: the units of work of a cycle, at most.
    pub work: u64,
    /// Entries of the mark stack.
    pub mark_stack: usize,
    /// Bytes of region. Over Compact-fit it begins at a multiple of the page size.
    ///
    /// The collector gets exactly so many, the first ones of a longer region:
    /// `&mut region[..certificate.region_bytes]`. All bits of its region are swept, so over a
    /// longer one W would be more.
    pub region_bytes: usize,
    /// Those of them that the space takes, at most.
    pub heap_bytes: usize,
}

/// Why there is no certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotCertifiable {
    /// No heap is large enough, or the space has no bound for it.
    Heap,
    /// A quantum of the collector is shorter than one piece of work, which may have this many
    /// units.
    Quantum {
        /// The units of the longest piece.
        grain: u64,
    },
    /// The program allocates faster than the collector frees, or nearly so.
    Behind,
}

impl fmt::Display for NotCertifiable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Heap => f.write_str("no heap is large enough, or the space has no bound"),
            Self::Quantum { grain } => {
                write!(
                    f,
                    "a quantum is shorter than a piece of work of {grain} units"
                )
            }
            Self::Behind => f.write_str("the collector does not keep up with the program"),
        }
    }
}

impl Error for NotCertifiable {}

/// What a space says about the heap in which this much is occupied.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Needs {
    pub(crate) region_bytes: usize,
    pub(crate) heap_bytes: usize,
    pub(crate) bit_words: u64,
}

/// Finds the schedule and the region. `needs` says what is needed for so much; `moves` is how many
/// page-blocks a free moves, `excess` the longest piece of work of the space or of a scan.
pub(crate) fn certify(
    program: &Program,
    headroom: &Headroom,
    moves: u64,
    excess: u64,
    needs: impl Fn(Amount) -> Option<Needs>,
) -> Result<CollectedCertificate, NotCertifiable> {
    // The roots are one piece.
    let grain = excess.max(program.roots.saturating_add(1));
    let mut work = 0;
    for _ in 0..ROUNDS {
        let schedule = schedule_for(program, headroom, grain, work)?;
        let (occupied, trigger) = match &schedule {
            Schedule::ByTime(pace) => (pace.most(), pace.trigger().plus(pace.allocated)),
            Schedule::ByWork(pace) => (pace.most(), pace.trigger()),
            Schedule::Whole | Schedule::Asked(_) => (program.live, program.live),
        };
        let needs = needs(occupied).ok_or(match work {
            0 => NotCertifiable::Heap,
            _ => NotCertifiable::Behind,
        })?;
        let load = Load {
            roots: program.roots,
            weak: program.weak,
            live: program.live,
            occupied: trigger,
            bit_words: needs.bit_words,
            moves,
        };
        let found = load.work();
        if found == work {
            return Ok(CollectedCertificate {
                schedule,
                occupied,
                work,
                mark_stack: stack_for(program),
                region_bytes: needs.region_bytes,
                heap_bytes: needs.heap_bytes,
            });
        }
        work = found;
    }
    Err(NotCertifiable::Behind)
}

/// How often the work is computed anew before the collector counts as one that does not keep up. It
/// converges as a geometric series does: this is enough unless it needs 99 % of its time.
const ROUNDS: u32 = 1000;

/// Entries of the mark stack that never overflow.
pub(crate) fn stack_for(program: &Program) -> usize {
    usize::try_from(program.live.objects.max(1)).unwrap_or(usize::MAX)
}

fn schedule_for(
    program: &Program,
    headroom: &Headroom,
    grain: u64,
    work: u64,
) -> Result<Schedule, NotCertifiable> {
    match *headroom {
        Headroom::ByWork(cycle) => Ok(Schedule::ByWork(ByWork {
            live: program.live,
            cycle,
            work,
        })),
        Headroom::ByTime {
            quanta,
            allocated,
            units,
        } => {
            let pace = ByTime {
                live: program.live,
                quanta,
                allocated,
                units,
                grain,
                work,
            };
            match pace.quanta_of_a_cycle() {
                Some(_) => Ok(Schedule::ByTime(pace)),
                None => Err(NotCertifiable::Quantum { grain }),
            }
        }
    }
}
