//! Keys of a heap that several threads share: copyable names that detect when their object is gone.
//!
//! ```text
//! local.insert(value)   takes page-block and entry; writes the value; makes the generation odd:
//!                       the key carries it
//! heap.pin(key)         adds one to the entry's word; then compares the generation: if it differs,
//!                       unpins: stale
//! heap.pin_mut(key)     one compare-exchange from "no pin", else busy; ends a move in flight first
//! local.free(key)       the one call that advances the generation frees: now, or by the last unpin
//! ```
//!
//! # Invariants
//! - Y1 An object ends once: exactly one call advances its generation. Generations never wrap: an
//!   entry that has none left is retired, and counted.
//! - Y2 A size-class has at most Π + t freed objects that still hold a page-block, where t calls of
//!   `free` or `remove` are in progress, and at most Π pins are held at once. A freed object waits
//!   for a pin (at most Π objects do), or is on the deferred list. A call that leaves its object to
//!   a pin takes two objects off the list, or all if there are fewer. So when it returns, either
//!   the list was empty, or the sum has not grown.
//! - K1, K2 of the guards: unpins drop values outside of any lock.
//!
//! # Source
//! This project.

use core::fmt;
use core::marker::PhantomData;
use core::mem::{MaybeUninit, needs_drop};

use lock_api::RawMutex;
use surefit_core::{Corruption, Parts, Refused};
use zerocopy::Immutable;

use super::key_guard::{Hold, KeyPinned, KeyPinnedMut, keyed_layout};
use crate::handle::{Full, Name};
use crate::key::Key;
use crate::shared::config::SharedConfig;
use crate::shared::local::Local;
use crate::shared::lock::{PerClass, Stepwise};
use crate::shared::machinery::build::Outlive;
use crate::shared::machinery::entry::State;
use crate::shared::machinery::generation::Generation;
use crate::shared::machinery::objects::{Objects, refused};
use crate::shared::machinery::pool::NO_SLOT;
use crate::shared::machinery::stats::SharedStats;
use crate::width::Counted;

/// A Compact-fit heap that several threads share, and whose objects are named by keys. `R` is the
/// kind of lock, `G` is how much a lock covers. `Gen` sets how many generations an entry has: half
/// of the values of `Gen`, less one.
///
/// Dropping the heap forgets the values that are still in it.
///
/// # Drawbacks
/// Each object costs an entry of sixteen bytes, four more than in a
/// [`SharedHeap`](crate::shared::SharedHeap), and a back-reference of four bytes. A value that must
/// be dropped takes one more pointer in its page-block. Each access costs an addition, a load and a
/// subtraction on shared words.
///
/// # Examples
/// ```
/// use core::mem::MaybeUninit;
/// use surefit_compact::{Config, shared::{SharedConfig, SharedKeyHeap}};
///
/// static CONFIG: SharedConfig = SharedConfig::new(Config::DEFAULT);
/// let mut memory = vec![MaybeUninit::uninit(); 1 << 20];
/// let heap: SharedKeyHeap<parking_lot::RawMutex> = SharedKeyHeap::new(&mut memory, &CONFIG)?;
/// let local = heap.register()?;
/// let key = local.insert(*b"hello")?;
/// heap.pin_mut(key)?[0] = b'j';
/// let pinned = heap.pin(key)?;
/// assert_eq!(heap.pin_mut(key).err(), Some(surefit_core::Refused::Busy));
/// local.free(key)?;
/// assert_eq!(&*pinned, b"jello"); // kept by its guard
/// assert!(heap.pin(key).is_err(), "the key is stale");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Keys without generations do not compile:
/// ```compile_fail
/// use surefit_compact::shared::{PerClass, SharedKeyHeap};
/// fn heap(_: SharedKeyHeap<'_, parking_lot::RawMutex, PerClass, ()>) {}
/// ```
pub struct SharedKeyHeap<'m, R: RawMutex, G: Stepwise = PerClass, Gen: Counted = u32> {
    pub(crate) objects: Objects<'m, R, G>,
    generation: PhantomData<fn() -> Gen>,
}

