//! Fresh memory from the operating system, aligned to 64 KiB.
//!
//! # Invariants
//! - I1: `mapping` and `mapping_bytes` are one private anonymous mapping, readable and writable,
//!   that this value owns.
//! - I2: `base .. base + bytes` lies inside the mapping, and `base` is a multiple of [`ALIGN`].

use std::io;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr::NonNull;

use crate::OsError;

/// The kernel's page in bytes: the unit in which touched memory is counted.
pub const OS_PAGE_BYTES: usize = 4096;

/// The alignment of a reservation, in bytes: the largest page of a Compact-fit heap.
const ALIGN: usize = 64 << 10;

/// Pages whose residency one system call reads.
const LOOKED_AT: usize = 16 << 10;

/// Zeroed memory for one heap, returned to the system on drop. It has no huge pages, so that
/// touched pages can be counted.
///
/// # Examples
/// ```
/// use surefit_os::Reservation;
/// let mut region = Reservation::new(1 << 20)?;
/// region.memory()[5000].write(1);
/// assert_eq!(region.touched_bytes()?, 4096);
/// # Ok::<(), surefit_os::OsError>(())
/// ```
#[derive(Debug)]
pub struct Reservation {
    mapping: NonNull<u8>,
    mapping_bytes: usize,
    base: NonNull<u8>,
    bytes: usize,
}

// SAFETY: I1: the mapping belongs to this value alone, and is not bound to a thread.
unsafe impl Send for Reservation {}

impl Reservation {
    /// Reserves `bytes` bytes, all of them untouched.
    ///
    /// # Errors
    /// [`OsError::Size`] for zero bytes or for more than half the address space;
    /// [`OsError::Reserve`] if the system refuses.
    ///
    /// # Complexity
    /// Two system calls.
    pub fn new(bytes: usize) -> Result<Self, OsError> {
        let mapping_bytes = bytes
            .checked_next_multiple_of(OS_PAGE_BYTES)
            .and_then(|rounded| rounded.checked_add(ALIGN))
            .filter(|total| bytes > 0 && isize::try_from(*total).is_ok())
            .ok_or(OsError::Size { bytes })?;
        let mapping = map(mapping_bytes).map_err(|source| OsError::Reserve { bytes, source })?;
        let padding = mapping.as_ptr().align_offset(ALIGN);
        // SAFETY: the padding is less than ALIGN (a power of two, byte pointers), and the mapping
        // is longer by ALIGN.
        let base = unsafe { mapping.add(padding) };
        Ok(Self {
            mapping,
            mapping_bytes,
            base,
            bytes,
        })
    }

    /// The memory itself. Its address is a multiple of 64 KiB.
    pub fn memory(&mut self) -> &mut [MaybeUninit<u8>] {
        // SAFETY: I2: the bytes are inside our mapping; `&mut self` makes the slice the only access
        // to them.
        unsafe { std::slice::from_raw_parts_mut(self.base.as_ptr().cast(), self.bytes) }
    }

    /// The first byte of the memory, for code that shares it out itself. Writing through the
    /// pointer is up to the caller while nobody else uses the memory.
    #[must_use]
    pub fn start(&self) -> NonNull<u8> {
        self.base
    }

    /// Writes to every page, so that no later write waits for the kernel.
    pub fn fault_in(&mut self) {
        for page in self.memory().chunks_mut(OS_PAGE_BYTES) {
            page[0].write(0);
        }
    }

    /// Makes all of the memory resident now, and keeps it so until the reservation is dropped: no
    /// later access waits for the kernel, neither for its first page nor for one that was swapped
    /// out. For heaps whose calls have deadlines.
    ///
    /// # Errors
    /// [`OsError::Lock`] if the process may not lock so much, or memory is short; nothing is locked
    /// then.
    ///
    /// # Complexity
    /// One system call, which writes zeros to every page.
    pub fn lock(&mut self) -> Result<(), OsError> {
        self.lock_bytes(0..self.bytes)
    }

