//! Certificates against every script: all orders of calls within small demands, each heap in
//! exactly its certified bytes.
//!
//! The test kit's `exhaust/search.rs` says what is exhausted and why that is everything;
//! `mutants.rs` lowers every term of every certificate by one.

mod bisimulation;
mod book;
mod citations;
mod keys;
mod mutants;
mod owners;
mod paused;
mod shared;
mod shared_slack;
mod sharers;
mod single;
mod slack;

use surefit_compact::{Bound, Config, Fraction, Geometry, GeometrySpec, PageOrder, Spacing, Tail};
use surefit_testkit::exhaust::{region, search, shape};

/// P, the smallest possible page.
const PAGE: usize = 1024;

/// Page-blocks of 256, 512 and 1024 bytes: π = 4, 2, 1.
const SIZES: [usize; 3] = [256, 512, 1024];

/// Whether to exhaust larger spaces too, in minutes instead of seconds.
fn is_thorough() -> bool {
    std::env::var_os("SUREFIT_EXHAUST").is_some()
}

/// Page-blocks of these sizes, and of a page.
fn geometry_of(sizes: &[u32], width: usize) -> Geometry {
    Geometry::new(&GeometrySpec {
        page_bytes: PAGE,
        granule: 8,
        smallest: 16,
        spacing: Spacing::Explicit(sizes),
        tail: Tail::BackReferences { bytes: width },
    })
    .expect("valid")
}

fn holes(base: u32, numerator: u32, denominator: u32) -> Bound {
    let fraction = Fraction::new(numerator, denominator).expect("at most one half");
    Bound::Holes { base, fraction }
}

fn bounds() -> [Bound; 7] {
    [
        Bound::Pages(1),
        Bound::Pages(2),
        Bound::Unbounded,
        Bound::DEFAULT,
        holes(0, 0, 1),
        holes(1, 0, 1),
        holes(0, 1, 2),
    ]
}

fn config(width: usize, bound: Bound) -> Config {
    let config = Config::new(geometry_of(&[256, 512], width), bound).expect("valid");
    config.with_pieces(None).expect("valid")
}

/// A configuration for each bound, and one in the original order.
fn configs(width: usize) -> Vec<Config> {
    let mut configs: Vec<_> = bounds()
        .into_iter()
        .map(|bound| config(width, bound))
        .collect();
    let original = config(width, Bound::Pages(2)).with_order(PageOrder::Original);
    configs.push(original.expect("valid"));
    configs
}

/// The sum of what searches found.
#[derive(Default)]
struct Sum {
    spaces: usize,
    states: usize,
    steps: usize,
}

impl Sum {
    fn add(&mut self, found: search::Found) {
        self.spaces += 1;
        self.states += found.states;
        self.steps += found.steps;
    }
}

impl std::fmt::Display for Sum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            spaces,
            states,
            steps,
        } = self;
        write!(f, "{spaces} spaces, {states} states, {steps} steps")
    }
}
