//! What pins leave behind, and an adversary that makes a shared heap hold nearly all that is
//! certified.

use surefit_compact::certify::{Budget, ClassSet, Demand, Sharing, certify_shared};
use surefit_compact::shared::{Local, PerClass, SharedConfig, SharedHeap};
use surefit_compact::{Bound, Bytes, Config, SizeClass};

use surefit_testkit::{ExactMemory, layout};

use crate::shared::{Lock, assert_within, shared};
use crate::{exact, geometry, junk};

type Object = Bytes<u8>;

/// Holds what it can of a joint budget, as one thread.
struct Adversary<'h, 'm, 'c> {
    heap: &'h SharedHeap<'m, Lock>,
    local: Local<'h, 'm, Lock, PerClass>,
    config: &'c SharedConfig,
    classes: Vec<SizeClass>,
    kept: Vec<Object>,
    objects: u64,
    bytes: u64,
}

impl Adversary<'_, '_, '_> {
    fn blocks(&self, class: SizeClass) -> usize {
        self.config.config().geometry().layout(class).blocks.into()
    }

    fn beta(&self, class: SizeClass) -> usize {
        self.config.config().geometry().layout(class).block_bytes as usize
    }

    fn insert(&self, class: SizeClass, count: usize) -> Option<Vec<Object>> {
        let insert = |_| self.local.alloc_zeroed(layout(self.beta(class))).ok();
        (0..count).map(insert).collect()
    }

    fn free(&self, objects: impl IntoIterator<Item = Object>) {
        objects
            .into_iter()
            .for_each(|object| self.local.free_bytes(object).expect("live"));
    }

    fn keep(&mut self, class: SizeClass, objects: Vec<Object>) {
        self.objects -= objects.len() as u64;
        self.bytes -= (objects.len() * self.beta(class)) as u64;
        self.kept.extend(objects);
    }

    /// Hands free entries to every group, and fills the address table.
    fn fill_table(&self) -> Option<()> {
        for &class in &self.classes {
            self.free(self.insert(class, self.config.handle_buffer().into())?);
        }
        self.free(self.insert(
            self.classes[0],
            usize::try_from(self.objects).expect("small"),
        )?);
        Some(())
    }

    /// Leaves Π + 1 pages of one object, by pinning Π of these while all others are freed.
    fn leave_alone(&mut self, class: SizeClass, guards: u32) -> Option<()> {
        let (mut alone, mut others) = (Vec::new(), Vec::new());
        for _ in 0..=guards {
            let mut page = self.insert(class, self.blocks(class))?;
            alone.extend(page.pop());
            others.extend(page);
        }
        let pinned = alone.iter().take(guards as usize);
        let pins: Vec<_> = pinned
            .map(|object| self.heap.pin_bytes(object).expect("live"))
            .collect();
        self.free(others);
        drop(pins);
        self.keep(class, alone);
        Some(())
    }

    /// Spends the rest of the budget on the class whose pages cost least.
    fn spend(&mut self) -> Option<()> {
        let pays = |&class: &SizeClass| self.beta(class) as u64 * self.objects >= self.bytes;
        let cost = |&class: &SizeClass| self.blocks(class) * self.beta(class);
        let cheapest = self.classes.iter().copied().filter(pays).min_by_key(cost)?;
        let count = self.bytes / self.beta(cheapest) as u64;
        let objects = self.insert(cheapest, usize::try_from(count).expect("small"))?;
        self.keep(cheapest, objects);
        Some(())
    }
}

