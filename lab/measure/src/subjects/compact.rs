//! surefit's Compact-fit: `cf`, the moving heap of handles, and `cf-direct`, the same partitioning
//! without moves.

use std::alloc::Layout;
use std::borrow::Cow;
use std::iter;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Arc;

use anyhow::{Result, bail};
use surefit_compact::certify::{Budget, Demand, DemandMeter, Uncertifiable, certify, pages_max};
use surefit_compact::layout::fixed_bytes;
use surefit_compact::{Bound, Config, Heap, Keyed, Medium, Narrow, Tail, Wide, Width};
use surefit_core::{Corruption, Refused, Usage};
use surefit_direct::DirectHeap;

use super::branded::Branded;
use super::cf_keys::{BOUNDS, cf_keys, config};
use super::figures::{classes, control_bytes, moves, usage};
use super::lean::{Lean, Needed, leaner, with_bound};
use super::name::{Name, handle};
use super::pointer::{AtLeast, Pointers};
use super::raw::{Counted, Raw};
use crate::feed::Feed;
use crate::keys::Keys;
use crate::steps::{Action, InParts, Step, Steps};
use crate::subject::{
    Allocator, Certified, Chosen, Classes, HandleCost, Moves, Pass, ShortCost, Subject, in_turns,
    increment_object, less_control,
};

/// The moving heap of handles.
#[derive(Debug)]
pub struct Cf;

/// The width of a moving heap's words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Words {
    /// Two bytes.
    Narrow,
    /// Three bytes.
    Medium,
    /// Four bytes.
    #[default]
    Wide,
}

/// How a moving heap is configured.
#[derive(Clone, Debug)]
pub struct Options {
    /// The heap's configuration.
    pub config: Config,
    /// The width of its words.
    pub words: Words,
    /// Whether its entries contain generations, as in a heap of keys.
    pub has_keys: bool,
    /// Whether its handles are branded.
    pub is_branded: bool,
    /// What it is in regions that are short for a demand, smaller and smaller ones; none if the
    /// width was chosen.
    pub lean: Vec<Lean>,
    /// Whether it may be told a demand: unless it has a bound of its own.
    pub is_told: bool,
    /// The demand that it was told.
    pub needed: Option<Arc<Needed>>,
}

impl Options {
    /// The same heap without a bound: it never moves an object.
    ///
    /// # Errors
    /// Never: a configuration that is valid with a bound is valid without one.
    pub fn unbounded(&self) -> Result<Self> {
        self.with_config(|config| with_bound(config, Bound::Unbounded))
    }

    /// The same heap with its configuration changed, whatever its words are.
    ///
    /// # Errors
    /// As `change`.
    pub fn with_config(&self, change: impl Fn(&Config) -> Result<Config>) -> Result<Self> {
        let mut changed = self.clone();
        changed.config = change(&self.config)?;
        for lean in &mut changed.lean {
            lean.config = change(&lean.config)?;
        }
        Ok(changed)
    }

    /// What the heap is in a region of so many bytes.
    fn in_region(&self, bytes: usize) -> Cow<'_, Self> {
        let least = self.lean.iter().rfind(|lean| bytes < lean.below_bytes);
        match least {
            Some(lean) => Cow::Owned(self.leaner(lean)),
            None => Cow::Borrowed(self),
        }
    }

    fn leaner(&self, lean: &Lean) -> Self {
        Self {
            config: lean.config.clone(),
            words: Words::Medium,
            lean: Vec::new(),
            needed: lean.needed.clone(),
            ..*self
        }
    }
}

/// An expression in which `$width` is the width that the options name.
macro_rules! with_width {
    ($options:expr, $width:ident => $then:expr) => {
        match $options.words {
            Words::Narrow => {
                type $width = Narrow;
                $then
            }
            Words::Medium => {
                type $width = Medium;
                $then
            }
            Words::Wide if $options.has_keys => {
                type $width = Keyed<Wide>;
                $then
            }
            Words::Wide => {
                type $width = Wide;
                $then
            }
        }
    };
}

impl Allocator for Cf {
    type Options = Box<Options>;

    const HAS_POINTERS: bool = false;

