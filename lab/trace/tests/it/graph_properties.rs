//! Any recording is read as a plain decoder reads it, or refused where that refuses it.

use crate::common::graph_naive::{Told, decode, told};
use crate::common::graph_program::arbitrary;
use crate::common::{graph, packed, unpacked};
use proptest::prelude::{any, prop, proptest};
use surefit_trace::TraceError;
use surefit_trace::graph::{Reader, Stats, Step};

fn read(bytes: &[u8]) -> Result<Vec<Told>, TraceError> {
    let told = |step: Result<Step, TraceError>| step.map(|step| told(&step));
    Reader::new(bytes)?.map(told).collect()
}

/// One line, with a mend.
fn check_line(error: &TraceError) {
    let line = error.to_string();
    assert!(!line.contains('\n') && line.contains("; "), "{line}");
}

/// Both decoders say the same: these steps, or that the recording is not sound. Returns whether it
/// is.
fn agree(bytes: &[u8]) -> bool {
    match (read(bytes), decode(bytes)) {
        (Ok(steps), Some(expected)) => assert!(steps == expected, "other steps"),
        (Err(error), None) => {
            check_line(&error);
            return false;
        }
        (Ok(_), None) => panic!("an unsound recording passed"),
        (Err(error), Some(_)) => panic!("a sound recording is refused: {error}"),
    }
    true
}

proptest! {
    #![proptest_config(proptest::test_runner::Config {
        cases: 300,
        rng_seed: proptest::test_runner::RngSeed::Fixed(2026),
        failure_persistence: None,
        ..Default::default()
    })]

    #[test]
    fn a_sound_recording_is_read_as_the_plain_decoder_reads_it(choices in prop::collection::vec(any::<(u8, u32)>(), 0..200)) {
        let bytes = arbitrary(&choices);
        assert!(agree(&bytes), "the program makes sound recordings");
        assert_eq!(read(&packed(&bytes)).expect("sound"), read(&bytes).expect("sound"));
    }

    #[test]
    fn a_second_reading_gives_the_same_references_in_fewer_slots(choices in prop::collection::vec(any::<(u8, u32)>(), 0..200)) {
        let bytes = arbitrary(&choices);
        let reader = || Reader::new(&bytes[..]).expect("not empty");
        let layouts = reader().layouts().expect("sound");
        let first = read(&bytes).expect("sound");
        let second = reader().knowing(layouts).map(|step| told(&step.expect("sound")));
        for (first, second) in first.into_iter().zip(second) {
            match (first, second) {
                (Told::Object(.., first), Told::Object(.., second)) => assert!(second <= first),
                (first, second) => assert_eq!(first, second),
            }
        }
    }

    #[test]
    fn the_statistics_are_those_of_the_steps(choices in prop::collection::vec(any::<(u8, u32)>(), 0..200)) {
        let bytes = arbitrary(&choices);
        let stats = Stats::read(Reader::new(&bytes[..]).expect("not empty")).expect("sound");
        let steps = decode(&bytes).expect("sound");
        let sizes = |wanted| steps.iter().filter_map(move |step| match *step {
            Told::Object(letter, _, _, bytes, _) if letter == wanted => Some(u64::from(bytes)),
            _ => None,
        });
        assert_eq!((stats.allocations, stats.bytes), (sizes('A').count() as u64, sizes('A').sum()));
        assert_eq!((stats.found, stats.found_bytes), (sizes('H').count() as u64, sizes('H').sum()));
        assert_eq!(stats.revived, sizes('Z').count() as u64);
        let walks = || steps.iter().filter_map(|step| match step {
            Told::Walk(walk) => Some(walk),
            _ => None,
        });
        assert_eq!(stats.most_live.bytes, walks().map(|walk| walk.live.1).max().unwrap_or(0));
        assert_eq!(stats.dead, walks().map(|walk| walk.dead.len() as u64).sum::<u64>());
        let changes = || walks().flat_map(|walk| &walk.changes);
        assert_eq!(stats.references, changes().map(|change| change.1.len() as u64).sum::<u64>());
        assert_eq!(stats.class_level, changes().map(|change| change.2.len() as u64).sum::<u64>());
        let counted: u64 = stats.sizes.iter().map(|size| size.allocations).sum();
        assert_eq!((counted, stats.sizes_for(100)), (stats.allocations, stats.sizes.len()));
        let half: u64 = stats.sizes[..stats.sizes_for(50)].iter().map(|size| size.allocations).sum();
        assert!(2 * half >= stats.allocations);
    }

    #[test]
    fn any_bytes_are_read_as_the_plain_decoder_reads_them(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        agree(&bytes);
        let mut records = b"H\x01\x00\x60\x00C\x01\x02\x03LA;A\x01\x18A\x01\x18S\x01\x02\x30E".to_vec();
        records.extend(bytes);
        agree(&records);
    }
}

