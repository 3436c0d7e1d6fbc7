//! Where the memory of a shared direct heap comes from.

use core::fmt::Debug;
use core::ptr::NonNull;

/// Makes memory usable, and takes it back. Ranges are whole units of the heap's region, or parts of
/// its tables. One thread at a time commits. What it commits belongs to one of five parts, what is
/// shared and instances, records, slots, divisions, units: each is committed from its beginning on,
/// without a gap, and no two of them share 64 KiB, if the region begins at a multiple of that.
///
/// # Safety
/// After [`commit`](Source::commit) answered `true` the bytes can be read and written until the
/// heap ends or they are withdrawn, and are zero if [`ZEROED`](Source::ZEROED). After
/// [`purge`](Source::purge) answered `true` they can be read and written and are zero; else they
/// are as they were.
pub unsafe trait Source: Debug + Sync {
    /// Whether memory that was committed and never written is zero.
    const ZEROED: bool;
    /// Whether [`purge`](Source::purge) ever takes memory back. If not, free memory never leaves
    /// the heap, not even for a moment. If it does, free runs that hold memory and free runs that
    /// do not stay apart until neither kind is long enough; then as many are joined as are needed.
    const PURGES: bool;

    /// Makes bytes usable, some perhaps not for the first time. `false` if there is no memory.
    ///
    /// # Safety
    /// The bytes are of the region that the source is for.
    unsafe fn commit(&self, at: NonNull<u8>, bytes: usize) -> bool;

    /// Gives the memory under bytes back that nobody needs; they can be used again without another
    /// call. `false` if the source cannot.
    ///
    /// # Safety
    /// The bytes are of the region, committed, and nobody's.
    unsafe fn purge(&self, at: NonNull<u8>, bytes: usize) -> bool;

    /// Takes back the last of the units that were committed, which nobody uses: they are committed
    /// again before they are used, and are zero then. `false`, and nothing was done, if the source
    /// cannot; this one never can.
    ///
    /// # Safety
    /// The bytes are whole units up to the end of those that are committed, and were never written
    /// or were purged. As commits, by one thread at a time.
    unsafe fn withdraw(&self, at: NonNull<u8>, bytes: usize) -> bool {
        let _ = (at, bytes);
        false
    }

    /// Whether less than half of the memory under the bytes of an object was ever written, as far
    /// as a few looks tell.
    ///
    /// # Safety
    /// The bytes are of the region, committed, and the caller's.
    unsafe fn is_sparse(&self, at: NonNull<u8>, bytes: usize) -> bool {
        let _ = (at, bytes);
        false
    }

    /// The pages and large objects hold more than the soft limit now. The thread whose call did it,
    /// or one that calls at the same time, is at the end of a call: nothing is locked, and this may
    /// allocate and free.
    fn above(&self) {}

    /// Milliseconds since any moment, for the delay before memory is given back. They may wrap.
    fn now(&self) -> u32;
}

/// A fixed region: all of it is usable, and nothing is given back.
#[derive(Clone, Copy, Debug)]
pub struct Fixed;

// SAFETY: the region's owner promises that all of it is usable; nothing is purged.
unsafe impl Source for Fixed {
    const ZEROED: bool = false;
    const PURGES: bool = false;

    unsafe fn commit(&self, _at: NonNull<u8>, _bytes: usize) -> bool {
        true
    }

    unsafe fn purge(&self, _at: NonNull<u8>, _bytes: usize) -> bool {
        false
    }

    fn now(&self) -> u32 {
        0
    }
}
