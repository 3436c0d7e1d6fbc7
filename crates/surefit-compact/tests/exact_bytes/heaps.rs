//! Every heap that has a certificate, behind one interface, for scripts that only know demands.
//!
//! ```text
//! Setup ── certify(demand) ──▶ bytes ── ExactMemory::region ──▶ run(setup, region, |heap| …)
//! heap: allocate, free, resize by one of several registrations; run something while objects are pinned
//! ```

use core::alloc::Layout;
use core::mem::MaybeUninit;
use core::ops::Range;

use surefit_compact::shared::{
    Granularity, Local, PerClass, PerHeap, PerPage, ShardedHeap, SharedConfig, SharedHeap, Stepwise,
};
use surefit_compact::{
    ByteKey, Bytes, Config, Counted, Heap, KeyHeap, Medium, Narrow, Wide, Width,
};
use surefit_core::{Corruption, Refused};

use crate::keys::AnyKey;
use crate::setup::{ALIGN, Kind, Lock, Setup};

/// The number of an object under test.
pub(crate) type Name = usize;

/// Pages and bytes: see [`UnderTest::numbers`].
pub(crate) type Numbers = (u64, u64);

/// An object that keeps another object pinned.
pub(crate) trait Guard {}
impl<T> Guard for T {}

/// A heap under test. Calls are made by registration `by`, modulo their number.
pub(crate) trait UnderTest {
    /// Allocates an object of `len` bytes, or the least value of a heap of keys that is as long.
    fn allocate(&mut self, by: usize, len: usize) -> Result<Name, Refused> {
        self.allocate_aligned(by, len, ALIGN)
    }
    /// The same, aligned; values of a heap of keys are aligned to eight bytes.
    fn allocate_aligned(&mut self, by: usize, len: usize, align: usize) -> Result<Name, Refused>;
    /// Frees an object.
    fn free(&mut self, by: usize, name: Name);
    /// Changes an object's length and its alignment. Values cannot.
    fn resize_aligned(
        &mut self,
        by: usize,
        name: Name,
        len_and_align: (usize, usize),
    ) -> Result<(), Refused>;
    /// A registration ends, and another takes its place.
    fn register_anew(&mut self, _by: usize) {}
    /// Moves at most `budget` objects.
    fn compact(&mut self, budget: u64);
    /// Runs something while objects are pinned, if there are pins. Only a heap of keys can free
    /// them meanwhile.
    fn pinned(&mut self, names: &[Name], run: &mut dyn FnMut(&mut dyn UnderTest));
    /// Gives an instance a quota, if there are instances.
    fn set_quota(&mut self, _instance: u32, _bytes: usize) {}
    /// Data pages in use, and the most bytes that the free of a page-block moved, or a section
    /// copied.
    fn numbers(&self) -> Numbers;
    /// Verifies every invariant; pins may have left debts.
    fn check(&self) -> Result<(), Corruption>;
}

/// Makes a heap in a region, and runs a function in it.
///
/// # Errors
/// Why there is no heap.
pub(crate) fn run(
    setup: &Setup,
    region: &mut [MaybeUninit<u8>],
    act: &mut dyn FnMut(&mut dyn UnderTest),
) -> Result<(), Refused> {
    let config = setup.config().expect("valid");
    match setup.kind {
        Kind::Wide => owned::<Wide>(region, (&config, setup.slack), act),
        Kind::Medium => owned::<Medium>(region, (&config, setup.slack), act),
        Kind::Narrow => owned::<Narrow>(region, (&config, setup.slack), act),
        Kind::WideBytes => byte_keys::<Wide, u8>(region, (&config, setup.slack), act),
        Kind::MediumBytes => byte_keys::<Medium, u8>(region, (&config, setup.slack), act),
        Kind::NarrowBytes => byte_keys::<Narrow, u16>(region, (&config, setup.slack), act),
        Kind::WideKeys => keys::<Wide, u8>(region, (&config, setup.slack), act),
        Kind::MediumKeys => keys::<Medium, u16>(region, (&config, setup.slack), act),
        Kind::NarrowKeys => keys::<Narrow, u16>(region, (&config, setup.slack), act),
        Kind::PerHeap => shared::<PerHeap>(region, setup, &setup.stepwise(&config), act),
        Kind::PerClass => shared::<PerClass>(region, setup, &setup.stepwise(&config), act),
        Kind::PerPage => shared::<PerPage>(region, setup, &setup.shared(&config), act),
        Kind::ShardedPerHeap => sharded::<PerHeap>(region, setup, &config, act),
        Kind::ShardedPerClass => sharded::<PerClass>(region, setup, &config, act),
    }
}

