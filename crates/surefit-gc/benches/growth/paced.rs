//! The collector in steps under schedules, and in the time that a program offers.

use core::hint::black_box;

use surefit_gc::schedule::{Amount, ByTime, Quanta, Rate, Schedule};
use surefit_gc::{Clock, Incremental, Phase, Stepwise, VirtualClock};
use surefit_testkit::growth::{Grows, Table};

use crate::scene::{OBJECTS, ROOTS, Under, lists, pages};

type Ticking = &'static VirtualClock;
type Timed<S> = Under<Incremental<'static, S, Ticking>>;

pub(crate) fn whole(table: &mut Table) {
    table.heap("Incremental over free lists, under a schedule");
    calls(table, |objects, roots| {
        ticking(Under::new(lists(objects), objects, roots))
    });
    table.heap("Incremental over Compact-fit, under a schedule");
    calls(table, |objects, roots| {
        ticking(Under::new(pages(objects), objects, roots))
    });
}

/// It may begin a cycle at any time.
fn ticking<S: Stepwise>(scene: Under<surefit_gc::Collector<'static, S>>) -> (Timed<S>, Ticking) {
    let clock: Ticking = Box::leak(Box::new(VirtualClock::new()));
    let scene = scene.map(|gc| Incremental::over(gc.with_clock(clock)));
    (scheduled(scene, Schedule::Asked(Amount::default())), clock)
}

fn scheduled<S: Stepwise>(scene: Timed<S>, schedule: Schedule) -> Timed<S> {
    {
        let Under { gc, client, nodes } = scene;
        let gc = gc.with_schedule(schedule);
        Under { gc, client, nodes }
    }
}

/// In a phase; half of the tree is dead when the sweep begins.
fn in_phase<S: Stepwise>(
    (mut scene, clock): (Timed<S>, Ticking),
    phase: Phase,
) -> (Timed<S>, Ticking) {
    if phase == Phase::Sweep {
        scene.gc.store(scene.nodes[0], 1, None);
    }
    scene.gc.start(&mut scene.client);
    scene.gc.step(&mut scene.client, 300);
    while scene.gc.phase() < phase {
        scene.gc.step(&mut scene.client, 1);
    }
    assert_eq!(scene.gc.phase(), phase);
    (scene, clock)
}

/// By time: a quantum of 40 units of work and one piece more.
fn by_time<S: Stepwise>((scene, clock): (Timed<S>, Ticking)) -> (Timed<S>, Ticking) {
    let (live, grain) = (scene.gc.occupied(), scene.gc.most_excess());
    let schedule = Schedule::ByTime(ByTime {
        live,
        quanta: Quanta::new(grain + 40, 1000).expect("a period"),
        allocated: Amount {
            objects: 10,
            bytes: 1000,
        },
        units: grain + 40,
        grain,
        work: 1000 * grain,
    });
    (scheduled(scene, schedule), clock)
}

fn calls<S: Stepwise + 'static>(table: &mut Table, scene: fn(usize, usize) -> (Timed<S>, Ticking)) {
    type Call<S> = fn(&mut (Timed<S>, Ticking));
    let offers: Call<S> = |(s, _)| {
        black_box(s.gc.offer(&mut s.client, 40));
    };
    let runs: Call<S> = |(s, clock)| {
        let deadline = clock.now() + s.gc.most_excess() + 40;
        let rate = Rate { units: 1, ticks: 1 };
        black_box(s.gc.run_until(&mut s.client, deadline, rate));
    };
    let allocates: Call<S> = |(s, _)| {
        let _ = black_box(s.gc.alloc(&mut s.client, 12));
    };
    let mut in_a = |phase, name, call| {
        table.row(
            name,
            OBJECTS,
            Grows::No,
            |n| in_phase(scene(n, 1), phase),
            call,
        );
    };
    in_a(Phase::Mark, "offer of 40, marking", offers);
    in_a(Phase::Sweep, "offer of 40, sweeping", offers);
    in_a(Phase::Mark, "run_until, 40 units, marking", runs);
    in_a(Phase::Sweep, "run_until, 40 units, sweeping", runs);
    in_a(Phase::Mark, "alloc, asked, marking", allocates);
    let mut timed = |phase, name, call| {
        let scene = |n| by_time(in_phase(scene(n, 1), phase));
        table.row(name, OBJECTS, Grows::No, scene, call);
    };
    timed(Phase::Mark, "offer, by time, marking", offers);
    timed(Phase::Sweep, "offer, by time, sweeping", offers);
    timed(Phase::Mark, "alloc, by time, marking", allocates);
    timed(Phase::Sweep, "alloc, by time, sweeping", allocates);
    let mut begins = |name, call| {
        let roots = Grows::With("the roots");
        table.row(name, OBJECTS, Grows::No, |n| scene(n, 1), call);
        table.row(name, ROOTS, roots, |n| scene(2000, n), call);
    };
    begins("offer of 40, it begins a cycle", offers);
    begins("run_until, it begins a cycle", runs);
    begins("alloc, asked, it begins a cycle", allocates);
}