    const KEYS: &'static [&'static str] = cf_keys!["width=16|24|32", "keys", "branded"];

    fn options(keys: &Keys) -> Result<Box<Options>> {
        let words = words(keys)?;
        let bytes = match words {
            Words::Narrow => 2,
            Words::Medium => 3,
            Words::Wide => 4,
        };
        let tail = Tail::BackReferences { bytes };
        let config = config(keys, tail)?;
        let has_keys = keys.has("keys");
        if has_keys && words != Words::Wide {
            bail!(
                "keys go with words of four bytes: leave width={} out",
                8 * bytes
            );
        }
        let is_branded = keys.has("branded");
        if is_branded && (has_keys || words != Words::Wide) {
            bail!("branded goes with plain words of four bytes: leave keys and width=16|24 out");
        }
        let chooses = !keys.has("width") && !has_keys && !is_branded;
        Ok(Box::new(Options {
            lean: if chooses { leaner(keys)? } else { Vec::new() },
            config,
            words,
            has_keys,
            is_branded,
            is_told: !BOUNDS.iter().any(|key| keys.has(key)),
            needed: None,
        }))
    }

    fn told(options: &Box<Options>, trace: &mut dyn InParts) -> Box<Options> {
        let mut told = options.clone();
        let own = with_width!(options, W => DemandMeter::new::<W>(&options.config));
        let lean = options.lean.iter();
        let lean = lean.map(|lean| DemandMeter::new::<Medium>(&lean.config));
        let mut meters = metered(trace, iter::once(own).chain(lean)).into_iter();
        let own = meters.next().flatten();
        told.needed = own.as_ref().and_then(Needed::of);
        let enough = own.and_then(|own| certificate::<Wide>(&options.config, own.budget()));
        let mut below = enough.map_or(usize::MAX, |wide| wide.heap_bytes as usize);
        for (of, meter) in told.lean.iter_mut().zip(meters) {
            let Some(meter) = meter else { break };
            of.below_bytes = below.min(most_bytes::<Medium>(&of.config).saturating_add(1));
            of.needed = Needed::of(&meter);
            let enough = certificate::<Medium>(&of.config, meter.budget());
            below = enough.map_or(0, |it| of.below_bytes.min(it.heap_bytes as usize));
        }
        told
    }

    fn run<P: Pass>(
        options: &Box<Options>,
        memory: &mut [MaybeUninit<u8>],
        pass: P,
    ) -> Result<P::Output, Refused> {
        if options.is_branded {
            let memory = less_control::<Heap<'_, Wide>>(usable::<Wide>(&options.config, memory))?;
            let mut heap = heap::<Wide>(options, memory)?;
            let piece_bytes = options.config.piece_bytes();
            return Ok(heap.branded(|heap| pass.run(Branded { heap, piece_bytes })));
        }
        let options = &*options.in_region(memory.len());
        with_width!(options, W => {
            let memory = less_control::<Heap<'_, W>>(usable::<W>(&options.config, memory))?;
            Ok(pass.run(Moving::<W>::new(heap::<W>(options, memory)?, &options.config)))
        })
    }

    fn most_bytes(options: &Box<Options>) -> usize {
        with_width!(options, W => most_bytes::<W>(&options.config))
    }

    fn handles(options: &Box<Options>) -> Option<HandleCost> {
        let bytes_per_object = with_width!(options, W => W::ENTRY_BYTES + W::WORD_BYTES);
        let least = options.lean.last().map(|lean| ShortCost {
            bytes_per_object: Medium::ENTRY_BYTES + Medium::WORD_BYTES,
            piece_bytes: lean.config.piece_bytes(),
        });
        Some(HandleCost {
            bytes_per_object,
            piece_bytes: options.config.piece_bytes(),
            in_short_regions: least,
        })
    }

    fn certified(options: &Box<Options>, steps: &Steps) -> Option<Certified> {
        let own = with_width!(options, W => certified::<W>(&options.config, &mut Feed::of(steps)))?;
        let told = options.lean.iter().filter(|lean| lean.below_bytes > 0);
        let lean = told.map(|lean| certified::<Medium>(&lean.config, &mut Feed::of(steps)));
        let lean: Vec<_> = lean.flatten().collect();
        // The last one is for regions that the first one does not certify: it takes more time.
        let first = lean.first().copied();
        let fewest = first.filter(|lean| lean.heap_bytes < own.heap_bytes);
        let moved = lean.iter().map(|lean| lean.moved_bytes_max_per_op).max();
        Some(Certified {
            moved_bytes_max_per_op: own.moved_bytes_max_per_op.max(moved.unwrap_or(0)),
            ..fewest.unwrap_or(own)
        })
    }
}