/// Names of what is live.
struct Names<T> {
    objects: Vec<Option<T>>,
    free: Vec<Name>,
}

impl<T> Names<T> {
    fn new() -> Self {
        Self {
            objects: Vec::new(),
            free: Vec::new(),
        }
    }

    fn add(&mut self, object: T) -> Name {
        let name = self.free.pop().unwrap_or_else(|| {
            self.objects.push(None);
            self.objects.len() - 1
        });
        self.objects[name] = Some(object);
        name
    }

    /// Takes an object whose name is no longer used.
    fn remove(&mut self, name: Name) -> T {
        self.free.push(name);
        self.objects[name].take().expect("live")
    }

    fn get_mut(&mut self, name: Name) -> &mut T {
        self.objects[name].as_mut().expect("live, not pinned")
    }
}

fn layout(len: usize, align: usize) -> Layout {
    Layout::from_size_align(len, align).expect("small")
}

// ---- one owner ---------------------------------------------------------------------------------

/// A heap of one owner under test.
struct Owned<'m, W: Width> {
    heap: Heap<'m, W>,
    names: Names<Bytes<MaybeUninit<u8>>>,
}

fn owned<W: Width>(
    region: &mut [MaybeUninit<u8>],
    (config, slack): (&Config, Option<usize>),
    act: &mut dyn FnMut(&mut dyn UnderTest),
) -> Result<(), Refused> {
    act(&mut Owned::<W> {
        heap: match slack {
            None => Heap::new(region, config)?,
            Some(slack) => Heap::with_slack(region, config, slack)?,
        },
        names: Names::new(),
    });
    Ok(())
}

impl<W: Width> UnderTest for Owned<'_, W> {
    fn allocate_aligned(&mut self, _: usize, len: usize, align: usize) -> Result<Name, Refused> {
        let object = self.heap.alloc(layout(len, align))?;
        Ok(self.names.add(object))
    }

    fn free(&mut self, _: usize, name: Name) {
        self.heap.free_bytes(self.names.remove(name));
    }

    fn resize_aligned(
        &mut self,
        _: usize,
        name: Name,
        (len, align): (usize, usize),
    ) -> Result<(), Refused> {
        let object = self.names.get_mut(name);
        self.heap.resize(object, layout(len, align))
    }

    fn compact(&mut self, budget: u64) {
        self.heap.compact(budget);
    }

    fn pinned(&mut self, _: &[Name], run: &mut dyn FnMut(&mut dyn UnderTest)) {
        run(self);
    }

    fn numbers(&self) -> Numbers {
        let stats = self.heap.stats();
        (stats.pages.into(), stats.moved_bytes_max_per_op)
    }

    fn check(&self) -> Result<(), Corruption> {
        self.heap.check()
    }
}

/// A heap whose keys name byte objects.
struct ByteKeys<'m, W: Width<Generation = ()>, G: Counted> {
    heap: KeyHeap<'m, W, G>,
    names: Names<ByteKey<MaybeUninit<u8>>>,
}

fn key_heap<'m, W: Width<Generation = ()>, G: Counted>(
    region: &'m mut [MaybeUninit<u8>],
    config: &'m Config,
    slack: Option<usize>,
) -> Result<KeyHeap<'m, W, G>, Refused> {
    match slack {
        None => KeyHeap::new(region, config),
        Some(slack) => KeyHeap::with_slack(region, config, slack),
    }
}

fn byte_keys<W: Width<Generation = ()>, G: Counted>(
    region: &mut [MaybeUninit<u8>],
    (config, slack): (&Config, Option<usize>),
    act: &mut dyn FnMut(&mut dyn UnderTest),
) -> Result<(), Refused> {
    act(&mut ByteKeys::<W, G> {
        heap: key_heap(region, config, slack)?,
        names: Names::new(),
    });
    Ok(())
}

impl<W: Width<Generation = ()>, G: Counted> UnderTest for ByteKeys<'_, W, G> {
    fn allocate_aligned(&mut self, _: usize, len: usize, align: usize) -> Result<Name, Refused> {
        let key = self.heap.alloc(layout(len, align))?;
        Ok(self.names.add(key))
    }

    fn free(&mut self, _: usize, name: Name) {
        let key = self.names.remove(name);
        self.heap.free_bytes(key).expect("live");
    }

    fn resize_aligned(
        &mut self,
        _: usize,
        name: Name,
        (len, align): (usize, usize),
    ) -> Result<(), Refused> {
        let key = self.names.get_mut(name);
        let former = *key;
        *key = self.heap.resize(former, layout(len, align))?;
        assert!(!self.heap.contains_bytes(former), "{former:?} is stale");
        Ok(())
    }

    fn compact(&mut self, budget: u64) {
        self.heap.compact(budget);
    }

    fn pinned(&mut self, _: &[Name], run: &mut dyn FnMut(&mut dyn UnderTest)) {
        run(self);
    }

    fn numbers(&self) -> Numbers {
        let stats = self.heap.stats();
        (stats.pages.into(), stats.moved_bytes_max_per_op)
    }

    fn check(&self) -> Result<(), Corruption> {
        self.heap.check()
    }
}

