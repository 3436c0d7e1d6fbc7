//! A heap's configuration as plain numbers, and its certificate: what a failing case prints.

use surefit_compact::certify::{
    BlockCount, Budget, ClassSet, Demand, DemandMeter, Sharing, Uncertifiable, certify_for_life,
    certify_shared, shared_slack_bytes, slack_bytes_for_life,
};
use surefit_compact::shared::{Granularity, PerClass, PerHeap, PerPage, SharedConfig, Stepwise};
use surefit_compact::{
    Bound, Config, Geometry, GeometrySpec, Keyed, Medium, Narrow, PageOrder, SizeClass, Spacing,
    Tail, Wide, Width,
};

use crate::keys;

pub(crate) type Lock = parking_lot::RawMutex;

/// The heaps that have certificates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// `Heap<Wide>`, `Heap<Medium>`, `Heap<Narrow>`.
    Wide,
    Medium,
    Narrow,
    /// `KeyHeap<Wide, u8>`, `KeyHeap<Medium, u16>`, `KeyHeap<Narrow, u16>`.
    WideKeys,
    MediumKeys,
    NarrowKeys,
    /// The same heaps and `KeyHeap<Medium, u8>`, with byte objects.
    WideBytes,
    MediumBytes,
    NarrowBytes,
    /// `SharedHeap` by its locks.
    PerHeap,
    PerClass,
    PerPage,
    /// `ShardedHeap` by its locks.
    ShardedPerHeap,
    ShardedPerClass,
}

impl Kind {
    pub(crate) const ALL: [Self; 14] = [
        Self::Wide,
        Self::Narrow,
        Self::WideKeys,
        Self::NarrowKeys,
        Self::PerHeap,
        Self::PerClass,
        Self::PerPage,
        Self::ShardedPerHeap,
        Self::ShardedPerClass,
        Self::Medium,
        Self::MediumKeys,
        Self::WideBytes,
        Self::MediumBytes,
        Self::NarrowBytes,
    ];

    /// Bytes of a word.
    pub(crate) fn word_bytes(self) -> usize {
        match self {
            Self::Narrow | Self::NarrowKeys | Self::NarrowBytes => 2,
            Self::Medium | Self::MediumKeys | Self::MediumBytes => 3,
            _ => 4,
        }
    }

    /// Whether its names have generations.
    pub(crate) fn has_keys(self) -> bool {
        self.has_values() || self.has_byte_keys()
    }

    /// Whether keys name byte objects.
    pub(crate) fn has_byte_keys(self) -> bool {
        matches!(
            self,
            Self::WideBytes | Self::MediumBytes | Self::NarrowBytes
        )
    }

    /// Whether keys name values, each of one size for ever.
    pub(crate) fn has_values(self) -> bool {
        matches!(self, Self::WideKeys | Self::MediumKeys | Self::NarrowKeys)
    }

    pub(crate) fn is_sharded(self) -> bool {
        matches!(self, Self::ShardedPerHeap | Self::ShardedPerClass)
    }

    /// Whether several threads may use it: it has registrations, and objects that can be pinned.
    pub(crate) fn is_shared(self) -> bool {
        matches!(
            self,
            Self::PerHeap
                | Self::PerClass
                | Self::PerPage
                | Self::ShardedPerHeap
                | Self::ShardedPerClass
        )
    }
}

/// What a heap and its certificate are made from.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub(crate) kind: Kind,
    pub(crate) page_bytes: usize,
    pub(crate) granule: usize,
    pub(crate) smallest: usize,
    pub(crate) spacing: Spacing<'static>,
    pub(crate) bound: Bound,
    pub(crate) order: PageOrder,
    pub(crate) pieces: Option<usize>,
    /// Whether large pieces are pages.
    pub(crate) large: bool,
    /// Of shared heaps: ι, Π, the most registrations, L, b.
    pub(crate) increment: Option<u32>,
    pub(crate) pins: u32,
    pub(crate) locals: u16,
    pub(crate) page_buffer: u16,
    pub(crate) handle_buffer: u16,
    /// Who uses a shared heap: T, guards, G.
    pub(crate) threads: u32,
    pub(crate) guards: u32,
    pub(crate) instances: u16,
    /// The longest object that guards pin, and the strictest alignment of those that they do;
    /// `None` if they pin any.
    pub(crate) pinned: Option<(usize, usize)>,
    /// Of heaps of keys: frees and resizes in the heap's life, and those of the script that a
    /// demand was read from.
    pub(crate) frees: u64,
    pub(crate) metered: u64,
    /// What a heap under a hole bound lends, if it is told a demand.
    pub(crate) slack: Option<usize>,
}

