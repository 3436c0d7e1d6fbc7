//! surefit's Compact-fit without copies: `cf-block-table`, with block frames behind a block table.

use std::alloc::Layout;
use std::mem::MaybeUninit;
use std::ptr;

use anyhow::{Result, bail};
use surefit_compact::Wide;
use surefit_core::{Corruption, Refused, Usage};
use surefit_papers::block_table::certify::{FrameDemand, certify};
use surefit_papers::block_table::{BlockTableConfig, BlockTableHeap, Bytes, BytesName};

use super::cf_keys::bound;
use crate::keys::Keys;
use crate::sizes;
use crate::steps::{Action, Step, Steps};
use crate::subject::{Allocator, Certified, HandleCost, Moves, Pass, Subject, less_control};

/// The non-moving heap of handles.
#[derive(Debug)]
pub struct CfBlockTable;

impl Allocator for CfBlockTable {
    type Options = Box<BlockTableConfig>;

    const HAS_POINTERS: bool = false;

    const KEYS: &'static [&'static str] = &[
        "k=N|inf",
        "holes=N",
        "frac=1/N",
        "frame=BYTES",
        "page=BYTES",
    ];

    fn options(keys: &Keys) -> Result<Self::Options> {
        let size = |key, default| keys.get(key).map_or(Ok(default), sizes::bytes);
        let frame = size("frame", BlockTableConfig::DEFAULT.frame_bytes())?;
        let page = size("page", BlockTableConfig::PAGE_BYTES)?;
        let config = BlockTableConfig::with_pages::<Wide>(frame, bound(keys)?, page);
        match config {
            Ok(config) => Ok(Box::new(config)),
            Err(error) => bail!("{error}"),
        }
    }

    fn run<P: Pass>(
        options: &Self::Options,
        memory: &mut [MaybeUninit<u8>],
        pass: P,
    ) -> Result<P::Output, Refused> {
        let bytes = memory.len().min(Self::most_bytes(options));
        let memory = less_control::<BlockTableHeap<'_>>(&mut memory[..bytes])?;
        let heap = BlockTableHeap::new(memory, options)?;
        Ok(pass.run(Frames { heap }))
    }

    fn most_bytes(options: &Self::Options) -> usize {
        options.region_max::<Wide>().saturating_add(control_bytes())
    }

    fn handles(options: &Self::Options) -> Option<HandleCost> {
        // Entry, back-reference and a row of at most two frames; each further pair of frames needs
        // eight more bytes.
        Some(HandleCost {
            bytes_per_object: 16,
            piece_bytes: Some(options.frame_bytes()),
            in_short_regions: None,
        })
    }

    fn certified(options: &Self::Options, steps: &Steps) -> Option<Certified> {
        let demand = demand(options, steps);
        let certificate = certify::<Wide>(options, &demand).ok()?;
        Some(Certified {
            heap_bytes: (certificate.heap_bytes + control_bytes()) as u64,
            moved_bytes_max_per_op: certificate.table.moved_bytes_max_per_op,
            demand_bytes: demand.frames * options.frame_bytes() as u64,
            demand_objects: demand.objects,
            table_bytes: certificate.table.parts.handle_bytes as u64,
            back_reference_bytes: certificate.table.parts.back_reference_bytes as u64,
        })
    }
}

/// The trace's joint demand: objects, frames, the largest object.
fn demand(config: &BlockTableConfig, steps: &Steps) -> FrameDemand {
    let frames = |bytes: u32| config.frames_of(bytes as usize) as u64;
    let mut most = FrameDemand {
        objects: 0,
        frames: 0,
        largest: 0,
        largest_resized: 0,
    };
    let mut live = (0, 0);
    for step in steps.steps() {
        live = after(live, *step, frames);
        most.objects = most.objects.max(live.0);
        most.frames = most.frames.max(live.1);
        most.largest = most.largest.max(frames(step.size));
        if step.action == Action::Resize {
            let larger = frames(step.size.max(step.old));
            most.largest_resized = most.largest_resized.max(larger);
        }
    }
    most
}

/// The objects and frames that are live after a step.
fn after((objects, live): (u64, u64), step: Step, frames: impl Fn(u32) -> u64) -> (u64, u64) {
    match step.action {
        Action::Allocate | Action::AllocateZeroed => (objects + 1, live + frames(step.size)),
        Action::Resize => (objects, live + frames(step.size) - frames(step.old)),
        Action::Free => (objects - 1, live - frames(step.size)),
    }
}

/// An owning name, of eight bytes.
type Name = BytesName<MaybeUninit<u8>>;

/// The handle of a live object that the table of a replay goes on to name.
///
/// # Safety
/// The object has this length. The handle is another owner of the object: either it is not freed,
/// or the name is never used again.
#[inline(always)]
unsafe fn handle(name: &Name, len: usize) -> Bytes<MaybeUninit<u8>> {
    // SAFETY: the caller's promise; names have no destructor.
    unsafe { ptr::read(name).with_len(len) }
}

/// A block table heap as the subject of a replay. Every access goes through the handle, the row and
/// the frame.
#[derive(Debug)]
struct Frames<'m> {
    heap: BlockTableHeap<'m>,
}

impl Frames<'_> {
    /// The alignment of a frame: objects in pieces cannot have a stricter alignment.
    #[inline(always)]
    fn layout(&self, size: usize, align: usize) -> Layout {
        let align = align.min(self.heap.frame_bytes());
        // SAFETY: a power of two no greater than before, so the rounded size overflows no more than
        // before.
        unsafe { Layout::from_size_align_unchecked(size, align) }
    }
}

impl Subject for Frames<'_> {
    type Object = Name;

    #[inline(always)]
    fn allocate(&mut self, layout: Layout, zeroed: bool) -> Result<Name, Refused> {
        let layout = self.layout(layout.size(), layout.align());
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
        // SAFETY: S1; the name is that of the resized object, or stays as it is.
        let mut bytes = unsafe { handle(object, layout.size()) };
        let layout = self.layout(new_size, layout.align());
        self.heap.resize(&mut bytes, layout)?;
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

    fn is_contiguous(&self) -> bool {
        false
    }

    fn most_align(&self) -> usize {
        self.heap.frame_bytes()
    }

    fn usage(&self) -> Option<Usage> {
        let mut usage = self.heap.usage();
        usage.administrative_bytes += control_bytes();
        Some(usage)
    }

    fn check(&self) -> Result<(), Corruption> {
        self.heap.check()
    }

    fn moves(&self) -> Option<Moves> {
        let stats = self.heap.stats();
        Some(Moves {
            total: stats.moves_total,
            bytes_total: stats.moved_bytes_total,
            bytes_max_per_op: Some(stats.moved_bytes_max_per_op),
            bytes_max_per_section: None,
        })
    }

    fn piece_bytes(&self) -> Option<usize> {
        Some(self.heap.frame_bytes())
    }
}

/// Bytes of the heap's own control structure, subtracted from the region.
const fn control_bytes() -> usize {
    size_of::<BlockTableHeap<'_>>().next_multiple_of(8)
}
