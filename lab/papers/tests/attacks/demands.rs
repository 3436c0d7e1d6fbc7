//! Certificates for any numbers: at least the frames and rows, or an error; never a panic.

use proptest::prelude::*;
use surefit_compact::{Bound, Fraction, Wide};
use surefit_papers::block_table::BlockTableConfig;
use surefit_papers::block_table::certify::{FrameDemand, certify as certify_frames};

fn holes(base: u32, numerator: u32, denominator: u32) -> Bound {
    let fraction = Fraction::new(numerator, denominator).expect("at most one half");
    Bound::Holes { base, fraction }
}

/// Numbers at the ends of 64 bits, and at those of 16 and 32.
fn number() -> impl Strategy<Value = u64> {
    let power = (0_u32..64).prop_map(|log2| 1_u64 << log2);
    let near = (power, -2_i64..3).prop_map(|(power, off)| power.wrapping_add_signed(off));
    prop_oneof![
        2 => prop::sample::select(vec![0, 1, 2, u64::MAX, u64::MAX - 1, u32::MAX.into(), 1 << 32]),
        3 => near,
        2 => any::<u64>(),
        3 => 0_u64..10_000,
    ]
}

fn word() -> impl Strategy<Value = u32> {
    number().prop_map(|number| u32::try_from(number).unwrap_or(u32::MAX))
}

fn bound() -> impl Strategy<Value = Bound> {
    let fraction = (word(), word()).prop_map(|(a, b)| (a.min(b / 2), b.max(1)));
    prop_oneof![
        word().prop_map(|most| Bound::Pages(most.max(1))),
        (word(), fraction).prop_map(|(base, (above, below))| holes(base, above, below)),
        Just(Bound::Unbounded),
        Just(Bound::DEFAULT),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_demand_of_frames_has_no_less_than_its_frames_and_rows_or_an_error(
        frame_log2 in 4_usize..13, page_log2 in 12_usize..16, bound in bound(), objects in number(), frames in number(),
        largest in number(), largest_resized in number(), bytes in number(),
    ) {
        let config = BlockTableConfig::with_pages::<Wide>(1 << frame_log2, bound, 1 << page_log2).expect("valid");
        let longest = usize::try_from(largest).unwrap_or(usize::MAX);
        let of_bytes = FrameDemand::of_bytes(&config, objects, bytes, longest);
        let wasted = u128::from(bytes).div_ceil(1 << frame_log2);
        let all = u128::from(of_bytes.largest) * u128::from(objects);
        prop_assert!(u128::from(of_bytes.frames) >= wasted.min(all).min(u64::MAX.into()));
        let given = FrameDemand { objects, frames, largest, largest_resized };
        for demand in [of_bytes, given] {
            let Ok(certificate) = certify_frames::<Wide>(&config, &demand) else {
                continue;
            };
            let rows = 4 * u128::from(demand.frames).min(u128::from(demand.objects) * u128::from(demand.largest));
            let least = (u128::from(demand.frames) << frame_log2) + rows;
            prop_assert!(certificate.heap_bytes as u128 >= least, "{:?}", demand);
            prop_assert!(certificate.heap_bytes <= isize::MAX as usize);
        }
    }
}

/// The end values, without randomness.
const ENDS: [u64; 10] = [
    0,
    1,
    255,
    1 << 16,
    (1 << 32) - 2,
    (1 << 32) - 1,
    1 << 32,
    1 << 60,
    u64::MAX - 1,
    u64::MAX,
];

#[test]
fn frames_at_the_ends_are_certified_or_refused_at_once() {
    let config = BlockTableConfig::DEFAULT;
    for objects in ENDS {
        for frames in ENDS {
            for largest in ENDS {
                let longest = usize::try_from(largest).unwrap_or(usize::MAX);
                let demand = FrameDemand::of_bytes(&config, objects, frames, longest);
                assert!(demand.frames >= (frames / 32).min(demand.largest.saturating_mul(objects)));
                for largest_resized in [0, largest, u64::MAX] {
                    let demand = FrameDemand {
                        objects,
                        frames,
                        largest,
                        largest_resized,
                    };
                    let certified = certify_frames::<Wide>(&config, &demand);
                    let least = u128::from(frames) * 32;
                    assert!(
                        certified.is_err_and(|_| frames > 1 << 20)
                            || certified
                                .is_ok_and(|certificate| certificate.heap_bytes as u128 >= least),
                        "{demand:?}"
                    );
                }
            }
        }
    }
}
