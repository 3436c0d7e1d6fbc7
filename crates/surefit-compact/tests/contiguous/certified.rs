//! Random calls within a demand, in exactly the certified bytes.

use surefit_compact::certify::{
    ContiguousDemand, Demand, Uncertifiable, certify, certify_contiguous,
};
use surefit_compact::{Config, Medium, Narrow, Wide, Width};
use surefit_testkit::{JunkRegion, Random};

use super::setup::{Checked, PAGE, bounds, config};

/// The most live page-blocks of each class.
fn peaks(random: &mut Random, config: &Config) -> Vec<u32> {
    let classes = config.geometry().class_count();
    let most = |class| if class < 3 { 60 } else { 8 };
    (0..classes)
        .map(|class| random.below(most(class)) as u32)
        .collect()
}

fn windows(random: &mut Random) -> Vec<ContiguousDemand> {
    let kinds = 1 + random.below(4);
    let mut pages: Vec<_> = (0..kinds).map(|_| 2 + random.below(11)).collect();
    pages.sort_unstable();
    pages.dedup();
    pages
        .into_iter()
        .map(|pages| ContiguousDemand {
            bytes: pages * PAGE - random.below(PAGE),
            objects: random.below(5) as u32,
        })
        .collect()
}

/// A heap in exactly the certified bytes, and its demand.
struct Certified<'m, W: Width> {
    checked: Checked<'m, W>,
    config: &'m Config,
    peaks: &'m [u32],
    windows: &'m [ContiguousDemand],
}

impl<W: Width> Certified<'_, W> {
    /// Pages of a contiguous object, and whether the demand allows another one of them.
    fn window(&self, random: &mut Random) -> (usize, bool) {
        let window = &self.windows[random.below(self.windows.len())];
        let pages = window.bytes.div_ceil(PAGE);
        let large = self.checked.large.iter().map(|(object, _)| object.len());
        let live = large.filter(|len| len.div_ceil(PAGE) == pages).count();
        (pages, live < window.objects as usize)
    }

    /// Resizes a contiguous object, within its pages or to others of which the demand allows
    /// another one.
    fn resize_large(&mut self, random: &mut Random) {
        let at = random.below(self.checked.large.len());
        let old = self.checked.large[at].0.len().div_ceil(PAGE);
        let (pages, has_room) = self.window(random);
        if pages == old || has_room {
            let len = (pages - 1) * PAGE + 1 + random.below(PAGE);
            let result = self.checked.resize_large(at, len);
            assert_eq!(
                result,
                Ok(()),
                "{old} to {pages} pages are within the demand"
            );
        }
    }

    /// Allocates a contiguous object if the demand allows another one.
    fn alloc_large(&mut self, random: &mut Random) {
        let (pages, has_room) = self.window(random);
        if has_room {
            let len = (pages - 1) * PAGE + 1 + random.below(PAGE);
            let result = self.checked.alloc_large(len, PAGE);
            assert_eq!(result, Ok(()), "{pages} pages are within the demand");
        }
    }

    /// Allocates a page-block if the demand allows another one.
    fn alloc_small(&mut self, random: &mut Random) {
        let index = random.below(self.peaks.len());
        let geometry = self.config.geometry();
        let class = geometry.class(index).expect("a class");
        let bytes = geometry.layout(class).block_bytes as usize;
        let small = self.checked.small.iter().map(|(object, _)| object.len());
        if small.filter(|&len| len == bytes).count() < self.peaks[index] as usize {
            let result = self.checked.alloc_small(bytes);
            assert_eq!(result, Ok(()), "{bytes} bytes are within the demand");
        }
    }

    /// A call. Returns 2 if it is a resize, which may allocate and free, and else 1.
    fn call(&mut self, random: &mut Random, rises: usize) -> u64 {
        if random.below(6) == 0 && !self.checked.large.is_empty() {
            self.resize_large(random);
            return 2;
        }
        let is_large = random.below(3) == 0;
        match (random.below(100) < rises, is_large) {
            (true, true) => self.alloc_large(random),
            (true, false) => self.alloc_small(random),
            (false, true) if !self.checked.large.is_empty() => {
                let at = random.below(self.checked.large.len());
                self.checked.free_large(at);
            }
            (false, false) if !self.checked.small.is_empty() => {
                let at = random.below(self.checked.small.len());
                self.checked.free_small(at);
            }
            _ => {}
        }
        1
    }
}

/// Runs calls within a demand: phases that allocate and phases that free alternate.
fn run<W: Width>(seed: u64, word_bytes: usize, calls: usize) {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let config = config(bounds()[random.below(4)], word_bytes);
    let (peaks, windows) = (peaks(&mut random, &config), windows(&mut random));
    let demand = Demand::PerClass(&peaks);
    let certificate = certify_contiguous::<W>(&config, &demand, &windows).expect("certifiable");
    let mut region = JunkRegion::new(certificate.heap.aligned_bytes, PAGE, seed);
    let mut certified: Certified<'_, W> = Certified {
        checked: Checked::new(region.memory(), &config),
        config: &config,
        peaks: &peaks,
        windows: &windows,
    };
    let most = certificate
        .moved_bytes_max_per_call
        .max(certificate.heap.moved_bytes_max_per_op);
    let mut rises = 80;
    for call in 0..calls {
        if call % 100 == 0 {
            rises = [95, 70, 50, 30, 5][random.below(5)];
        }
        let before = certified.checked.heap.stats().moved_bytes_total;
        let most = most * certified.call(&mut random, rises);
        let moved = certified.checked.heap.stats().moved_bytes_total - before;
        assert!(moved <= most, "{moved} bytes moved, certified {most}");
        if call % 7 == 0 {
            certified.checked.check();
        }
    }
    certified.checked.check();
}

