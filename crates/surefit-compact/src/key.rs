//! Keys: names that may be copied, and that can tell whether their object is gone.
//!
//! A layer over [`Heap`] for programs that want a slot map: every entry carries a generation, four
//! more bytes per object. Every access compares the heap's number and the generation, and checks
//! that the block names the entry back. A generation never wraps: an entry that has used its last
//! one retires, and is counted.
#![deny(unsafe_code)]

use core::fmt;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ops::Range;

use surefit_core::{Corruption, Refused, Usage};

use crate::config::Config;
use crate::handle::{Full, Handle, Name};
use crate::heap::Heap;
use crate::stats::{LiveBlock, Stats};
use crate::width::{Counted, Keyed, Wide, Width};

/// A copyable name of a `T` in a [`KeyHeap`]. It is stale once the object is removed.
pub struct Key<T> {
    pub(crate) name: Name,
    pub(crate) generation: u32,
    object: PhantomData<fn(T) -> T>,
}

impl<T> Key<T> {
    #[inline]
    pub(crate) const fn new(name: Name, generation: u32) -> Self {
        Self {
            name,
            generation,
            object: PhantomData,
        }
    }
}

impl<T> Clone for Key<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Key<T> {}

impl<T> PartialEq for Key<T> {
    fn eq(&self, other: &Self) -> bool {
        (self.name, self.generation) == (other.name, other.generation)
    }
}

impl<T> Eq for Key<T> {}

impl<T> fmt::Debug for Key<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({}, generation {})", self.name, self.generation)
    }
}

const _: () = assert!(
    size_of::<Key<[u64; 9]>>() == 12_usize.next_multiple_of(align_of::<Name>()),
    "a name and a generation: 12 bytes where words of eight bytes are aligned to four, 16 elsewhere"
);

/// A heap whose objects are named by keys.
///
/// Dropping the heap forgets the values that are still in it, as dropping a handle does. Its
/// certificates are those of the width [`Keyed<W>`](crate::Keyed)
/// ([`certify_for_life`](crate::certify::certify_for_life)).
///
/// # Examples
/// ```
/// use surefit_compact::{Config, KeyHeap};
///
/// static CONFIG: Config = Config::DEFAULT;
/// let mut memory = vec![core::mem::MaybeUninit::uninit(); 1 << 20];
/// let mut heap: KeyHeap = KeyHeap::new(&mut memory, &CONFIG)?;
/// let key = heap.insert(String::from("kept"))?;
/// assert_eq!(heap.get(key)?, "kept");
/// assert_eq!(heap.remove(key)?, "kept");
/// assert!(heap.get(key).is_err(), "the key is stale");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct KeyHeap<'m, W: Width<Generation = ()> = Wide, G: Counted = u32> {
    heap: Heap<'m, Keyed<W, G>>,
}

impl<'m, W: Width<Generation = ()>, G: Counted> KeyHeap<'m, W, G> {
    /// Makes a heap over a region.
    ///
    /// # Errors
    /// As [`Heap::new`].
    pub fn new(region: &'m mut [MaybeUninit<u8>], config: &'m Config) -> Result<Self, Refused> {
        Ok(Self {
            heap: Heap::new(region, config)?,
        })
    }

    /// As [`Heap::with_slack`], with the slack of
    /// [`slack_bytes_for_life`](crate::certify::slack_bytes_for_life): entries retire, and nothing
    /// lends their bytes.
    ///
    /// # Errors
    /// As [`Heap::new`].
    #[cfg(feature = "slack")]
    #[cfg_attr(docsrs, doc(cfg(feature = "slack")))]
    pub fn with_slack(
        region: &'m mut [MaybeUninit<u8>],
        config: &'m Config,
        slack: usize,
    ) -> Result<Self, Refused> {
        Ok(Self {
            heap: Heap::with_slack(region, config, slack)?,
        })
    }

    /// As [`Heap::with_limit`]. Its tables take [`KeyHeap::table_bytes`].
    ///
    /// # Errors
    /// As [`Heap::with_limit`].
    pub fn with_limit(
        region: &'m mut [MaybeUninit<u8>],
        config: &'m Config,
        bytes: usize,
        objects: usize,
    ) -> Result<Self, Refused> {
        Ok(Self {
            heap: Heap::with_limit(region, config, bytes, objects)?,
        })
    }

    /// As [`layout::table_bytes`](crate::layout::table_bytes), whose entries have no generations.
    #[must_use]
    pub fn table_bytes(config: &Config, region_bytes: usize, objects: usize) -> Option<usize> {
        crate::layout::table_bytes::<Keyed<W, G>>(config, region_bytes, objects)
    }

    /// As [`Heap::raise_limit`].
    pub fn raise_limit(&mut self, bytes: usize) -> usize {
        self.heap.raise_limit(bytes)
    }

    /// As [`Heap::lower_limit`].
    pub fn lower_limit(&mut self, bytes: usize) -> usize {
        self.heap.lower_limit(bytes)
    }

    /// As [`Details::limit_bytes`](crate::Details::limit_bytes).
    #[must_use]
    pub fn limit_bytes(&self) -> Option<usize> {
        self.heap.details().limit_bytes()
    }

    /// As [`Details::untouched`](crate::Details::untouched).
    #[must_use]
    pub fn untouched(&self) -> Range<usize> {
        self.heap.details().untouched()
    }

    /// Moves a value into the heap. Never moves another object.
    ///
    /// # Errors
    /// The value, and what was exhausted.
    pub fn insert<T: Send>(&self, value: T) -> Result<Key<T>, Full<T>> {
        let handle = self.heap.insert(value)?;
        let generation = self.generation(handle.name.index());
        Ok(Key::new(handle.name, generation))
    }

