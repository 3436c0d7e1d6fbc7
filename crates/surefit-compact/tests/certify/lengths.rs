//! What is counted for requests of up to a length, against every length, in random geometries: with
//! gaps between their page-blocks, and with small and large pieces of any size.

use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefit_compact::certify::{BlockCount, Budget, ClassSet, DemandMeter};
use surefit_compact::pieces::Pieces;
use surefit_compact::{
    Bound, Config, Geometry, GeometrySpec, Medium, Narrow, Spacing, Tail, Wide, Width,
};

/// Small pieces up to which the certificate tries all that may be worst.
const TRIED: usize = 17;

/// A request of fewer bytes counts as so many.
const SHORTEST: usize = 16;

/// Few or many page-blocks, and pieces of any two sizes, or of one, or none.
fn random_config(random: &mut ChaCha8Rng) -> Config {
    let page_bytes = 1 << random.random_range(10..=14);
    let count = random.random_range(1..24);
    let mut sizes: Vec<u32> = (0..count)
        .map(|_| {
            let bits = random.random_range(2..=10);
            8 * random.random_range(2..=1 << bits)
        })
        .filter(|size| (*size as usize) < page_bytes)
        .collect();
    sizes.sort_unstable();
    sizes.dedup();
    let geometry = Geometry::new(&GeometrySpec {
        page_bytes,
        granule: 8,
        smallest: 16,
        spacing: Spacing::Explicit(&sizes),
        tail: Tail::BackReferences { bytes: 4 },
    });
    let config = Config::new(geometry.expect("valid"), Bound::Pages(1)).expect("valid");
    if random.random_ratio(1, 10) {
        return config.with_pieces(None).expect("valid");
    }
    let most = page_bytes.ilog2();
    let small = random.random_range(6..=most.min(9));
    let large = random.random_range(small..=most);
    let config = config.with_pieces(Some(1 << small)).expect("valid");
    config.with_large_pieces(1 << large).expect("valid")
}

/// The longest object that is looked at: some beyond what the certificate tries, and longer than
/// two large pieces.
fn end(config: &Config) -> usize {
    match config.piece_bytes() {
        Some(small) => (40 * small).max(2 * config.division().large_bytes() + 2 * small),
        None => config.geometry().page_bytes(),
    }
}

/// Lengths around all multiples of a piece, those of page-blocks, and some more.
fn ends(config: &Config, random: &mut ChaCha8Rng) -> Vec<usize> {
    let (end, division) = (end(config), config.division());
    let sizes = [division.small_bytes(), division.large_bytes()];
    let around = |len: usize| [len - 1, len, len.saturating_add(1)];
    let multiples = sizes.into_iter().flat_map(|size| {
        let all = (1..=16).map_while(move |times| size.checked_mul(times));
        all.flat_map(around)
    });
    let geometry = config.geometry();
    let blocks = geometry
        .classes()
        .flat_map(|class| around(geometry.layout(class).block_bytes as usize));
    let mut ends: Vec<_> = multiples.chain(blocks).filter(|len| *len <= end).collect();
    ends.extend((0..20).map(|_| random.random_range(0..=end)));
    ends.push(end);
    ends.sort_unstable();
    ends.dedup();
    ends
}

/// What every length costs.
fn costs<W: Width>(config: &Config, align: usize) -> Vec<BlockCount> {
    let one = |len| BlockCount::of::<W>(config, len, align).expect("fits");
    (0..=end(config)).map(one).collect()
}

fn for_random_configs(test: impl Fn(&Config, &mut ChaCha8Rng)) {
    for seed in 0..60 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let config = random_config(&mut random);
        test(&config, &mut random);
    }
}

/// The most that one of `lens` costs, times `bytes` by its length.
fn most_for(bytes: u64, costs: &[u64]) -> u64 {
    let shares = costs.iter().enumerate().map(|(len, cost)| {
        let share = u128::from(bytes) * u128::from(*cost) / len.max(SHORTEST) as u128;
        u64::try_from(share).expect("fits")
    });
    shares.max().expect("some length")
}

