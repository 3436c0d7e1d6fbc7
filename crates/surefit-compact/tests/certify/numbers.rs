//! Certificates for any numbers, against a naive model in 128 bits: the model's result, or its
//! typed error; never a panic, and never fewer bytes than the model's.

use std::panic::{AssertUnwindSafe, catch_unwind};

use proptest::prelude::*;
use surefit_compact::automaton::pages_bound;
use surefit_compact::certify::{
    Budget, Certificate, ClassSet, Demand, Sharing, Uncertifiable, certify, certify_for_life,
    certify_shared, heap_bytes, moves_max, pages_max, region_bytes, shared_region_bytes,
};
use surefit_compact::layout::{class_state_bytes, page_record_bytes};
use surefit_compact::shared::{Granularity, PerClass, PerPage, SharedConfig};
use surefit_compact::{Bound, Config, Keyed, Medium, Narrow, Wide, Width};

use crate::shared::Lock;
use crate::{geometry, holes};

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

fn half() -> impl Strategy<Value = u16> {
    number().prop_map(|number| u16::try_from(number).unwrap_or(u16::MAX))
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

/// Peaks, including those of more classes than exist.
fn peaks() -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(prop_oneof![2 => Just(0), 1 => word()], 0..60)
}

fn config(page_log2: u32, width: usize, bound: Bound) -> Config {
    Config::new(geometry(1 << page_log2, width), bound).expect("valid")
}

/// The bytes of a heap with these data pages and entries, whatever their numbers.
fn model_bytes<W: Width>(config: &Config, pages: u128, entries: u128) -> (u128, u128) {
    let page = config.geometry().page_bytes() as u128;
    let table = (entries * W::ENTRY_BYTES as u128).next_multiple_of(8);
    let all_pages = (pages + table / page).max(1);
    let states = (config.geometry().class_count() * class_state_bytes::<W>()) as u128;
    let records = all_pages * page_record_bytes::<W>() as u128;
    let fixed = (states.next_multiple_of(8) + records).next_multiple_of(8);
    (
        all_pages,
        all_pages * page + table % page + fixed + page - 1,
    )
}

/// The error for these pages and entries, if they have no certificate.
fn model_error<W: Width>(config: &Config, pages: u128, entries: u128) -> Option<Uncertifiable> {
    let numbers = (1_u64 << (8 * W::WORD_BYTES)) - 1;
    if entries > numbers.into() {
        return Some(Uncertifiable::TooManyEntries { limit: numbers });
    }
    let (all_pages, bytes) = model_bytes::<W>(config, pages, entries);
    let limit = pages_max::<W>(config.geometry()) - 1;
    let too_many = all_pages > limit.into() || bytes > isize::MAX as u128;
    too_many.then_some(Uncertifiable::TooManyPages { limit })
}

fn assert_sound(certificate: &Certificate) {
    let parts = certificate.parts;
    let sum = parts.data_page_bytes
        + parts.handle_bytes
        + parts.page_record_bytes
        + parts.class_state_bytes
        + parts.alignment_bytes;
    assert_eq!(sum, certificate.heap_bytes);
    assert!(sum <= isize::MAX as usize);
    assert!(parts.back_reference_bytes <= parts.data_page_bytes);
}

/// Whether two errors are of one kind. On 32 bits, a region limits the pages before the width does.
fn assert_alike(found: Uncertifiable, expected: Uncertifiable) {
    assert_eq!(
        core::mem::discriminant(&found),
        core::mem::discriminant(&expected),
        "{found} instead of {expected}"
    );
}

