//! A replay that looks at every page now and then, and once where most is held.

use std::alloc::Layout;
use std::ptr::NonNull;

use anyhow::{Context, Result, bail};
use surefit_direct::DirectHeap;
use surefit_direct::{Partitioning, Standard};
use surefit_os::Reservation;

use super::pages::{PAGE_BYTES, Pages};
use super::pairs::Pairs;
use surefit_measure::passes::replay::{Hooks, Stop, Stopped, Table, replay};
use surefit_measure::sizes::HeapSize;
use surefit_measure::steps::{Step, Steps};
use surefit_measure::subjects::pointer::Pointers;
use surefit_measure::subjects::raw::Raw;

/// The heap of raw pointers.
type Direct<'m> = Pointers<Raw<DirectHeap<'m>>>;

/// Bytes beside the objects': a page for each size-class, and tables.
const BESIDE_BYTES: usize = 1 << 20;

/// Bytes beside the objects' for each of them, as requests may be of no byte.
const EACH_BYTES: usize = 16;

/// One look at a heap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Moment {
    /// Events replayed before it.
    pub(super) event: u64,
    /// The sum of live requests.
    pub(super) live_bytes: u64,
    /// Pages of page-blocks, and units of runs.
    pub(super) held_bytes: u64,
    /// Of each size-class: bytes of a page-block, pages and pairs.
    pub(super) classes: Vec<(u64, Pairs)>,
}

impl Moment {
    /// Pages and pairs of all size-classes.
    pub(super) fn all(&self) -> Pairs {
        let classes = self.classes.iter().map(|(_, pairs)| *pairs);
        classes.fold(Pairs::default(), Pairs::and)
    }

    /// The share of what is held that so many pairs would save: a page each.
    pub(super) fn share(&self, pairs: u64) -> f64 {
        (pairs * PAGE_BYTES as u64) as f64 / self.held_bytes.max(1) as f64
    }
}

/// What was seen of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    /// The looks, in order.
    pub(super) moments: Vec<Moment>,
    /// Which of them is the first where most is held.
    pub(super) peak: usize,
}

impl Seen {
    /// The first moment where most is held.
    pub(super) fn peak(&self) -> &Moment {
        &self.moments[self.peak]
    }

    /// The greatest share that pairs would save at any moment.
    pub(super) fn most_share(&self) -> f64 {
        let shares = self.moments.iter();
        shares
            .map(|moment| moment.share(moment.all().found))
            .fold(0.0, f64::max)
    }
}

/// Replays a trace twice through a heap of raw pointers: once to see when most is held, and once to
/// look then, and after each of `looks` equal parts of the events.
///
/// # Errors
/// No events; the heap refused a request; no memory.
pub(super) fn survey(steps: &Steps, looks: usize) -> Result<Seen> {
    let events = steps.steps().len();
    if events == 0 {
        bail!("{}: no events, so no pages", steps.name);
    }
    let (peak_event, _) = follow(steps, &[])?;
    let mut at: Vec<_> = (1..=looks)
        .map(|part| (events * part / looks).max(1) - 1)
        .collect();
    at.push(peak_event);
    at.sort_unstable();
    at.dedup();
    let (again, moments) = follow(steps, &at)?;
    let peak = at.binary_search(&peak_event);
    let peak = peak.ok().filter(|_| again == peak_event);
    let peak = peak.with_context(|| format!("{}: the heap is not the same again", steps.name))?;
    Ok(Seen { moments, peak })
}

/// One replay with looks after the events `at`, which are in order. Returns the first event after
/// which most is held, and the looks.
fn follow(steps: &Steps, at: &[usize]) -> Result<(usize, Vec<Moment>)> {
    let bytes = HeapSize::DEFAULT.bytes(steps.peak_live_bytes);
    let beside = BESIDE_BYTES.saturating_add(steps.slots().saturating_mul(EACH_BYTES));
    let bytes = bytes.saturating_add(beside);
    let mut region = Reservation::new(bytes)?;
    let memory = region.memory();
    let first_page = memory.as_ptr().addr();
    // The heap aligns its pages from the first unit behind its heads: here to their size.
    let memory = &mut memory[PAGE_BYTES - Standard::UNIT_BYTES..];
    let mut subject = Pointers(Raw(DirectHeap::new(memory)?));
    let mut looking = Looking {
        first_page,
        at,
        placed: vec![None; steps.slots()],
        pages: Pages::default(),
        live_bytes: 0,
        run_bytes: 0,
        most: (0, 0),
        moments: Vec::new(),
    };
    let mut table = Table::new(steps.slots());
    let done = replay(&mut subject, &mut table, steps, &mut looking);
    done.map_err(|stopped| why(steps, bytes, stopped))?;
    Ok((looking.most.0, looking.moments))
}