/// A small recording with every kind of record.
fn small() -> Vec<u8> {
    let choices: Vec<_> = (0..26_u32)
        .map(|step| {
            let choice = step.wrapping_mul(2_654_435_761) >> 5;
            (if step % 6 == 5 { 1 } else { (choice % 7) as u8 }, choice)
        })
        .collect();
    arbitrary(&choices)
}

#[test]
fn the_small_recording_has_every_record() {
    let steps = decode(&small()).expect("sound");
    let letters = |wanted| {
        steps
            .iter()
            .any(|step| matches!(step, Told::Object(letter, ..) if *letter == wanted))
    };
    assert!(['A', 'H', 'Z'].map(letters) == [true; 3], "{steps:?}");
    let mut walks = steps.iter().filter_map(|step| match step {
        Told::Walk(walk) => Some(walk),
        _ => None,
    });
    assert!(
        walks
            .clone()
            .any(|walk| !walk.dead.is_empty() && !walk.gained.is_empty())
    );
    assert!(walks.clone().any(|walk| !walk.lost.is_empty()));
    assert!(walks.any(|walk| walk.changes.iter().any(|change| change.1.len() > 1)));
}

#[test]
fn every_byte_flipped_gives_what_the_plain_decoder_gives() {
    let bytes = small();
    let mut sound = 0;
    for position in 0..bytes.len() {
        for bit in 0..8 {
            let mut damaged = bytes.clone();
            damaged[position] ^= 1 << bit;
            sound += usize::from(agree(&damaged));
        }
    }
    let flips = bytes.len() * 8;
    assert!(
        0 < sound && sound < flips / 2,
        "{sound} of {flips} are sound"
    );
}

#[test]
fn every_byte_changed_to_a_letter_or_an_extreme_gives_what_the_plain_decoder_gives() {
    let bytes = small();
    for position in 0..bytes.len() {
        for &value in b"CAHZSERD+-.\x00\x7f\x80\xff" {
            let mut damaged = bytes.clone();
            damaged[position] = value;
            agree(&damaged);
        }
    }
}

#[test]
fn every_cut_and_every_lost_byte_gives_what_the_plain_decoder_gives() {
    let bytes = small();
    for position in 0..bytes.len() {
        agree(&bytes[..position]);
        let lost = [&bytes[..position], &bytes[position + 1..]].concat();
        agree(&lost);
    }
}

#[test]
fn a_compressed_recording_with_a_flipped_bit_or_cut_is_refused_or_the_same() {
    let plain = small();
    let steps = read(&plain).expect("sound");
    let frame = packed(&plain);
    for position in 0..frame.len() {
        check_line(&read(&frame[..position]).expect_err("cut short"));
        for bit in 0..8 {
            let mut damaged = frame.clone();
            damaged[position] ^= 1 << bit;
            match read(&damaged) {
                Err(error) => check_line(&error),
                Ok(same) => assert!(same == steps, "byte {position}"),
            }
        }
    }
}

#[test]
fn the_bundled_recordings_are_read_as_the_plain_decoder_reads_them() {
    for name in ["raytrace", "mtrt"] {
        assert!(agree(&unpacked(&graph(name))), "{name}");
    }
}
