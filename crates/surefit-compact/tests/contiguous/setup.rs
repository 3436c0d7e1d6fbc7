//! Small configurations, and a heap with the objects that it should hold.

use core::alloc::Layout;
use core::mem::MaybeUninit;

use surefit_compact::{
    Bound, Bytes, Config, Contiguous, Fraction, Geometry, GeometrySpec, Heap, Spacing, Tail, Width,
};
use surefit_core::Refused;

/// Bytes of a page of the configurations.
pub(crate) const PAGE: usize = 1024;

/// Pages of 1 KiB and a few size-classes, some with their bitmap in the page.
pub(crate) fn config(bound: Bound, word_bytes: usize) -> Config {
    let spec = GeometrySpec {
        page_bytes: PAGE,
        spacing: Spacing::Explicit(&[16, 64, 128, 504]),
        tail: Tail::BackReferences { bytes: word_bytes },
        ..GeometrySpec::DEFAULT
    };
    let geometry = Geometry::new(&spec).expect("a valid geometry");
    let config = Config::new(geometry, bound).expect("a valid configuration");
    config.with_pieces(None).expect("contiguous up to a page")
}

/// The bounds under which a heap is tried.
pub(crate) fn bounds() -> [Bound; 4] {
    let one_hole = match Fraction::new(1, 4) {
        Ok(fraction) => Bound::Holes { base: 1, fraction },
        Err(_) => Bound::DEFAULT,
    };
    [Bound::Pages(1), Bound::Pages(3), one_hole, Bound::Unbounded]
}

pub(crate) fn junk(bytes: usize) -> Vec<MaybeUninit<u8>> {
    vec![MaybeUninit::new(0xa5); bytes]
}

pub(crate) fn layout(len: usize, align: usize) -> Layout {
    Layout::from_size_align(len, align).expect("a valid layout")
}

/// Which bytes are written and compared: all, or under Miri a few.
const STRIDE: usize = if cfg!(miri) { 257 } else { 1 };

/// The byte at a place of the object that was made with a number.
fn byte(number: usize, at: usize) -> u8 {
    (number.wrapping_mul(31) ^ at ^ (at >> 8)) as u8
}

/// A heap, and the objects that it should hold.
pub(crate) struct Checked<'m, W: Width> {
    pub(crate) heap: Heap<'m, W>,
    pub(crate) large: Vec<(Contiguous, usize)>,
    pub(crate) small: Vec<(Bytes, usize)>,
    made: usize,
}

impl<'m, W: Width> Checked<'m, W> {
    pub(crate) fn new(memory: &'m mut [MaybeUninit<u8>], config: &'m Config) -> Self {
        Self {
            heap: Heap::new(memory, config).expect("large enough"),
            large: Vec::new(),
            small: Vec::new(),
            made: 0,
        }
    }

    pub(crate) fn alloc_large(&mut self, len: usize, align: usize) -> Result<(), Refused> {
        let mut object = self.heap.alloc_contiguous_zeroed(layout(len, align))?;
        let bytes = self.heap.contiguous_mut(&mut object);
        assert_eq!(bytes.as_ptr().addr() % align, 0);
        assert_eq!(bytes.len(), len);
        self.made += 1;
        for (at, value) in bytes.iter_mut().enumerate().step_by(STRIDE) {
            *value = byte(self.made, at);
        }
        self.large.push((object, self.made));
        Ok(())
    }

    pub(crate) fn free_large(&mut self, at: usize) {
        let (object, _) = self.large.swap_remove(at);
        self.heap.free_contiguous(object);
    }

    pub(crate) fn resize_large(&mut self, at: usize, len: usize) -> Result<(), Refused> {
        let (object, number) = &mut self.large[at];
        let old = object.len();
        self.heap.resize_contiguous(object, layout(len, 1))?;
        assert_eq!(object.len(), len);
        for (at, value) in self
            .heap
            .contiguous_mut(object)
            .iter_mut()
            .enumerate()
            .step_by(STRIDE)
        {
            if at >= old {
                assert_eq!(*value, 0, "added bytes are zeroed");
                *value = byte(*number, at);
            }
        }
        Ok(())
    }

    pub(crate) fn alloc_small(&mut self, len: usize) -> Result<(), Refused> {
        let mut object = self.heap.alloc_zeroed(layout(len, 8))?;
        self.made += 1;
        for (at, value) in self
            .heap
            .chunk_mut(&mut object, 0)
            .iter_mut()
            .enumerate()
            .step_by(STRIDE)
        {
            *value = byte(self.made, at);
        }
        self.small.push((object, self.made));
        Ok(())
    }

    pub(crate) fn free_small(&mut self, at: usize) {
        let (object, _) = self.small.swap_remove(at);
        self.heap.free_bytes(object);
    }

    /// Asserts the heap's invariants, and every byte of every object.
    pub(crate) fn check(&self) {
        self.heap.check().expect("the invariants hold");
        for (object, number) in &self.large {
            let bytes = self.heap.contiguous(object);
            assert!(
                (0..bytes.len())
                    .step_by(STRIDE)
                    .all(|at| bytes[at] == byte(*number, at))
            );
        }
        for (object, number) in &self.small {
            let bytes = self.heap.chunk(object, 0);
            assert!(
                (0..bytes.len())
                    .step_by(STRIDE)
                    .all(|at| bytes[at] == byte(*number, at))
            );
        }
    }

    /// Everything that decides the heap's future.
    pub(crate) fn shape(&self) -> Vec<u32> {
        let mut words = vec![0; self.heap.shape(&mut [])];
        self.heap.shape(&mut words);
        words
    }

    /// Pages that no object uses.
    pub(crate) fn free_pages(&self) -> usize {
        let stats = self.heap.stats();
        (stats.freed_pages + stats.fresh_pages) as usize
    }
}
