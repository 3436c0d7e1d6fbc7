//! Schedules over Compact-fit, in exactly the bytes of their certificates, against programs that
//! allocate as much as they may and keep as much afloat as they can.

use std::cell::{Cell, RefCell};

use surefit_compact::certify::ClassSet;
use surefit_compact::{Bound, Config};
use surefit_freelist::{Bitmap, Deferred, Immediate, Segregated, Tree};
use surefit_gc::schedule::{
    Amount, ByWork, CollectedCertificate, Headroom, NotCertifiable, Pause, Program, Quanta, Rate,
    Schedule, least_mutator_ticks,
};
use surefit_gc::{
    Client, Clock, Collector, CompactFit, Edges, FreeList, Incremental, Object, Phase, Scanned,
    Space, Stepwise,
};
use surefit_testkit::{ExactMemory, Random};

use super::{KIB, config};

/// A clock whose ticks are units of work. It notes when the collector worked.
#[derive(Debug, Default)]
pub(super) struct Log {
    ticks: Cell<u64>,
    pauses: RefCell<Vec<Pause>>,
}

impl Log {
    fn pass(&self, ticks: u64) {
        self.ticks.set(self.ticks.get() + ticks);
    }
}

impl Clock for Log {
    fn now(&self) -> u64 {
        self.ticks.get()
    }

    fn worked(&self, units: u64) {
        let (start, end) = (self.ticks.get(), self.ticks.get() + units);
        self.ticks.set(end);
        let mut pauses = self.pauses.borrow_mut();
        match pauses.last_mut() {
            Some(last) if last.end == start => last.end = end,
            _ => pauses.push(start..end),
        }
    }
}

/// Roots, and objects whose first word may be a reference to the next one.
#[derive(Debug, Default)]
pub(super) struct Chains {
    roots: Vec<(Object, Amount)>,
    live: Amount,
}

impl<S: Space> Client<S> for Chains {
    fn roots(&mut self, edges: &mut Edges<'_>) {
        self.roots.iter().for_each(|root| edges.report(root.0));
    }

    fn scan(&mut self, object: &Scanned<'_, S>, from: u32, edges: &mut Edges<'_>) {
        if from + Edges::STRIDE < object.words() {
            edges.again_from(from + Edges::STRIDE);
        }
        if from == 0 {
            object
                .reference(0)
                .into_iter()
                .for_each(|next| edges.report(next));
        }
    }
}

impl Chains {
    fn drop_root(&mut self, nth: usize) {
        let (_, held) = self.roots.swap_remove(nth);
        self.live = self.live.minus(held);
    }
}

/// A program in a heap of the bytes of its certificate.
pub(super) struct Run<'m, S> {
    pub(super) gc: Incremental<'m, S, &'m Log>,
    chains: Chains,
    pub(super) clock: &'m Log,
    live: Amount,
    pub(super) cost: &'m dyn Fn(usize) -> Amount,
    refused: u64,
}

impl<'m, S: Stepwise> Run<'m, S> {
    fn new(
        gc: Collector<'m, S, &'m Log>,
        certificate: &CollectedCertificate,
        program: &Program,
        clock: &'m Log,
        cost: &'m dyn Fn(usize) -> Amount,
    ) -> Self {
        Self {
            gc: Incremental::over(gc).with_schedule(certificate.schedule),
            chains: Chains::default(),
            clock,
            live: program.live,
            cost,
            refused: 0,
        }
    }

    /// Allocates an object and makes it a root; drops roots before, so that no more lives than may.
    pub(super) fn allocate(&mut self, bytes: usize, nth: &mut dyn FnMut(usize) -> usize) {
        let cost = (self.cost)(bytes);
        while !self.chains.live.plus(cost).is_within(self.live) {
            let at = nth(self.chains.roots.len());
            self.chains.drop_root(at);
        }
        match self.gc.alloc(&mut self.chains, bytes) {
            Ok(object) => self.chains.roots.push((object, cost)),
            Err(_) => self.refused += 1,
        }
        self.chains.live = self.chains.live.plus(cost);
    }

    /// Whether the heap never ran out.
    pub(super) fn is_kept(&self) -> bool {
        let steps = self.gc.steps();
        self.refused == 0 && steps.forced == 0 && steps.whole == 0
    }

