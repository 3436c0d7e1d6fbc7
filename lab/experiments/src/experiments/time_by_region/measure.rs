//! One program in every region: moves, times in interleaved rounds, instructions.

use anyhow::{Context, Result};
use surefit_os::Reservation;

use super::found::{CF, Found, HALF_MORE, HEAPS, REGIONS, Region, TIMES_LIVE};
use surefit_measure::passes::timing::Timing;
use surefit_measure::progress::Progress;
use surefit_measure::registry::Kind;
use surefit_measure::results::AllocatorResult;
use surefit_measure::rounds::in_parallel;
use surefit_measure::single::{self, Setting, completed};
use surefit_measure::sizes::HeapSize;
use surefit_measure::source::Source;
use surefit_measure::spec::{Choice, Spec};
use surefit_measure::steps::Steps;
use surefit_measure::subject::Pass;
use surefit_measure::subjects::null::Null;
use surefit_measure::{instructions, memory};

/// One of [`HEAPS`] in one of [`REGIONS`].
#[derive(Clone, Copy, Debug)]
struct Point {
    place: usize,
    heap: usize,
}

/// What is measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measuring {
    pub(super) rounds: u32,
    /// Whether instructions are counted.
    pub(super) counts: bool,
    /// Whether they are counted in one region only, that of which something is claimed.
    pub(super) quick: bool,
}

impl Measuring {
    /// Steps of progress of one program.
    pub(super) fn progress_steps(self) -> u64 {
        let points = (HEAPS.len() * REGIONS.len()) as u64;
        points * (1 + u64::from(self.rounds)) + self.counted().count() as u64
    }

    /// Measures one program.
    ///
    /// # Errors
    /// `cf` has no certificate for it; an allocator broke a rule; no memory; valgrind failed.
    pub(super) fn run(self, source: &Source, progress: &Progress) -> Result<Found> {
        let steps = &source.steps;
        let heaps = heaps(steps)?;
        let bytes = region_bytes(&heaps[CF], steps)?;
        let most = bytes.iter().max().copied().unwrap_or_default();
        memory::affordable("a heap", 2 * most as u64)?;
        let mut regions = bytes.map(|bytes| Region {
            bytes: bytes as u64,
            ..Region::default()
        });
        let complete = check(steps, &heaps, &mut regions, progress)?;
        self.time(steps, &heaps, &complete, &mut regions, progress)?;
        self.count(source, &heaps[CF], &mut regions, progress)?;
        Ok(Found {
            name: steps.name.clone(),
            live_bytes: steps.peak_live_bytes,
            regions,
        })
    }

    /// Times what completes, in interleaved rounds. In each round another region is the first, and
    /// in it another heap.
    fn time(
        self,
        steps: &Steps,
        heaps: &[Heap],
        complete: &[[bool; HEAPS.len()]],
        regions: &mut [Region],
        progress: &Progress,
    ) -> Result<()> {
        let most = regions.iter().map(|region| region.bytes).max();
        let mut memory = Reservation::new(usize::try_from(most.unwrap_or_default())?)?;
        memory.fault_in();
        for round in 0..self.rounds as usize {
            let pass = Timing { steps };
            let empty = completed("the empty replay", Ok(pass.run(Null::default())))?;
            for Point { place, heap } in in_turn(round) {
                let (spec, kind) = &heaps[heap];
                if complete[place][heap] {
                    let region = &mut regions[place];
                    let bytes = usize::try_from(region.bytes)?;
                    let outcome = kind.run(&mut memory.memory()[..bytes], pass);
                    let took = completed(spec.as_str(), outcome)?.saturating_sub(empty);
                    let pairs = steps.calls.pairs().max(1);
                    region.pair_ns[heap].push(took as f64 / pairs as f64);
                }
                progress.step(&steps.name, "timing", spec);
            }
        }
        Ok(())
    }

    /// The regions in which instructions are counted.
    fn counted(self) -> impl Iterator<Item = usize> {
        let is_counted = move |place: &usize| self.counts && (!self.quick || *place == HALF_MORE);
        (0..REGIONS.len()).filter(is_counted)
    }

    fn count(
        self,
        source: &Source,
        (spec, _): &Heap,
        regions: &mut [Region],
        progress: &Progress,
    ) -> Result<()> {
        let places: Vec<_> = self.counted().collect();
        let counts = in_parallel(&places, |place| {
            let region = &regions[*place];
            let count = match region.moves {
                Some(_) => instructions::per_free(spec.as_str(), region.bytes, source)?,
                None => None,
            };
            progress.step(&source.steps.name, "instructions", spec);
            Ok(count)
        })?;
        for (place, count) in places.into_iter().zip(counts) {
            regions[place].instructions_per_free = count;
        }
        Ok(())
    }
}

/// An allocator in this process.
type Heap = (Spec, Kind);

/// The heaps, told the demand of the program.
fn heaps(steps: &Steps) -> Result<Vec<Heap>> {
    let heap = |name: &&str| {
        let spec = Spec::parse(name)?.told(steps);
        match &spec.choice {
            Choice::InProcess(kind) => Ok((spec.clone(), kind.clone())),
            Choice::Preload(_) => anyhow::bail!("{name} lives in no region"),
        }
    };
    HEAPS.iter().map(heap).collect()
}

/// The bytes of every region.
fn region_bytes((spec, kind): &Heap, steps: &Steps) -> Result<[usize; REGIONS.len()]> {
    let certified = kind.certified(steps);
    let certified = certified.with_context(|| {
        format!(
            "{}: {spec} has no certificate for its demand; leave the trace out",
            steps.name
        )
    })?;
    let [a, b, c, d] = TIMES_LIVE.map(HeapSize::TimesPeak);
    let certified = HeapSize::Bytes(usize::try_from(certified.heap_bytes)?);
    Ok([certified, a, b, c, d].map(|size| size.bytes(steps.peak_live_bytes)))
}

/// Replays every heap in every region once: which of them complete, and how much `cf` moves.
fn check(
    steps: &Steps,
    heaps: &[Heap],
    regions: &mut [Region],
    progress: &Progress,
) -> Result<Vec<[bool; HEAPS.len()]>> {
    let points: Vec<_> = in_turn(0).collect();
    let checked = in_parallel(&points, |point| {
        let (spec, kind) = &heaps[point.heap];
        let heap = HeapSize::Bytes(usize::try_from(regions[point.place].bytes)?);
        let setting = Setting { heap, touch: false };
        let row = single::check(spec, kind, steps, setting);
        progress.step(&steps.name, "checking", spec);
        row
    })?;
    let mut complete = vec![[false; HEAPS.len()]; REGIONS.len()];
    for (Point { place, heap }, row) in points.into_iter().zip(&checked) {
        complete[place][heap] = row.completed;
        if heap == CF {
            regions[place].moves = moves(row);
        }
    }
    Ok(complete)
}

fn moves(row: &AllocatorResult) -> Option<u64> {
    row.moves_total.filter(|_| row.completed)
}

/// Every heap in every region, in the order of a round.
fn in_turn(round: usize) -> impl Iterator<Item = Point> {
    (0..REGIONS.len()).flat_map(move |place| {
        let place = (place + round) % REGIONS.len();
        (0..HEAPS.len()).map(move |heap| Point {
            place,
            heap: (heap + round) % HEAPS.len(),
        })
    })
}
