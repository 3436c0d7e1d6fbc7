//! `certify` and `certify_for_life`: no script inside the demand is refused in exactly the aligned
//! bytes.

use surefit_compact::certify::{BlockCount, Budget, ClassSet, Demand, certify, certify_for_life};
use surefit_compact::{Bound, Config, Counted, Keyed, Medium, Narrow, PageOrder, Wide, Width};

use crate::keys::Keys;
use crate::region::Region;
use crate::search::{Found, search};
use crate::single::Handles;
use crate::{PAGE, SIZES, Sum, config, configs, geometry_of, is_thorough};

/// The number of states after which a search gives up: more than any space here has.
pub(crate) const MOST: usize = 3_000_000;

pub(crate) fn budget(config: &Config, objects: u64, block_bytes: u64) -> Budget {
    Budget {
        objects,
        block_bytes,
        classes: ClassSet::all(config.geometry()),
    }
}

pub(crate) fn assert_exhausted(found: &Found, what: &dyn std::fmt::Debug) {
    assert!(found.is_exhausted(), "{what:?}: {found:?}");
}

// ---- handles -----------------------------------------------------------------------------------

/// Demands for up to three classes; more and larger ones if time does not matter.
fn demands(config: &Config) -> Vec<Demand<'static>> {
    let mut demands: Vec<_> = [&[9][..], &[6, 3], &[4, 2, 1], &[0, 4, 2]]
        .map(Demand::PerClass)
        .into();
    let mut budgets = vec![(7, 2048), (5, 3072), (4, 4096)];
    if is_thorough() {
        demands.extend([&[17][..], &[9, 4], &[8, 4, 2], &[0, 9, 3]].map(Demand::PerClass));
        budgets.extend([(12, 3072), (9, 4096), (8, 6144)]);
    }
    for (objects, bytes) in budgets {
        let joint = budget(config, objects, bytes);
        demands.extend([Demand::Joint(joint), Demand::Both(joint, &[5, 3, 1])]);
    }
    demands
}

fn exhaust<W: Width>(config: &Config, demand: &Demand<'_>, lens: &[usize]) -> Found {
    let certificate = certify::<W>(config, demand).expect("small");
    let region = Region::aligned(certificate.aligned_bytes, PAGE);
    let found = search(&Handles::<W>::new(config, demand, lens, region), MOST);
    assert_exhausted(&found, &(config.bound(), config.order(), demand));
    found
}

fn exhaust_width<W: Width>(width: usize) {
    let mut sum = Sum::default();
    for config in &configs(width) {
        for demand in &demands(config) {
            sum.add(exhaust::<W>(config, demand, &SIZES));
        }
    }
    println!("handles, words of {width} bytes: {sum}");
}

#[test]
fn no_script_of_handles_is_refused() {
    exhaust_width::<Wide>(4);
    exhaust_width::<Medium>(3);
    exhaust_width::<Narrow>(2);
}

#[test]
fn no_script_is_refused_whose_pages_keep_their_own_bitmaps() {
    let mut sum = Sum::default();
    let geometry = geometry_of(&[96, 512], 4);
    let blocks = geometry
        .layout(geometry.class(0).expect("the smallest"))
        .blocks;
    assert!(blocks > 8, "bitmap and back-references are in the page");
    for bound in [
        Bound::Pages(1),
        Bound::Pages(2),
        Bound::DEFAULT,
        Bound::Unbounded,
    ] {
        let config = Config::new(geometry.clone(), bound).expect("valid");
        let config = config.with_pieces(None).expect("valid");
        for most in [&[u32::from(blocks) + 3][..], &[u32::from(blocks) + 1, 2]] {
            sum.add(exhaust::<Wide>(
                &config,
                &Demand::PerClass(most),
                &[96, 512],
            ));
        }
    }
    println!("more than eight page-blocks a page: {sum}");
}

// ---- byte objects in pieces, and resizes -------------------------------------------------------

/// Pieces of 256 bytes, and spines that have a class of their own.
pub(crate) fn in_pieces(bound: Bound) -> Config {
    let config = Config::new(geometry_of(&[64, 256], 4), bound).expect("valid");
    config.with_pieces(Some(256)).expect("valid")
}

/// A spine alone; one piece; two of them; three.
pub(crate) const LENS: [usize; 4] = [64, 256, 400, 600];