impl<R: RawMutex, G: Stepwise, Gen: Counted> fmt::Debug for SharedKeyHeap<'_, R, G, Gen> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedKeyHeap").finish_non_exhaustive()
    }
}

/// The generation of retired entries: even, and below the flag.
fn last_generation<Gen: Counted>() -> u32 {
    Gen::RETIRED.get().min(u32::MAX >> 1) & !1
}

impl<'m, R: RawMutex, G: Stepwise, Gen: Counted> SharedKeyHeap<'m, R, G, Gen> {
    /// Creates a heap over a region.
    ///
    /// # Errors
    /// As [`SharedHeap::new`](crate::shared::SharedHeap::new).
    ///
    /// # Panics
    /// If the configuration's back-references are not four bytes.
    pub fn new(
        region: &'m mut [MaybeUninit<u8>],
        config: &'m SharedConfig<G>,
    ) -> Result<Self, Refused> {
        let mut objects = Objects::new(region, config, 1, Outlive::Keys)?;
        objects.engine.table.retire_at(last_generation::<Gen>());
        Ok(Self {
            objects,
            generation: PhantomData,
        })
    }

    /// Registers a thread. The caller uses the `KeyLocal`, or gives it to another thread.
    ///
    /// # Errors
    /// [`Refused::NoLocal`] if the configured number of threads is registered already.
    ///
    /// # Complexity
    /// O(locals).
    pub fn register(&self) -> Result<KeyLocal<'_, 'm, R, G, Gen>, Refused> {
        Ok(KeyLocal {
            local: Local::new(&self.objects, 0)?,
            heap: self,
        })
    }

    /// Pins an object without interior mutability. Never waits. If a move of the object is in
    /// flight, it continues, and is abandoned if the pin is still there when the move would end.
    ///
    /// # Errors
    /// [`Refused::ForeignHandle`] for a key of another heap; [`Refused::StaleHandle`] if the object
    /// was freed; [`Refused::Busy`] if it is pinned exclusively; [`Refused::TooManyPins`] if it has
    /// 32767 pins already.
    ///
    /// # Complexity
    /// One atomic addition and one load, and one atomic subtraction when the guard is dropped.
    #[inline]
    pub fn pin<T: Immutable>(&self, key: Key<T>) -> Result<KeyPinned<'_, 'm, T, R, G>, Refused> {
        let (hold, _, location) = self.hold(key)?;
        // SAFETY: pinned, and the generation is that of the key's object, a `T`; it has no interior
        // mutability.
        Ok(unsafe { KeyPinned::new(hold, location) })
    }

    /// Pins an object that may change behind a shared reference. If the object is in motion, the
    /// call takes the lock of its size-class once, and ends the move. Other threads hold that lock
    /// for at most min(β, ι) copied bytes at a time.
    ///
    /// # Errors
    /// As [`SharedKeyHeap::pin`].
    pub fn pin_settled<T>(&self, key: Key<T>) -> Result<KeyPinned<'_, 'm, T, R, G>, Refused> {
        let (hold, state, location) = self.hold(key)?;
        self.settle(state, hold.index);
        // SAFETY: as in `pin`; its move has ended, and none begins while it is pinned.
        Ok(unsafe { KeyPinned::new(hold, location) })
    }

    /// Pins an object exclusively, to change it. No other pin may exist; even the pin of a stale
    /// key that is about to be undone makes it busy. Waits as [`SharedKeyHeap::pin_settled`] does.
    ///
    /// # Errors
    /// As [`SharedKeyHeap::pin`]; [`Refused::Busy`] if there is any other pin.
    pub fn pin_mut<T>(&self, key: Key<T>) -> Result<KeyPinnedMut<'_, 'm, T, R, G>, Refused> {
        let (hold, state, location) = self.hold_alone(key)?;
        self.settle(state, hold.index);
        // SAFETY: pinned exclusively, and the generation is that of the key's object, a `T`; its
        // move has ended.
        Ok(unsafe { KeyPinnedMut::new(hold, location) })
    }