    /// Whether the heap never ran out, and the most that was occupied.
    fn judge(&self, certificate: &CollectedCertificate) -> (bool, Amount) {
        self.gc.check().expect("intact");
        assert_eq!(self.gc.steps().overruns, 0);
        let most = self.gc.paced().most_occupied;
        if self.is_kept() {
            assert!(
                self.gc
                    .last()
                    .is_none_or(|cycle| cycle.work <= certificate.work)
            );
        }
        (self.is_kept(), most)
    }
}

/// Lets a program run in a region that is `fewer` bytes shorter than the certificate's. Returns
/// whether the heap never ran out, and the most that was occupied.
pub(super) fn run(
    config: &Config,
    certificate: &CollectedCertificate,
    program: &Program,
    fewer: usize,
    act: &mut dyn FnMut(&mut Run<'_, CompactFit<'_>>),
) -> (bool, Amount) {
    let mut memory = ExactMemory::new();
    let page = config.geometry().page_bytes();
    let region = memory.region(certificate.region_bytes - fewer, page, 0);
    let clock = Log::default();
    let cost = |bytes| CompactFit::cost(config, bytes).expect("served");
    let gc = Collector::compact_fit(region, config, certificate.mark_stack).expect("large enough");
    let gc = gc.with_clock(&clock);
    let mut run = Run::new(gc, certificate, program, &clock, &cost);
    act(&mut run);
    let (kept, most) = run.judge(certificate);
    assert!(
        !kept || most.is_within(certificate.occupied),
        "{most:?} {certificate:?}"
    );
    (kept, most)
}

/// Page-blocks of 16 bytes alone.
struct OneClass {
    config: Config,
    classes: ClassSet,
    /// Page-blocks per page.
    blocks: u64,
}

impl OneClass {
    fn new() -> Self {
        let config = config(KIB, Bound::Unbounded);
        let class = config.geometry().class_for_bytes(16).expect("a class");
        Self {
            classes: ClassSet::EMPTY.with(class),
            blocks: u64::from(config.geometry().layout(class).blocks),
            config,
        }
    }

    const fn amount(objects: u64) -> Amount {
        Amount {
            objects,
            bytes: 16 * objects,
        }
    }

    /// A program that keeps so many pages.
    const fn program(&self, pages: u64) -> Program {
        let objects = pages * self.blocks;
        Program {
            live: Self::amount(objects),
            roots: objects,
            weak: 0,
        }
    }

    fn certify(&self, program: &Program, headroom: &Headroom) -> CollectedCertificate {
        CompactFit::certify(&self.config, self.classes, program, headroom).expect("fits")
    }
}

/// Keeps what lived first, and drops all else as soon as the next object is allocated. Between two
/// requests the program takes its time.
fn flood<S: Stepwise>(run: &mut Run<'_, S>, requests: u64, ticks: u64) {
    for _ in 0..requests {
        run.allocate(16, &mut |roots| roots - 1);
        run.clock.pass(ticks);
    }
}

/// Nearly M + 2A is occupied: what is short of it was freed before the last unit of a cycle. In a
/// page less the heap runs out, and so it does if M or A is a little more than was declared. If W
/// is, requests wait longer.
#[test]
fn one_class_needs_every_page_of_its_certificate_by_work() {
    let one = OneClass::new();
    let program = one.program(2);
    let headroom = Headroom::ByWork(OneClass::amount(one.blocks));
    let certificate = one.certify(&program, &headroom);
    assert_eq!(certificate.occupied, OneClass::amount(4 * one.blocks));
    // What a request waits for: its share of the work, a piece too much, and the roots of a cycle.
    let share = certificate.work.div_ceil(one.blocks + 1);
    let mut act = |run: &mut Run<'_, CompactFit<'_>>| {
        flood(run, 20 * one.blocks, 0);
        let wait = share + run.gc.most_excess() + run.gc.steps().largest_roots;
        assert!(!run.is_kept() || run.gc.pauses().longest() <= wait);
    };
    let (kept, most) = run(&one.config, &certificate, &program, 0, &mut act);
    assert!(
        kept && most.objects + 8 >= certificate.occupied.objects,
        "{most:?}"
    );
    assert!(!run(&one.config, &certificate, &program, KIB, &mut act).0);
    let larger = one.program(3);
    assert!(!run(&one.config, &certificate, &larger, 0, &mut act).0);
    let with = |pace| CollectedCertificate {
        schedule: Schedule::ByWork(pace),
        ..certificate
    };
    let more = with(ByWork {
        cycle: OneClass::amount(2 * one.blocks),
        ..by_work(&certificate)
    });
    assert!(!run(&one.config, &more, &program, 0, &mut act).0);
    let slower = with(ByWork {
        work: certificate.work / 2,
        ..by_work(&certificate)
    });
    let mut wait = |run: &mut Run<'_, CompactFit<'_>>| {
        flood(run, 20 * one.blocks, 0);
        assert!(run.gc.paced().cycles_overdue > 5);
        assert!(run.gc.pauses().longest() > certificate.work / 4);
    };
    assert!(run(&one.config, &slower, &program, 0, &mut wait).0);
}