#[test]
fn no_script_of_objects_in_pieces_is_refused() {
    let mut sum = Sum::default();
    for bound in [
        Bound::Pages(1),
        Bound::Pages(2),
        Bound::DEFAULT,
        Bound::Unbounded,
    ] {
        let config = in_pieces(bound);
        for (objects, bytes) in [(5, 1100), (7, 1400)] {
            let joint = Demand::Joint(budget(&config, objects, bytes));
            sum.add(exhaust::<Wide>(&config, &joint, &LENS));
        }
        sum.add(exhaust::<Wide>(&config, &Demand::PerClass(&[2, 5]), &LENS));
    }
    println!("pieces: {sum}");
}

/// A budget, and the one beside it that a resize in flight needs.
pub(crate) fn with_resize(config: &Config, objects: u64, block_bytes: u64) -> [Budget; 2] {
    let longest = *LENS.last().expect("lengths");
    let more = BlockCount::in_resize::<Wide>(config, longest, 8).expect("fits");
    [
        budget(config, objects, block_bytes),
        budget(config, objects + more.blocks, block_bytes + more.bytes),
    ]
}

#[test]
fn no_script_of_resizes_is_refused() {
    let mut sum = Sum::default();
    for bound in [
        Bound::Pages(1),
        Bound::Pages(2),
        Bound::DEFAULT,
        Bound::Unbounded,
    ] {
        let config = in_pieces(bound);
        let [base, extended] = with_resize(&config, 4, 900);
        let certificate = certify::<Wide>(&config, &Demand::Joint(extended)).expect("small");
        let region = Region::aligned(certificate.aligned_bytes, PAGE);
        let demand = Demand::Joint(base);
        let mut space = Handles::<Wide>::new(&config, &demand, &LENS, region);
        space.resizes = true;
        let found = search(&space, MOST);
        assert_exhausted(&found, &config.bound());
        sum.add(found);
    }
    println!("resizes: {sum}");
}

// ---- keys --------------------------------------------------------------------------------------

fn exhaust_keys<W: Width<Generation = ()>, G: Counted>(
    config: &Config,
    demand: &Demand<'_>,
    life: Option<(&[u32], u32)>,
) -> Found {
    let frees = life.map_or(0, |life| life.1.into());
    let certificate = certify_for_life::<Keyed<W, G>>(config, demand, frees).expect("small");
    let region = Region::aligned(certificate.aligned_bytes, PAGE);
    let mut space = Keys::<W, G>::new(config, demand, region);
    if let Some((aged, frees)) = life {
        space.aged = aged.to_vec();
        space.frees = Some(frees);
    }
    let found = search(&space, MOST);
    assert_exhausted(&found, &(config.bound(), demand, life));
    found
}

#[test]
fn no_script_of_keys_is_refused() {
    let mut sum = Sum::default();
    for config in &configs(4) {
        for most in [&[7][..], &[4, 2], &[3, 2, 1]] {
            let demand = Demand::PerClass(most);
            sum.add(exhaust_keys::<Wide, u8>(config, &demand, None));
            sum.add(exhaust_keys::<Wide, u16>(config, &demand, None));
            sum.add(exhaust_keys::<Wide, u32>(config, &demand, None));
        }
    }
    for config in &configs(2) {
        sum.add(exhaust_keys::<Narrow, u8>(
            config,
            &Demand::PerClass(&[4, 2]),
            None,
        ));
    }
    println!("keys: {sum}");
}

/// An entry serves 255 frees. Two or three entries have served nearly as many, in any distribution,
/// and the remaining frees retire them in any order.
#[test]
fn no_script_in_which_entries_retire_is_refused() {
    let mut sum = Sum::default();
    let least = if is_thorough() { 251 } else { 253 };
    for bound in [Bound::Pages(1), Bound::DEFAULT] {
        let config = config(4, bound);
        for first in least..256 {
            for second in least..256 {
                let demand = Demand::PerClass(&[1, 1]);
                // Enough frees are left for both to retire and for others to begin.
                let frees = 2 * 255 + 3;
                sum.add(exhaust_keys::<Wide, u8>(
                    &config,
                    &Demand::PerClass(&[2, 1]),
                    Some((&[first, second], frees)),
                ));
                let exact = (first + second).next_multiple_of(255);
                sum.add(exhaust_keys::<Wide, u8>(
                    &config,
                    &Demand::PerClass(&[2]),
                    Some((&[first, second], exact)),
                ));
                let alone = Some((&[first][..], 255 + second % 7));
                sum.add(exhaust_keys::<Wide, u8>(&config, &demand, alone));
            }
        }
    }
    println!("entries that retire: {sum}");
}

#[test]
fn the_original_order_is_among_the_configurations() {
    let orders = configs(4).into_iter().map(|config| config.order());
    assert!(orders.into_iter().any(|order| order == PageOrder::Original));
}