/// The largest region whose pages the words of `W` can name, including the heap's control
/// structure. It begins at a page.
fn most_bytes<W: Width>(config: &Config) -> usize {
    let geometry = config.geometry();
    let pages = pages_max::<W>(geometry) as usize;
    let fixed = fixed_bytes::<W>(geometry.class_count(), pages);
    control_bytes::<W>() + fixed + pages * geometry.page_bytes()
}

/// The part of a region that a heap of width `W` can use.
fn usable<'m, W: Width>(
    config: &Config,
    memory: &'m mut [MaybeUninit<u8>],
) -> &'m mut [MaybeUninit<u8>] {
    let bytes = memory.len().min(most_bytes::<W>(config));
    &mut memory[..bytes]
}

fn words(keys: &Keys) -> Result<Words> {
    match keys.get("width") {
        None | Some("32") => Ok(Words::Wide),
        Some("24") => Ok(Words::Medium),
        Some("16") => Ok(Words::Narrow),
        Some(other) => bail!("width={other}: write 16, 24 or 32"),
    }
}

/// A moving heap as the subject of a replay. Every access goes through the handle. With keys, an
/// entry has four more bytes and every free writes a new generation into it. Objects of any length
/// have only handles, no keys, so an access does not compare generations.
#[derive(Debug)]
struct Moving<'m, W: Width> {
    heap: Heap<'m, W>,
    config: &'m Config,
    piece_bytes: Option<usize>,
}

impl<'m, W: Width> Moving<'m, W> {
    fn new(heap: Heap<'m, W>, config: &'m Config) -> Self {
        Self {
            heap,
            config,
            piece_bytes: config.piece_bytes(),
        }
    }
}

impl<W: Width> Subject for Moving<'_, W> {
    type Object = Name;

    #[inline(always)]
    fn allocate(&mut self, layout: Layout, zeroed: bool) -> Result<Name, Refused> {
        if zeroed {
            return Ok(self.heap.alloc_zeroed(layout)?.into_uninit().into_name());
        }
        Ok(self.heap.alloc(layout)?.into_name())
    }

    #[inline(always)]
    unsafe fn free(&mut self, object: Name, layout: Layout) {
        // SAFETY: S1.
        self.heap
            .free_bytes(unsafe { object.with_len(layout.size()) });
    }

    #[inline(always)]
    unsafe fn resize(
        &mut self,
        object: &mut Name,
        layout: Layout,
        new_size: usize,
    ) -> Result<(), Refused> {
        // SAFETY: the sizes of steps are below 2^32 and their alignments at most 2^30, far from
        // overflow.
        let new_layout = unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
        // SAFETY: S1; the name is that of the resized object, or stays as it is.
        let mut bytes = unsafe { handle(object, layout.size()) };
        self.heap.resize(&mut bytes, new_layout)?;
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
        let mut bytes = unsafe { handle(object, layout.size()) };
        let chunk = self.heap.chunk_mut(&mut bytes, offset);
        // SAFETY: the bytes belong to the object for as long as its name and the heap are borrowed.
        unsafe { &mut *ptr::from_mut(chunk) }
    }

    #[inline(always)]
    unsafe fn access_words(&mut self, turns: u64, chosen: &mut impl Chosen<Self::Object>) {
        let view = self.heap.view();
        in_turns!(turns, {
            let (object, layout) = chosen.next();
            // SAFETY: S1; the handle is not freed.
            let mut bytes = unsafe { handle(object, layout.size()) };
            // SAFETY: the caller wrote the word before.
            unsafe { increment_object!(view, &mut bytes) };
        });
    }

    fn usage(&self) -> Option<Usage> {
        Some(usage(&self.heap))
    }

    fn classes(&self) -> Option<Classes> {
        Some(classes(&self.heap, self.config.geometry()))
    }

    fn check(&self) -> Result<(), Corruption> {
        self.heap.check()
    }

    fn moves(&self) -> Option<Moves> {
        Some(moves(&self.heap))
    }

    fn piece_bytes(&self) -> Option<usize> {
        self.piece_bytes
    }
}