    /// Whether the key names a live object of this heap at this moment.
    #[must_use]
    pub fn contains<T>(&self, key: Key<T>) -> bool {
        self.vet(key).is_ok()
    }

    /// Frees the objects on deferred lists. Then moves at most `budget` objects, until no
    /// size-class has more than one not-full page. Returns the number of moves begun.
    pub fn compact(&self, budget: u64) -> u64 {
        let groups = self.objects.engine.all_groups();
        self.objects.engine.compact(NO_SLOT, groups, budget)
    }

    /// Counters. Takes the lock of every size-class, one after another.
    pub fn stats(&self) -> SharedStats {
        let engine = &self.objects.engine;
        engine.stats(engine.all_groups())
    }

    /// Where every byte of the region is. If no other thread works on the heap, the parts add up to
    /// its size. Otherwise a page that changes its size-class meanwhile may be counted twice, or
    /// not at all.
    pub fn parts(&self) -> Parts {
        self.objects.engine.parts(self.objects.skipped)
    }

    /// Verifies every numbered invariant. With `debts`, size-classes may exceed their bound, which
    /// pins and frees in progress can cause. The result is exact only if no other thread works on
    /// the heap, and no value is being dropped. O(classes · entries + region).
    ///
    /// # Errors
    /// The first invariant that is violated.
    pub fn check(&self, debts: bool) -> Result<(), Corruption> {
        self.objects.engine.check(debts)
    }

    /// The engine and the objects in it.
    #[cfg(test)]
    pub(crate) fn objects(&self) -> &Objects<'m, R, G> {
        &self.objects
    }

    /// The entry of a key that named a live object a moment ago.
    #[inline]
    fn vet<T>(&self, key: Key<T>) -> Result<u32, Refused> {
        if key.name.heap_number() != self.objects.engine.instances[0].id() {
            return Err(Refused::ForeignHandle);
        }
        let index = key.name.index();
        let made = self.objects.engine.table.contains(index);
        if made && Generation::names_object(key.generation) && self.names(key) {
            Ok(index)
        } else {
            Err(Refused::StaleHandle)
        }
    }

    /// Whether the generation of the key's entry is the key's. The entry must have been made.
    #[inline]
    fn names<T>(&self, key: Key<T>) -> bool {
        self.objects.generation(key.name.index()).current() == key.generation
    }

    #[inline]
    fn hold<T>(&self, key: Key<T>) -> Result<(Hold<'_, 'm, R, G, false>, State, u32), Refused> {
        let index = self.vet(key)?;
        let entry = self.objects.engine.entry(index);
        let (state, location) = match entry.pin_shared() {
            Ok(pinned) => pinned,
            Err(not) => {
                self.objects.let_go(not.undone, index);
                return Err(self.refuse(key, refused(not.why)));
            }
        };
        let objects = &self.objects;
        let hold = Hold {
            objects,
            entry,
            index,
        };
        // N2: compared after the pin.
        if self.names(key) {
            Ok((hold, state, location))
        } else {
            Err(Refused::StaleHandle)
        }
    }

    fn hold_alone<T>(
        &self,
        key: Key<T>,
    ) -> Result<(Hold<'_, 'm, R, G, true>, State, u32), Refused> {
        let index = self.vet(key)?;
        let entry = self.objects.engine.entry(index);
        let pinned = entry.pin_exclusive();
        let (state, location) = pinned.map_err(|why| self.refuse(key, refused(why)))?;
        let objects = &self.objects;
        let hold = Hold {
            objects,
            entry,
            index,
        };
        // N2: compared after the pin.
        if self.names(key) {
            Ok((hold, state, location))
        } else {
            Err(Refused::StaleHandle)
        }
    }

    /// Why a pin by a key was refused. The object that refused it may be another one than the
    /// key's.
    #[cold]
    fn refuse<T>(&self, key: Key<T>, refused: Refused) -> Refused {
        if self.names(key) {
            refused
        } else {
            Refused::StaleHandle
        }
    }

    /// Ends the move of a pinned object, if one was in flight.
    fn settle(&self, state: State, index: u32) {
        if state.is_moving() {
            self.objects.engine.revoke(NO_SLOT, state.group(), index);
        }
    }
}

