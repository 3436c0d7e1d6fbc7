//! How many pages one call touches at most: scripts that come as near as they can to what is
//! certified, seen in the bytes that their last call changes.
//!
//! Every script leaves 31 parked page-blocks, each in a page of its own, and as few objects as the
//! class has pages: the next free gives all of them back.

use std::mem::MaybeUninit;

use surefit_compact::certify::{
    Certificate, Demand, Sharing, certify, certify_shared, certify_shared_with_slack,
    certify_with_slack,
};
use surefit_compact::shared::{SharedConfig, SharedHeap};
use surefit_compact::{
    Bound, Config, Geometry, GeometrySpec, Heap, Medium, Spacing, Tail, Wide, Width,
};
use surefit_testkit::{ExactMemory, layout};

use crate::shared::Lock;
use crate::{exact, holes};

const PAGE: usize = 1024;

/// The most page-blocks that a class parks.
const PARKED: usize = 31;

/// Classes of more than eight page-blocks a page: what becomes of one changes the page.
const SIZES: [usize; 4] = [16, 64, 80, 96];

fn config<W: Width>(bound: Bound) -> Config {
    let geometry = Geometry::new(&GeometrySpec {
        page_bytes: PAGE,
        granule: 8,
        smallest: 16,
        spacing: Spacing::Explicit(&SIZES.map(|bytes| bytes as u32)),
        tail: Tail::BackReferences {
            bytes: W::WORD_BYTES,
        },
    });
    let config = Config::new(geometry.expect("valid"), bound).expect("valid");
    config.with_pieces(None).expect("valid")
}

/// π of the class of a size.
fn blocks(config: &Config, bytes: usize) -> usize {
    let class = config.geometry().class_for(bytes, 8).expect("a class");
    config.geometry().layout(class).blocks.into()
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Allocate(usize),
    /// The object that so many allocations were before.
    Free(usize),
}

/// Full pages of a class, of which some objects are freed.
struct Spread {
    blocks: usize,
    first: usize,
    pages: usize,
}

impl Spread {
    /// Allocates the pages.
    fn new(script: &mut Vec<Step>, config: &Config, bytes: usize, pages: usize) -> Self {
        let blocks = blocks(config, bytes);
        let is_allocation = |step: &&Step| matches!(step, Step::Allocate(_));
        let first = script.iter().filter(is_allocation).count();
        script.extend(vec![Step::Allocate(bytes); pages * blocks]);
        Self {
            blocks,
            first,
            pages,
        }
    }

    fn free(&self, page: usize, block: usize) -> Step {
        Step::Free(self.first + page * self.blocks + block)
    }

    /// Frees all but `kept` objects of a page, the first of which may be freed already.
    fn thin(&self, script: &mut Vec<Step>, page: usize, from: usize, kept: usize) {
        script.extend((from..self.blocks - kept).map(|block| self.free(page, block)));
    }

    /// One object of each of the first pages, which are parked. Before a class under a bound parks,
    /// an object of the last page is freed, which becomes the reservoir.
    fn park(&self, script: &mut Vec<Step>, is_first: bool) {
        script.extend(is_first.then(|| self.free(self.pages - 1, 0)));
        script.extend((0..PARKED).map(|page| self.free(page, 0)));
    }

    /// Keeps `kept` objects in all in the first pages, at most one in each.
    fn thin_parked(&self, script: &mut Vec<Step>, kept: usize) {
        for page in 0..PARKED {
            self.thin(script, page, 1, usize::from(page < kept));
        }
    }

    fn peak(&self) -> u32 {
        (self.pages * self.blocks) as u32
    }
}

/// Takes an object of a script; a script frees each once.
fn take<T>(objects: &mut [Option<T>], number: usize) -> T {
    objects[number].take().expect("freed once")
}

/// Runs a script in a heap of one owner over a region.
fn run<W: Width<Generation = ()>>(
    region: &mut [MaybeUninit<u8>],
    config: &Config,
    slack: usize,
    script: &[Step],
) {
    let heap = match slack {
        0 => Heap::<W>::new(region, config),
        _ => Heap::<W>::with_slack(region, config, slack),
    };
    let (mut heap, mut objects) = (heap.expect("large enough"), Vec::new());
    for step in script {
        match *step {
            Step::Allocate(bytes) => {
                objects.push(Some(heap.alloc(layout(bytes)).expect("certified")));
            }
            Step::Free(object) => heap.free_bytes(take(&mut objects, object)),
        }
    }
    heap.check().expect("sound");
}

/// Runs a script in a heap of threads, of which one calls.
fn run_shared(
    region: &mut [MaybeUninit<u8>],
    config: &SharedConfig,
    slack: usize,
    script: &[Step],
) {
    let heap = match slack {
        0 => SharedHeap::<Lock>::new(region, config),
        _ => SharedHeap::<Lock>::with_slack(region, config, slack),
    };
    let (heap, mut objects) = (heap.expect("large enough"), Vec::new());
    let local = heap.register().expect("a place");
    for step in script {
        match *step {
            Step::Allocate(bytes) => {
                objects.push(Some(local.alloc(layout(bytes)).expect("certified")));
            }
            Step::Free(object) => local.free_bytes(take(&mut objects, object)).expect("live"),
        }
    }
    heap.check(true).expect("sound");
    // It would give its pages back.
    std::mem::forget(local);
}

