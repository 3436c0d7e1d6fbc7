//! An adversary that makes a heap hold nearly all that its certificate allows.
//!
//! The address table never shrinks, so the adversary first fills the table with the smallest
//! objects and frees them. Then it takes one object of every class, each in its own page. Then,
//! class after class, it spends the rest of the budget on full pages, and frees all but as many
//! page-blocks as the bound needs to keep the pages.

use core::alloc::Layout;
use core::mem::MaybeUninit;

use surefit_compact::automaton::pages_bound;
use surefit_compact::certify::{Budget, Certificate, ClassSet, Demand, certify};
use surefit_compact::{Bound, Bytes, Config, Heap, Narrow, SizeClass, Wide, Width};

use surefit_testkit::ExactMemory;

use crate::{exact, geometry};

type Object = Bytes<MaybeUninit<u8>>;

struct Adversary<'m, 'c, W: Width> {
    heap: Heap<'m, W>,
    config: &'c Config,
    budget: Budget,
    objects: u64,
    bytes: u64,
    kept: Vec<Object>,
}

impl<W: Width> Adversary<'_, '_, W> {
    fn beta(&self, class: SizeClass) -> u64 {
        self.config.geometry().layout(class).block_bytes.into()
    }

    fn allocate(&mut self, class: SizeClass) -> Option<Object> {
        let beta = self.beta(class);
        if self.objects == self.budget.objects || self.bytes + beta > self.budget.block_bytes {
            return None;
        }
        let layout = Layout::from_size_align(beta as usize, 1).expect("valid");
        let object = self.heap.alloc(layout).expect("the demand is certified");
        self.objects += 1;
        self.bytes += beta;
        Some(object)
    }

    fn free(&mut self, object: Object, class: SizeClass) {
        self.objects -= 1;
        self.bytes -= self.beta(class);
        self.heap.free_bytes(object);
    }

    fn classes(&self) -> Vec<SizeClass> {
        let used = |class: &SizeClass| self.budget.classes.contains(*class);
        self.config.geometry().classes().filter(used).collect()
    }

    fn fill_table(&mut self) {
        let smallest = self.classes()[0];
        let mut objects = Vec::new();
        while let Some(object) = self.allocate(smallest) {
            objects.push(object);
        }
        for object in objects {
            self.free(object, smallest);
        }
    }

    fn take_one_of_each(&mut self) {
        for class in self.classes() {
            let object = self.allocate(class);
            self.kept.extend(object);
        }
    }

    /// Spends the rest of the budget on one class and frees what its pages do not need. Objects
    /// were allocated page by page, so `objects[i]` lies in page `(i + 1) / π`; the first page
    /// holds the object taken before.
    fn stretch(&mut self, class: SizeClass) {
        let blocks = usize::from(self.config.geometry().layout(class).blocks);
        let mut objects = Vec::new();
        while let Some(object) = self.allocate(class) {
            objects.push(Some(object));
        }
        let (mut live, mut pages) = self.usage(class);
        let peak = live;
        // The last page first, down to one block: it becomes the reservoir. Then one block after
        // another of each page.
        let order = (0..objects.len())
            .rev()
            .filter(|number| (number + 1) % blocks != 0);
        for number in order {
            let fewer = pages_bound(self.config.bound(), blocks as u32, live - 1, peak);
            if fewer < pages {
                break;
            }
            let object = objects[number].take().expect("freed once");
            self.free(object, class);
            (live, pages) = self.usage(class);
        }
        self.kept.extend(objects.into_iter().flatten());
    }

    fn usage(&self, class: SizeClass) -> (u32, u32) {
        self.heap.details().class_usage(class)
    }

    /// Classes by the bytes of budget that one of their pages costs, the cheapest first.
    fn cheapest(&self) -> Vec<SizeClass> {
        let layout = |class| self.config.geometry().layout(class);
        let cost = |class| u64::from(layout(class).blocks) * self.beta(class);
        let mut classes = self.classes();
        classes.sort_by_key(|&class| cost(class));
        classes.retain(|&class| self.beta(class) * self.budget.objects >= self.budget.block_bytes);
        classes
    }
}

/// Bytes of the region that were ever used: data pages, entries, fixed area.
fn held<W: Width>(config: &Config, budget: Budget, certificate: &Certificate) -> usize {
    let mut memory = ExactMemory::new();
    let region = exact(&mut memory, config, certificate.aligned_bytes);
    let mut adversary = Adversary::<W> {
        heap: Heap::new(region, config).expect("large enough"),
        config,
        budget,
        objects: 0,
        bytes: 0,
        kept: Vec::new(),
    };
    adversary.fill_table();
    let entries = budget.objects as usize * W::ENTRY_BYTES;
    adversary.take_one_of_each();
    let mut most = 0;
    for class in adversary.cheapest().into_iter().take(6) {
        adversary.stretch(class);
        most = most.max(adversary.heap.stats().pages);
    }
    adversary.heap.check().expect("every invariant holds");
    let fixed = certificate.parts.page_record_bytes + certificate.parts.class_state_bytes;
    most as usize * config.geometry().page_bytes() + entries + fixed
}

fn percent<W: Width>(config: &Config, objects: u64, block_bytes: u64, largest: usize) -> f64 {
    let classes = ClassSet::of_requests(config.geometry(), largest);
    let budget = Budget {
        objects,
        block_bytes,
        classes,
    };
    let certificate = certify::<W>(config, &Demand::Joint(budget)).expect("small");
    let held = held::<W>(config, budget, &certificate);
    assert!(held <= certificate.aligned_bytes);
    100.0 * held as f64 / certificate.aligned_bytes as f64
}

#[test]
fn an_adversary_holds_most_of_what_is_certified() {
    let wide = Config::DEFAULT;
    let narrow = Config::new(geometry(1024, 2), Bound::DEFAULT).expect("valid");
    let full = Config::new(geometry(16 << 10, 4), Bound::Pages(1)).expect("valid");
    // In the last one, 22 classes share 32 pages: the fractions of pages that the bound rounds up
    // weigh most.
    for (name, percent, least) in [
        (
            "default, 8 MB",
            percent::<Wide>(&wide, 100_000, 8 << 20, 2048),
            95.0,
        ),
        (
            "default, 32 MB",
            percent::<Wide>(&wide, 400_000, 32 << 20, 4096),
            95.0,
        ),
        (
            "full compaction, 8 MB",
            percent::<Wide>(&full, 100_000, 8 << 20, 2048),
            95.0,
        ),
        (
            "narrow, 256 KiB",
            percent::<Narrow>(&narrow, 4000, 256 << 10, 256),
            95.0,
        ),
        (
            "narrow, 32 KiB",
            percent::<Narrow>(&narrow, 1000, 32 << 10, 256),
            85.0,
        ),
    ] {
        println!("{name}: {percent:.2} % of the certificate");
        assert!(percent >= least, "{name}: {percent} %");
    }
}
