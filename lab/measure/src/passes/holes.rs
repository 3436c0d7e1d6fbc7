//! Who keeps pages from being empty: fragmentation by call site, in the worst valley of a replay on
//! Compact-fit without moves.
//!
//! At the peak there are few holes: what was freed is in use again. So a first replay looks where
//! the bytes in use are most beside the live ones ([`crate::held`]), and a second one stops there.
//! Moves would fill the holes that a heap of raw pointers keeps, so there are none.
//!
//! A page that is not full has free page-blocks, its holes. It is kept by the objects in it:
//! without them it would be free, and so would its holes. So the bytes of a page's holes are
//! divided among its objects, each by its block. What a heap calls `size_class_bytes` then is so
//! divided among the call sites of the trace.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use surefit_compact::geometry::Geometry;
use surefit_os::Reservation;
use surefit_trace::{Stack, Trace};

use super::replay::{Hooks, Stop, Stopped, Table, drain, replay};
use crate::held::Held;
use crate::memory;
use crate::refusal;
use crate::registry::Kind;
use crate::single::{self, Setting};
use crate::sizes::HeapSize;
use crate::spec::{Choice, Spec};
use crate::steps::{Action, Step, Steps};
use crate::subject::{Pass, Subject};
use crate::subjects::compact::Options;

/// What the objects of one call site hold at an event.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SiteHoles {
    /// Who allocated the objects, or resized them last.
    pub stack: Stack,
    /// Live objects.
    pub objects: u64,
    /// The sum of their requests.
    pub live_bytes: u64,
    /// Bytes of holes in the pages that they keep, divided among all objects of a page.
    pub hole_bytes: f64,
    /// Pages with holes in which there is one of them.
    pub pages: u64,
}

/// Fragmentation by call site.
#[derive(Clone, Debug)]
pub struct Fragmentation {
    /// When: the worst valley, or the event with the most live bytes if there is no valley.
    pub event: usize,
    /// Whether it is a valley.
    pub is_valley: bool,
    /// Live bytes then.
    pub live_bytes: u64,
    /// What each call site holds, the most bytes of holes first.
    pub sites: Vec<SiteHoles>,
}

/// Fragmentation in the worst valley by call site, the most first: for each hole of each page, who
/// keeps the page. `spec` is `cf` with its keys, which never moves an object here. The sum is what
/// the heap itself says of its holes.
///
/// # Errors
/// Another allocator than `cf`; the replay does not complete in this heap; no memory.
pub fn by_site(trace: &Trace, steps: &Steps, spec: &Spec, heap: HeapSize) -> Result<Fragmentation> {
    let Choice::InProcess(Kind::Cf(options)) = &spec.choice else {
        bail!("{spec}: holes by call site are those of cf; name it, with keys if you like");
    };
    let options = Options {
        lean: Vec::new(),
        ..options.unbounded()?
    };
    let kind = Kind::Cf(Box::new(options.clone()));
    let setting = Setting { heap, touch: false };
    let row = single::check(spec, &kind, steps, setting)?;
    let held = Held::in_use(&row);
    let valley = held.and_then(|held| held.valley);
    let event = match valley {
        Some(valley) => usize::try_from(valley.event)?,
        None => steps.peak_event,
    };
    let bytes = kind.heap_bytes(heap, steps);
    memory::affordable("a heap", bytes as u64)?;
    let mut region = Reservation::new(bytes)?;
    let pass = Holes {
        trace,
        steps,
        geometry: options.config.geometry(),
        event,
    };
    let found = |sites| Fragmentation {
        event,
        is_valley: valley.is_some(),
        live_bytes: valley.map_or(steps.peak_live_bytes, |valley| valley.live_bytes),
        sites,
    };
    let (event, why) = match kind.run_untimed(region.memory(), pass) {
        Ok(Ok(sites)) => return Ok(found(sites)),
        Ok(Err(stop)) => {
            let error = refusal::stopped(spec.as_str(), &stop)?;
            (stop.event, error.kind)
        }
        Err(refused) => (0, refusal::refusal_kind(refused).to_owned()),
    };
    bail!("event {event}: {spec} refuses it in a heap of {bytes} bytes ({why})")
}

/// One replay that looks at the pages after an event.
#[derive(Clone, Copy, Debug)]
struct Holes<'a> {
    trace: &'a Trace,
    steps: &'a Steps,
    geometry: &'a Geometry,
    event: usize,
}