// ---- shared by several registrations -----------------------------------------------------------

/// What `SharedHeap` and `ShardedHeap` have in common.
pub(crate) trait Home<'m, G: Granularity>: Sized {
    /// Registers thread `number`.
    fn join(&self, number: u32) -> Result<Local<'_, 'm, Lock, G>, Refused>;
    fn guard<'a>(&'a self, object: &'a Bytes<u8>) -> Box<dyn Guard + 'a>;
    fn compact(&self, budget: u64);
    fn set_quota(&self, instance: u32, bytes: usize);
    fn numbers(&self) -> Numbers;
    fn check(&self) -> Result<(), Corruption>;
}

impl<'m, G: Granularity> Home<'m, G> for SharedHeap<'m, Lock, G> {
    fn join(&self, _: u32) -> Result<Local<'_, 'm, Lock, G>, Refused> {
        self.register()
    }

    fn guard<'a>(&'a self, object: &'a Bytes<u8>) -> Box<dyn Guard + 'a> {
        Box::new(self.chunk(object, 0).expect("live"))
    }

    fn compact(&self, budget: u64) {
        SharedHeap::compact(self, budget);
    }

    fn set_quota(&self, _: u32, _: usize) {}

    fn numbers(&self) -> Numbers {
        let stats = self.stats();
        (stats.pages, stats.copied_in_section_max)
    }

    fn check(&self) -> Result<(), Corruption> {
        SharedHeap::check(self, true)
    }
}

impl<'m, G: Stepwise> Home<'m, G> for ShardedHeap<'m, Lock, G> {
    fn join(&self, number: u32) -> Result<Local<'_, 'm, Lock, G>, Refused> {
        self.register_in(number % self.instances())
    }

    fn guard<'a>(&'a self, object: &'a Bytes<u8>) -> Box<dyn Guard + 'a> {
        Box::new(self.chunk(object, 0).expect("live"))
    }

    fn compact(&self, budget: u64) {
        ShardedHeap::compact(self, budget);
    }

    fn set_quota(&self, instance: u32, bytes: usize) {
        ShardedHeap::set_quota(self, instance, bytes);
    }

    fn numbers(&self) -> Numbers {
        let stats = self.stats();
        (stats.pages, stats.copied_in_section_max)
    }

    fn check(&self) -> Result<(), Corruption> {
        ShardedHeap::check(self, true)
    }
}

pub(crate) struct Shared<'h, 'm, G: Granularity, H> {
    heap: &'h H,
    /// The number of the first of the registrations.
    first: u32,
    locals: Vec<Option<Local<'h, 'm, Lock, G>>>,
    names: Names<Bytes<u8>>,
}

fn shared<G: Granularity>(
    region: &mut [MaybeUninit<u8>],
    setup: &Setup,
    config: &SharedConfig<G>,
    act: &mut dyn FnMut(&mut dyn UnderTest),
) -> Result<(), Refused> {
    let heap = shared_heap(region, config, setup.slack)?;
    act(&mut Shared::new(&heap, 0..setup.registrations())?);
    Ok(())
}

pub(crate) fn shared_heap<'m, G: Granularity>(
    region: &'m mut [MaybeUninit<u8>],
    config: &'m SharedConfig<G>,
    slack: Option<usize>,
) -> Result<SharedHeap<'m, Lock, G>, Refused> {
    match slack {
        None => SharedHeap::new(region, config),
        Some(slack) => SharedHeap::with_slack(region, config, slack),
    }
}

/// The registrations belong to one instance after another.
fn sharded<G: Stepwise>(
    region: &mut [MaybeUninit<u8>],
    setup: &Setup,
    config: &Config,
    act: &mut dyn FnMut(&mut dyn UnderTest),
) -> Result<(), Refused> {
    let config = setup.stepwise::<G>(config);
    let heap = ShardedHeap::<Lock, G>::new(region, &config, setup.instances)?;
    act(&mut Shared::new(&heap, 0..setup.registrations())?);
    Ok(())
}