/// A registered thread of a [`SharedKeyHeap`]: a program inserts and frees with it. It may be sent
/// to another thread, but only one thread at a time may use it.
///
/// Dropping it returns the free pages that it buffers to the heap.
pub struct KeyLocal<'h, 'm, R: RawMutex, G: Stepwise, Gen: Counted> {
    local: Local<'h, 'm, R, G>,
    heap: &'h SharedKeyHeap<'m, R, G, Gen>,
}

impl<R: RawMutex, G: Stepwise, Gen: Counted> fmt::Debug for KeyLocal<'_, '_, R, G, Gen> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("KeyLocal").field(&self.local).finish()
    }
}

impl<R: RawMutex, G: Stepwise, Gen: Counted> KeyLocal<'_, '_, R, G, Gen> {
    /// Moves a value into the heap. Other objects move only if the insertion would be refused
    /// otherwise.
    ///
    /// # Errors
    /// Returns the value, and the resource that is exhausted. A type that is larger than a page is
    /// refused with [`Refused::TooLarge`]; a type with a stricter alignment than a page with
    /// [`Refused::TooAligned`].
    ///
    /// # Complexity
    /// O(1) under the lock of the size-class; the value is written outside the lock. Before the
    /// heap refuses, it frees the objects on deferred lists, and takes back what other threads
    /// buffer: linear in those objects, in the size-classes and in the configured threads.
    pub fn insert<T: Send + Sync + 'static>(&self, value: T) -> Result<Key<T>, Full<T>> {
        let objects = &self.heap.objects;
        let allocated = objects.class_of(keyed_layout::<T>()).and_then(|class| {
            let group = objects.engine.group_of(0, class);
            let allocated = objects.allocate(self.local.slot, group)?;
            Ok((group, allocated))
        });
        let (group, (index, location)) = match allocated {
            Ok(allocated) => allocated,
            Err(refused) => return Err(Full { value, refused }),
        };
        // SAFETY: just allocated for this layout, and under construction.
        unsafe { objects.write_keyed(group, location, value) };
        objects.engine.end_construction(index);
        // N3: keys reach the object from here on.
        let generation = objects.generation(index).begin(needs_drop::<T>());
        Ok(Key::new(Name::new(index, objects.id_of(0)), generation))
    }

    /// Frees an object: its keys are stale from then on. If the object is pinned, exclusively or
    /// not, the last guard drops the value, and later calls in its size-class free its memory.
    /// Other objects move if the compaction bound requires it.
    ///
    /// # Errors
    /// [`Refused::ForeignHandle`], [`Refused::StaleHandle`]. Nothing has changed then.
    pub fn free<T>(&self, key: Key<T>) -> Result<(), Refused> {
        let index = self.heap.vet(key)?;
        self.retire(key, index)?;
        let objects = &self.heap.objects;
        let entry = objects.engine.entry(index);
        let (state, _) = entry.pin_anyway();
        let hold: Hold<'_, '_, R, G, false> = Hold {
            objects,
            entry,
            index,
        };
        hold.free(state, self.local.slot);
        Ok(())
    }

    /// Takes a value out of the heap if nobody has it pinned. Its keys are stale from then on.
    /// Other objects move if the compaction bound requires it.
    ///
    /// # Errors
    /// [`Refused::ForeignHandle`], [`Refused::StaleHandle`]; [`Refused::Busy`] as for
    /// [`SharedKeyHeap::pin_mut`]. Nothing has changed then.
    pub fn remove<T>(&self, key: Key<T>) -> Result<T, Refused> {
        let (hold, state, location) = self.heap.hold_alone(key)?;
        self.retire(key, hold.index)?;
        // SAFETY: pinned exclusively, with the key's generation, so a live `T`. The key is retired,
        // so nobody reads the bits again; the flag is cleared, so nobody drops them. A move may
        // copy them meanwhile, which only reads.
        let value = unsafe { hold.objects.address::<T>(location).read() };
        hold.objects.generation(hold.index).drop_glue();
        hold.free(state, self.local.slot);
        Ok(value)
    }

    /// Y1: ends the key's generation. The call that succeeds frees the object.
    fn retire<T>(&self, key: Key<T>, index: u32) -> Result<(), Refused> {
        let objects = &self.heap.objects;
        let last = objects.engine.table.last_generation();
        let retired = objects
            .generation(index)
            .retire_or_next(key.generation, last);
        retired.map(drop).map_err(|_| Refused::StaleHandle)
    }
}