    /// As [`Reservation::lock`], of the whole pages of the kernel in a range: its contents stay as
    /// they are.
    ///
    /// # Errors
    /// [`OsError::Size`] unless the range lies inside the reservation and both its ends are
    /// multiples of [`page_bytes`]; [`OsError::Lock`] if the process may not lock so much, or
    /// memory is short; nothing of the range is locked then.
    ///
    /// # Complexity
    /// One system call, which writes zeros to every page that was not touched.
    pub fn lock_range(&self, range: Range<usize>) -> Result<(), OsError> {
        self.whole_pages(&range)?;
        self.lock_bytes(range)
    }

    /// Locks bytes that lie inside the reservation.
    fn lock_bytes(&self, range: Range<usize>) -> Result<(), OsError> {
        let bytes = range.len();
        // SAFETY: inside the reservation (I2).
        let first = unsafe { self.base.add(range.start) };
        // SAFETY: the bytes are inside our mapping (I2); locking them changes none.
        let status = unsafe { libc::mlock(first.as_ptr().cast(), bytes) };
        if status != 0 {
            let source = io::Error::last_os_error();
            // The kernel marks the range as locked first, and may fail later for want of memory.
            // SAFETY: as above. If nothing was marked, this changes nothing.
            unsafe { libc::munlock(first.as_ptr().cast(), bytes) };
            return Err(OsError::Lock { bytes, source });
        }
        Ok(())
    }

    /// Whether a range is of whole pages of the kernel inside the reservation.
    fn whole_pages(&self, range: &Range<usize>) -> Result<(), OsError> {
        let bytes = range.len();
        let whole = |at: usize| at % page_bytes() == 0 && at <= self.bytes;
        if bytes == 0 || !whole(range.start) || !whole(range.end) {
            return Err(OsError::Size { bytes });
        }
        Ok(())
    }

    /// The bytes of the 4 KiB pages that were touched since the reservation was made, and not given
    /// back since.
    ///
    /// This counts resident pages: a page that was only read counts as well, a page that was
    /// swapped out does not.
    ///
    /// # Errors
    /// [`OsError::Residency`] if the system does not report it.
    ///
    /// # Complexity
    /// Linear in the pages: one system call per 64 MiB. It allocates nothing, whatever the size.
    pub fn touched_bytes(&self) -> Result<usize, OsError> {
        self.extent().touched_bytes()
    }

    /// Where the reservation lies: to count its touched bytes while its memory is borrowed.
    #[must_use]
    pub fn extent(&self) -> Extent {
        Extent {
            start: self.base.as_ptr().addr(),
            bytes: self.bytes,
        }
    }

    /// Gives the whole pages of the kernel in a range back to the system: they are no longer
    /// resident, and read as zero when they are touched again.
    ///
    /// # Errors
    /// [`OsError::Size`] unless the range lies inside the reservation and both its ends are
    /// multiples of [`page_bytes`]; [`OsError::GiveBack`] if the system refuses, for example
    /// because the pages are locked.
    ///
    /// # Safety
    /// Nobody relies on the bytes of the range: no value in it is read before it is written again.
    ///
    /// # Complexity
    /// One system call.
    pub unsafe fn give_back(&self, range: Range<usize>) -> Result<(), OsError> {
        let bytes = range.len();
        self.whole_pages(&range)?;
        // SAFETY: inside the reservation (I2).
        let first = unsafe { self.base.add(range.start) };
        // SAFETY: the range consists of whole pages of our mapping (I1, I2); the caller promised
        // that nobody relies on their bytes.
        let status = unsafe { libc::madvise(first.as_ptr().cast(), bytes, libc::MADV_DONTNEED) };
        if status != 0 {
            let source = io::Error::last_os_error();
            return Err(OsError::GiveBack { bytes, source });
        }
        Ok(())
    }
}