fn check_per_class<W: Width>(config: &Config, most: &[u32], frees: u64, per_entry: u64) {
    let geometry = config.geometry();
    let found = certify_for_life::<W>(config, &Demand::PerClass(most), frees);
    let beyond = most.iter().skip(geometry.class_count());
    if beyond.copied().any(|live| live > 0) {
        return assert_eq!(found, Err(Uncertifiable::NoSuchClass));
    }
    let pages = geometry
        .classes()
        .zip(most)
        .map(|(class, &live)| u128::from(live.div_ceil(geometry.layout(class).blocks.into())));
    let (pages, live) = (
        pages.sum(),
        most.iter().map(|&live| u128::from(live)).sum::<u128>(),
    );
    let retired = u128::from(frees.checked_div(per_entry).unwrap_or(0));
    match (found, model_error::<W>(config, pages, live + retired)) {
        (Ok(certificate), None) => {
            assert_sound(&certificate);
            let (_, bytes) = model_bytes::<W>(config, pages, live + retired);
            assert_eq!(certificate.heap_bytes as u128, bytes, "{most:?}");
        }
        (found, expected) => assert_alike(
            found.expect_err("the model has an error"),
            expected.expect("the model has no certificate"),
        ),
    }
}

/// Pages and entries that some mix of a budget can have: of one class alone.
fn least_of_joint(config: &Config, budget: &Budget, peaks: Option<&[u32]>) -> (u128, u128) {
    let geometry = config.geometry();
    let classes = geometry
        .classes()
        .filter(|&class| budget.classes.contains(class));
    let of_class = classes.map(|class| {
        let layout = geometry.layout(class);
        let live = budget
            .objects
            .min(budget.block_bytes / u64::from(layout.block_bytes));
        let peak = peaks.map_or(u64::MAX, |peaks| {
            peaks.get(class.index()).map_or(0, |&n| n.into())
        });
        let live = u32::try_from(live.min(peak)).unwrap_or(u32::MAX);
        let pages = (0..8).map(|less| {
            let now = live >> (4 * less);
            pages_bound(config.bound(), layout.blocks.into(), now, live)
        });
        (pages.max().expect("some").into(), u128::from(live))
    });
    of_class.fold((0, 0), |most, class| {
        (most.0.max(class.0), most.1.max(class.1))
    })
}