/// What the last call of a script changes in a region of `bytes` bytes with `data_pages` data
/// pages: data pages, and all pages.
fn changed_by_last(
    config: &Config,
    (bytes, data_pages): (usize, u64),
    script: &[Step],
    run: impl Fn(&mut [MaybeUninit<u8>], &[Step]),
) -> (u64, u64) {
    let mut memory = ExactMemory::new();
    let region = exact(&mut memory, config, bytes);
    let mut after = |script: &[Step]| -> Vec<u8> {
        region.fill(MaybeUninit::new(0));
        run(region, script);
        // SAFETY: all bytes were written above. What the heap wrote since are words without
        // padding, but for four bytes of a heap's slack, which begin as zeros.
        let bytes = region.iter().map(|byte| unsafe { byte.assume_init() });
        bytes.collect()
    };
    let (before, after) = (after(&script[..script.len() - 1]), after(script));
    let pairs = before.chunks(PAGE).zip(after.chunks(PAGE));
    let changed = (0..)
        .zip(pairs)
        .filter(|(_, (before, after))| before != after);
    let changed: Vec<u64> = changed.map(|(page, _)| page).collect();
    let data = changed.iter().filter(|&&page| page < data_pages).count();
    (data as u64, changed.len() as u64)
}

fn changed_by_owner<W: Width<Generation = ()>>(
    config: &Config,
    certificate: &Certificate,
    slack: usize,
    script: &[Step],
) -> (u64, u64) {
    let areas = (certificate.aligned_bytes, certificate.data_pages);
    changed_by_last(config, areas, script, |region, script| {
        run::<W>(region, config, slack, script);
    })
}

/// The last free gives 31 parked page-blocks back; `targets` page-blocks are moved before.
fn by_free(config: &Config, targets: usize, is_first: bool) -> (Vec<Step>, Vec<u32>) {
    let mut script = Vec::new();
    // The pages of the parked page-blocks; that of the last free; the targets; the reservoir.
    let moves = targets > 0;
    let pages = PARKED + 1 + targets + usize::from(moves);
    let spread = Spread::new(&mut script, config, SIZES[1], pages);
    spread.park(&mut script, is_first);
    let last = if moves { PARKED } else { pages - 1 };
    let (of_reservoir, of_last) = (targets + 1, targets + 2);
    let mut kept = of_last + targets * (spread.blocks - 1);
    if moves {
        spread.thin(&mut script, pages - 1, 1, of_reservoir);
        kept += of_reservoir;
    }
    // As many objects as pages.
    spread.thin_parked(&mut script, pages - kept);
    spread.thin(&mut script, last, usize::from(is_first && !moves), of_last);
    script.extend((0..targets).map(|target| spread.free(PARKED + 1 + target, 0)));
    script.push(spread.free(last, spread.blocks - 1));
    (script, vec![0, spread.peak()])
}

/// What one free touches is what is certified, in data pages exactly.
fn assert_reached(config: &Config, slack: usize, script: &[Step], peaks: &[u32], data: u64) {
    let demand = Demand::PerClass(peaks);
    let certificate = match slack {
        0 => certify::<Wide>(config, &demand),
        _ => certify_with_slack::<Wide>(config, &demand, 0, slack),
    };
    let certificate = certificate.expect("small");
    let (found, all) = changed_by_owner::<Wide>(config, &certificate, slack, script);
    let most = certificate.pages_touched_max_per_op;
    println!(
        "{}, slack {slack}: {found} data pages, {all} of {most}",
        config.bound()
    );
    assert_eq!(found, data, "{}, slack {slack}", config.bound());
    assert!(
        all <= most,
        "{}, slack {slack}: {all} of {most}",
        config.bound()
    );
}

#[test]
fn a_free_without_a_bound_touches_a_page_for_each_parked_page_block() {
    let config = config::<Wide>(Bound::Unbounded);
    let (script, peaks) = by_free(&config, 0, true);
    assert_reached(&config, 0, &script, &peaks, 1 + PARKED as u64);
}

/// The holes after the script of [`by_free`] but for its last free, if the reservoir keeps one
/// object more than there are targets.
fn holes_before(config: &Config, targets: usize) -> u32 {
    let (pages, blocks) = (PARKED + 2 + targets, blocks(config, SIZES[1]));
    // As many objects as pages, and free page-blocks of the reservoir do not count.
    (pages * (blocks - 1) - (blocks - targets - 1)) as u32
}

#[test]
fn a_free_at_a_bound_in_holes_touches_those_of_its_moves_besides() {
    let any = config::<Wide>(Bound::DEFAULT);
    for targets in [1, 2] {
        let pages = (PARKED + 2 + targets) as u32;
        let (script, peaks) = by_free(&any, targets, true);
        // The limit falls with the last free if two page-blocks are to move.
        let bound = match targets {
            1 => holes(holes_before(&any, 1), 0, 1),
            _ => holes(holes_before(&any, 2) - 1, 1, pages),
        };
        let config = config::<Wide>(bound);
        assert_reached(&config, 0, &script, &peaks, u64::from(pages));
    }
}