impl Setup {
    /// One owner or one thread, small pages, no pieces.
    pub(crate) const fn new(kind: Kind) -> Self {
        Self {
            kind,
            page_bytes: 1024,
            granule: 8,
            smallest: 16,
            spacing: Spacing::Fraction(8),
            bound: Bound::DEFAULT,
            order: PageOrder::Newest,
            pieces: None,
            large: false,
            increment: None,
            pins: 8,
            locals: 1,
            page_buffer: 2,
            handle_buffer: 32,
            threads: 1,
            guards: 0,
            instances: 1,
            pinned: None,
            frees: 0,
            metered: 0,
            slack: None,
        }
    }

    /// [`Config::LEAN`] for a heap with words of three bytes.
    pub(crate) const fn lean(kind: Kind) -> Self {
        Self {
            page_bytes: 8 << 10,
            spacing: Spacing::Fraction(16),
            pieces: Some(1 << 10),
            large: true,
            ..Self::new(kind)
        }
    }

    /// The configuration of a heap; `None` if no geometry suits the numbers.
    pub(crate) fn config(&self) -> Option<Config> {
        let geometry = Geometry::new(&GeometrySpec {
            page_bytes: self.page_bytes,
            granule: self.granule,
            smallest: self.smallest,
            spacing: self.spacing,
            tail: Tail::BackReferences {
                bytes: self.kind.word_bytes(),
            },
        });
        let config = Config::new(geometry.ok()?, self.bound).ok()?;
        let config = config.with_order(self.order).ok()?;
        // Values under keys are never in pieces.
        let pieces = self.pieces.filter(|_| !self.kind.has_values());
        let config = config.with_pieces(pieces).ok()?;
        match (pieces, self.large) {
            (Some(_), true) => config.with_large_pieces(self.page_bytes).ok(),
            _ => Some(config),
        }
    }

    pub(crate) fn shared<G: Granularity>(&self, config: &Config) -> SharedConfig<G> {
        let shared = SharedConfig::new(config.clone()).with_pins(self.pins);
        let shared = shared
            .with_locals(self.locals, self.page_buffer)
            .expect("at least one registration");
        shared
            .with_handle_buffer(self.handle_buffer)
            .expect("at least one handle")
    }

    pub(crate) fn stepwise<G: Stepwise>(&self, config: &Config) -> SharedConfig<G> {
        let shared = self.shared(config);
        match self.increment {
            Some(bytes) => shared.with_increment(bytes).expect("a multiple of 16"),
            None => shared,
        }
    }

    /// How many threads are registered.
    pub(crate) fn registrations(&self) -> u32 {
        self.threads.min(self.locals.into())
    }

    pub(crate) fn sharing(&self) -> Sharing {
        let sharing = Sharing::new(self.threads)
            .with_guards(self.guards)
            .with_instances(self.instances.into());
        match self.pinned {
            Some((len, align)) => {
                let config = self.config().expect("valid");
                sharing.with_pinned_classes(ClassSet::of_objects(&config, len, align))
            }
            None => sharing,
        }
    }

    /// The certificate of a demand.
    pub(crate) fn certify(&self, demand: &Demand<'_>) -> Result<Certified, Uncertifiable> {
        let config = self.config().expect("valid");
        match self.kind {
            Kind::Wide => self.certify_owned::<Wide>(&config, demand),
            Kind::Medium => self.certify_owned::<Medium>(&config, demand),
            Kind::Narrow => self.certify_owned::<Narrow>(&config, demand),
            Kind::WideKeys | Kind::WideBytes => {
                self.certify_owned::<Keyed<Wide, u8>>(&config, demand)
            }
            Kind::MediumKeys => self.certify_owned::<Keyed<Medium, u16>>(&config, demand),
            Kind::MediumBytes => self.certify_owned::<Keyed<Medium, u8>>(&config, demand),
            Kind::NarrowKeys | Kind::NarrowBytes => {
                self.certify_owned::<Keyed<Narrow, u16>>(&config, demand)
            }
            Kind::PerHeap | Kind::ShardedPerHeap => {
                self.certify_shared::<PerHeap>(&self.stepwise(&config), demand)
            }
            Kind::PerClass | Kind::ShardedPerClass => {
                self.certify_shared::<PerClass>(&self.stepwise(&config), demand)
            }
            Kind::PerPage => self.certify_shared::<PerPage>(&self.shared(&config), demand),
        }
    }