    /// Borrows an object.
    ///
    /// # Errors
    /// [`Refused::ForeignHandle`] for another heap's key, [`Refused::StaleHandle`] if the object
    /// was removed.
    pub fn get<T>(&self, key: Key<T>) -> Result<&T, Refused> {
        let index = self.handle_of(key)?.name.index();
        Ok(self.heap.by_index(index))
    }

    /// Borrows an object mutably. Keys may be copied, so this borrows the whole heap.
    ///
    /// # Errors
    /// As [`KeyHeap::get`].
    pub fn get_mut<T>(&mut self, key: Key<T>) -> Result<&mut T, Refused> {
        let index = self.handle_of(key)?.name.index();
        Ok(self.heap.by_index_mut(index))
    }

    /// Takes a value out of the heap; its keys are stale from then on. May move up to two other
    /// objects.
    ///
    /// # Errors
    /// As [`KeyHeap::get`].
    pub fn remove<T>(&mut self, key: Key<T>) -> Result<T, Refused> {
        let handle = self.handle_of(key)?;
        Ok(self.heap.remove(handle))
    }

    /// Whether the key names a live object of this heap.
    #[must_use]
    pub fn contains<T>(&self, key: Key<T>) -> bool {
        self.handle_of(key).is_ok()
    }

    /// Moves at most `budget` objects, until no size-class has more than one not-full page; returns
    /// the number of moves.
    pub fn compact(&mut self, budget: u64) -> u64 {
        self.heap.compact(budget)
    }

    /// Whether a byte object of this length can be allocated now, contiguous or in pieces. O(levels
    /// of its spine).
    #[must_use]
    pub fn can_allocate_bytes(&self, len: usize, align: usize) -> bool {
        self.heap.can_allocate_bytes(len, align)
    }

    /// A length in bytes for which [`KeyHeap::can_allocate_bytes`] holds now, as
    /// [`Details::largest_free_bytes`](crate::Details::largest_free_bytes). O(classes + log
    /// region).
    #[must_use]
    pub fn largest_free_bytes(&self) -> usize {
        self.heap.details().largest_free_bytes()
    }

    /// Counters. O(classes).
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.heap.stats()
    }

    /// All live page-blocks, in the order of their entries. O(entries ever made).
    pub fn live_blocks(&self) -> impl Iterator<Item = LiveBlock> {
        self.heap.live_blocks()
    }

    /// Accounts for every byte of the region.
    #[must_use]
    pub fn usage(&self) -> Usage {
        self.heap.usage()
    }

    /// Verifies every numbered invariant. Linear in the heap.
    ///
    /// # Errors
    /// The first invariant that does not hold.
    pub fn check(&self) -> Result<(), Corruption> {
        self.heap.check()
    }

    /// The heap of entries with generations.
    pub(crate) fn as_heap(&self) -> &Heap<'m, Keyed<W, G>> {
        &self.heap
    }

    /// The heap of entries with generations, to change it.
    pub(crate) fn heap_mut(&mut self) -> &mut Heap<'m, Keyed<W, G>> {
        &mut self.heap
    }

    pub(crate) fn generation(&self, index: u32) -> u32 {
        let engine = &self.heap.engine;
        let generation = engine.addresses.generation(&engine.pages.memory, index);
        generation.get().get()
    }

    /// What a live object needs for keys that differ from all before: nothing while its entry has
    /// another generation, else an entry, which is held.
    ///
    /// # Errors
    /// [`Refused::NoHandle`], or [`Refused::Limit`].
    pub(crate) fn renewal(&mut self, name: Name) -> Result<Option<u32>, Refused> {
        let engine = &self.heap.engine;
        let (addresses, memory) = (&engine.addresses, &engine.pages.memory);
        if addresses
            .generation(memory, name.index())
            .get()
            .next()
            .is_some()
        {
            return Ok(None);
        }
        if addresses.has_no_free() {
            engine.make_entries()?;
        }
        Ok(Some(addresses.hold(memory)))
    }

    /// Ends the generation of a live object, if it `ends`: former keys of the object are stale.
    /// Returns its name: another one if its entry had the last generation. The block stays where it
    /// is.
    pub(crate) fn renew(&mut self, name: Name, renewal: Option<u32>, ends: bool) -> Name {
        let engine = &self.heap.engine;
        let (addresses, memory) = (&engine.addresses, &engine.pages.memory);
        match renewal {
            Some(held) if ends => {
                let block = engine.block_of(name.index());
                engine.pages.set_back_reference(block, held);
                addresses.replace(memory, name.index(), held);
                return Name::new(held, self.heap.id);
            }
            Some(held) => addresses.put_back(memory, held),
            None if ends => {
                let renewed = addresses.renew(memory, name.index());
                debug_assert!(renewed, "there is another generation");
            }
            None => {}
        }
        name
    }

    /// The handle of a key whose object is live.
    fn handle_of<T>(&self, key: Key<T>) -> Result<Handle<T>, Refused> {
        self.vet(key.name, key.generation)?;
        Ok(Handle::new(key.name))
    }

    /// Whether a name and a generation are those of a live object of this heap.
    pub(crate) fn vet(&self, name: Name, generation: u32) -> Result<(), Refused> {
        self.heap.own(name)?;
        // No key has the generation of an entry that is parked.
        let named = self.heap.engine.named(name.index()).is_some();
        if named && self.generation(name.index()) == generation {
            Ok(())
        } else {
            Err(Refused::StaleHandle)
        }
    }
}