/// Slack beyond all holes: nothing moves.
#[test]
fn a_free_with_slack_touches_a_page_for_each_parked_page_block() {
    let config = config::<Wide>(Bound::DEFAULT);
    let (script, peaks) = by_free(&config, 0, true);
    assert_reached(&config, 1 << 20, &script, &peaks, 1 + PARKED as u64);
}

/// An allocation for which the table must grow by a page gives back what all other classes have
/// parked.
fn by_allocation<W: Width<Generation = ()>>(bound: Bound) {
    let config = config::<W>(bound);
    let (mut script, mut peaks) = (Vec::new(), vec![600]);
    for bytes in &SIZES[1..] {
        let spread = Spread::new(&mut script, &config, *bytes, PARKED + 1);
        spread.park(&mut script, true);
        let last = PARKED;
        spread.thin_parked(&mut script, PARKED - 1);
        spread.thin(&mut script, last, 1, 3);
        peaks.push(spread.peak());
    }
    let demand = Demand::PerClass(&peaks);
    let certificate = certify::<W>(&config, &demand).expect("small");
    let most = certificate.pages_touched_max_per_op;
    let reached = (0..600).map(|_| {
        script.push(Step::Allocate(SIZES[0]));
        changed_by_owner::<W>(&config, &certificate, 0, &script)
    });
    let (data, all) = reached.max().expect("some");
    println!("{bound}: {data} data pages, {all} of {most}");
    assert_eq!(data, 3 * PARKED as u64 + 1, "{bound}");
    assert!(all <= most, "{bound}: {all} of {most}");
}

#[test]
fn an_allocation_touches_a_page_for_each_page_block_that_other_classes_park() {
    by_allocation::<Wide>(Bound::Unbounded);
    by_allocation::<Medium>(holes(10_000, 1, 16));
}

/// A bound in pages parks nothing.
#[test]
fn under_a_bound_in_pages_no_call_touches_more_than_a_few_pages() {
    let config = config::<Wide>(Bound::Pages(1));
    let mut script = Vec::new();
    let spread = Spread::new(&mut script, &config, SIZES[1], 40);
    let certificate = certify::<Wide>(&config, &Demand::PerClass(&[0, spread.peak()]));
    let certificate = certificate.expect("small");
    // Data, two pages of the table, and seven records of two pages each, or all of them.
    let fixed = certificate.parts.page_record_bytes + certificate.parts.class_state_bytes;
    let most = 4 + (fixed as u64 - 2) / PAGE as u64 + 2;
    assert!(certificate.pages_touched_max_per_op <= most);
    for page in (0..40).rev() {
        script.push(spread.free(page, 3));
        let (data, all) = changed_by_owner::<Wide>(&config, &certificate, 0, &script);
        assert!(data <= 2 && all <= certificate.pages_touched_max_per_op);
    }
}

/// What one free of a shared heap touches is not more than is certified for a section.
fn assert_shared(config: &SharedConfig, slack: usize, script: &[Step], peaks: &[u32], data: u64) {
    let (demand, sharing) = (Demand::PerClass(peaks), Sharing::new(1));
    let certificate = match slack {
        0 => certify_shared::<Lock, _>(config, &sharing, &demand),
        _ => certify_shared_with_slack::<Lock, _>(config, &sharing, &demand, slack),
    };
    let certificate = certificate.expect("small");
    let areas = (certificate.aligned_bytes, certificate.data_pages);
    // A heap with slack gives parked page-blocks back whenever a group's credit ends.
    let calls = script.len() / 2..=script.len();
    let changed = calls.map(|end| {
        let run = |region: &mut _, script: &_| run_shared(region, config, slack, script);
        changed_by_last(config.config(), areas, &script[..end], run)
    });
    let (found, all) = changed.max().expect("some calls");
    let most = certificate.work.pages_touched_max_per_section;
    println!("shared, slack {slack}: {found} data pages, {all} of {most}");
    assert_eq!(found, data, "slack {slack}");
    assert!(all <= most, "slack {slack}: {all} of {most}");
}

#[test]
fn a_shared_free_touches_a_page_for_each_parked_page_block() {
    for bound in [Bound::Unbounded, holes(10_000, 0, 1)] {
        // As many parked page-blocks as a class of one owner has.
        let config = SharedConfig::new(config::<Wide>(bound)).with_pins(0);
        let config = config.with_handle_buffer(2 * PARKED as u16).expect("some");
        let is_bound = bound != Bound::Unbounded;
        let (script, peaks) = by_free(config.config(), 0, is_bound);
        assert_shared(&config, 0, &script, &peaks, 1 + PARKED as u64);
        if is_bound {
            assert_shared(&config, 1 << 20, &script, &peaks, PARKED as u64);
        }
    }
}