/// Why a replay stopped, in one line.
fn why(steps: &Steps, bytes: usize, Stopped { event, stop }: Stopped) -> anyhow::Error {
    let place = format!("{}: event {event}", steps.name);
    match stop {
        Stop::Refused(refused) => anyhow::Error::new(refused)
            .context(format!("{place}: cf-direct refused in {bytes} bytes")),
        Stop::Broken(rule) => anyhow::anyhow!("{place}: cf-direct broke a rule: {rule}"),
    }
}

/// Where an object is.
#[derive(Clone, Copy, Debug)]
struct Placed {
    /// Bytes from the first page.
    offset: usize,
    /// Bytes of its page-block or run.
    usable_bytes: usize,
    is_run: bool,
    request: u32,
}

/// What a replay knows of the heap's pages.
struct Looking<'a> {
    first_page: usize,
    /// The events after which to look.
    at: &'a [usize],
    /// By slot.
    placed: Vec<Option<Placed>>,
    pages: Pages,
    live_bytes: u64,
    run_bytes: u64,
    /// The first event after which most is held, and the bytes.
    most: (usize, u64),
    moments: Vec<Moment>,
}

impl Looking<'_> {
    fn held_bytes(&self) -> u64 {
        (self.pages.len() * PAGE_BYTES) as u64 + self.run_bytes
    }

    fn enter(&mut self, heap: &DirectHeap<'_>, at: NonNull<u8>, step: Step) -> Result<(), Stop> {
        // SAFETY: the object was allocated or resized just now, so it is live.
        let usable_bytes = unsafe { heap.usable_bytes(at) };
        let placed = Placed {
            offset: at.addr().get() - self.first_page,
            usable_bytes,
            is_run: is_run(step.layout()),
            request: step.size,
        };
        self.live_bytes += u64::from(placed.request);
        self.placed[step.slot as usize] = Some(placed);
        if placed.is_run {
            self.run_bytes += usable_bytes as u64;
            return Ok(());
        }
        let added = self.pages.add(placed.offset, usable_bytes);
        added.map_err(broken)
    }

    fn leave(&mut self, step: Step) -> Result<(), Stop> {
        let placed = self.placed[step.slot as usize].take();
        let placed = placed.ok_or_else(|| broken("an object that was never allocated"))?;
        self.live_bytes -= u64::from(placed.request);
        if placed.is_run {
            self.run_bytes -= placed.usable_bytes as u64;
            return Ok(());
        }
        self.pages.remove(placed.offset).map_err(broken)
    }

    fn look(&mut self, heap: &DirectHeap<'_>, event: usize) -> Result<(), Stop> {
        let classes = self.pages.by_class().into_iter();
        let moment = Moment {
            event: event as u64 + 1,
            live_bytes: self.live_bytes,
            held_bytes: self.held_bytes(),
            classes: classes
                .map(|(bytes, pages)| (bytes as u64, Pairs::of(&pages)))
                .collect(),
        };
        let (all, stats) = (moment.all(), heap.stats());
        let heaps = (stats.pages as u64, stats.not_full_pages as u64);
        if (all.pages, all.not_full) != heaps {
            return Err(broken("it counts other pages than its objects lie in"));
        }
        self.moments.push(moment);
        Ok(())
    }
}

fn broken(rule: &str) -> Stop {
    Stop::Broken(rule.into())
}

/// Whether a run of units serves a request, as a heap with standard pages says of itself.
fn is_run(layout: Layout) -> bool {
    layout.size() > Standard::LARGEST_BLOCK || layout.align() > Standard::UNIT_BYTES
}

impl<'m> Hooks<Direct<'m>> for Looking<'_> {
    fn allocated(
        &mut self,
        subject: &mut Direct<'m>,
        object: &mut NonNull<u8>,
        step: Step,
    ) -> Result<(), Stop> {
        self.enter(&subject.0.0, *object, step)
    }

    fn resized(
        &mut self,
        subject: &mut Direct<'m>,
        object: &mut NonNull<u8>,
        step: Step,
    ) -> Result<(), Stop> {
        self.leave(step)?;
        self.enter(&subject.0.0, *object, step)
    }

    fn freeing(&mut self, _: &mut Direct<'m>, _: &mut NonNull<u8>, step: Step) -> Result<(), Stop> {
        self.leave(step)
    }

    fn done(
        &mut self,
        subject: &mut Direct<'m>,
        _: &mut Table<NonNull<u8>>,
        _: Step,
        event: usize,
    ) -> Result<(), Stop> {
        let held = self.held_bytes();
        if held > self.most.1 {
            self.most = (event, held);
        }
        if self.at.get(self.moments.len()) == Some(&event) {
            self.look(&subject.0.0, event)?;
        }
        Ok(())
    }
}