impl<'h, 'm, G: Granularity, H: Home<'m, G>> Shared<'h, 'm, G, H> {
    /// Some registrations of a heap, by their numbers.
    pub(crate) fn new(heap: &'h H, numbers: Range<u32>) -> Result<Self, Refused> {
        let first = numbers.start;
        let locals = numbers.map(|number| heap.join(number).map(Some));
        Ok(Self {
            heap,
            first,
            locals: locals.collect::<Result<_, _>>()?,
            names: Names::new(),
        })
    }

    fn local(&self, by: usize) -> &Local<'h, 'm, Lock, G> {
        let local = self.locals[by % self.locals.len()].as_ref();
        local.expect("registered")
    }
}

impl<'m, G: Granularity, H: Home<'m, G>> UnderTest for Shared<'_, 'm, G, H> {
    fn allocate_aligned(&mut self, by: usize, len: usize, align: usize) -> Result<Name, Refused> {
        let object = self.local(by).alloc_zeroed(layout(len, align))?;
        Ok(self.names.add(object))
    }

    fn free(&mut self, by: usize, name: Name) {
        let object = self.names.remove(name);
        self.local(by).free_bytes(object).expect("live");
    }

    fn resize_aligned(
        &mut self,
        by: usize,
        name: Name,
        (len, align): (usize, usize),
    ) -> Result<(), Refused> {
        let mut object = self.names.objects[name].take().expect("live, not pinned");
        let resized = self.local(by).resize(&mut object, layout(len, align));
        self.names.objects[name] = Some(object);
        resized
    }

    fn compact(&mut self, budget: u64) {
        self.heap.compact(budget);
    }

    fn pinned(&mut self, names: &[Name], run: &mut dyn FnMut(&mut dyn UnderTest)) {
        let take = |&name: &Name| self.names.objects[name].take().expect("live, not pinned");
        let objects: Vec<_> = names.iter().map(take).collect();
        let guards: Vec<_> = objects
            .iter()
            .map(|object| self.heap.guard(object))
            .collect();
        run(self);
        drop(guards);
        for (name, object) in names.iter().zip(objects) {
            self.names.objects[*name] = Some(object);
        }
    }

    fn register_anew(&mut self, by: usize) {
        let number = by % self.locals.len();
        drop(self.locals[number].take());
        let thread = self.first + u32::try_from(number).expect("few threads");
        let local = self.heap.join(thread);
        self.locals[number] = Some(local.expect("one has left"));
    }

    fn set_quota(&mut self, instance: u32, bytes: usize) {
        self.heap.set_quota(instance, bytes);
    }

    fn numbers(&self) -> Numbers {
        self.heap.numbers()
    }

    fn check(&self) -> Result<(), Corruption> {
        self.heap.check()
    }
}

// ---- keys --------------------------------------------------------------------------------------

/// A heap whose keys name values.
struct Keys<'m, W: Width<Generation = ()>, G: Counted> {
    heap: KeyHeap<'m, W, G>,
    names: Names<AnyKey>,
}

fn keys<W: Width<Generation = ()>, G: Counted>(
    region: &mut [MaybeUninit<u8>],
    (config, slack): (&Config, Option<usize>),
    act: &mut dyn FnMut(&mut dyn UnderTest),
) -> Result<(), Refused> {
    act(&mut Keys::<W, G> {
        heap: key_heap(region, config, slack)?,
        names: Names::new(),
    });
    Ok(())
}

impl<W: Width<Generation = ()>, G: Counted> UnderTest for Keys<'_, W, G> {
    fn allocate_aligned(&mut self, _: usize, len: usize, _: usize) -> Result<Name, Refused> {
        let key = AnyKey::insert(&mut self.heap, len)?;
        Ok(self.names.add(key))
    }

    fn free(&mut self, _: usize, name: Name) {
        let key = self.names.remove(name);
        key.remove(&mut self.heap).expect("live");
    }

    fn resize_aligned(&mut self, _: usize, _: Name, _: (usize, usize)) -> Result<(), Refused> {
        unreachable!("values have one size")
    }

    fn compact(&mut self, budget: u64) {
        self.heap.compact(budget);
    }

    fn pinned(&mut self, _: &[Name], run: &mut dyn FnMut(&mut dyn UnderTest)) {
        run(self);
    }

    fn numbers(&self) -> Numbers {
        let stats = self.heap.stats();
        (stats.pages.into(), stats.moved_bytes_max_per_op)
    }

    fn check(&self) -> Result<(), Corruption> {
        self.heap.check()
    }
}
