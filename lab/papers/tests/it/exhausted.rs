//! `block_table::certify`: no script of objects in frames is refused in exactly the certified
//! bytes, wherever they begin. The test kit's `exhaust/search.rs` says why that is everything.

use core::alloc::Layout;
use core::mem::MaybeUninit;
use std::cell::RefCell;

use surefit_compact::layout::page_record_bytes;
use surefit_compact::{Bound, Fraction, Narrow, Wide, Width};
use surefit_core::Refused;
use surefit_papers::block_table::certify::{FrameDemand, certify};
use surefit_papers::block_table::{BlockTableConfig, BlockTableHeap, Bytes};
use surefit_testkit::exhaust::region::Region;
use surefit_testkit::exhaust::search::{Key, Outcome, Space, search};
use surefit_testkit::exhaust::shape::{self, Grain};

/// P, the smallest possible page.
const PAGE: usize = 1024;

/// States that no search here reaches.
const MOST: usize = 3_000_000;

/// f: two frames a page.
const FRAME: usize = 512;

/// A call.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Allocates an object of so many frames.
    Insert(usize),
    /// Frees a live object; the last one takes its number.
    Free(usize),
    /// Changes a live object to so many frames.
    Resize(usize, usize),
    /// Moves at most one row.
    Compact,
}

/// The number of an object's entry, as it is printed.
fn index_of(object: &Bytes<MaybeUninit<u8>>) -> u32 {
    let name = format!("{object:?}");
    let digits = name.chars().skip_while(|c| !c.is_ascii_digit());
    let digits: String = digits.take_while(char::is_ascii_digit).collect();
    digits.parse().expect("a name has a number")
}

fn holes(base: u32, numerator: u32, denominator: u32) -> Bound {
    let fraction = Fraction::new(numerator, denominator).expect("at most one half");
    Bound::Holes { base, fraction }
}

fn bounds() -> [Bound; 7] {
    [
        Bound::Pages(1),
        Bound::Pages(2),
        Bound::Unbounded,
        Bound::DEFAULT,
        holes(0, 0, 1),
        holes(1, 0, 1),
        holes(0, 1, 2),
    ]
}

/// Whether to exhaust larger spaces too, in minutes instead of seconds.
fn is_thorough() -> bool {
    std::env::var_os("SUREFIT_EXHAUST").is_some()
}

/// All scripts of objects of 1 to `largest` frames inside a demand; as many may be resized.
struct Frames<'d, W> {
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
fn space<'d, W: Width<Generation = ()>>(
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

impl<W: Width<Generation = ()>> Space for Frames<'_, W> {
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

fn call<W: Width<Generation = ()>>(
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

impl<W: Width<Generation = ()>> Frames<'_, W> {
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

fn config<W: Width<Generation = ()>>(bound: Bound) -> BlockTableConfig {
    BlockTableConfig::with_pages::<W>(FRAME, bound, PAGE).expect("valid")
}

const fn demand(objects: u64, frames: u64, largest: u64, largest_resized: u64) -> FrameDemand {
    FrameDemand {
        objects,
        frames,
        largest,
        largest_resized,
    }
}

/// Exhausts all demands in words of one width; returns spaces, states and steps.
fn exhaust_width<W: Width<Generation = ()>>() -> [usize; 3] {
    let mut sum = [0; 3];
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
            assert!(found.is_exhausted(), "{bound}, {demand:?}: {found:?}");
            let more = [1, found.states, found.steps];
            sum.iter_mut()
                .zip(more)
                .for_each(|(sum, more)| *sum += more);
        }
    }
    sum
}

#[test]
fn no_script_of_frames_is_refused() {
    let (wide, narrow) = (exhaust_width::<Wide>(), exhaust_width::<Narrow>());
    println!("block tables, spaces, states and steps: {wide:?}, {narrow:?}");
}

/// The terms that are not tight: see the crate's README.
#[test]
fn a_block_table_has_two_page_records_and_a_padding_too_much() {
    for (bound, demand) in [
        (Bound::Pages(1), demand(3, 4, 3, 0)),
        (Bound::Pages(1), demand(2, 4, 3, 3)),
        (Bound::DEFAULT, demand(4, 4, 1, 0)),
    ] {
        let config = config::<Wide>(bound);
        let caught = |fewer: usize| {
            let found = search(&space::<Wide>(&config, demand, fewer), MOST);
            found.refused.is_some()
        };
        let fewest = (8..).step_by(8).find(|&fewer| caught(fewer));
        println!("{bound}, {demand:?}: {fewest:?} bytes fewer are refused");
        // Two records of pages, and eight bytes of padding.
        assert_eq!(fewest, Some(2 * page_record_bytes::<Wide>() + 16));
    }
}
