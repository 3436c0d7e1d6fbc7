//! Any allocator as one type. A pass of which nobody takes the time is compiled once for it,
//! instead of once for every allocator.

use std::alloc::Layout;
use std::fmt;
use std::mem::{MaybeUninit, needs_drop};

use surefit_core::{Corruption, Refused, Usage};

use crate::pointer_heap::PointerHeap;
use crate::subject::{Classes, Moves, Subject};

/// Words of the longest name of an object.
const WORDS: usize = 4;

/// The name of an object of any allocator, as it lies in memory.
#[derive(Debug)]
pub struct AnyObject([MaybeUninit<u64>; WORDS]);

impl AnyObject {
    fn new<O>(object: O) -> Self {
        const {
            assert!(size_of::<O>() <= size_of::<Self>() && align_of::<O>() <= align_of::<Self>());
            assert!(!needs_drop::<O>());
        }
        let mut words = [MaybeUninit::uninit(); WORDS];
        // SAFETY: the words are long enough and aligned, as was compared above.
        unsafe { words.as_mut_ptr().cast::<O>().write(object) };
        Self(words)
    }

    /// The name again.
    ///
    /// # Safety
    /// A1: it was made of an `O`.
    const unsafe fn into<O>(self) -> O {
        // SAFETY: A1, and `self` ends here, so there is one of it.
        unsafe { self.0.as_ptr().cast::<O>().read() }
    }

    /// The name, to be changed.
    ///
    /// # Safety
    /// A1.
    const unsafe fn as_mut<O>(&mut self) -> &mut O {
        // SAFETY: A1; the words are exclusively borrowed.
        unsafe { &mut *self.0.as_mut_ptr().cast::<O>() }
    }
}

/// [`Subject`] for every subject at once. Its duties S1 and S2 imply A1: an object comes back to
/// the subject that made it.
trait Erased {
    fn allocate_any(&mut self, layout: Layout, zeroed: bool) -> Result<AnyObject, Refused>;
    unsafe fn free_any(&mut self, object: AnyObject, layout: Layout);
    unsafe fn resize_any(
        &mut self,
        object: &mut AnyObject,
        layout: Layout,
        new_size: usize,
    ) -> Result<(), Refused>;
    unsafe fn chunk_of_any<'a>(
        &'a mut self,
        object: &'a mut AnyObject,
        layout: Layout,
        offset: usize,
    ) -> &'a mut [MaybeUninit<u8>];
    fn its_pointers(&mut self) -> Option<&mut dyn PointerHeap>;
    fn is_whole(&self) -> bool;
    fn its_usage(&self) -> Option<Usage>;
    fn its_check(&self) -> Result<(), Corruption>;
    fn its_classes(&self) -> Option<Classes>;
    fn its_moves(&self) -> Option<Moves>;
    fn its_piece_bytes(&self) -> Option<usize>;
    fn its_most_align(&self) -> usize;
}

impl<S: Subject> Erased for S {
    fn allocate_any(&mut self, layout: Layout, zeroed: bool) -> Result<AnyObject, Refused> {
        self.allocate(layout, zeroed).map(AnyObject::new)
    }

    unsafe fn free_any(&mut self, object: AnyObject, layout: Layout) {
        // SAFETY: S1 and S2 are the caller's, and so is A1.
        unsafe { self.free(object.into(), layout) }
    }

    unsafe fn resize_any(
        &mut self,
        object: &mut AnyObject,
        layout: Layout,
        new_size: usize,
    ) -> Result<(), Refused> {
        // SAFETY: as above.
        unsafe { self.resize(object.as_mut(), layout, new_size) }
    }

    unsafe fn chunk_of_any<'a>(
        &'a mut self,
        object: &'a mut AnyObject,
        layout: Layout,
        offset: usize,
    ) -> &'a mut [MaybeUninit<u8>] {
        // SAFETY: as above.
        unsafe { self.chunk(object.as_mut(), layout, offset) }
    }

    fn its_pointers(&mut self) -> Option<&mut dyn PointerHeap> {
        self.pointers()
    }

    fn is_whole(&self) -> bool {
        self.is_contiguous()
    }

    fn its_usage(&self) -> Option<Usage> {
        self.usage()
    }

    fn its_check(&self) -> Result<(), Corruption> {
        self.check()
    }

    fn its_classes(&self) -> Option<Classes> {
        self.classes()
    }

    fn its_moves(&self) -> Option<Moves> {
        self.moves()
    }

    fn its_piece_bytes(&self) -> Option<usize> {
        self.piece_bytes()
    }

    fn its_most_align(&self) -> usize {
        self.most_align()
    }
}

/// Any allocator. Each call goes through a function table.
pub struct Any<'a>(&'a mut dyn Erased);

impl fmt::Debug for Any<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Any")
    }
}

impl<'a> Any<'a> {
    /// The same subject behind a function table.
    pub fn of(subject: &'a mut impl Subject) -> Self {
        Self(subject)
    }
}

impl Subject for Any<'_> {
    type Object = AnyObject;

    fn allocate(&mut self, layout: Layout, zeroed: bool) -> Result<AnyObject, Refused> {
        self.0.allocate_any(layout, zeroed)
    }

    unsafe fn free(&mut self, object: AnyObject, layout: Layout) {
        // SAFETY: S1 and S2 are the caller's.
        unsafe { self.0.free_any(object, layout) }
    }

    unsafe fn resize(
        &mut self,
        object: &mut AnyObject,
        layout: Layout,
        new_size: usize,
    ) -> Result<(), Refused> {
        // SAFETY: as above.
        unsafe { self.0.resize_any(object, layout, new_size) }
    }

    unsafe fn chunk<'b>(
        &'b mut self,
        object: &'b mut AnyObject,
        layout: Layout,
        offset: usize,
    ) -> &'b mut [MaybeUninit<u8>] {
        // SAFETY: as above.
        unsafe { self.0.chunk_of_any(object, layout, offset) }
    }

    fn is_contiguous(&self) -> bool {
        self.0.is_whole()
    }

    fn usage(&self) -> Option<Usage> {
        self.0.its_usage()
    }

    fn check(&self) -> Result<(), Corruption> {
        self.0.its_check()
    }

    fn classes(&self) -> Option<Classes> {
        self.0.its_classes()
    }

    fn pointers(&mut self) -> Option<&mut dyn PointerHeap> {
        self.0.its_pointers()
    }

    fn moves(&self) -> Option<Moves> {
        self.0.its_moves()
    }

    fn piece_bytes(&self) -> Option<usize> {
        self.0.its_piece_bytes()
    }

    fn most_align(&self) -> usize {
        self.0.its_most_align()
    }
}