impl Pass for Holes<'_> {
    type Output = Result<Vec<SiteHoles>, Stopped>;

    fn run<S: Subject>(self, mut subject: S) -> Self::Output {
        let mut table = Table::new(self.steps.slots());
        let mut survey = Survey {
            pass: self,
            live: vec![None; self.steps.slots()],
            found: Vec::new(),
        };
        replay(&mut subject, &mut table, self.steps, &mut survey)?;
        drain(&mut subject, table, self.steps);
        Ok(survey.found)
    }
}

/// The live objects, and at the event what keeps each page.
struct Survey<'a> {
    pass: Holes<'a>,
    /// By slot: who allocated it, and its last step.
    live: Vec<Option<(Stack, Step)>>,
    found: Vec<SiteHoles>,
}

/// A page: the bytes of one of its blocks, how many it has, and who has those in use.
struct Page {
    block_bytes: u64,
    blocks: u64,
    used: Vec<Stack>,
}

impl<S: Subject> Hooks<S> for Survey<'_> {
    fn done(
        &mut self,
        subject: &mut S,
        table: &mut Table<S::Object>,
        step: Step,
        event: usize,
    ) -> Result<(), Stop> {
        self.note(step, event);
        if event == self.pass.event {
            self.survey(subject, table)?;
        }
        Ok(())
    }
}

impl Survey<'_> {
    fn note(&mut self, step: Step, event: usize) {
        let stack = self.pass.trace.stack(event);
        let live = &mut self.live[step.slot as usize];
        *live = match (step.action, *live) {
            (Action::Free, _) => None,
            // A reallocation from nobody knows where stays with who allocated.
            (Action::Resize, Some((before, _))) if !stack.is_known() => Some((before, step)),
            _ => Some((stack, step)),
        };
    }

    fn survey<S: Subject>(
        &mut self,
        subject: &mut S,
        table: &mut Table<S::Object>,
    ) -> Result<(), Stop> {
        let mut pages = BTreeMap::new();
        let mut sites = BTreeMap::new();
        for (slot, live) in (0..).zip(&self.live) {
            let Some((stack, step)) = *live else { continue };
            let site: &mut SiteHoles = sites.entry(stack).or_default();
            site.stack = stack;
            site.objects += 1;
            site.live_bytes += u64::from(step.size);
            // SAFETY: T1: the slot holds an object.
            let object = unsafe { table.get_mut(slot) };
            self.place(subject, object, (stack, step), &mut pages)?;
        }
        let exact = subject.usage().map(|usage| usage.size_class_bytes as f64);
        self.found = divide(&pages, sites, exact);
        Ok(())
    }

    /// Notes the page-blocks of an object.
    fn place<S: Subject>(
        &self,
        subject: &mut S,
        object: &mut S::Object,
        (stack, step): (Stack, Step),
        pages: &mut BTreeMap<usize, Page>,
    ) -> Result<(), Stop> {
        let geometry = self.pass.geometry;
        let (mut offset, size) = (0, step.size as usize);
        while offset < size.max(1) {
            // SAFETY: the object is live and has the step's size.
            let chunk = unsafe { subject.chunk(object, step.layout(), offset) };
            let bytes = chunk.len().min(size - offset);
            if bytes == 0 && size > 0 {
                return Err(Stop::Broken("an object ends before its size".into()));
            }
            let class = match bytes == size {
                true => geometry.class_for(bytes, step.align()),
                false => geometry.class_for_bytes(bytes),
            };
            // What has pages of its own has no holes.
            if let Some(class) = class {
                let layout = geometry.layout(class);
                let number = chunk.as_ptr().addr() >> geometry.page_shift();
                let page = pages.entry(number).or_insert_with(|| Page {
                    block_bytes: layout.block_bytes.into(),
                    blocks: layout.blocks.into(),
                    used: Vec::new(),
                });
                page.used.push(stack);
            }
            offset += bytes.max(1);
        }
        Ok(())
    }
}

/// Divides the holes of each page among the blocks in use, and scales them to the `exact` sum of
/// their bytes. Most bytes first.
fn divide(
    pages: &BTreeMap<usize, Page>,
    mut sites: BTreeMap<Stack, SiteHoles>,
    exact: Option<f64>,
) -> Vec<SiteHoles> {
    for page in pages.values() {
        let holes = page.blocks.saturating_sub(page.used.len() as u64);
        let share = (holes * page.block_bytes) as f64 / page.used.len() as f64;
        let mut keepers = page.used.clone();
        keepers.sort_unstable();
        for same in keepers.chunk_by(PartialEq::eq) {
            if let Some(site) = sites.get_mut(&same[0]) {
                site.hole_bytes += share * same.len() as f64;
                site.pages += u64::from(holes > 0);
            }
        }
    }
    let mut found: Vec<SiteHoles> = sites.into_values().collect();
    let counted: f64 = found.iter().map(|site| site.hole_bytes).sum();
    // Blocks that only list the pieces of an object are not seen here, and look like holes.
    if let Some(exact) = exact.filter(|_| counted > 0.0) {
        for site in &mut found {
            site.hole_bytes *= exact / counted;
        }
    }
    found.sort_by(|a, b| b.hole_bytes.total_cmp(&a.hole_bytes));
    found
}

