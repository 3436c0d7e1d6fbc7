//! surefit's concurrent Compact-fit: `1-cf`, one heap for many threads, with the operating system's
//! locks. A replay has one thread. The figures include the price of serving others: a lock and an
//! unlock per call, a pin and an unpin per access.

use std::alloc::Layout;
use std::mem::MaybeUninit;
use std::ptr;

use anyhow::{Result, bail};
use surefit_compact::certify::{
    Demand, DemandMeter, SharedCertificate, Sharing, Uncertifiable, certify_shared,
};
use surefit_compact::shared::{
    Granularity, Local, PerClass, PerHeap, PerPage, SharedConfig, SharedHeap, Stepwise,
};
use surefit_compact::{Config, Tail, Wide};
use surefit_core::{Corruption, Refused, Usage};

use super::cf_keys::{cf_keys, config};
use super::name::{Name, handle};
use crate::keys::Keys;
use crate::steps::{Action, Step, Steps};
use crate::subject::{Allocator, Certified, HandleCost, Moves, Pass, Subject, less_control};

/// The lock that replays and timed experiments use.
pub type Lock = parking_lot::RawMutex;

/// The largest region of a shared heap: its locations are 32-bit numbers in units of eight bytes.
pub const MOST_BYTES: usize = 32 << 30;

/// Administrative bytes per object: its entry and its back-reference.
pub const HANDLE_BYTES: usize = 12 + 4;

/// One heap for many threads.
#[derive(Debug)]
pub struct OneCf;

/// How a shared heap is configured, and how much one of its locks covers.
#[derive(Clone, Debug)]
pub enum Options {
    /// One lock for the heap.
    Heap(SharedConfig<PerHeap>),
    /// One lock per size-class.
    Class(SharedConfig<PerClass>),
    /// One lock per page, and one per size-class.
    Page(SharedConfig<PerPage>),
}

/// An expression in which `$config` is the configuration that the options hold.
macro_rules! with_config {
    ($options:expr, $config:ident => $then:expr) => {
        match &**$options {
            Options::Heap($config) => $then,
            Options::Class($config) => $then,
            Options::Page($config) => $then,
        }
    };
}

impl Allocator for OneCf {
    type Options = Box<Options>;

    const HAS_POINTERS: bool = false;

    const KEYS: &'static [&'static str] = cf_keys![
        "lock=heap|class|page",
        "increment=BYTES",
        "threads=N",
        "pins=N"
    ];

    fn options(keys: &Keys) -> Result<Box<Options>> {
        let config = config(keys, Tail::BackReferences { bytes: 4 })?;
        Ok(Box::new(match keys.get("lock") {
            Some("heap") => Options::Heap(stepwise(keys, shared(keys, config)?)?),
            None | Some("class") => Options::Class(stepwise(keys, shared(keys, config)?)?),
            Some("page") if keys.get("increment").is_some() => {
                bail!("under page locks a move is one step: leave increment out")
            }
            Some("page") => Options::Page(shared(keys, config)?),
            Some(other) => bail!("lock={other}: write heap, class or page"),
        }))
    }

    fn run<P: Pass>(
        options: &Box<Options>,
        memory: &mut [MaybeUninit<u8>],
        pass: P,
    ) -> Result<P::Output, Refused> {
        let usable = memory.len().min(MOST_BYTES);
        with_config!(options, config => run(&mut memory[..usable], config, pass))
    }

    fn most_bytes(_options: &Box<Options>) -> usize {
        MOST_BYTES
    }

    fn handles(options: &Box<Options>) -> Option<HandleCost> {
        Some(HandleCost {
            bytes_per_object: HANDLE_BYTES,
            piece_bytes: with_config!(options, config => config.config().piece_bytes()),
            in_short_regions: None,
        })
    }

    fn certified(options: &Box<Options>, steps: &Steps) -> Option<Certified> {
        with_config!(options, config => certified(config, control(config), &Sharing::new(1), steps))
    }
}