/// The most pages that an adversary can hold; none if it is refused.
fn adversary(config: &SharedConfig, budget: Budget, guards: u32, bytes: usize) -> Option<u64> {
    let mut memory = ExactMemory::new();
    let region = exact(&mut memory, config.config(), bytes);
    let heap = SharedHeap::<Lock>::new(region, config).ok()?;
    let classes = config.config().geometry().classes();
    let mut adversary = Adversary {
        heap: &heap,
        local: heap.register().expect("a thread"),
        config,
        classes: classes
            .filter(|&class| budget.classes.contains(class))
            .collect(),
        kept: Vec::new(),
        objects: budget.objects,
        bytes: budget.block_bytes,
    };
    adversary.fill_table()?;
    for class in adversary.classes.clone() {
        adversary.leave_alone(class, guards)?;
    }
    assert_within(&heap, config.config(), 0, guards);
    adversary.spend()?;
    heap.check(true).expect("every invariant holds");
    Some(heap.stats().pages)
}

#[test]
fn an_adversary_with_pins_holds_most_of_what_is_certified() {
    for (bound, guards, least) in [
        (Bound::Pages(1), 0, 95.0),
        (Bound::Pages(1), 3, 95.0),
        (Bound::Pages(4), 3, 95.0),
        (Bound::DEFAULT, 0, 90.0),
        (Bound::DEFAULT, 3, 90.0),
    ] {
        let config = Config::new(geometry(4096, 4), bound).expect("valid");
        let config = shared::<PerClass>(&config.with_pieces(None).expect("valid"));
        let classes = ClassSet::of_requests(config.config().geometry(), 512);
        let budget = Budget {
            objects: 20_000,
            block_bytes: 1 << 20,
            classes,
        };
        let sharing = Sharing::new(1).with_guards(guards);
        let certificate =
            certify_shared::<Lock, _>(&config, &sharing, &Demand::Joint(budget)).expect("small");
        let pages =
            adversary(&config, budget, guards, certificate.aligned_bytes).expect("certified");
        let unused = (certificate.used_pages - pages) as usize * 4096;
        let percent =
            100.0 * (certificate.aligned_bytes - unused) as f64 / certificate.aligned_bytes as f64;
        println!("{bound}, {guards} pins: {pages} pages, {percent:.2} % of the certificate");
        assert!(percent >= least, "{bound}, {guards} pins: {percent} %");
        let fewer = certificate.aligned_bytes - unused - 2 * 4096;
        assert_eq!(
            adversary(&config, budget, guards, fewer),
            None,
            "{bound}, {guards} pins"
        );
    }
}

#[test]
fn what_pins_leave_is_owed_in_every_class_at_once_until_a_compaction_pays() {
    let config = Config::new(geometry(4096, 4), Bound::Pages(1)).expect("valid");
    let config = shared::<PerClass>(&config.with_pieces(None).expect("valid"));
    let mut memory = junk(1 << 20);
    let heap = SharedHeap::<Lock>::new(&mut memory, &config).expect("large enough");
    let local = heap.register().expect("a thread");
    let mut kept = Vec::new();
    for (number, len) in [16, 32, 64, 128].into_iter().enumerate() {
        let class = config.config().geometry().class_for(len, 8).expect("fits");
        let blocks = usize::from(config.config().geometry().layout(class).blocks);
        let objects: Vec<Object> = (0..4 * blocks)
            .map(|_| local.alloc_zeroed(layout(len)).expect("room"))
            .collect();
        let (alone, others): (Vec<_>, Vec<_>) = objects
            .into_iter()
            .enumerate()
            .partition(|(n, _)| n % blocks == 0);
        let guards: Vec<_> = alone
            .iter()
            .take(3)
            .map(|(_, o)| heap.pin_bytes(o).expect("live"))
            .collect();
        others
            .into_iter()
            .for_each(|(_, object)| local.free_bytes(object).expect("live"));
        drop(guards);
        kept.extend(alone);
        // Nothing is pinned any more, and yet max(κ, Π + 1) = 4 not-full pages stay, in this class
        // and in those before.
        assert_eq!(heap.class_usage(class).expect("a class").not_full_pages, 4);
        assert_eq!(heap.stats().debt, 3 * (number as u64 + 1));
    }
    assert_eq!(heap.compact(u64::MAX), 12);
    assert_eq!((heap.stats().debt, heap.stats().pages), (0, 4));
    assert_eq!(kept.len(), 16);
}