/// Where a reservation lies. It borrows nothing, and keeps nothing alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    start: usize,
    bytes: usize,
}

impl Extent {
    /// As [`Reservation::touched_bytes`]. After the reservation was dropped, an error, or the bytes
    /// of what lies there now.
    ///
    /// # Errors
    /// [`OsError::Residency`] if the system does not report it.
    pub fn touched_bytes(&self) -> Result<usize, OsError> {
        let mut touched = 0;
        for start in (0..self.bytes).step_by(LOOKED_AT * OS_PAGE_BYTES) {
            touched += self.touched_pages(start)?;
        }
        Ok(touched * OS_PAGE_BYTES)
    }

    /// The touched pages among the first [`LOOKED_AT`] from an offset on. The offset lies inside
    /// the reservation, and is a multiple of the bytes of that many pages.
    fn touched_pages(&self, start: usize) -> Result<usize, OsError> {
        let mut resident = [0_u8; LOOKED_AT];
        let bytes = (self.bytes - start).min(LOOKED_AT * OS_PAGE_BYTES);
        let first = std::ptr::without_provenance_mut(self.start + start);
        // SAFETY: the call reads no memory of the range, and refuses what is not mapped; the array
        // has one byte for each of its pages.
        let status = unsafe { libc::mincore(first, bytes, resident.as_mut_ptr().cast()) };
        if status != 0 {
            let source = io::Error::last_os_error();
            return Err(OsError::Residency { source });
        }
        Ok(resident.iter().filter(|byte| **byte & 1 != 0).count())
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        // SAFETY: I1: exactly this mapping is ours, and every borrow of it has ended.
        let status = unsafe { libc::munmap(self.mapping.as_ptr().cast(), self.mapping_bytes) };
        debug_assert_eq!(status, 0, "a mapping of ours can be given back");
    }
}

/// The bytes of a page of the kernel: what becomes resident, or is given back, at once.
#[must_use]
pub fn page_bytes() -> usize {
    // SAFETY: reads a constant of the system.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(bytes).unwrap_or(OS_PAGE_BYTES)
}

/// An anonymous mapping without huge pages.
fn map(bytes: usize) -> io::Result<NonNull<u8>> {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a new anonymous mapping at an address that the kernel chooses touches no memory of
    // ours.
    let start = unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, flags, -1, 0) };
    if start == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the range is the new mapping. A kernel without huge pages may refuse the advice: then
    // there is nothing to turn off.
    unsafe { libc::madvise(start, bytes, libc::MADV_NOHUGEPAGE) };
    NonNull::new(start.cast()).ok_or_else(|| io::Error::other("a mapping at address zero"))
}

#[cfg(test)]
mod tests {
    use super::{ALIGN, OS_PAGE_BYTES, Reservation, page_bytes};
    use crate::OsError;

    #[test]
    fn a_reservation_is_aligned_and_untouched() {
        let mut region = Reservation::new(100_000).expect("memory");
        assert_eq!(region.memory().len(), 100_000);
        assert_eq!(region.memory().as_ptr().addr() % ALIGN, 0);
        assert_eq!(region.touched_bytes().expect("counted"), 0);
    }

    #[test]
    fn each_touched_page_counts_once() {
        let mut region = Reservation::new(10 * OS_PAGE_BYTES).expect("memory");
        for at in [0, 1, 4095, 3 * 4096, 10 * 4096 - 1] {
            region.memory()[at].write(1);
        }
        assert_eq!(region.touched_bytes().expect("counted"), 3 * OS_PAGE_BYTES);
        let extent = region.extent();
        region.memory()[4 * 4096].write(1);
        assert_eq!(extent.touched_bytes().expect("counted"), 4 * OS_PAGE_BYTES);
        region.fault_in();
        assert_eq!(region.touched_bytes().expect("counted"), 10 * OS_PAGE_BYTES);
    }

