//! The synthetic programs are what they say, on every machine.

use surefit_trace::generate::{
    Churn, GenerateError, Options, Phases, Program, emacs_lives, emacs_paper, hummingbird_lives,
    hummingbird_paper, java_like, lua_like, phase,
};
use surefit_trace::{Op, Stats, Trace};

fn share(stats: &Stats, size: u64) -> f64 {
    let of_size = stats.sizes.iter().find(|count| count.size == size);
    100.0 * of_size.map_or(0.0, |count| count.requests as f64) / stats.requests() as f64
}

fn assert_shares(stats: &Stats, shares: &[(u64, f64)]) {
    for &(size, per_cent) in shares {
        let is = share(stats, size);
        assert!((is - per_cent).abs() < 0.5, "{size} B: {is:.2} %");
    }
}

#[test]
fn emacs_paper_has_the_paper_s_histogram() {
    let trace = emacs_paper(&Churn::EMACS).expect("its own values");
    let stats = Stats::of(&trace);
    assert_shares(&stats, &[(40, 51.2), (648, 15.0), (104, 11.1)]);
    assert_eq!(stats.counts.objects, 1_000_000);
    assert_eq!(stats.counts.peak_bytes, 7_700_000);
    assert!((38_000..44_000).contains(&stats.counts.peak_objects));
    assert!(stats.max_size().is_some_and(|size| size < 1024));
}

#[test]
fn hummingbird_paper_has_the_paper_s_histogram() {
    let trace = hummingbird_paper(&Churn::HUMMINGBIRD).expect("its own values");
    let stats = Stats::of(&trace);
    assert_shares(&stats, &[(8, 25.0), (32, 23.3)]);
    assert!((123_900_000..=124_000_000).contains(&stats.counts.peak_bytes));
    assert!((95_000..105_000).contains(&stats.counts.peak_objects));
    assert!(stats.max_size().is_some_and(|size| size < 16 << 10));
}

/// The recorded Emacs: 54 % of the objects that die do so before the next allocation but one, and
/// the heap grows to its end.
#[test]
fn with_recorded_lifetimes_most_die_young_and_the_heap_grows() {
    let churn = Churn {
        allocations: 200_000,
        live_bytes: 5_000_000,
        ..Churn::EMACS
    };
    let trace = emacs_lives(&churn).expect("valid");
    let stats = Stats::of(&trace);
    assert_shares(&stats, &[(40, 51.2), (648, 15.0), (104, 11.1)]);
    let peak = stats.counts.peak_bytes;
    assert!((4_500_000..=5_000_000).contains(&peak), "{peak}");
    let peaks = fill_peaks(&trace);
    let (half, end) = (peaks[peaks.len() / 2], peaks[peaks.len() - 1]);
    assert!(half < end * 7 / 10, "{half} {end}");
    assert_eq!(trace, emacs_lives(&churn).expect("valid"));
    let churn = Churn {
        allocations: 200_000,
        live_bytes: 40_000_000,
        ..Churn::HUMMINGBIRD
    };
    let proxy = hummingbird_lives(&churn).expect("valid");
    let peak = Stats::of(&proxy).counts.peak_bytes;
    assert!((36_000_000..=40_000_000).contains(&peak), "{peak}");
}

/// The sums of live requests at the ends of the fills: where the first free follows an allocation.
fn fill_peaks(trace: &Trace) -> Vec<u64> {
    let mut sizes = Vec::new();
    let (mut live, mut was_filling, mut peaks) = (0, false, Vec::new());
    for event in trace.events() {
        match event.op() {
            Op::Alloc { size, .. } => {
                sizes.push(size);
                live += size;
                was_filling = true;
            }
            Op::Free { id } => {
                if std::mem::take(&mut was_filling) {
                    peaks.push(live);
                }
                live -= sizes[id as usize];
            }
            Op::Realloc { .. } => unreachable!("phase does not reallocate"),
        }
    }
    peaks
}

#[test]
fn phase_fills_ten_times_with_growing_sizes() {
    for parameters in [Phases::DEFAULT, Phases::SMALL] {
        let trace = phase(&parameters).expect("its own values");
        let peaks = fill_peaks(&trace);
        assert_eq!(peaks.len(), 10);
        let full = parameters.live_bytes - 5000..=parameters.live_bytes;
        assert!(peaks.iter().all(|peak| full.contains(peak)), "{peaks:?}");
        let stats = Stats::of(&trace);
        assert_eq!(stats.sizes.first().map(|count| count.size), Some(24));
        assert!(
            stats
                .max_size()
                .is_some_and(|size| (4600..=4743).contains(&size))
        );
    }
}

/// For every object that dies: its number, and the bytes allocated from its allocation to its
/// death.
fn deaths(trace: &Trace) -> Vec<(u32, u64)> {
    let (mut clock, mut born, mut deaths) = (0, Vec::new(), Vec::new());
    let mut sizes = Vec::new();
    for event in trace.events() {
        match event.op() {
            Op::Alloc { size, .. } => {
                clock += size;
                born.push(clock);
                sizes.push(size);
            }
            Op::Realloc { id, size } => {
                clock += size - sizes[id as usize];
                sizes[id as usize] = size;
            }
            Op::Free { id } => deaths.push((id, clock - born[id as usize])),
        }
    }
    deaths
}

