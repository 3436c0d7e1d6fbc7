//! A small heap of one owner whose pages, lists and entries can be looked at.

use std::collections::BTreeSet;

use surefit::compact::{Bound, Config, Fraction, Geometry, GeometrySpec, Handle, Heap, SizeClass};
use surefit::{Page1K, Region};

/// Bytes of a page of these heaps.
pub(crate) const PAGE: usize = 1024;
/// Where the heaps of these tests lie: aligned to a page, so that page 0 begins with the region.
pub(crate) type Memory = Region<{ 64 * PAGE }, Page1K>;

/// A configuration with pages of 1 KiB.
pub(crate) const fn config(bound: Bound) -> Config {
    let spec = GeometrySpec {
        page_bytes: PAGE,
        ..GeometrySpec::DEFAULT
    };
    let Ok(geometry) = Geometry::new(&spec) else {
        panic!("the geometry is valid")
    };
    match Config::new(geometry, bound) {
        Ok(config) => config,
        Err(_) => panic!("the configuration is valid"),
    }
}

/// At most so many holes in a size-class, however much lives.
pub(crate) const fn holes(base: u32) -> Bound {
    let fraction = Fraction::ZERO;
    Bound::Holes { base, fraction }
}

/// A page, as the heap's shape shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PageShape {
    pub(crate) class: u32,
    pub(crate) number: u32,
    /// For each page-block: the entry that its back-reference names, if it is used.
    pub(crate) entries: Vec<Option<u32>>,
}

impl PageShape {
    pub(crate) fn used(&self) -> usize {
        self.entries.iter().flatten().count()
    }

    /// The last used page-block.
    pub(crate) fn last_used(&self) -> usize {
        let last = self.entries.iter().rposition(Option::is_some);
        last.expect("a page in use")
    }
}

/// What a heap's pages and lists hold.
#[derive(Debug)]
pub(crate) struct HeapShape {
    /// In the order of the list; the last one is the reservoir.
    pub(crate) not_full: Vec<PageShape>,
    pub(crate) full: Vec<PageShape>,
    pub(crate) free_entries: usize,
}

/// What a heap's pages and lists hold, of a class.
pub(crate) fn shape(heap: &Heap<'_>, class: SizeClass) -> HeapShape {
    let mut words = vec![0; heap.shape(&mut [])];
    heap.shape(&mut words);
    let mut shape = HeapShape {
        not_full: Vec::new(),
        full: Vec::new(),
        free_entries: 0,
    };
    let mut rest = &words[..];
    while let Some((&head, after)) = rest.split_first() {
        let (record, next) = after.split_at((head & 0xFF_FFFF) as usize);
        match head >> 24 {
            1 => shape.not_full.push(page(record)),
            2 => shape.full.push(page(record)),
            3 => shape.free_entries = record.len(),
            _ => {}
        }
        rest = next;
    }
    let is_of_class = |page: &PageShape| page.class as usize == class.index();
    shape.not_full.retain(is_of_class);
    shape.full.retain(is_of_class);
    shape
}

fn page(record: &[u32]) -> PageShape {
    PageShape {
        class: record[0],
        number: record[1],
        entries: record[2..]
            .chunks(2)
            .map(|block| block[0].checked_sub(1))
            .collect(),
    }
}

/// Where an object is.
pub(crate) fn address<T>(heap: &Heap<'_>, handle: &Handle<T>) -> usize {
    core::ptr::from_ref(heap.get(handle)).addr()
}

/// The page, and the page-block in it, of an object of a class in a heap over the region at
/// `start`.
pub(crate) fn place<T>(
    heap: &Heap<'_>,
    start: usize,
    class: SizeClass,
    handle: &Handle<T>,
) -> (u32, usize) {
    let offset = address(heap, handle) - start;
    let layout = heap.config().geometry().layout(class);
    let block = layout.block_at(u32::try_from(offset % PAGE).expect("a page is small"));
    let page = u32::try_from(offset / PAGE).expect("the heap is small");
    (page, block as usize)
}

/// The entries of all objects.
pub(crate) fn entries(heap: &Heap<'_>) -> BTreeSet<u32> {
    heap.live_blocks().map(|block| block.index).collect()
}