#[cfg(test)]
mod tests {
    use surefit_trace::{Call, Event, Frame, Op, SitesBuilder, Stack, Trace};

    use super::by_site;
    use crate::single::{Setting, check};
    use crate::sizes::HeapSize;
    use crate::spec::{Choice, Spec};
    use crate::steps::Steps;

    /// One site keeps every hundredth of its objects, another one all, and a third has objects in
    /// pieces.
    fn program() -> (Trace, [Stack; 3]) {
        let mut builder = SitesBuilder::default();
        let stacks = [1, 2, 3].map(|offset| {
            let frame = Frame {
                module: "program",
                offset,
                function: None,
            };
            builder.stack(&[frame])
        });
        let [scattered, dense, long] = stacks;
        let call = Call::Malloc;
        let mut called = Vec::new();
        for id in 0..20_000 {
            let (size, stack) = if id % 2 == 0 {
                (40, scattered)
            } else {
                (72, dense)
            };
            called.push((Op::Alloc { id, size, call }, stack));
        }
        for id in (0..20_000).step_by(2).filter(|id| id % 200 != 0) {
            called.push((Op::Free { id }, Stack::UNKNOWN));
        }
        // The peak, in other pages, and some events more, so that it is seen.
        for id in 20_000..20_020 {
            called.push((
                Op::Alloc {
                    id,
                    size: 50_000,
                    call,
                },
                long,
            ));
        }
        for id in 20_020..20_520 {
            called.push((Op::Alloc { id, size: 72, call }, dense));
        }
        let events = called.iter().map(|(op, _)| Event::new(0, *op)).collect();
        let stacks_of = called.iter().map(|(_, stack)| *stack).collect();
        let trace = Trace::new("holes", events).expect("sound");
        let trace = trace
            .with_sites(builder.finish(), stacks_of)
            .expect("known");
        (trace, stacks)
    }

    #[test]
    fn holes_are_charged_to_who_keeps_the_page() {
        let (trace, [scattered, dense, _]) = program();
        let steps = Steps::new(&trace).expect("small");
        let heap = HeapSize::DEFAULT;
        // Without moves the scattered objects keep nearly all their pages, before the peak.
        let spec = Spec::parse("cf").expect("a spec");
        let found = by_site(&trace, &steps, &spec, heap).expect("it completes");
        assert!(found.event < steps.peak_event && found.live_bytes < steps.peak_live_bytes);
        let sites = found.sites;
        assert_eq!(sites[0].stack, scattered);
        // The last look before the peak: nearly all others are freed.
        assert!((100..400).contains(&sites[0].objects), "{sites:?}");
        let of = |stack| {
            sites
                .iter()
                .find(|site| site.stack == stack)
                .expect("a site")
        };
        assert!(
            sites[0].hole_bytes > 20.0 * of(dense).hole_bytes,
            "{sites:?}"
        );
        assert!(sites[0].hole_bytes > 300_000.0, "{sites:?}");
        assert_eq!(of(dense).objects, 10_000);
        // The sum is the heap's own, with moves or not.
        let unmoved = Spec::parse("cf:k=inf").expect("a spec");
        let Choice::InProcess(kind) = &unmoved.choice else {
            panic!("in process");
        };
        let row = check(&unmoved, kind, &steps, Setting { heap, touch: false });
        let samples = row
            .expect("it completes")
            .resident_over_time
            .expect("samples");
        let mut samples = samples.iter();
        let then = samples.find(|sample| sample.event == found.event as u64);
        let parts = then.and_then(|sample| sample.parts).expect("an account");
        let sum: f64 = sites.iter().map(|site| site.hole_bytes).sum();
        assert!(
            (sum - parts.size_class_bytes as f64).abs() < 1.0,
            "{sum} {parts:?}"
        );
        let small = HeapSize::Bytes(100_000);
        let error = by_site(&trace, &steps, &spec, small).expect_err("no room");
        assert!(
            error.to_string().contains("cf refuses it in a heap of 100"),
            "{error}"
        );
        let other = Spec::parse("tlsf").expect("a spec");
        assert!(by_site(&trace, &steps, &other, heap).is_err());
    }
}