#[cfg(test)]
mod tests {
    extern crate alloc;

    use alloc::vec;

    use super::*;
    use crate::config::Config;

    static CONFIG: SharedConfig = SharedConfig::new(Config::DEFAULT);

    type Heap<'m> = SharedKeyHeap<'m, parking_lot::RawMutex>;

    /// Tries a key that no call has returned.
    fn assert_harmless(
        heap: &Heap<'_>,
        local: &KeyLocal<'_, '_, parking_lot::RawMutex, PerClass, u32>,
        forged: Key<u64>,
    ) {
        let stale = Some(Refused::StaleHandle);
        assert_eq!(heap.pin(forged).err(), stale, "{forged:?}");
        assert_eq!(heap.pin_settled(forged).err(), stale, "{forged:?}");
        assert_eq!(heap.pin_mut(forged).err(), stale, "{forged:?}");
        assert_eq!(local.free(forged).err(), stale, "{forged:?}");
        assert_eq!(local.remove(forged).err(), stale, "{forged:?}");
        heap.check(false).unwrap();
    }

    #[test]
    fn forged_keys_change_nothing() {
        let mut memory = vec![MaybeUninit::uninit(); 1 << 20];
        let heap: Heap<'_> = SharedKeyHeap::new(&mut memory, &CONFIG).unwrap();
        let local = heap.register().unwrap();
        let first = local.insert(1_u64).unwrap();
        let live = local.insert(2_u64).unwrap();
        local.free(first).unwrap();
        let names = [
            first.name,
            live.name,
            Name::new(1 << 20, heap.objects.id_of(0)),
        ];
        for name in names {
            for number in (0..8).chain([u32::MAX >> 1, (u32::MAX >> 1) - 1]) {
                for generation in [number, number | 1 << 31] {
                    let forged = Key::new(name, generation);
                    if forged != live {
                        assert_harmless(&heap, &local, forged);
                    }
                }
            }
        }
        // The free entry has lost no generation: it serves the next object.
        let second = local.insert(3_u64).unwrap();
        assert_eq!(
            (second.name, second.generation),
            (first.name, first.generation + 2)
        );
        assert_eq!(
            (*heap.pin(second).unwrap(), *heap.pin(live).unwrap()),
            (3, 2)
        );
    }

    #[test]
    fn a_forged_key_cannot_end_what_is_under_construction() {
        let mut memory = vec![MaybeUninit::uninit(); 1 << 20];
        let heap: Heap<'_> = SharedKeyHeap::new(&mut memory, &CONFIG).unwrap();
        let local = heap.register().unwrap();
        let objects = &heap.objects;
        let group = objects
            .engine
            .group_of(0, objects.class_of(keyed_layout::<u64>()).unwrap());
        let (index, location) = objects.allocate(local.local.slot, group).unwrap();
        let forged = Key::new(Name::new(index, objects.id_of(0)), 1);
        assert_harmless(&heap, &local, forged);
        // SAFETY: just allocated for this layout, and under construction.
        unsafe { objects.write_keyed(group, location, 9_u64) };
        assert_harmless(&heap, &local, forged);
        objects.engine.end_construction(index);
        assert_harmless(&heap, &local, forged);
        assert_eq!(objects.generation(index).begin(false), 1);
        assert_eq!(local.remove(forged).unwrap(), 9);
    }
}
