//! One interface for all heaps that are measured.

use core::alloc::Layout;
use core::mem::MaybeUninit;

/// What a heap counts; the differences say what a call did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Pages of all size-classes.
    pub pages: u32,
    /// Page-blocks moved so far.
    pub moves: u64,
    /// Bytes copied by moves so far.
    pub moved_bytes: u64,
}

/// A heap. The calls are inlined into the measured function.
pub trait Subject {
    /// A name of an object.
    type Name;

    /// Allocates an object; its bytes are not initialized.
    fn allocate(&mut self, layout: Layout) -> Option<Self::Name>;

    /// Frees an object.
    fn free(&mut self, name: Self::Name, layout: Layout);

    /// The address of an object; `None` if names are addresses.
    fn access(&self, name: &Self::Name) -> Option<usize>;

    /// Resizes an object; `None` if this is not measured, and whether it was done.
    fn resize(&mut self, name: &mut Self::Name, layout: Layout) -> Option<bool>;

    /// What the heap counts.
    fn counts(&self) -> Counts {
        Counts::default()
    }
}

/// A kind of heap.
pub trait Kind {
    /// Its name in the table.
    const NAME: &'static str;
    /// Whether objects have handles or keys.
    const HANDLES: bool;
    /// The longest object, in bytes.
    const LARGEST: usize;
    /// The fewest bytes of a region in which the search has a heap.
    const SMALLEST: usize = 0;

    /// A heap over a region.
    type Heap<'m>: Subject;

    /// An empty heap over a region.
    fn over(memory: &mut [MaybeUninit<u8>]) -> Option<Self::Heap<'_>>;
}