    #[test]
    fn what_is_given_back_is_zero_and_not_resident() {
        let page = page_bytes();
        let mut region = Reservation::new(8 * page).expect("memory");
        region.memory().iter_mut().for_each(|byte| {
            byte.write(7);
        });
        let before = region.touched_bytes().expect("counted");
        // SAFETY: nobody relies on the bytes.
        unsafe { region.give_back(2 * page..5 * page) }.expect("whole pages");
        let after = region.touched_bytes().expect("counted");
        assert_eq!(before - after, 3 * page);
        let values = [2 * page - 1, 2 * page, 5 * page - 1, 5 * page];
        // SAFETY: the bytes were written; the kernel zeroed those that it gave anew.
        let values = values.map(|at| unsafe { region.memory()[at].assume_init() });
        assert_eq!(values, [7, 0, 0, 7]);
    }

    #[test]
    fn only_whole_pages_of_the_reservation_are_given_back_or_locked() {
        let page = page_bytes();
        let region = Reservation::new(8 * page + 1).expect("memory");
        let beyond = usize::MAX - page + 1;
        for range in [
            0..0,
            1..page,
            0..page - 1,
            0..9 * page,
            9 * page..10 * page,
            0..beyond,
        ] {
            // SAFETY: nobody relies on the bytes.
            let refused = unsafe { region.give_back(range.clone()) };
            assert!(matches!(refused, Err(OsError::Size { .. })), "{range:?}");
            let refused = region.lock_range(range.clone());
            assert!(matches!(refused, Err(OsError::Size { .. })), "{range:?}");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn what_is_locked_is_resident_at_once() {
        let mut region = Reservation::new(4 * page_bytes() + 1).expect("memory");
        match region.lock() {
            Ok(()) => {
                let resident = region.touched_bytes().expect("counted");
                assert_eq!(resident, 5 * page_bytes());
            }
            // The system lets nobody lock memory here.
            Err(refused) => assert!(refused.to_string().contains("ulimit -l"), "{refused}"),
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn locked_pages_are_not_given_back_and_keep_their_bytes() {
        let mut region = Reservation::new(page_bytes()).expect("memory");
        region.memory()[0].write(7);
        if region.lock().is_err() {
            return; // the system lets nobody lock memory here
        }
        // SAFETY: nobody relies on the bytes.
        let refused = unsafe { region.give_back(0..page_bytes()) };
        assert!(
            matches!(refused, Err(OsError::GiveBack { .. })),
            "{refused:?}"
        );
        // SAFETY: the byte was written.
        assert_eq!(unsafe { region.memory()[0].assume_init() }, 7);
    }

    #[test]
    fn impossible_sizes_are_typed_errors() {
        assert!(matches!(Reservation::new(0), Err(OsError::Size { .. })));
        for absurd in [usize::MAX, usize::MAX - 4096, 1 << 63, isize::MAX as usize] {
            let refused = Reservation::new(absurd);
            assert!(matches!(refused, Err(OsError::Size { .. })), "{absurd}");
        }
        let beyond = Reservation::new(1 << 60);
        assert!(matches!(beyond, Err(OsError::Reserve { .. })));
    }

    /// Counting the touched bytes of a reservation of terabytes takes no gigabytes of memory.
    #[test]
    #[cfg(target_os = "linux")]
    fn what_was_touched_of_a_large_reservation_is_counted_in_little_memory() {
        let bytes = (64 << 30) + 1;
        let Ok(mut region) = Reservation::new(bytes) else {
            return; // the system promises no more than it has
        };
        for at in [0, 64 << 20, (64 << 20) - 1, bytes - 1] {
            region.memory()[at].write(1);
        }
        let before = crate::resident::bytes_now().expect("Linux says");
        assert_eq!(region.touched_bytes().expect("counted"), 4 * OS_PAGE_BYTES);
        let after = crate::resident::bytes_now().expect("Linux says");
        assert!(after < before + (8 << 20), "{before} to {after}");
    }
}