impl Options {
    /// The bound, the pages, the size-classes and the pieces.
    #[must_use]
    pub fn config(&self) -> &Config {
        with_config!(&self, config => config.config())
    }

    /// The most threads that are registered at once.
    #[must_use]
    pub fn threads(&self) -> u16 {
        with_config!(&self, config => config.locals())
    }

    /// The certificate of a demand, and the bytes of the heap's control structure.
    ///
    /// # Errors
    /// Why no heap of this configuration can serve the demand.
    pub fn certify(
        &self,
        sharing: &Sharing,
        demand: &Demand<'_>,
    ) -> Result<(SharedCertificate, usize), Uncertifiable> {
        with_config!(&self, config => {
            let certificate = certify_shared::<Lock, _>(config, sharing, demand)?;
            Ok((certificate, control(config)))
        })
    }
}

/// Bytes of a shared heap's control structure.
const fn control<G: Granularity>(_config: &SharedConfig<G>) -> usize {
    size_of::<SharedHeap<'static, Lock, G>>().next_multiple_of(8)
}

/// The certificate for the trace's joint demand; `None` if no heap of this configuration can serve
/// it.
#[must_use]
pub fn certified<G: Granularity>(
    config: &SharedConfig<G>,
    control_bytes: usize,
    sharing: &Sharing,
    steps: &Steps,
) -> Option<Certified> {
    let mut meter = DemandMeter::new::<Wide>(config.config());
    let mut steps = steps.steps().iter();
    steps.try_for_each(|step| count(&mut meter, *step)).ok()?;
    let budget = meter.budget();
    let certificate = certify_shared::<Lock, G>(config, sharing, &meter.joint()).ok()?;
    Some(Certified {
        heap_bytes: (certificate.heap_bytes + control_bytes) as u64,
        moved_bytes_max_per_op: certificate.work.copied_bytes_max_per_free,
        demand_bytes: budget.block_bytes,
        demand_objects: budget.objects,
        table_bytes: certificate.parts.handle_bytes as u64,
        back_reference_bytes: 4 * budget.objects,
    })
}

fn count(meter: &mut DemandMeter<'_>, step: Step) -> Result<(), Uncertifiable> {
    let size = step.size as usize;
    match step.action {
        Action::Allocate | Action::AllocateZeroed => meter.allocate(size, step.align()),
        Action::Free => meter.free(size, step.align()),
        Action::Resize => {
            let (old, new) = ((step.old as usize, step.align()), (size, step.align()));
            meter.resize_by_copy(old, new)
        }
    }
}

/// Threads and pins; by default one thread, as in a replay.
///
/// # Errors
/// More threads than a heap can have.
pub fn shared<G: Granularity>(keys: &Keys, config: Config) -> Result<SharedConfig<G>> {
    let shared = SharedConfig::new(config);
    let threads = keys.number("threads")?.unwrap_or(1);
    let locals = u16::try_from(threads).unwrap_or(u16::MAX);
    let pages = shared.page_buffer();
    let shared = match shared.with_locals(locals, pages) {
        Ok(shared) => shared,
        Err(error) => bail!("threads={threads}: {error}"),
    };
    Ok(match keys.number("pins")? {
        Some(pins) => shared.with_pins(pins),
        None => shared,
    })
}

/// The increment.
///
/// # Errors
/// The value is not a size, or not a valid increment.
pub fn stepwise<G: Stepwise>(keys: &Keys, shared: SharedConfig<G>) -> Result<SharedConfig<G>> {
    match keys.get("increment") {
        None | Some("inf") => Ok(shared),
        Some(text) => {
            let bytes = u32::try_from(crate::sizes::bytes(text)?).unwrap_or(u32::MAX);
            match shared.with_increment(bytes) {
                Ok(shared) => Ok(shared),
                Err(error) => bail!("increment={text}: {error}"),
            }
        }
    }
}

