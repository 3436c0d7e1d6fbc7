//! Requests of every size in a heap of the bytes of its certificate: none waits longer than
//! docs/bounds.md, 10.2 says.

use surefit_compact::certify::ClassSet;
use surefit_compact::{Bound, Config, Geometry, GeometrySpec, Spacing};
use surefit_gc::schedule::{Amount, ByWork, Headroom, Program};
use surefit_gc::{Clock, CompactFit, Phase};
use surefit_testkit::Random;

use super::KIB;
use super::schedules::{Run, by_work, run};

/// The share of a cycle that is due for a request of this cost: ⌈b·W/(A + 1)⌉.
fn share(pace: &ByWork, cost: Amount) -> u64 {
    let by_bytes = (cost.bytes * pace.work).div_ceil(pace.cycle.bytes + 1);
    let by_objects = (cost.objects * pace.work).div_ceil(pace.cycle.objects + 1);
    by_bytes.max(by_objects)
}

/// Requests of all sizes, in turn short and long. Roots are dropped at random.
fn requests(run: &mut Run<'_, CompactFit<'_>>, pace: &ByWork, largest: usize) -> u64 {
    let (mut random, mut longest) = (Random(1), 0);
    let step = (largest / 400) | 1;
    for nth in (0..4 * largest).step_by(step) {
        let bytes = match nth % 3 {
            0 => 1 + nth % 24,
            1 => 1 + nth % largest,
            _ => largest - nth % largest,
        };
        let cost = (run.cost)(bytes);
        let (began, cycles) = (run.clock.now(), run.gc.paced().cycles);
        let was_running = run.gc.phase() != Phase::Idle;
        run.allocate(bytes, &mut |roots| random.below(roots));
        let waited = run.clock.now() - began;
        let begins = run.gc.paced().cycles - cycles;
        let shares = (begins + u64::from(was_running)).max(1);
        assert!(shares <= 2, "{bytes} bytes: a part of {shares} cycles");
        let most = shares * (share(pace, cost) + run.gc.most_excess())
            + begins * run.gc.steps().largest_roots;
        assert!(waited <= most, "{bytes} bytes: {waited} units, of {most}");
        longest = longest.max(waited);
    }
    assert!(run.is_kept() && run.gc.steps().cycles > 5);
    assert_eq!(run.gc.paced().cycles_overdue, 0);
    longest
}

/// A heap for requests of up to so many bytes.
fn wait_as_certified(config: &Config, largest: usize) {
    let cost = CompactFit::cost(config, largest).expect("served");
    let live = cost.times(3).plus(Amount {
        objects: 60,
        bytes: 6000,
    });
    let program = Program {
        live,
        roots: live.objects,
        weak: 0,
    };
    let headroom = Headroom::ByWork(cost.times(3).plus(Amount {
        objects: 60,
        bytes: 6000,
    }));
    let classes = ClassSet::all(config.geometry());
    let certificate = CompactFit::certify(config, classes, &program, &headroom).expect("fits");
    let pace = by_work(&certificate);
    let mut act = |run: &mut Run<'_, CompactFit<'_>>| {
        assert!(requests(run, &pace, largest) > 0);
    };
    let (kept, most) = run(config, &certificate, &program, 0, &mut act);
    assert!(kept && most.is_within(certificate.occupied), "{most:?}");
}

#[test]
fn requests_of_every_size_wait_as_certified_over_many_classes() {
    for config in super::configs() {
        let page = config.geometry().page_bytes();
        let largest = if config.piece_bytes().is_some() {
            3 * page
        } else {
            page
        };
        wait_as_certified(&config, largest);
    }
}

/// Page-blocks are longer than a piece: objects of one page-block are not in pieces.
#[test]
fn requests_of_every_size_wait_as_certified_over_few_long_classes() {
    for sizes in [
        &[8, 1024, 2048][..],
        &[8, 64, 2040],
        &[8, 400, 800, 2048],
        &[16, 1024, 2048],
        &[1024, 2048],
    ] {
        let spec = GeometrySpec {
            page_bytes: 4 * KIB,
            spacing: Spacing::Explicit(sizes),
            ..CompactFit::GEOMETRY
        };
        let geometry = Geometry::new(&spec).expect("valid");
        for bytes in [64, 256, KIB] {
            let config = Config::new(geometry.clone(), Bound::DEFAULT).expect("valid");
            let config = config.with_pieces(Some(bytes)).expect("valid");
            wait_as_certified(&config, 2 * KIB);
        }
    }
}

/// The least requests take page-blocks of the second class, whatever set of classes is declared for
/// them: that of the requests as the program makes them is enough.
#[test]
fn the_least_requests_fit_the_classes_that_are_declared_for_them() {
    for config in super::configs() {
        for bytes in [1, 4, 8, 9, 12, 16, 24] {
            let cost = CompactFit::cost(&config, bytes).expect("served");
            let program = Program {
                live: cost.times(900),
                roots: 900,
                weak: 0,
            };
            let headroom = Headroom::ByWork(cost.times(600));
            let classes = ClassSet::of_requests(config.geometry(), bytes);
            let certificate = CompactFit::certify(&config, classes, &program, &headroom);
            let certificate = certificate.expect("fits");
            let mut random = Random(3);
            let mut act = |run: &mut Run<'_, CompactFit<'_>>| {
                for _ in 0..5000 {
                    run.allocate(bytes, &mut |roots| random.below(roots));
                }
            };
            let (kept, most) = run(&config, &certificate, &program, 0, &mut act);
            let seen = format!(
                "{bytes} bytes, {}: {most:?}",
                config.geometry().page_bytes()
            );
            assert!(kept && most.is_within(certificate.occupied), "{seen}");
        }
    }
}