const SEEDS: u64 = if cfg!(miri) { 1 } else { 100 };
const CALLS: usize = if cfg!(miri) { 80 } else { 2000 };

#[test]
fn nothing_within_the_demand_is_refused_wide() {
    (0..SEEDS).for_each(|seed| run::<Wide>(seed, 4, CALLS));
}

#[test]
fn nothing_within_the_demand_is_refused_medium() {
    (0..SEEDS).for_each(|seed| run::<Medium>(seed, 3, CALLS));
}

#[test]
fn nothing_within_the_demand_is_refused_narrow() {
    (0..SEEDS).for_each(|seed| run::<Narrow>(seed, 2, CALLS));
}

#[test]
fn a_demand_without_contiguous_objects_has_the_certificate_of_page_blocks() {
    let config = Config::DEFAULT;
    let demand = Demand::PerClass(&[0, 7, 0, 1000]);
    let none = [ContiguousDemand {
        bytes: 1 << 20,
        objects: 0,
    }];
    for windows in [&[][..], &none] {
        let certificate = certify_contiguous::<Wide>(&config, &demand, windows);
        let certificate = certificate.expect("certifiable");
        assert_eq!(Ok(certificate.heap), certify::<Wide>(&config, &demand));
        assert_eq!(certificate.moved_bytes_max_per_call, 0);
    }
}

#[test]
fn slots_and_pages_are_certified_as_documented() {
    let config = config(bounds()[0], 4);
    let demand = Demand::PerClass(&[0, 0, 0, 0, 4]);
    let windows = |kinds: &[(usize, u32)]| {
        let kinds: Vec<_> = kinds
            .iter()
            .map(|&(pages, objects)| ContiguousDemand {
                bytes: pages * PAGE,
                objects,
            })
            .collect();
        certify_contiguous::<Wide>(&config, &demand, &kinds).expect("certifiable")
    };
    // Ends of slots serve the four page-blocks: 8 slot pages are enough for 5 + 3 pages.
    let one = windows(&[(5, 1)]);
    assert_eq!((one.window_pages, one.slot_pages), (5, 8));
    assert_eq!(one.heap.data_pages, 9);
    assert_eq!(one.moved_bytes_max_per_call, 5 * PAGE as u64);
    let two = windows(&[(5, 2)]);
    assert_eq!(two.heap.data_pages, 16);
    assert_eq!(two.heap.entries, 6);
    // Two sizes of slots below the largest; of one of them two numbers of pages.
    let mixed = windows(&[(2, 1), (3, 1), (4, 1), (8, 1), (6, 2)]);
    assert_eq!(
        mixed.moved_bytes_max_per_call,
        (2 * 8 - 6 + 2 * 2 * 8) * PAGE as u64
    );
}

#[test]
fn impossible_demands_have_no_certificate() {
    let config = Config::DEFAULT;
    let demand = Demand::PerClass(&[]);
    let of = |bytes, objects| {
        certify_contiguous::<Wide>(&config, &demand, &[ContiguousDemand { bytes, objects }])
    };
    let page = config.geometry().page_bytes();
    let within = Err(Uncertifiable::WithinPage { limit: page });
    assert_eq!(of(page, 1), within);
    assert_eq!(of(0, 0), within);
    assert!(matches!(
        of(usize::MAX, u32::MAX),
        Err(Uncertifiable::TooManyPages { .. } | Uncertifiable::TooManyEntries { .. })
    ));
    assert!(matches!(
        of(usize::MAX, 1),
        Err(Uncertifiable::TooManyPages { .. })
    ));
    assert_eq!(
        certify_contiguous::<Narrow>(&config, &demand, &[]),
        Err(Uncertifiable::Width)
    );
}

#[test]
fn demands_of_any_numbers_are_certified_or_refused() {
    let config = Config::DEFAULT;
    let sizes = (0..usize::BITS)
        .map(|bit| 1_usize << bit)
        .chain([usize::MAX]);
    let counts = [0, 1, 2, 1 << 30, u32::MAX - 1, u32::MAX];
    for (bytes, objects) in sizes.flat_map(|bytes| counts.map(|objects| (bytes, objects))) {
        for blocks in counts {
            let demand = ContiguousDemand { bytes, objects };
            let certified =
                certify_contiguous::<Wide>(&config, &Demand::PerClass(&[blocks]), &[demand; 3]);
            let Ok(certificate) = certified else { continue };
            let page = config.geometry().page_bytes() as u64;
            let pages = (bytes as u64).div_ceil(page);
            assert_eq!(certificate.window_pages, 3 * u64::from(objects) * pages);
            assert!(certificate.heap.heap_bytes as u64 > certificate.window_pages * page);
        }
    }
}