pub(super) fn by_work(certificate: &CollectedCertificate) -> ByWork {
    match certificate.schedule {
        Schedule::ByWork(pace) => pace,
        _ => panic!("by work"),
    }
}

/// What the program had in every window is at least what the formula says.
fn assert_utilisation(clock: &Log, quanta: Quanta) {
    let pauses = clock.pauses.borrow();
    let run = 0..clock.ticks.get();
    assert!(
        pauses
            .iter()
            .all(|pause| pause.end - pause.start <= quanta.collector())
    );
    let period = quanta.collector() + quanta.mutator();
    let few = (1..200).chain((1..100).map(|part| 3 * period * part / 100));
    let around = [quanta.collector(), period, 2 * period].into_iter();
    let around = around.flat_map(|ticks| ticks - 1..ticks + 50);
    for window in few.chain(around).filter(|&window| window <= run.end) {
        let least = least_mutator_ticks(&pauses, run.clone(), window);
        assert!(
            least >= Some(quanta.least_mutator_ticks(window)),
            "{window}: {least:?}"
        );
    }
}

#[test]
fn one_class_needs_every_page_of_its_certificate_by_time() {
    let one = OneClass::new();
    let program = one.program(2);
    // The roots are the longest piece of work. A request takes four ticks.
    let units = program.roots + 50;
    let quanta = Quanta::new(units, 4 * 5).expect("a period");
    let allocated = OneClass::amount(5);
    let headroom = Headroom::ByTime {
        quanta,
        allocated,
        units,
    };
    let certificate = one.certify(&program, &headroom);
    let mut act = |run: &mut Run<'_, CompactFit<'_>>| {
        flood(run, 20 * one.blocks, 4);
        if run.is_kept() {
            assert_eq!(run.gc.paced().quanta_overrun, 0);
            assert!(run.gc.pauses().longest() <= units && run.gc.paced().cycles > 5);
            assert_utilisation(run.clock, quanta);
        }
    };
    let (kept, most) = run(&one.config, &certificate, &program, 0, &mut act);
    eprintln!("{certificate:?} {most:?}");
    assert!(kept, "{most:?}");
    let pages =
        most.objects.div_ceil(one.blocks) - certificate.occupied.objects.div_ceil(one.blocks);
    assert_eq!(
        pages, 0,
        "choose numbers with which the last page is needed"
    );
    assert!(!run(&one.config, &certificate, &program, KIB, &mut act).0);
    // Faster than it declared.
    let mut hurry = |run: &mut Run<'_, CompactFit<'_>>| flood(run, 20 * one.blocks, 1);
    assert!(!run(&one.config, &certificate, &program, 0, &mut hurry).0);
}

/// A random number of bytes that a request may have.
fn size(random: &mut Random, kind: usize, largest: usize) -> usize {
    match kind {
        0 => 16,
        1 => largest,
        2 => 1 + random.below(largest),
        3 => 1 + random.below(40),
        _ => 1 << random.below(largest.ilog2() as usize + 1),
    }
}