fn run<G: Granularity, P: Pass>(
    memory: &mut [MaybeUninit<u8>],
    config: &SharedConfig<G>,
    pass: P,
) -> Result<P::Output, Refused> {
    let memory = less_control::<SharedHeap<'_, Lock, G>>(memory)?;
    let heap = SharedHeap::new(memory, config)?;
    let local = heap.register()?;
    let piece_bytes = config.config().piece_bytes();
    Ok(pass.run(One {
        heap: &heap,
        local,
        piece_bytes,
    }))
}

/// A heap for many threads as the subject of a replay, whose thread is its only one.
macro_rules! subject_of_one_thread {
    ($(#[$doc:meta])* $name:ident of $heap:ident with locks that $granularity:ident) => {
        $(#[$doc])*
        #[derive(Debug)]
        struct $name<'h, 'm, G: $granularity> {
            heap: &'h $heap<'m, Lock, G>,
            local: Local<'h, 'm, Lock, G>,
            piece_bytes: Option<usize>,
        }

        impl<G: $granularity> Subject for $name<'_, '_, G> {
            type Object = Name;

            #[inline(always)]
            fn allocate(&mut self, layout: Layout, zeroed: bool) -> Result<Name, Refused> {
                if zeroed {
                    return Ok(self.local.alloc_zeroed(layout)?.into_uninit().into_name());
                }
                Ok(self.local.alloc(layout)?.into_name())
            }

            #[inline(always)]
            unsafe fn free(&mut self, object: Name, layout: Layout) {
                // SAFETY: S1.
                let freed = self.local.free_bytes(unsafe { object.with_len(layout.size()) });
                freed.expect("an object is freed where it came from (S2)");
            }

            #[inline(always)]
            unsafe fn resize(
                &mut self,
                object: &mut Name,
                layout: Layout,
                new_size: usize,
            ) -> Result<(), Refused> {
                let new_layout = Layout::from_size_align(new_size, layout.align());
                let new_layout = new_layout.expect("sizes of steps are below 2^32");
                // SAFETY: S1; the name is that of the resized object, or stays as it is.
                let mut bytes = unsafe { handle(object, layout.size()) };
                self.local.resize(&mut bytes, new_layout)?;
                *object = bytes.into_name();
                Ok(())
            }

            #[inline(always)]
            unsafe fn chunk<'a>(
                &'a mut self,
                object: &'a mut Name,
                layout: Layout,
                offset: usize,
            ) -> &'a mut [MaybeUninit<u8>] {
                // SAFETY: S1; the handle is not freed.
                let mut object = unsafe { handle(object, layout.size()) };
                let mut pinned = self.heap.chunk_mut(&mut object, offset);
                let pinned = pinned.as_mut().expect("an object of this heap (S2), never pinned twice");
                let bytes = ptr::from_mut::<[MaybeUninit<u8>]>(pinned);
                // SAFETY: the bytes outlive the pin: only frees move or free objects, the replay's
                // thread is the heap's only one, and this subject and the object's handle are
                // borrowed exclusively for as long as the bytes.
                unsafe { &mut *bytes }
            }

            fn is_contiguous(&self) -> bool {
                false
            }

            fn usage(&self) -> Option<Usage> {
                let mut usage = self.heap.usage();
                usage.administrative_bytes += size_of::<$heap<'_, Lock, G>>().next_multiple_of(8);
                Some(usage)
            }

            fn check(&self) -> Result<(), Corruption> {
                self.heap.check(false)
            }

            fn moves(&self) -> Option<Moves> {
                let stats = self.heap.stats();
                Some(Moves {
                    total: stats.moves_total,
                    bytes_total: stats.moved_bytes_total,
                    bytes_max_per_op: None,
                    bytes_max_per_section: Some(stats.copied_in_section_max),
                })
            }

            fn piece_bytes(&self) -> Option<usize> {
                self.piece_bytes
            }
        }
    };
}

pub(crate) use subject_of_one_thread;

subject_of_one_thread! {
    /// 1-CF.
    One of SharedHeap with locks that Granularity
}
