//! What the writer writes, the reader reads as it was; what breaks a rule, it refuses.

use crate::common::graph;
use crate::common::graph_naive::{Told, told};
use crate::common::graph_program::arbitrary;
use proptest::prelude::{any, prop, proptest};
use surefit_trace::TraceError;
use surefit_trace::graph::{Change, Class, Object, Reader, Reference, Step, Walk, Writer};

fn read(bytes: &[u8]) -> Vec<Step> {
    let reader = Reader::new(bytes).expect("not empty");
    reader.map(|step| step.expect("sound")).collect()
}

fn write(steps: &[Step]) -> Result<Vec<u8>, TraceError> {
    let mut writer = Writer::new(Vec::new());
    steps.iter().try_for_each(|step| writer.write(step))?;
    writer.finish()
}

/// The steps as plain values, roots in ascending order.
fn plain(steps: &[Step]) -> Vec<Told> {
    steps.iter().map(told).collect()
}

fn comes_back(steps: &[Step]) {
    let bytes = write(steps).expect("the reader's steps are sound");
    let again = read(&bytes);
    assert!(plain(&again) == plain(steps), "other steps");
    let once_more = write(&again).expect("sound");
    assert!(once_more == bytes, "other bytes");
}

proptest! {
    #![proptest_config(proptest::test_runner::Config {
        cases: 300,
        rng_seed: proptest::test_runner::RngSeed::Fixed(2026),
        failure_persistence: None,
        ..Default::default()
    })]

    #[test]
    fn what_is_written_comes_back(choices in prop::collection::vec(any::<(u8, u32)>(), 0..200)) {
        comes_back(&read(&arbitrary(&choices)));
    }

    /// The reader is the judge: what the writer takes, the reader takes.
    #[test]
    fn steps_out_of_order_are_refused_or_sound(choices in prop::collection::vec(any::<(u8, u32)>(), 0..60), picks in prop::collection::vec(any::<prop::sample::Index>(), 1..60)) {
        let steps = read(&arbitrary(&choices));
        let picked: Vec<_> = picks.iter().map(|pick| pick.get(&steps).clone()).collect();
        if let Ok(bytes) = write(&picked) {
            read(&bytes);
        }
    }
}

#[test]
fn real_recordings_come_back() {
    for name in ["raytrace", "mtrt"] {
        let reader = Reader::open(graph(name)).expect("opens");
        comes_back(&reader.map(|step| step.expect("sound")).collect::<Vec<_>>());
    }
}

fn object(id: u32, class: u32, bytes: u32) -> Object {
    let slots = 0;
    Object {
        id,
        class,
        bytes,
        slots,
    }
}

/// A class object, its class of one field, an instance, and a walk in which it refers to itself and
/// is a root.
fn program() -> Vec<Step> {
    let class = Class {
        id: 1,
        fields: 1,
        signature: "LNode;".into(),
    };
    let mut walk = Walk::default();
    walk.roots_gained.push(2);
    let references = &[Reference { slot: 0, target: 2 }];
    walk.add_change(Change {
        object: 2,
        references,
        class_level: &[],
    });
    let found = Step::Find(object(1, 0, 96));
    vec![
        found,
        Step::Class(class),
        Step::Allocate(object(2, 1, 24)),
        Step::Walk(Box::new(walk)),
    ]
}

#[test]
fn a_program_is_written_as_the_format_says() {
    let bytes = write(&program()).expect("sound");
    let expected =
        b"H\x01\x00\x60\x01C\x01\x01\x06LNode;A\x01\x18S\x01\x01\x18E\x02\x01\x00\x00R+\x02.D\x00";
    assert_eq!(bytes, expected);
}

#[test]
fn a_step_that_breaks_a_rule_is_refused_where_it_would_stand() {
    let refused = |change: fn(&mut Vec<Step>), expected: &str| {
        let mut steps = program();
        change(&mut steps);
        let error = write(&steps).expect_err("a rule is broken").to_string();
        assert!(error.contains(expected) && !error.contains('\n'), "{error}");
    };
    refused(
        |steps| steps[2] = Step::Allocate(object(3, 1, 24)),
        "object 3",
    );
    refused(
        |steps| steps[2] = Step::Allocate(object(2, 7, 24)),
        "class 7",
    );
    refused(
        |steps| steps[0] = Step::Find(object(1, 0, 1 << 31)),
        "2147483648",
    );
    refused(
        |steps| {
            steps[1] = Step::Class(Class {
                id: 1,
                fields: 1 << 30,
                signature: "LNode;".into(),
            });
        },
        "1073741824 reference fields",
    );
    refused(
        |steps| drop(steps.remove(2)),
        "byte 24: names object 2, which no record before gave",
    );
    refused(
        |steps| steps.push(steps[3].clone()),
        "adds object 2 as a root",
    );
    refused(
        |steps| steps.push(Step::Revive(object(2, 1, 24))),
        "finds object 2 again",
    );
}

/// A reader would take the slot for one of the class.
#[test]
fn a_slot_of_an_array_that_is_too_long_is_refused() {
    let class = Class {
        id: 1,
        fields: 0,
        signature: "[LNode;".into(),
    };
    let mut walk = Walk::default();
    walk.add_change(Change {
        object: 2,
        references: &[Reference {
            slot: 1 << 28,
            target: 1,
        }],
        class_level: &[],
    });
    let steps = [
        Step::Find(object(1, 0, 96)),
        Step::Class(class),
        Step::Allocate(object(2, 1, i32::MAX as u32)),
        Step::Walk(Box::new(walk)),
    ];
    let error = write(&steps).expect_err("no reader takes it").to_string();
    assert!(error.contains("268435456"), "{error}");
}