/// A program that changes its sizes, and what dies, from one phase of the collector to the next.
/// When a cycle has begun it often drops all that its snapshot reaches, or goes on with other
/// sizes.
fn shift<S: Stepwise>(
    run: &mut Run<'_, S>,
    seed: u64,
    requests: usize,
    largest: usize,
    ticks: u64,
) {
    let mut random = Random(seed);
    let (mut kind, mut dies, mut phase) = (0, 0, Phase::Idle);
    let mut cost_of_quantum = 0;
    for nth in 0..requests {
        if phase != run.gc.phase() || random.below(200) == 0 {
            phase = run.gc.phase();
            (kind, dies) = (random.below(5), random.below(4));
            if random.below(3) == 0 {
                while !run.chains.roots.is_empty() {
                    run.chains.drop_root(0);
                }
            }
        }
        let bytes = size(&mut random, kind, largest);
        run.allocate(bytes, &mut |roots| match dies {
            0 => roots - 1,
            1 => 0,
            2 => nth % roots,
            _ => random.below(roots),
        });
        // So slowly that no more is allocated in a quantum than was declared.
        cost_of_quantum += (run.cost)(bytes).bytes;
        run.clock.pass(cost_of_quantum / 64 * ticks);
        cost_of_quantum %= 64;
    }
}

/// Programs that keep to what they declare never run out, in exactly the bytes of their
/// certificates: over every kind of bound, with objects in pieces, by work and by time.
#[test]
fn programs_that_keep_to_what_they_declare_never_run_out() {
    let mut cycles = 0;
    for (nth, config) in super::configs().into_iter().enumerate() {
        let largest =
            config.geometry().page_bytes() * if config.piece_bytes().is_some() { 3 } else { 1 };
        let largest_cost = CompactFit::cost(&config, largest).expect("served");
        let live = largest_cost.plus(Amount {
            objects: 100,
            bytes: 8000,
        });
        let program = Program {
            live,
            roots: live.objects,
            weak: 0,
        };
        let allocated = largest_cost.plus(Amount {
            objects: 40,
            bytes: 600,
        });
        let units = 3000 + 100 * config.geometry().page_bytes() as u64;
        // A request that begins in a quantum may end after it; 64 bytes take a tick.
        let quanta = Quanta::new(units, 8).expect("a period");
        let classes = ClassSet::all(config.geometry());
        for headroom in [
            Headroom::ByWork(Amount {
                objects: 200,
                bytes: 6000,
            }),
            Headroom::ByTime {
                quanta,
                allocated,
                units,
            },
        ] {
            let certificate =
                CompactFit::certify(&config, classes, &program, &headroom).expect("fits");
            for seed in 0..if cfg!(miri) { 1 } else { 4 } {
                let mut act = |run: &mut Run<'_, CompactFit<'_>>| {
                    shift(run, seed + 10 * nth as u64, 4000, largest, 1);
                    cycles += run.gc.steps().cycles;
                    if matches!(headroom, Headroom::ByTime { .. }) {
                        assert_eq!(run.gc.paced().quanta_overrun, 0);
                        assert_utilisation(run.clock, quanta);
                    }
                };
                let (kept, most) = run(&config, &certificate, &program, 0, &mut act);
                assert!(kept, "{config:?} {headroom:?} {certificate:?} {most:?}");
            }
        }
    }
    assert!(cycles > 1000, "{cycles}");
}

type Lists<'m, C> = FreeList<'m, Segregated<Bitmap, C, Tree, 64>>;