#[test]
fn java_like_has_the_recorded_sizes_and_lifetimes() {
    let trace = java_like(&Churn::JAVA).expect("its own values");
    let stats = Stats::of(&trace);
    let most_frequent = [(24, 43.5), (32, 19.8), (40, 9.3), (16, 5.9), (56, 4.1)];
    assert_shares(&stats, &most_frequent);
    assert!(stats.sizes.iter().all(|count| count.size % 8 == 0));
    assert!(stats.max_size().is_some_and(|size| size <= 64 << 10));
    let deaths = deaths(&trace);
    let window = Churn::JAVA.live_bytes / 32;
    let young = deaths.iter().filter(|(_, life)| *life < window).count();
    let per_cent = 100.0 * young as f64 / stats.counts.objects as f64;
    assert!(
        (73.0..78.0).contains(&per_cent),
        "{per_cent:.1} % die young"
    );
    let ends = deaths.windows(2).filter(|pair| pair[1].0 != pair[0].0 + 1);
    let row = deaths.len() as f64 / ends.count() as f64;
    assert!((6.0..8.0).contains(&row), "rows of 11 and of 3.5: {row:.1}");
}

#[test]
fn lua_like_tables_double_and_buffers_grow_by_half() {
    let trace = lua_like(&Churn::LUA).expect("its own values");
    let mut sizes = Vec::new();
    let mut reallocs = 0;
    for event in trace.events() {
        match event.op() {
            Op::Alloc { size, .. } => sizes.push(size),
            Op::Realloc { id, size } => {
                let old = std::mem::replace(&mut sizes[id as usize], size);
                let doubles = old.is_power_of_two() && old >= 16 && size == 2 * old;
                let half_more = old >= 1536 && size == old + old / 2;
                assert!(doubles || half_more, "{old} to {size}");
                reallocs += 1;
            }
            Op::Free { .. } => {}
        }
    }
    assert!(reallocs > 30_000);
    let newest_first = deaths(&trace)
        .windows(2)
        .filter(|pair| pair[1].0 < pair[0].0 && pair[0].0 - pair[1].0 < 3)
        .count();
    assert!(newest_first > 700_000, "{newest_first}");
}

#[test]
fn what_a_collector_would_free_keeps_to_the_live_bytes() {
    for (make, churn) in [
        (java_like as fn(&Churn) -> _, Churn::JAVA),
        (lua_like, Churn::LUA),
    ] {
        for (live_bytes, allocations) in [(256 << 10, 200_000), (churn.live_bytes, 1_000_000)] {
            let churn = Churn {
                live_bytes,
                allocations,
                ..churn
            };
            let trace: Trace = make(&churn).expect("valid");
            let counts = trace.header().counts;
            let full = live_bytes - (64 << 10)..=live_bytes;
            assert!(full.contains(&counts.peak_bytes), "{}", counts.peak_bytes);
            assert!((allocations..allocations + 2000).contains(&counts.objects));
        }
        let given = 262_143;
        let small = Churn {
            live_bytes: given,
            ..churn
        };
        let least = 256 << 10;
        assert_eq!(
            make(&small).map(|_: Trace| ()),
            Err(GenerateError::LiveTooSmall { given, least })
        );
    }
}

#[test]
fn a_seed_gives_one_trace_everywhere() {
    let churn = Churn {
        allocations: 10_000,
        live_bytes: 100_000,
        ..Churn::EMACS
    };
    let checksum = |trace: &Trace| {
        let fold = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        trace.to_bytes().iter().fold(0xcbf2_9ce4_8422_2325, fold)
    };
    let first = emacs_paper(&churn).expect("valid");
    assert_eq!(first, emacs_paper(&churn).expect("valid"));
    assert_ne!(
        first,
        emacs_paper(&Churn { seed: 2, ..churn }).expect("valid")
    );
    let large = Churn {
        live_bytes: 1 << 20,
        ..churn
    };
    let golden = [
        checksum(&first),
        checksum(&hummingbird_paper(&churn).expect("valid")),
        checksum(&phase(&Phases::SMALL).expect("valid")),
        checksum(&java_like(&large).expect("valid")),
        checksum(&lua_like(&large).expect("valid")),
    ];
    assert_eq!(
        golden,
        [
            5_439_012_163_980_256_126,
            5_955_079_243_211_591_114,
            1_680_414_638_381_991_017,
            4_576_586_723_967_122_694,
            2_983_400_799_968_911_147
        ]
    );
}

#[test]
fn options_out_of_range_are_refused() {
    let make = |program: Program, allocations, live_bytes| {
        let options = Options {
            seed: 1,
            allocations,
            live_bytes,
        };
        program.generate(&options).map(drop)
    };
    assert_eq!(make(Program::EmacsPaper, Some(0), None), Ok(()));
    assert_eq!(
        make(Program::EmacsPaper, Some(u64::MAX), None),
        Err(GenerateError::TooManyAllocations {
            given: u64::MAX,
            most: 1 << 26
        })
    );
    assert_eq!(
        make(Program::HummingbirdPaper, None, Some(16383)),
        Err(GenerateError::LiveTooSmall {
            given: 16383,
            least: 16384
        })
    );
    assert_eq!(
        make(Program::Phase, Some(1), None),
        Err(GenerateError::AllocationsFollow)
    );
    assert!(make(Program::Phase, None, Some(1)).is_err());
    assert!(make(Program::Phase, None, Some(u64::MAX)).is_err());
    assert!(make(Program::EmacsPaper, Some(10), Some(u64::MAX)).is_ok());
    for phases in [0, 20, u32::MAX] {
        assert!(
            phase(&Phases {
                phases,
                ..Phases::SMALL
            })
            .is_err()
        );
    }
    assert!(
        phase(&Phases {
            phases: 19,
            ..Phases::SMALL
        })
        .is_ok()
    );
}

#[test]
fn programs_have_their_names() {
    for program in Program::ALL {
        assert_eq!(Program::from_name(program.name()), Some(program));
        assert!(!program.about().is_empty());
    }
    assert_eq!(Program::from_name("emacs"), None);
}