fn check_joint<W: Width>(config: &Config, budget: &Budget, peaks: Option<&[u32]>) {
    let demand = peaks.map_or(Demand::Joint(*budget), |peaks| Demand::Both(*budget, peaks));
    let found = certify::<W>(config, &demand);
    let beyond = peaks
        .into_iter()
        .flatten()
        .skip(config.geometry().class_count());
    if beyond.copied().any(|live| live > 0) {
        return assert!(found.is_err(), "{demand:?}");
    }
    let (pages, entries) = least_of_joint(config, budget, peaks);
    match found {
        Ok(certificate) => {
            assert_sound(&certificate);
            assert_eq!(model_error::<W>(config, pages, entries), None, "{demand:?}");
            let (_, bytes) = model_bytes::<W>(config, pages, entries);
            assert!(certificate.heap_bytes as u128 >= bytes, "{demand:?}");
        }
        Err(error) => {
            // If one page per object and all entries fit, there is a certificate.
            let most = u128::from(budget.objects);
            let expected = model_error::<W>(config, most, most);
            assert!(expected.is_some(), "{demand:?}: {error}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_demand_per_class_has_the_certificate_of_the_model_or_its_error(
        page_log2 in 10_u32..17, bound in bound(), most in peaks(), frees in number(),
    ) {
        check_per_class::<Wide>(&config(page_log2, 4, bound), &most, frees, 0);
        check_per_class::<Medium>(&config(page_log2, 3, bound), &most, frees, 0);
        check_per_class::<Keyed<Medium, u16>>(&config(page_log2, 3, bound), &most, frees, 65_535);
        check_per_class::<Narrow>(&config(page_log2, 2, bound), &most, frees, 0);
        check_per_class::<Keyed<Wide, u8>>(&config(page_log2, 4, bound), &most, frees, 255);
        check_per_class::<Keyed<Wide, u16>>(&config(page_log2, 4, bound), &most, frees, 65_535);
        check_per_class::<Keyed<Narrow, u32>>(&config(page_log2, 2, bound), &most, frees, u32::MAX.into());
    }

    #[test]
    fn a_joint_demand_has_no_less_than_a_mix_of_the_model_or_an_error(
        page_log2 in 10_u32..17, bound in bound(), objects in number(), block_bytes in number(),
        largest in number(), peaks in prop::option::of(peaks()),
    ) {
        for width in [2, 3, 4] {
            let config = config(page_log2, width, bound);
            let largest = usize::try_from(largest).unwrap_or(usize::MAX);
            let classes = ClassSet::of_requests(config.geometry(), largest);
            let budget = Budget { objects, block_bytes, classes };
            match width {
                2 => check_joint::<Narrow>(&config, &budget, peaks.as_deref()),
                3 => check_joint::<Medium>(&config, &budget, peaks.as_deref()),
                _ => check_joint::<Wide>(&config, &budget, peaks.as_deref()),
            }
        }
    }
}

// ---- shared heaps ------------------------------------------------------------------------------

#[derive(Clone, Debug)]
struct Users {
    threads: u32,
    guards: u32,
    instances: u32,
    pins: u32,
    buffers: (u16, u16, u16),
}

fn users() -> impl Strategy<Value = Users> {
    let few = || prop_oneof![3 => 0_u32..5, 1 => word()];
    let buffers = (half(), half(), half());
    (few(), few(), few(), word(), buffers).prop_map(
        |(threads, guards, instances, pins, buffers)| Users {
            threads,
            guards,
            instances,
            pins,
            buffers,
        },
    )
}

/// A certificate of a shared heap is never less than the live objects' page-blocks, entries and
/// buffers.
fn check_shared<G: Granularity>(config: Config, users: &Users, demand: &Demand<'_>) {
    let (locals, pages, handles) = users.buffers;
    let config = SharedConfig::<G>::new(config).with_pins(users.pins);
    let config = config.with_locals(locals.max(1), pages).expect("some");
    let config = config.with_handle_buffer(handles.max(1)).expect("some");
    let sharing = Sharing::new(users.threads).with_guards(users.guards);
    let sharing = sharing.with_instances(users.instances);
    let pins = u64::from(users.guards) + u64::from(users.threads).saturating_sub(1);
    let certificate = match certify_shared::<Lock, G>(&config, &sharing, demand) {
        Ok(certificate) => certificate,
        Err(Uncertifiable::TooManyPins { limit }) => {
            assert!(pins > limit.into() || pins >= u32::MAX.into());
            return;
        }
        Err(_) => return,
    };
    assert!(pins <= users.pins.into() && users.instances <= 4096);
    let parts = certificate.parts;
    let sum = [
        parts.data_page_bytes,
        parts.pin_bytes,
        parts.call_bytes,
        parts.page_buffer_bytes,
        parts.handle_bytes,
        parts.handle_buffer_bytes,
        parts.page_record_bytes,
        parts.state_bytes,
        parts.alignment_bytes,
    ];
    let sum: u128 = sum.into_iter().map(|part| part as u128).sum();
    assert_eq!(sum, certificate.heap_bytes as u128);
    assert!(certificate.heap_bytes <= isize::MAX as usize);
    let registered = u128::from(locals.max(1)).min(users.threads.max(1).into());
    let buffered = (registered - 1) * u128::from(pages);
    let (data, live) = least_needed(config.config(), demand);
    let page = config.config().geometry().page_bytes() as u128;
    let least = (data + buffered) * page + live * 12;
    assert!(
        certificate.heap_bytes as u128 >= least,
        "{users:?} {demand:?}"
    );
}

fn least_needed(config: &Config, demand: &Demand<'_>) -> (u128, u128) {
    let of_each = |most: &[u32]| {
        let classes = config.geometry().classes().zip(most);
        classes.fold((0, 0), |sum: (u128, u128), (class, &live)| {
            let pages = live.div_ceil(config.geometry().layout(class).blocks.into());
            (sum.0 + u128::from(pages), sum.1 + u128::from(live))
        })
    };
    match demand {
        Demand::PerClass(most) => of_each(most),
        Demand::Joint(budget) => least_of_joint(config, budget, None),
        Demand::Both(budget, most) => least_of_joint(config, budget, Some(most)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_shared_demand_has_no_less_than_the_model_or_an_error(
        page_log2 in 10_u32..17, bound in bound(), objects in number(), block_bytes in number(),
        largest in number(), peaks in peaks(), users in users(), kind in 0..3,
    ) {
        let config = config(page_log2, 4, bound);
        let largest = usize::try_from(largest).unwrap_or(usize::MAX);
        let classes = ClassSet::of_requests(config.geometry(), largest);
        let budget = Budget { objects, block_bytes, classes };
        let demand = match kind {
            0 => Demand::PerClass(&peaks),
            1 => Demand::Joint(budget),
            _ => Demand::Both(budget, &peaks),
        };
        check_shared::<PerClass>(config.clone(), &users, &demand);
        check_shared::<PerPage>(config, &users, &demand);
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
fn budgets_at_the_ends_are_certified_as_the_model_or_refused() {
    let steep = holes(u32::MAX, (u32::MAX - 1) / 2, u32::MAX);
    let users = |pins| Users {
        threads: 2,
        guards: 1,
        instances: 3,
        pins,
        buffers: (u16::MAX, u16::MAX, u16::MAX),
    };
    let peaks = [u32::MAX; 40];
    for bound in [
        Bound::DEFAULT,
        Bound::Pages(u32::MAX),
        Bound::Unbounded,
        steep,
    ] {
        let config = config(14, 4, bound);
        let classes = ClassSet::all(config.geometry());
        for (objects, block_bytes) in ENDS.into_iter().flat_map(|n| ENDS.map(|bytes| (n, bytes))) {
            let budget = Budget {
                objects,
                block_bytes,
                classes,
            };
            check_joint::<Wide>(&config, &budget, None);
            check_joint::<Wide>(&config, &budget, Some(&peaks));
            for demand in [Demand::Joint(budget), Demand::Both(budget, &peaks)] {
                check_shared::<PerPage>(config.clone(), &users(2), &demand);
                check_shared::<PerClass>(config.clone(), &users(u32::MAX), &demand);
            }
        }
        let all = Demand::PerClass(&peaks);
        check_shared::<PerPage>(config.clone(), &users(2), &all);
        check_shared::<PerClass>(config, &users(2), &all);
    }
}

/// The functions for constants: a number of the certificate, or the documented panic.
#[test]
fn what_has_no_certificate_has_no_region_either() {
    let config = config(14, 4, Bound::DEFAULT);
    let shared = SharedConfig::<PerClass>::new(config.clone());
    let sharing = Sharing::new(1).with_pinned_classes(ClassSet::EMPTY);
    let classes = ClassSet::all(config.geometry());
    let mut certified = 0;
    for (objects, block_bytes) in ENDS.into_iter().flat_map(|n| ENDS.map(|bytes| (n, bytes))) {
        let demand = Demand::Joint(Budget {
            objects,
            block_bytes,
            classes,
        });
        let certificate = certify::<Wide>(&config, &demand).ok();
        let bytes = catch_unwind(|| heap_bytes::<Wide>(&config, &demand)).ok();
        assert_eq!(bytes, certificate.as_ref().map(|of| of.heap_bytes));
        let bytes = catch_unwind(|| region_bytes::<Wide>(&config, &demand)).ok();
        assert_eq!(bytes, certificate.as_ref().map(|of| of.aligned_bytes + 1));
        certified += u32::from(certificate.is_some());
        let certificate = certify_shared::<Lock, PerClass>(&shared, &sharing, &demand).ok();
        let region = || shared_region_bytes::<Lock, PerClass>(&shared, &sharing, &demand);
        let bytes = catch_unwind(AssertUnwindSafe(region)).ok();
        assert_eq!(bytes, certificate.map(|of| of.aligned_bytes + 1));
    }
    assert!((1..100).contains(&certified), "{certified} of 100");
    for bound in [Bound::DEFAULT, Bound::Pages(u32::MAX), Bound::Unbounded] {
        for blocks in [0, 1, 2, u16::MAX] {
            assert!(moves_max(bound, blocks) <= 2);
        }
    }
}