    /// The slack of a heap in so many bytes; `None` for heaps that have none.
    pub(crate) fn slack(&self, demand: &Demand<'_>, bytes: usize) -> Option<usize> {
        if !matches!(self.bound, Bound::Holes { .. }) {
            return None;
        }
        let config = self.config()?;
        match self.kind {
            Kind::Wide => self.slack_of::<Wide>(demand, bytes),
            Kind::Medium => self.slack_of::<Medium>(demand, bytes),
            Kind::Narrow => self.slack_of::<Narrow>(demand, bytes),
            Kind::WideKeys | Kind::WideBytes => self.slack_of::<Keyed<Wide, u8>>(demand, bytes),
            Kind::MediumKeys => self.slack_of::<Keyed<Medium, u16>>(demand, bytes),
            Kind::MediumBytes => self.slack_of::<Keyed<Medium, u8>>(demand, bytes),
            Kind::NarrowKeys | Kind::NarrowBytes => {
                self.slack_of::<Keyed<Narrow, u16>>(demand, bytes)
            }
            Kind::PerHeap => self.shared_slack(&self.stepwise::<PerHeap>(&config), demand, bytes),
            Kind::PerClass => self.shared_slack(&self.stepwise::<PerClass>(&config), demand, bytes),
            Kind::PerPage => self.shared_slack(&self.shared::<PerPage>(&config), demand, bytes),
            Kind::ShardedPerHeap | Kind::ShardedPerClass => None,
        }
    }

    fn slack_of<W: Width>(&self, demand: &Demand<'_>, bytes: usize) -> Option<usize> {
        let frees = self.frees + self.metered;
        slack_bytes_for_life::<W>(&self.config()?, demand, frees, bytes).ok()
    }

    fn shared_slack<G: Granularity>(
        &self,
        config: &SharedConfig<G>,
        demand: &Demand<'_>,
        bytes: usize,
    ) -> Option<usize> {
        shared_slack_bytes::<Lock, G>(config, &self.sharing(), demand, bytes).ok()
    }

    fn certify_owned<W: Width>(
        &self,
        config: &Config,
        demand: &Demand<'_>,
    ) -> Result<Certified, Uncertifiable> {
        let certificate = certify_for_life::<W>(config, demand, self.frees + self.metered)?;
        Ok(Certified {
            aligned_bytes: certificate.aligned_bytes,
            heap_bytes: certificate.heap_bytes,
            align: self.page_bytes,
            pages: certificate.data_pages,
            copied: certificate.moved_bytes_max_per_op,
        })
    }

    fn certify_shared<G: Granularity>(
        &self,
        config: &SharedConfig<G>,
        demand: &Demand<'_>,
    ) -> Result<Certified, Uncertifiable> {
        let certificate = certify_shared::<Lock, G>(config, &self.sharing(), demand)?;
        Ok(Certified {
            aligned_bytes: certificate.aligned_bytes,
            heap_bytes: certificate.heap_bytes,
            align: self.page_bytes.max(128),
            pages: certificate.used_pages,
            copied: certificate.work.copied_bytes_max_per_section,
        })
    }

    /// What an object of this size takes from a demand; `None` if this heap cannot hold it.
    pub(crate) fn cost(&self, len: usize, align: usize) -> Option<Cost> {
        self.cost_in(&self.config()?, len, align)
    }

    /// The same for a given configuration.
    pub(crate) fn cost_in(&self, config: &Config, len: usize, align: usize) -> Option<Cost> {
        let (len, align) = match self.kind.has_values() {
            true => (keys::round_up(len)?, 8),
            false => (len, align),
        };
        match self.kind.word_bytes() {
            2 => Cost::of::<Narrow>(config, len, align),
            3 => Cost::of::<Medium>(config, len, align),
            _ => Cost::of::<Wide>(config, len, align),
        }
    }
}

