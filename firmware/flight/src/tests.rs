//! What a flight must keep to, on this machine: the same program as on a board.

use surefit::Refused;
use surefit::compact::shared::ShardedHeap;

use crate::heaps::refused;
use crate::host::{COMMITTED, planned};
use crate::kinds::{Kind, Options, with_regions};
use crate::load::{GUEST, Invalid, Load, PROCESSES, Verb};
#[cfg(feature = "collector")]
use crate::load::{MISSION, NAMES};
use crate::memory::{Instances, Memory};
use crate::monitor::Flight;
use crate::picture;
use crate::plan::{CONFIG, Covers, Lock, Plan};
use crate::report::Logged;

/// The committed load and its plan.
fn committed() -> (Load, Plan) {
    planned(None).expect("the committed load is flown")
}

/// A flight of the committed load in exactly its certified bytes.
fn flown<R>(
    periods: u32,
    with_guest: bool,
    look: impl FnOnce(&mut Flight<'_, Instances<'_, '_>>) -> R,
) -> R {
    on_instances(|load, _, instances| {
        let mut flight = Flight::new(load, instances, with_guest);
        for _ in 0..periods {
            flight.fly();
            if flight.period % 50 == 0 {
                assert_eq!(flight.memory.fault(), None);
            }
        }
        assert_eq!(flight.fault(), None);
        look(&mut flight)
    })
}

type Heap<'m> = ShardedHeap<'m, Lock, Covers>;

/// The committed load's instances, in exactly its certified bytes.
fn on_instances<R>(look: impl FnOnce(&Load, &Heap<'_>, Instances<'_, '_>) -> R) -> R {
    let (load, plan) = committed();
    with_regions(plan.region_bytes - 1, |regions| {
        let heap = Heap::new(regions.heap, &CONFIG, PROCESSES as u16).unwrap();
        let instances = Instances::new(&heap, &load, None).unwrap();
        look(&load, &heap, instances)
    })
}

/// The log of a flight in its certified bytes, and whether it was as it must be.
fn logged(load: &Load, periods: u32, kind: Kind) -> (String, bool) {
    let plan = Plan::new(load).unwrap();
    let options = Options {
        periods,
        kind,
        ..Options::DEFAULT
    };
    let mut log = String::new();
    let passed = with_regions(plan.region_bytes - 1, |regions| {
        let (out, plan) = (&mut log, &plan);
        let flight = Logged {
            out,
            load,
            plan,
            options,
        };
        flight.fly(regions)
    });
    (log, passed)
}

#[test]
fn the_vehicle_follows_its_waypoints() {
    flown(10_000, true, |flight| {
        assert!(flight.mission.reached > 20, "{}", flight.mission.reached);
        let known = flight.signals.known.iter().zip(flight.vehicle.position());
        for (&known, place) in known {
            assert!(
                (known - place).abs().0 < 1 << 22,
                "the estimate is 25 cm off"
            );
        }
    });
}

#[test]
fn the_guest_is_refused_and_destroyed_and_its_bytes_are_back_at_once() {
    flown(2500, true, |flight| {
        let guest = flight.figures.guest;
        assert!(guest.refused.is_some_and(|period| period < 1600));
        assert_eq!((guest.ended, guest.left), (1, 0));
        assert!(guest.held > 0);
        assert_eq!(flight.accounts[GUEST].refusal, Some(Refused::Quota));
        assert!(
            flight.accounts[GUEST].waits > 0,
            "a burst waits for its budget"
        );
    });
}

#[test]
fn the_guest_changes_no_call_of_the_others() {
    let calls = |with_guest| {
        flown(5000, with_guest, |flight| {
            let digests = flight.accounts[..GUEST]
                .iter()
                .map(|account| account.digest);
            (digests.collect::<Vec<_>>(), flight.figures.path)
        })
    };
    assert_eq!(calls(true), calls(false));
}

#[test]
fn a_seed_says_the_whole_flight() {
    let path = || flown(1000, true, |flight| flight.figures.path);
    assert_eq!(path(), path());
}

#[test]
fn what_a_process_forgets_is_destroyed_with_it() {
    on_instances(|_, heap, mut instances| {
        let stale = instances.allocate(GUEST, 100).unwrap();
        let kept = instances.allocate(0, 100).unwrap();
        assert_eq!(instances.held(GUEST), 1024);
        instances.destroy(GUEST);
        assert_eq!(instances.held(GUEST), 0);
        assert_eq!(heap.pin_bytes(&stale).err(), Some(Refused::ForeignHandle));
        assert!(heap.pin_bytes(&kept).is_ok());
    });
}

#[test]
fn a_quota_ends_where_the_load_says() {
    on_instances(|load, _, mut instances| {
        let pages = std::iter::from_fn(|| instances.allocate(GUEST, 1000).ok()).count();
        assert_eq!(pages, load.processes[GUEST].quota as usize / 1024);
        assert_eq!(instances.allocate(GUEST, 16).err(), Some(Refused::Quota));
        assert!(instances.allocate(0, 16).is_ok());
    });
}

#[test]
fn the_script_begins_anew() {
    let (load, _) = committed();
    let verbs = [0, 100, 599, 600, 2400, 2401, 2600].map(|period| load.verb(period));
    let expected = [
        Verb::Rest,
        Verb::Burst(10),
        Verb::Ask(1_000_000_000),
        Verb::Ask(8),
        Verb::End,
        Verb::Rest,
        Verb::Burst(10),
    ];
    assert_eq!(verbs, expected);
}

#[test]
fn other_heaps_fly_the_same_load() {
    let (load, plan) = committed();
    for kind in [Kind::Instances, Kind::Tlsf, Kind::FirstFit] {
        assert_eq!(
            refused(kind, plan.region_bytes - 1, &load),
            None,
            "{kind:?}"
        );
        assert!(refused(kind, 16 << 10, &load).is_some(), "{kind:?}");
    }
}

/// What is said of the committed load with one text in place of another.
fn refusal(from: &str, to: &str) -> String {
    let text = COMMITTED.replacen(from, to, 1);
    assert_ne!(text, COMMITTED, "nothing is replaced");
    let load = Load::parse(&text);
    let invalid: Invalid = load.and_then(|load| Plan::new(&load)).unwrap_err();
    let line = invalid.to_string();
    assert!(!line.contains('\n'));
    line
}

#[test]
fn an_impossible_load_is_refused_in_one_line() {
    let cases = [
        ("seed 2007", "sede 2007", "line 3: not understood"),
        ("seed 2007", "seed 2007 1", "line 3: not understood"),
        ("seed 2007", "seed 99999999999", "line 3: not understood"),
        ("process log", "process lag", "not understood"),
        ("guest 2400", "guest 240", "script must ascend"),
        (
            "deadline 600000",
            "deadline 6000000",
            "no later than the end of the period: 3000000",
        ),
        (
            "process log",
            "# process log",
            "process log: it needs a line",
        ),
        (
            "320      16384",
            "2000     16384",
            "process controller: its longest object must fit a page: 1024",
        ),
        (
            "900      36864",
            "900      20480",
            "process telemetry: its quota is below the certificate",
        ),
        ("ram 196608", "ram 65536", "the demand does not fit the RAM"),
        (
            "guest       1      -        -",
            "guest       1      10       1000",
            "process guest: it keeps to no demand",
        ),
        (
            "guest       1 ",
            "guest       7 ",
            "process guest: it is destroyed in one period, so it must be released in every one: 1",
        ),
        (
            "32     8192",
            "32     900",
            "process telemetry: its bytes copied must be enough",
        ),
    ];
    for (from, to, expected) in cases {
        let line = refusal(from, to);
        assert!(line.contains(expected), "{line}");
    }
}

#[test]
fn a_flight_that_breaks_a_promise_fails() {
    let cases = [
        // 26 objects are live, not 20.
        (
            "1      32",
            "1      20",
            "FAILED: a process has exceeded its demand",
        ),
        // Records have up to 320 bytes.
        (
            "3072   320",
            "3072   64",
            "FAILED: a process has exceeded its demand",
        ),
        // An eighth release needs eight calls.
        (
            "16384  12",
            "16384  7",
            "FAILED: the controller was denied an object",
        ),
    ];
    for (from, to, expected) in cases {
        let text = COMMITTED.replacen(from, to, 1);
        assert_ne!(text, COMMITTED, "nothing is replaced");
        let (log, passed) = logged(&Load::parse(&text).unwrap(), 400, Kind::Instances);
        assert!(!passed && log.contains(expected), "{log}");
    }
}

#[test]
fn the_log_is_drawn() {
    let (log, passed) = logged(&committed().0, 400, Kind::Instances);
    assert!(passed, "{log}");
    assert_eq!(
        log.lines().filter(|line| line.starts_with("row,")).count(),
        201
    );
    let svg = picture::draw(&log).unwrap();
    assert_eq!(svg.matches("<polygon").count(), PROCESSES);
    assert!(svg.contains("deadline") && svg.contains("certified"));
    assert!(picture::draw("nothing").is_err());
}

#[cfg(feature = "collector")]
/// The last words of the lines of all processes: sums over their calls.
fn digests(log: &str) -> Vec<(&str, &str)> {
    let words = log
        .lines()
        .filter_map(|line| Some((line.split(' ').next()?, line.rsplit(' ').next()?)));
    words.filter(|(name, _)| NAMES.contains(name)).collect()
}

#[cfg(feature = "collector")]
#[test]
fn a_collector_changes_no_call_of_the_others() {
    let (load, _) = committed();
    let [(instances, _), (collected, passed)] =
        [Kind::Instances, Kind::Collected].map(|kind| logged(&load, 2000, kind));
    assert!(passed, "{collected}");
    let (mut instances, mut collected) = (digests(&instances), digests(&collected));
    assert_eq!(
        (instances.len(), instances.remove(MISSION).0),
        (PROCESSES, "mission")
    );
    collected.remove(MISSION);
    assert_eq!(instances, collected);
}

#[test]
fn a_radio_that_interrupts_anywhere_harms_nobody() {
    let (log, passed) = logged(&committed().0, 2000, Kind::Anywhere);
    assert!(passed && log.contains("radio: "), "{log}");
}
