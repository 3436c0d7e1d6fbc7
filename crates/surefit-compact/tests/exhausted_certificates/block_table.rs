//! `block_table::certify`: no script of objects in frames is refused in exactly the certified
//! bytes, wherever they begin.

use core::alloc::Layout;
use core::mem::MaybeUninit;
use std::cell::RefCell;

use surefit_compact::block_table::certify::{FrameDemand, certify};
use surefit_compact::{BlockTableConfig, BlockTableHeap, Bound, Bytes, Narrow, Wide, Width};
use surefit_core::Refused;

use crate::owners::{MOST, assert_exhausted};
use crate::region::Region;
use crate::search::{Key, Outcome, Space, search};
use crate::shape::{self, Grain};
use crate::single::{Step, index_of};
use crate::{PAGE, Sum, bounds, is_thorough};

/// f: two frames a page.
const FRAME: usize = 512;

/// All scripts of objects of 1 to `largest` frames inside a demand; as many may be resized.
pub(crate) struct Frames<'d, W> {
    config: &'d BlockTableConfig,
    demand: FrameDemand,
    region: RefCell<Region>,
    width: std::marker::PhantomData<W>,
}

fn layout(frames: usize) -> Layout {
    Layout::from_size_align(frames * FRAME, 8).expect("valid")
}

fn frames_of(object: &Bytes<MaybeUninit<u8>>) -> usize {
    object.len() / FRAME
}

/// A heap of so many bytes less than certified, behind as many that are skipped as can be.
pub(crate) fn space<'d, W: Width>(
    config: &'d BlockTableConfig,
    demand: FrameDemand,
    fewer: usize,
) -> Frames<'d, W> {
    let certificate = certify::<W>(config, &demand).expect("small");
    Frames {
        config,
        demand,
        region: Region::behind(certificate.heap_bytes - fewer, PAGE, 1).into(),
        width: std::marker::PhantomData,
    }
}

impl<W: Width> Space for Frames<'_, W> {
    type Step = Step;

    fn replay(&self, script: &[Step], known: &dyn Fn(&Key) -> bool) -> Outcome<Step> {
        let mut region = self.region.borrow_mut();
        let heap = match BlockTableHeap::<W>::new(region.fresh(), self.config) {
            Ok(heap) => heap,
            Err(refused) => return Outcome::Refused(format!("the region: {refused}")),
        };
        let mut live = Vec::new();
        let done = script
            .iter()
            .try_for_each(|&step| call(&heap, &mut live, step));
        if let Err(refused) = done {
            return Outcome::Refused(refused.to_string());
        }
        let words = shape::words_of(|words| heap.shape(words));
        let lengths: Vec<_> = live
            .iter()
            .map(|row| (index_of(row), frames_of(row)))
            .collect();
        let marks = |entry: u32| {
            let row = lengths.iter().find(|row| row.0 == entry);
            row.map_or(0, |row| u32::try_from(row.1).expect("small"))
        };
        let key = shape::key(&words, (Grain::Coarse, false), &marks, &[]);
        if !known(&key) {
            heap.check().expect("every invariant holds");
        }
        Outcome::Reached {
            key,
            steps: self.steps(&live),
        }
    }
}

fn call<W: Width>(
    heap: &BlockTableHeap<'_, W>,
    live: &mut Vec<Bytes<MaybeUninit<u8>>>,
    step: Step,
) -> Result<(), Refused> {
    match step {
        Step::Insert(frames) => live.push(heap.alloc(layout(frames))?),
        Step::Free(number) => heap.free_bytes(live.swap_remove(number)),
        Step::Resize(number, frames) => heap.resize(&mut live[number], layout(frames))?,
        Step::Compact => {
            heap.compact(1);
        }
    }
    Ok(())
}

impl<W: Width> Frames<'_, W> {
    fn steps(&self, live: &[Bytes<MaybeUninit<u8>>]) -> Vec<Step> {
        let used: usize = live.iter().map(frames_of).sum();
        let left = usize::try_from(self.demand.frames).expect("small") - used;
        let largest = usize::try_from(self.demand.largest).expect("small");
        let resized = usize::try_from(self.demand.largest_resized).expect("small");
        let mut steps = vec![Step::Compact];
        if (live.len() as u64) < self.demand.objects {
            steps.extend((1..=largest.min(left)).map(Step::Insert));
        }
        for (number, object) in live.iter().enumerate() {
            steps.push(Step::Free(number));
            let old = frames_of(object);
            let other = (1..=resized.min(old + left)).filter(|&frames| frames != old);
            steps.extend(
                other
                    .filter(|_| old <= resized)
                    .map(|frames| Step::Resize(number, frames)),
            );
        }
        steps
    }
}

pub(crate) fn config<W: Width>(bound: Bound) -> BlockTableConfig {
    BlockTableConfig::with_pages::<W>(FRAME, bound, PAGE).expect("valid")
}

pub(crate) const fn demand(
    objects: u64,
    frames: u64,
    largest: u64,
    largest_resized: u64,
) -> FrameDemand {
    FrameDemand {
        objects,
        frames,
        largest,
        largest_resized,
    }
}

fn exhaust_width<W: Width>(sum: &mut Sum) {
    for bound in bounds() {
        let config = config::<W>(bound);
        let mut demands = vec![
            demand(1, 1, 1, 0),
            demand(5, 5, 1, 0),
            demand(4, 9, 5, 0),
            demand(3, 7, 5, 5),
            demand(3, 8, 4, 3),
        ];
        if is_thorough() {
            demands.extend([demand(6, 14, 6, 6), demand(8, 12, 3, 2)]);
        }
        for demand in demands {
            let found = search(&space::<W>(&config, demand, 0), MOST);
            assert_exhausted(&found, &(bound, demand));
            sum.add(found);
        }
    }
}

#[test]
fn no_script_of_frames_is_refused() {
    let mut sum = Sum::default();
    exhaust_width::<Wide>(&mut sum);
    exhaust_width::<Narrow>(&mut sum);
    println!("block tables: {sum}");
}