fn mixes_cost_what_the_worst_length_costs<W: Width>() {
    const BYTES: u64 = 1 << 40;
    for_random_configs(|config, random| {
        let costs = costs::<W>(config, 8);
        let bytes: Vec<_> = costs.iter().map(|cost| cost.bytes).collect();
        let blocks: Vec<_> = costs.iter().map(|cost| cost.blocks).collect();
        for longest in ends(config, random) {
            let budget = Budget::of_mix::<W>(config, u64::MAX, longest, BYTES).expect("fits");
            let found = (budget.block_bytes, budget.objects);
            // The shortest requests that count have 16 bytes.
            let most = longest.max(SHORTEST);
            let expected = (
                most_for(BYTES, &bytes[..=most]),
                most_for(BYTES, &blocks[..=most]),
            );
            let what = format!("{longest} in {config:?}");
            if longest <= TRIED.saturating_mul(config.division().small_bytes()) {
                assert_eq!(found, expected, "{what}");
            }
            assert!(found.0 >= expected.0 && found.1 >= expected.1, "{what}");
        }
    });
}

#[test]
fn what_requests_cost_is_what_the_worst_length_costs() {
    mixes_cost_what_the_worst_length_costs::<Narrow>();
    mixes_cost_what_the_worst_length_costs::<Medium>();
    mixes_cost_what_the_worst_length_costs::<Wide>();
}

fn no_length_costs_more<W: Width>() {
    for_random_configs(|config, _| {
        for align in [8, 64, 1024] {
            let mut most = BlockCount::default();
            for (len, one) in costs::<W>(config, align).into_iter().enumerate() {
                most.blocks = most.blocks.max(one.blocks);
                most.bytes = most.bytes.max(one.bytes);
                let counted = BlockCount::most::<W>(config, len, align).expect("fits");
                let is_counted = counted.blocks >= most.blocks && counted.bytes >= most.bytes;
                assert!(is_counted, "{len} at {align} in {config:?}");
            }
        }
    });
}

#[test]
fn no_length_costs_more_than_is_counted_in_any_geometry() {
    no_length_costs_more::<Narrow>();
    no_length_costs_more::<Medium>();
    no_length_costs_more::<Wide>();
}

/// Those of shorter objects, and at alignments of up to the one stated.
#[test]
fn every_page_block_is_of_a_counted_class() {
    for_random_configs(|config, random| {
        let (word, ends) = (Wide::SPINE_WORD_BYTES, ends(config, random));
        for most_power in [0, 3, 6, 10] {
            let (mut used, mut seen) = (ClassSet::EMPTY, ClassSet::EMPTY);
            for len in 0..=end(config) {
                for align in [1, 1 << random.random_range(0..=most_power)] {
                    for run in Pieces::new(len, align, config.division(), word) {
                        let class = config.geometry().class_for(run.bytes, run.align);
                        used = used.with(class.expect("fits"));
                    }
                }
                if used == seen && ends.binary_search(&len).is_err() {
                    continue;
                }
                let set = ClassSet::of_objects(config, len, 1 << most_power);
                let mut classes = config.geometry().classes();
                let is_counted = classes.all(|class| set.contains(class) || !used.contains(class));
                assert!(is_counted, "{len} in {config:?}");
                seen = used;
            }
        }
    });
}

fn no_resize_holds_more<W: Width>() {
    for_random_configs(|config, random| {
        let ends = ends(config, random);
        for _ in 0..400 {
            let [old, new] = [(); 2].map(|()| *ends.choose(random).expect("some"));
            for align in [8, 64] {
                let mut meter = DemandMeter::new::<W>(config);
                meter.allocate(old, align).expect("fits");
                meter.resize((old, align), (new, align)).expect("fits");
                let of = |len| BlockCount::of::<W>(config, len, align).expect("fits");
                let more = BlockCount::in_resize::<W>(config, old.max(new), align).expect("fits");
                let (held, what) = (meter.budget(), format!("{old} to {new} in {config:?}"));
                let blocks = of(old).blocks.max(of(new).blocks) + more.blocks;
                assert!(held.objects <= blocks, "{what}");
                let bytes = of(old).bytes.max(of(new).bytes) + more.bytes;
                assert!(held.block_bytes <= bytes, "{what}");
            }
        }
    });
}

#[test]
fn no_resize_holds_more_than_is_counted_in_any_geometry() {
    no_resize_holds_more::<Narrow>();
    no_resize_holds_more::<Wide>();
}