/// The alignment of byte objects.
pub(crate) const ALIGN: usize = 8;

/// What a certificate says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Certified {
    pub(crate) aligned_bytes: usize,
    pub(crate) heap_bytes: usize,
    /// The alignment of a region for which the aligned bytes are enough.
    pub(crate) align: usize,
    /// Data pages.
    pub(crate) pages: u64,
    /// The most bytes that the free of a page-block moves, or a section copies.
    pub(crate) copied: u64,
}

/// What an object takes of a demand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cost {
    /// Page-blocks of each class.
    pub(crate) classes: Vec<(SizeClass, u32)>,
    pub(crate) blocks: u64,
    pub(crate) bytes: u64,
}

impl Cost {
    fn of<W: Width>(config: &Config, len: usize, align: usize) -> Option<Self> {
        let mut meter = DemandMeter::new::<W>(config);
        meter.allocate(len, align).ok()?;
        let Demand::PerClass(most) = meter.per_class() else {
            unreachable!("`per_class` says so")
        };
        let classes = config.geometry().classes().zip(most.iter().copied());
        let classes = classes.filter(|&(_, count)| count > 0);
        let count = BlockCount::of::<W>(config, len, align)?;
        Some(Self {
            classes: classes.collect(),
            blocks: count.blocks,
            bytes: count.bytes,
        })
    }
}

/// A demand that owns its peaks.
#[derive(Clone, Debug)]
pub(crate) enum OwnedDemand {
    PerClass(Vec<u32>),
    Joint(Budget),
    Both(Budget, Vec<u32>),
}

impl OwnedDemand {
    pub(crate) fn of(demand: Demand<'_>) -> Self {
        match demand {
            Demand::PerClass(most) => Self::PerClass(most.to_vec()),
            Demand::Joint(budget) => Self::Joint(budget),
            Demand::Both(budget, most) => Self::Both(budget, most.to_vec()),
        }
    }

    pub(crate) fn limits(&self) -> Demand<'_> {
        match self {
            Self::PerClass(most) => Demand::PerClass(most),
            Self::Joint(budget) => Demand::Joint(*budget),
            Self::Both(budget, most) => Demand::Both(*budget, most),
        }
    }
}

/// The live objects, compared with the demand.
#[derive(Clone, Debug)]
pub(crate) struct Ledger<'d> {
    limits: &'d Demand<'d>,
    live: Vec<u32>,
    blocks: u64,
    bytes: u64,
}

impl<'d> Ledger<'d> {
    pub(crate) fn new(limits: &'d Demand<'d>) -> Self {
        Self {
            limits,
            live: vec![0; 128],
            blocks: 0,
            bytes: 0,
        }
    }

    /// Whether one more object would stay within the demand.
    pub(crate) fn allows(&self, cost: &Cost) -> bool {
        let in_peaks = |most: &[u32]| {
            let most = |class: SizeClass| most.get(class.index()).copied().unwrap_or(0);
            let mut classes = cost.classes.iter();
            classes.all(|&(class, count)| self.live[class.index()] + count <= most(class))
        };
        let in_budget = |budget: &Budget| {
            let mut classes = cost.classes.iter();
            self.blocks + cost.blocks <= budget.objects
                && self.bytes + cost.bytes <= budget.block_bytes
                && classes.all(|&(class, _)| budget.classes.contains(class))
        };
        match self.limits {
            Demand::PerClass(most) => in_peaks(most),
            Demand::Joint(budget) => in_budget(budget),
            Demand::Both(budget, most) => in_budget(budget) && in_peaks(most),
        }
    }

    /// Whether an object may be resized: a heap holds the old object beside the new one.
    pub(crate) fn allows_resize(&self, new: &Cost) -> bool {
        self.allows(new)
    }

    pub(crate) fn add(&mut self, cost: &Cost) {
        for &(class, count) in &cost.classes {
            self.live[class.index()] += count;
        }
        self.blocks += cost.blocks;
        self.bytes += cost.bytes;
    }

    pub(crate) fn remove(&mut self, cost: &Cost) {
        for &(class, count) in &cost.classes {
            self.live[class.index()] -= count;
        }
        self.blocks -= cost.blocks;
        self.bytes -= cost.bytes;
    }
}