/// A heap that is told a demand lends what it leaves over; one without keeps its configuration's
/// bound.
fn heap<'m, W: Width>(
    options: &'m Options,
    memory: &'m mut [MaybeUninit<u8>],
) -> Result<Heap<'m, W>, Refused> {
    let config = &options.config;
    let Some(needed) = options.needed.as_ref().filter(|_| options.is_told) else {
        return Heap::new(memory, config);
    };
    let skipped = memory.as_ptr().align_offset(config.geometry().page_bytes());
    let bytes = memory.len().saturating_sub(skipped);
    Heap::with_slack(memory, config, needed.slack::<W>(config, bytes))
}

/// The certificate for the trace's joint demand; `None` if no heap of this configuration can serve
/// it.
fn certified<W: Width>(config: &Config, trace: &mut dyn InParts) -> Option<Certified> {
    let meter = metered(trace, [DemandMeter::new::<W>(config)]).pop()?;
    certificate::<W>(config, meter?.budget())
}

fn certificate<W: Width>(config: &Config, budget: Budget) -> Option<Certified> {
    let certificate = certify::<W>(config, &Demand::Joint(budget)).ok()?;
    Some(Certified {
        heap_bytes: (certificate.heap_bytes + control_bytes::<W>()) as u64,
        moved_bytes_max_per_op: certificate.moved_bytes_max_per_op,
        demand_bytes: budget.block_bytes,
        demand_objects: budget.objects,
        table_bytes: certificate.parts.handle_bytes as u64,
        back_reference_bytes: certificate.parts.back_reference_bytes as u64,
    })
}

/// Counts a trace with several meters at once; `None` in place of those that cannot count it.
fn metered<'c>(
    trace: &mut dyn InParts,
    meters: impl IntoIterator<Item = DemandMeter<'c>>,
) -> Vec<Option<DemandMeter<'c>>> {
    let mut meters: Vec<_> = meters.into_iter().map(Some).collect();
    while let Some(steps) = trace.next_part() {
        for meter in &mut meters {
            *meter = meter.take().and_then(|meter| counted(meter, steps));
        }
    }
    meters
}

fn counted<'c>(mut meter: DemandMeter<'c>, steps: &[Step]) -> Option<DemandMeter<'c>> {
    let counts = steps.iter().try_for_each(|step| count(&mut meter, *step));
    counts.is_ok().then_some(meter)
}

fn count(meter: &mut DemandMeter<'_>, step: Step) -> Result<(), Uncertifiable> {
    let size = step.size as usize;
    match step.action {
        Action::Allocate | Action::AllocateZeroed => meter.allocate(size, step.align()),
        Action::Free => meter.free(size, step.align()),
        Action::Resize => meter.resize((step.old as usize, step.align()), (size, step.align())),
    }
}

/// It has page-blocks and no free lists.
impl Counted for DirectHeap<'_> {}

/// Raw pointers that never move: CF(∞) without handles.
#[derive(Debug)]
pub struct CfDirect;

impl Allocator for CfDirect {
    /// The smallest page-block in bytes; by default the heap's own, eight.
    type Options = Option<usize>;

    const KEYS: &'static [&'static str] = &["min=BYTES"];

    fn options(keys: &Keys) -> Result<Option<usize>> {
        let Some(bytes) = keys.number("min")? else {
            return Ok(None);
        };
        if !(8..=1024).contains(&bytes) || bytes % 8 != 0 {
            bail!("min={bytes}: write a multiple of 8 from 8 to 1024");
        }
        Ok(Some(bytes as usize))
    }

    fn run<P: Pass>(
        least: &Option<usize>,
        memory: &mut [MaybeUninit<u8>],
        pass: P,
    ) -> Result<P::Output, Refused> {
        let heap = DirectHeap::new(less_control::<DirectHeap<'_>>(memory)?)?;
        Ok(match *least {
            None => pass.run(Pointers(Raw(heap))),
            Some(bytes) => pass.run(Pointers(AtLeast::new(Raw(heap), bytes))),
        })
    }
}

