//! The lock, and the heap that is made on its first use.
#![deny(unsafe_code)]

use core::fmt;

use lock_api::{Mutex, RawMutex};
use surefit_core::Refused;

use crate::unwinding::{end_with, never, refused};

/// A heap of raw pointers behind a lock. It is made on its first use, so that a `static` can hold
/// it.
///
/// It is a global allocator, and with the feature `allocator-api2` an allocator of collections.
///
/// # The lock
/// One call of the heap holds the lock. How long a call takes is known of each heap; a thread that
/// waits does so for one call of each thread before it.
///
/// The lock of a global allocator must not allocate. Those of `parking_lot` and `std` do when a
/// thread waits; use a spin lock, or a critical section.
///
/// # Panics
/// A heap refuses to free or to resize an object that it finds not to be live
/// ([`RawHeap::try_free`](surefit_core::RawHeap::try_free) says what each heap finds): a foreign or
/// a double free. That is a panic, and because an allocator must not unwind, it ends the program:
/// on Unix and Windows by the C library's `abort`.
///
/// Any other panic prints a backtrace if `RUST_BACKTRACE` says so. That takes 8 to 40 MB even in a
/// small program, for its tables of names. In a smaller global heap the standard library then waits
/// for ever: leave the variable unset, or make the region larger.
///
/// # Examples
/// ```
/// use spinning_top::RawSpinlock;
/// use surefit_core::{Page4K, Refused, Region};
/// use surefit_freelist::Tlsf;
/// use surefit_locked::Locked;
///
/// static MEMORY: Region<{ 16 << 20 }, Page4K> = Region::new();
///
/// #[global_allocator]
/// static HEAP: Locked<RawSpinlock, Tlsf<'static>> =
///     Locked::new(|| Tlsf::new(MEMORY.take().ok_or(Refused::Busy)?));
///
/// let words: Vec<String> = ["every", "string", "is", "there"].map(String::from).into();
/// assert!(HEAP.inspect(|heap| heap.live_objects())? > words.len());
/// # Ok::<(), Refused>(())
/// ```
pub struct Locked<L, H> {
    heap: Mutex<L, Slot<H>>,
}

/// What the lock guards.
enum Slot<H> {
    /// The heap, before its first use.
    Unmade(fn() -> Result<H, Refused>),
    Made(H),
}

impl<H> Slot<H> {
    /// The heap, which is made now unless it was made before.
    #[inline]
    fn heap(&mut self) -> Result<&mut H, Refused> {
        if let Self::Unmade(make) = self {
            *self = Self::Made(make()?);
        }
        match self {
            Self::Made(heap) => Ok(heap),
            // Made above.
            Self::Unmade(_) => Err(Refused::NoChunk),
        }
    }
}

impl<L: RawMutex, H> Locked<L, H> {
    /// A heap that `make` makes on its first use: usually over a [`Region`](surefit_core::Region)
    /// in a `static`.
    ///
    /// If `make` refuses, the request that needed the heap is refused too, and the next one calls
    /// `make` again. It is called under the lock. So it must not allocate from this heap.
    #[must_use]
    pub const fn new(make: fn() -> Result<H, Refused>) -> Self {
        Self {
            heap: Mutex::new(Slot::Unmade(make)),
        }
    }

    /// A heap that is there already: for collections in a region that is not static.
    ///
    /// # Examples
    /// ```
    /// # #[cfg(feature = "allocator-api2")] {
    /// use allocator_api2::vec::Vec;
    /// use core::mem::MaybeUninit;
    /// use surefit_direct::DirectHeap;
    /// use surefit_locked::{Locked, OneThread};
    ///
    /// let mut region = [MaybeUninit::uninit(); 64 << 10];
    /// let heap: Locked<OneThread, _> = Locked::over(DirectHeap::new(&mut region)?);
    /// let mut samples = Vec::new_in(&heap);
    /// samples.extend(0..100);
    /// assert_eq!(samples.iter().sum::<i32>(), 4950);
    /// # }
    /// # Ok::<(), surefit_core::Refused>(())
    /// ```
    #[must_use]
    pub const fn over(heap: H) -> Self {
        Self {
            heap: Mutex::new(Slot::Made(heap)),
        }
    }

    /// Makes the heap now, if it was not used before. So the first allocation takes as long as any
    /// other, and a region that is too small shows early.
    ///
    /// # Errors
    /// What the function that makes the heap refused.
    pub fn init(&self) -> Result<(), Refused> {
        self.inspect(|_| ())
    }

    /// Looks at the heap: its statistics, its parts, its check. Makes it if it was not used before.
    ///
    /// `look` runs under the lock. So it must not allocate from this heap, nor free: neither must
    /// what it calls, `println!` in a program whose global allocator this is.
    ///
    /// # Errors
    /// What the function that makes the heap refused.
    pub fn inspect<R>(&self, look: impl FnOnce(&H) -> R) -> Result<R, Refused> {
        let mut slot = self.heap.lock();
        let heap = slot.heap()?;
        Ok(look(heap))
    }

    /// Changes the heap under the lock.
    ///
    /// An object that the heap finds not to be live ends the program, after the lock was given
    /// back: the message needs memory. So does a panic of the heap, if its message needs none.
    #[inline]
    pub(crate) fn with<R>(
        &self,
        change: impl FnOnce(&mut H) -> Result<R, Refused>,
    ) -> Result<R, Refused> {
        let result = never(|| self.heap.lock().heap().and_then(change));
        match result {
            Err(why @ (Refused::ForeignHandle | Refused::StaleHandle)) => misused(why),
            Err(_) => refused(),
            Ok(_) => {}
        }
        result
    }
}

#[cold]
fn misused(why: Refused) -> ! {
    end_with(format_args!(
        "S1: what is freed or resized is no live object: {why}"
    ))
}

impl<L, H> fmt::Debug for Locked<L, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Locked").finish_non_exhaustive()
    }
}