/// Over free lists, in exactly the bytes of the certificate, which rests on M + N·f. In half
/// of what may be occupied the same programs run out.
#[test]
fn programs_over_free_lists_never_run_out() {
    const LARGEST: usize = 300;
    let cost = |bytes| Lists::<Immediate>::cost(bytes);
    let live = Amount {
        objects: 120,
        bytes: 6000,
    };
    let program = Program {
        live,
        roots: live.objects,
        weak: 0,
    };
    let cycle = Amount {
        objects: 100,
        bytes: 3000,
    };
    let by_work = Headroom::ByWork(cycle);
    let never = Lists::<Deferred>::certify(LARGEST, &program, &by_work);
    assert_eq!(never.err(), Some(NotCertifiable::Heap));
    let quanta = Quanta::new(500, 8).expect("a period");
    let allocated = cost(LARGEST).plus(Amount {
        objects: 40,
        bytes: 600,
    });
    let by_time = Headroom::ByTime {
        quanta,
        allocated,
        units: 500,
    };
    let (mut memory, mut ran_out) = (ExactMemory::new(), 0);
    for headroom in [by_work, by_time] {
        let certificate = Lists::<Immediate>::certify(LARGEST, &program, &headroom).expect("fits");
        let settings = Lists::<Immediate>::certified_settings(&certificate);
        let tables = certificate.region_bytes - certificate.heap_bytes;
        let tight = tables + certificate.occupied.bytes as usize / 2;
        for (seed, bytes) in
            (0..5).flat_map(|seed| [(seed, certificate.region_bytes), (seed, tight)])
        {
            let clock = Log::default();
            let region = memory.region(bytes, 8, seed as usize);
            let gc =
                Collector::<Lists<'_, Immediate>>::new(region, settings).expect("large enough");
            let mut run = Run::new(gc.with_clock(&clock), &certificate, &program, &clock, &cost);
            shift(&mut run, seed, 4000, LARGEST, 1);
            let (kept, most) = run.judge(&certificate);
            assert!(kept || bytes == tight, "{certificate:?} {most:?}");
            ran_out += u32::from(!kept);
        }
    }
    assert!(ran_out > 5, "{ran_out}");
}

/// What cannot be certified, and why.
#[test]
fn a_program_that_no_collector_keeps_up_with_has_no_certificate() {
    let one = OneClass::new();
    let program = one.program(2);
    let certify = |allocated, units| {
        let quanta = Quanta::new(units, 10).expect("a period");
        let headroom = Headroom::ByTime {
            quanta,
            allocated,
            units,
        };
        CompactFit::certify(&one.config, one.classes, &program, &headroom).map(|_| ())
    };
    assert_eq!(certify(OneClass::amount(5), program.roots + 50), Ok(()));
    let grain = program.roots + 1;
    let short = Err(NotCertifiable::Quantum { grain });
    assert_eq!(certify(OneClass::amount(5), program.roots), short);
    assert_eq!(
        certify(OneClass::amount(5000), grain),
        Err(NotCertifiable::Behind)
    );
    let all = Amount {
        objects: u64::MAX,
        bytes: u64::MAX,
    };
    let nothing = Program {
        live: Amount::default(),
        roots: 0,
        weak: 0,
    };
    for (program, cycle) in [
        (nothing, all),
        (
            Program {
                live: all,
                roots: u64::MAX,
                weak: u64::MAX,
            },
            all,
        ),
    ] {
        let headroom = Headroom::ByWork(cycle);
        let refused = CompactFit::certify(&one.config, one.classes, &program, &headroom);
        assert_eq!(refused, Err(NotCertifiable::Heap));
        let refused = Lists::<Immediate>::certify(usize::MAX, &program, &headroom);
        assert_eq!(refused, Err(NotCertifiable::Heap));
    }
}

/// A game: frames of 1000 ticks, the program takes 700 of them and offers the rest. The collector
/// never runs into the next frame, and the heap never runs out; without the offers it does.
#[test]
fn time_that_a_program_offers_is_used_and_no_more() {
    let one = OneClass::new();
    let program = one.program(2);
    let headroom = Headroom::ByWork(OneClass::amount(2 * one.blocks));
    let certificate = one.certify(&program, &headroom);
    let trigger = by_work(&certificate).trigger();
    let asked = CollectedCertificate {
        schedule: Schedule::Asked(trigger),
        ..certificate
    };
    let rate = Rate { units: 1, ticks: 1 };
    for offers in [true, false] {
        let mut act = |run: &mut Run<'_, CompactFit<'_>>| {
            let frames = 100;
            for frame in 1..=frames {
                flood(run, 20, 35);
                let deadline = frame * 1000;
                if offers {
                    let late = run.gc.run_until(&mut run.chains, deadline, rate);
                    assert_eq!(late, 0);
                    let now = run.clock.ticks.get();
                    run.clock.pass(deadline - now);
                }
            }
            assert_eq!(run.gc.pauses().longest() > 300, !offers);
        };
        assert_eq!(run(&one.config, &asked, &program, 0, &mut act).0, offers);
    }
}