#[cfg(test)]
mod tests {
    use surefit_trace::{Call, Event, Op, Trace};

    use super::{Cf, Options, Words};
    use crate::feed::Feed;
    use crate::keys::Keys;
    use crate::steps::Steps;
    use crate::subject::Allocator;

    /// Ten thousand small objects, all live at the end.
    fn many() -> Steps {
        let call = Call::Malloc;
        let alloc = |id| Op::Alloc { id, size: 24, call };
        let events = (0..10_000).map(|id| Event::new(0, alloc(id))).collect();
        Steps::new(&Trace::new("many", events).expect("sound")).expect("small")
    }

    fn options(keys: Option<&str>) -> Box<Options> {
        Cf::options(&Keys::parse(keys).expect("keys")).expect("an allocator")
    }

    fn certified(keys: &str) -> usize {
        let certified = Cf::certified(&options(Some(keys)), &many()).expect("a certificate");
        certified.heap_bytes as usize
    }

    #[test]
    fn words_are_as_wide_as_a_region_certifies() {
        let [wide, medium] = ["width=32", "width=24"].map(certified);
        assert!(medium < wide);
        let told = Cf::told(&options(None), &mut Feed::of(&many()));
        let own = Cf::certified(&told, &many()).expect("a certificate");
        assert_eq!(own.heap_bytes as usize, medium);
        let words = |bytes| told.in_region(bytes).words;
        assert_eq!([0, medium, wide - 1].map(words), [Words::Medium; 3]);
        assert_eq!([wide, usize::MAX].map(words), [Words::Wide; 2]);
        // Whatever is changed of it is changed of all.
        let unbounded = told.unbounded().expect("valid");
        for region in [medium - 1, medium, wide] {
            let bound = unbounded.in_region(region).config.bound();
            assert_eq!(bound, surefit_compact::Bound::Unbounded);
        }
    }

    #[test]
    fn pages_are_small_where_nothing_else_certifies_and_no_key_says_them() {
        let medium = certified("width=24");
        let page = |keys: Option<&str>, region| {
            let told = Cf::told(&options(keys), &mut Feed::of(&many()));
            let heap = told.in_region(region);
            (heap.words, heap.config.geometry().page_bytes() >> 10)
        };
        assert_eq!(page(None, medium - 1), (Words::Medium, 8));
        assert_eq!(page(None, medium), (Words::Medium, 16));
        assert_eq!(page(Some("k=1"), 1), (Words::Medium, 8));
        for keys in ["page=16K", "pieces=4K", "spacing=1/8", "width=24"] {
            assert_eq!(page(Some(keys), 1), (Words::Medium, 16), "{keys}");
        }
    }

    /// What cannot lie in a page of 8 KiB does not make a heap without pieces refuse it.
    #[test]
    fn pages_are_small_only_if_they_serve_the_demand() {
        let whole = options(None).with_config(|config| Ok(config.clone().with_pieces(None)?));
        let call = Call::Malloc;
        let large = |size| {
            let event = Event::new(0, Op::Alloc { id: 0, size, call });
            let trace = Trace::new("one", vec![event]).expect("sound");
            let steps = Steps::new(&trace).expect("small");
            let told = Cf::told(
                &Box::new(whole.as_ref().expect("valid").clone()),
                &mut Feed::of(&steps),
            );
            told.in_region(1).config.geometry().page_bytes() >> 10
        };
        assert_eq!([8192, 8193].map(large), [8, 16]);
    }

    #[test]
    fn words_are_wide_without_a_demand_and_as_chosen() {
        assert_eq!(options(None).in_region(1 << 20).words, Words::Wide);
        for (keys, words) in [
            ("width=16", Words::Narrow),
            ("width=24", Words::Medium),
            ("width=32", Words::Wide),
            ("keys", Words::Wide),
            ("branded", Words::Wide),
        ] {
            let told = Cf::told(&options(Some(keys)), &mut Feed::of(&many()));
            assert_eq!(told.in_region(1 << 19).words, words, "{keys}");
        }
    }
}
