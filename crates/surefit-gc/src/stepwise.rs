//! What collectors need of a space besides: with generations, that objects are freed one by one; in
//! steps, that every call's work is bounded, too.

use surefit_core::Corruption;

use crate::object::Object;
use crate::schedule::Amount;
use crate::space::Space;

/// What one call of [`OneByOne::free`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Freed {
    /// Units of work: one, and one per word of other objects that it moved.
    pub work: u64,
    /// Whether the object is freed; else a part of it is left, and the next call must be for it.
    pub done: bool,
}

/// A space whose objects can be freed one by one.
///
/// # Safety
/// - I4: After [`OneByOne::free`] has returned once for an object, [`Space::objects`] does not
///   yield it, and its number is no other object's before `done`. Apart from it, I1 to I3 hold
///   between any two calls.
pub unsafe trait OneByOne: Space {
    /// Frees an object, or a part of it.
    ///
    /// # Safety
    /// S1: the object is a live one of this space, or the last call was for it and left a part. S2:
    /// if the last call left a part of an object, this call is for that one. S3: the object is not
    /// used again.
    unsafe fn free(&mut self, object: Object) -> Freed;

    /// Marking has ended, and the first object will be freed.
    fn sweep_begins(&mut self) {}

    /// A cycle has ended: `objects` objects live now, whose words have `bytes` bytes.
    fn cycle_ended(&mut self, _objects: u64, _bytes: u64) {}
}

/// A space of which no call does more work than it says.
///
/// # Safety
/// - I5: [`Stepwise::merge_part`] keeps I1 to I4.
pub unsafe trait Stepwise: OneByOne {
    /// What a request of so many bytes takes, as this space counts: chunks with their headers, or
    /// page-blocks.
    fn cost(&self, bytes: usize) -> Amount;

    /// What the object of such a request takes at most: a chunk may keep a granule that was left
    /// over.
    fn most_cost(&self, bytes: usize) -> Amount {
        self.cost(bytes)
    }

    /// What an object of so many words takes: what [`Stepwise::cost`] says of its request at least,
    /// what [`Stepwise::most_cost`] says at most.
    ///
    /// # Safety
    /// S1: the object is a live one of this space, and has so many words.
    unsafe fn held(&self, object: Object, words: u32) -> Amount;

    /// No call of [`OneByOne::free`] does more work than this.
    fn most_work(&self) -> u64;

    /// Merges a few free neighbours that the space left apart, or none. `from` is 0, to begin, or
    /// what the last call returned. Returns where to go on, or `None` at the end. A call is one
    /// unit of work.
    ///
    /// # Safety
    /// S1: if `from` is not 0, the last call returned it, and since then the space has allocated,
    /// relieved and grown, but freed, swept and merged nothing, except what an allocation itself
    /// merges.
    unsafe fn merge_part(&mut self, _from: u32) -> Option<u32> {
        None
    }

    /// Verifies that the last call of [`OneByOne::free`] left a part of this object, or of none.
    ///
    /// # Errors
    /// The invariant that does not hold.
    fn check_dying(&self, _dying: Option<Object>) -> Result<(), Corruption> {
        Ok(())
    }

    /// Verifies that [`Stepwise::merge_part`] can go on at `from`, which is not 0.
    ///
    /// # Errors
    /// The invariant that does not hold.
    fn check_part(&self, _from: u32) -> Result<(), Corruption> {
        Ok(())
    }
}

/// What [`Stepwise::check_dying`] objects to.
pub(crate) const NOT_DYING: &str =
    "what is being freed is another object than the space says; its number";
