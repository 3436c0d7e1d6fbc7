//! What all threads of a shared direct heap share: the pool under its lock, the instances, the
//! source.
//!
//! # Invariants
//! - S1 Behind this there are `instances` places for instances. A place is all zero or in use, and
//!   can be used from its first claim on; the places below `joined` were used at some time, but
//!   for the groups': the first places are theirs, from their first call on.
//! - S2 Except for its inbox and its state, an instance is accessed only by the thread that claimed
//!   it, or that holds its group's lock. In a heap that checks each free, every free changes the
//!   instance of its page: there, every access also holds `checked`, free lists are empty, and
//!   nothing is sent.
//! - S3 An instance is served only by the thread that holds `serving`.

use core::ptr::NonNull;
use core::sync::atomic::{AtomicBool, AtomicU16, AtomicU32, Ordering};

use lock_api::{Mutex, MutexGuard, RawMutex};

use super::chain::Free;
use super::instance::{Instance, State};
use super::memory::{EACH_FREE, Kind, Memory, Record, Span};
use super::misuse::Misuse;
use super::mixed::object_bytes;
use super::pool::purge::{LEAST_SPARSE, Outgoing};
use super::pool::{Pool, Taken};
use super::remote_frees::Batch;
use super::sizes::{Class, Slot};
use super::source::Source;

/// Instances shared by threads that have none of their own, each under a lock.
pub const GROUPS: usize = 8;

/// Milliseconds before somebody is to look at free memory, at most: a quarter of the longest delay.
const LONGEST_WAIT: u32 = 1 << 30;

/// What all threads share. It lies at the base of the region.
pub(super) struct Common<L, S> {
    memory: Memory,
    places: NonNull<Instance>,
    instances: u16,
    joined: AtomicU16,
    checks: bool,
    rose: AtomicBool,
    /// Whether free memory was seen that waits for its delay, and when to look at it next.
    waits: AtomicBool,
    look_at: AtomicU32,
    pub(super) source: S,
    pub(super) pool: Mutex<L, Pool>,
    /// Taken before the pool's lock, after a group's.
    pub(super) checked: Mutex<L, ()>,
    pub(super) groups: [Mutex<L, ()>; GROUPS],
    /// Held by the thread that serves an idle instance. Taken after a group's lock, before
    /// `checked`.
    pub(super) serving: Mutex<L, ()>,
}

// SAFETY: S2 for the instances, M3 for the records; all else is atomic, locked, or constant.
unsafe impl<L: RawMutex + Sync, S: Sync> Sync for Common<L, S> {}

impl<L: RawMutex, S: Source> Common<L, S> {
    /// What is shared over a region, with places for so many instances, the groups' ones included.
    ///
    /// # Safety
    /// S1, and that nobody else uses the places.
    pub(super) unsafe fn new(
        memory: Memory,
        places: NonNull<Instance>,
        instances: u16,
        checks: bool,
        delay: u32,
        source: S,
    ) -> Self {
        let pool = Mutex::new(Pool::new::<S>(&memory, delay));
        Self {
            memory,
            places,
            instances,
            #[expect(clippy::cast_possible_truncation, reason = "8")]
            joined: AtomicU16::new(GROUPS as u16),
            checks,
            rose: AtomicBool::new(false),
            waits: AtomicBool::new(false),
            look_at: AtomicU32::new(0),
            source,
            pool,
            checked: Mutex::const_new(L::INIT, ()),
            groups: [const { Mutex::const_new(L::INIT, ()) }; GROUPS],
            serving: Mutex::const_new(L::INIT, ()),
        }
    }

    /// The region.
    #[inline]
    pub(super) fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Whether each free is checked.
    #[inline]
    pub(super) fn checks(&self) -> bool {
        self.checks
    }

    /// In a heap that checks each free: until this is dropped, no other thread changes an instance
    /// (S2).
    pub(super) fn checking(&self) -> Option<MutexGuard<'_, L, ()>> {
        self.checks.then(|| self.checked.lock())
    }

    /// `watch` of a page that is not full.
    pub(super) fn watched(&self) -> u16 {
        if self.checks { EACH_FREE } else { 0 }
    }

    /// The instance with a number from 1 on.
    ///
    /// # Panics
    /// If there is no such place.
    #[inline]
    pub(super) fn instance(&self, number: u16) -> &Instance {
        assert!(number.wrapping_sub(1) < self.instances, "S1: an instance");
        // SAFETY: S1; zeros are an instance, and only shared references are made.
        unsafe { self.places.add(usize::from(number) - 1).as_ref() }
    }

    /// The instances that were used at some time, and those of all groups.
    pub(super) fn joined(&self) -> impl Iterator<Item = &Instance> {
        let joined = self.joined.load(Ordering::Acquire).min(self.instances);
        (1..=joined).map(|number| self.instance(number))
    }

    /// Places that were never used.
    pub(super) fn unused(&self) -> usize {
        usize::from(self.instances - self.joined.load(Ordering::Acquire))
    }

    /// Claims the first instance that no thread has. Waits while an earlier one is served.
    /// O(instances).
    ///
    /// All threads look in the same order and pass only instances that a thread has. So a thread
    /// finds one if there are as many instances as threads that have one or look for one, and there
    /// is memory for it.
    pub(super) fn claim(&self) -> Option<&Instance> {
        #[expect(clippy::cast_possible_truncation, reason = "8")]
        for number in GROUPS as u16 + 1..=self.instances {
            if number > self.joined.load(Ordering::Acquire) {
                if !self.commit_place(number) {
                    return None;
                }
            } else if matches!(self.instance(number).state(), State::Owned | State::Lost) {
                // Of an instance that someone has nothing is written.
                continue;
            }
            if self.claim_one(number) {
                return Some(self.instance(number));
            }
        }
        None
    }

    /// Claims an instance if no thread has it.
    fn claim_one(&self, number: u16) -> bool {
        let instance = self.instance(number);
        match instance.claim(State::Idle, State::Owned) {
            Ok(()) => true,
            Err(State::Owned | State::Lost | State::Idle) => false,
            Err(State::Served) => {
                let _nobody_serves = self.serving.lock();
                instance.claim(State::Idle, State::Owned).is_ok()
            }
            Err(State::Unused) => {
                // A fork finds it joined or unused.
                let _no_fork = self.pool.lock();
                let is_first = instance.claim(State::Unused, State::Owned).is_ok();
                if is_first {
                    instance.set_number(number);
                    self.joined.fetch_max(number, Ordering::AcqRel);
                }
                is_first
            }
        }
    }

    /// The instance of a group, whose lock the caller holds. Of one without a call nothing was
    /// written.
    pub(super) fn of_group(&self, group: usize) -> &Instance {
        #[expect(clippy::cast_possible_truncation, reason = "below 8")]
        let number = group as u16 + 1;
        let own = self.instance(number);
        if own.number() == 0 {
            own.set_state(State::Owned);
            own.set_number(number);
            // Nobody may call a group again: it keeps nothing of others.
            Class::all().for_each(|class| own.free_list(class).pass_by());
        }
        own
    }

    /// Makes the place of an instance usable, under the pool's lock: the source is asked by one
    /// thread at a time.
    fn commit_place(&self, number: u16) -> bool {
        assert!(number.wrapping_sub(1) < self.instances, "S1: an instance");
        let _alone = self.pool.lock();
        // SAFETY: S1: there is such a place.
        let place = unsafe { self.places.add(usize::from(number) - 1) };
        // SAFETY: S1: it lies in the region.
        unsafe { self.source.commit(place.cast(), size_of::<Instance>()) }
    }

    /// Takes units from the pool, which should be `zero` or need not.
    pub(super) fn take_units(&self, units: u32, align: usize, zero: bool) -> Option<Taken> {
        let mut pool = self.pool.lock();
        let taken = pool.take(&self.memory, &self.source, units, align, zero);
        self.note(&mut pool);
        let surplus = pool.surplus(&self.memory);
        drop(pool);
        self.purge(surplus);
        taken
    }

    /// Makes a large object longer in place, up to `units` units. Returns whether it could.
    pub(super) fn extend(&self, start: Span, units: u32) -> bool {
        let mut pool = self.pool.lock();
        let extended = pool.extend(&self.memory, &self.source, start, units);
        self.note(&mut pool);
        let surplus = pool.surplus(&self.memory);
        drop(pool);
        self.purge(surplus);
        extended
    }

    fn note(&self, pool: &mut Pool) {
        if pool.take_rise() {
            self.rose.store(true, Ordering::Relaxed);
        }
    }

    /// Tells the source if the units in use rose above the soft limit. The caller holds no lock,
    /// and has left no change unfinished.
    pub(super) fn tell(&self) {
        if self.rose.load(Ordering::Relaxed) && self.rose.swap(false, Ordering::Relaxed) {
            self.source.above();
        }
    }

    /// Gives units back to the pool, and memory that is due to the source: without the lock.
    pub(super) fn give_units(&self, start: Span, units: u32) {
        self.give(start, units, false);
    }

    /// As [`Common::give_units`], for units that are all `zero`, because their memory went back, or
    /// not.
    fn give(&self, start: Span, units: u32, zero: bool) {
        let now = self.source.now();
        let mut pool = self.pool.lock();
        let old = pool.give_back(&self.memory, start, units, zero, now);
        self.note_waiting(&pool, now);
        drop(pool);
        self.purge(old);
    }

    /// Lets threads that do not use the pool look later whether free memory is due.
    fn note_waiting(&self, pool: &Pool, now: u32) {
        if let Some(wait) = pool.waits() {
            self.look_at
                .store(now.wrapping_add(wait), Ordering::Relaxed);
        }
        self.waits.store(pool.waits().is_some(), Ordering::Relaxed);
    }

    /// Gives memory that is due to the source: called now and then by calls that need nothing of
    /// the pool. The caller has left no change unfinished.
    #[inline]
    pub(super) fn look(&self, own: &Instance) {
        if self.waits.load(Ordering::Relaxed) && own.counts_slow() {
            self.look_now();
        }
    }

    #[cold]
    fn look_now(&self) {
        let now = self.source.now();
        let left = self.look_at.load(Ordering::Relaxed).wrapping_sub(now);
        if (1..=LONGEST_WAIT).contains(&left) {
            return;
        }
        // Who has the lock looks itself, or the next one does.
        let Some(mut pool) = self.pool.try_lock() else {
            return;
        };
        let old = pool.old(&self.memory, now);
        self.note_waiting(&pool, now);
        drop(pool);
        self.purge(old);
    }

    /// Gives memory back to the source, without the lock.
    fn purge(&self, outgoing: Outgoing) {
        let mut gone = true;
        for (run, units) in outgoing.0.into_iter().flatten() {
            // A source that could not once is not asked again in this call.
            gone = gone && self.memory.purge(&self.source, run, units);
            let now = self.source.now();
            let mut pool = self.pool.lock();
            pool.settle(&self.memory, run, units, gone, now);
            pool.withdraw(&self.memory, &self.source);
        }
    }

    /// Makes a large object shorter.
    pub(super) fn shorten(&self, start: Span, units: u32) {
        let guard = self.pool.lock();
        let (rest, more) = Pool::shorten(&self.memory, start, units);
        drop(guard);
        self.give_units(rest, more);
    }

    /// Frees an object that is not a page-block of the caller's instance: a large one, or one of
    /// another instance.
    #[inline(never)]
    pub(super) fn free_elsewhere(
        &self,
        own: &Instance,
        unit: Span,
        block: Free,
    ) -> Result<(), Misuse> {
        if self.checks {
            return self.free_checked(block);
        }
        let (slot, owner) = (self.memory.slot(unit), self.memory.owner(unit));
        if slot == Slot::MIXED {
            // It became one while this free was looking at it.
            return self.free_mixed(own, unit, block);
        }
        // A page that is opened meanwhile has no owner yet: then this is no free of an object.
        if let Some(class) = slot.class().filter(|_| owner > 0) {
            self.send(own, class, owner, block);
            return Ok(());
        }
        let record = self.memory.record(unit);
        match record.kind() {
            Kind::Run => self.free_run(unit, record, &block),
            _ => Err(Misuse::NoObject),
        }
    }

    fn free_run(&self, run: Span, record: &Record, block: &Free) -> Result<(), Misuse> {
        if self.memory.offset_in(run, block.address()) != 0 {
            return Err(Misuse::NoObject);
        }
        let units = record.units.get();
        // What the program left untouched, it leaves again.
        let gone = units >= LEAST_SPARSE
            && self.pool.lock().gives_back()
            && self.memory.is_sparse(&self.source, run, units)
            && self.memory.purge(&self.source, run, units);
        self.give(run, units, gone);
        Ok(())
    }

    /// Frees any object in a heap that checks each free: into its page, whichever instance has
    /// it.
    pub(super) fn free_checked(&self, block: Free) -> Result<(), Misuse> {
        let _nobody_else = self.checking();
        // What others did before may have made it something else.
        let page = self.memory.around(block.address()).ok_or(Misuse::Foreign)?;
        let record = self.memory.record(page);
        match record.kind() {
            Kind::Page(class) => {
                self.check_free(class, page, record, &block)?;
                let owner = self.instance(self.memory.owner(page));
                self.put(owner, class, page, record, block);
                // Nobody else does it, and whoever takes the instance waits for this.
                if owner.state() == State::Idle {
                    self.trim(owner);
                }
                Ok(())
            }
            Kind::Run => self.free_run(page, record, &block),
            _ => Err(Misuse::NoObject),
        }
    }

    pub(super) fn send(&self, own: &Instance, class: Class, to: u16, block: Free) {
        let batch = own.batch(to);
        if batch.to() != to {
            self.deliver(batch);
        }
        if batch.add_any(to, block, class.shape().block_bytes) {
            self.deliver(batch);
        }
    }

    fn deliver(&self, batch: &Batch) {
        if batch.is_empty() {
            return;
        }
        let to = self.instance(batch.to());
        batch.deliver(to.inbox());
        self.serve(to);
    }

    /// Delivers all remote frees in an instance's batches.
    pub(super) fn deliver_all(&self, own: &Instance) {
        for batch in own.batches() {
            self.deliver(batch);
        }
    }

    /// If no thread has an instance, does the remote frees that arrived there, and gives back the
    /// memory that it keeps without objects.
    ///
    /// A thread calls this after it delivered, and after it left an instance. One of two such
    /// threads sees what the other did, so nothing stays in the inbox of an idle instance.
    fn serve(&self, instance: &Instance) {
        while instance.state() == State::Idle && !instance.inbox().is_empty() {
            if !self.serve_once(instance) {
                return;
            }
        }
    }

    /// As [`Common::serve`], at least once if no thread has the instance.
    pub(super) fn tidy(&self, instance: &Instance) {
        if instance.state() == State::Idle && self.serve_once(instance) {
            self.serve(instance);
        }
    }

    /// Serves an instance once, under the lock that joining threads wait for. Returns whether it
    /// was idle.
    fn serve_once(&self, instance: &Instance) -> bool {
        let _one_at_a_time = self.serving.lock();
        let is_idle = instance.claim(State::Idle, State::Served).is_ok();
        if is_idle {
            let _nobody_else = self.checking();
            self.trim(instance);
            instance.set_state(State::Idle);
        }
        is_idle
    }

    /// Gives back what the instances of groups keep without objects.
    pub(super) fn trim_groups(&self) {
        for (number, group) in (1..).zip(&self.groups) {
            let _guard = group.lock();
            let own = self.instance(number);
            // Of a group without a call nothing was written.
            if own.number() != 0 {
                self.empty_free_lists(own);
                self.deliver_all(own);
                let _nobody_else = self.checking();
                self.trim(own);
            }
        }
    }

    /// Leaves an instance: its remote frees are delivered, and memory that it does not need is
    /// given back.
    pub(super) fn leave(&self, own: &Instance) {
        self.empty_free_lists(own);
        // Who takes the instance next asked nothing about moves.
        Class::all().for_each(|class| own.free_list(class).pass_by_no_more());
        self.deliver_all(own);
        let nobody_else = self.checking();
        self.trim(own);
        own.set_state(State::Idle);
        drop(nobody_else);
        self.serve(own);
    }

    /// Whether a page-block can be freed: it begins where one does, was used, and is not free in
    /// its page.
    fn check_free(
        &self,
        class: Class,
        page: Span,
        record: &Record,
        block: &Free,
    ) -> Result<(), Misuse> {
        let bytes = class.block_bytes();
        let offset = self.memory.offset_in(page, block.address());
        if offset % bytes != 0 || offset / bytes >= usize::from(record.opened.get()) {
            return Err(Misuse::NoObject);
        }
        let blocks = usize::from(class.shape().blocks);
        if record
            .free
            .addresses(blocks)
            .any(|free| free == block.address())
        {
            return Err(Misuse::Double(bytes));
        }
        Ok(())
    }

    /// The bytes of a live object, all of which the program may use; `None` if no object begins
    /// there, as far as records show.
    pub(super) fn usable_bytes(&self, object: *mut u8) -> Option<usize> {
        let record = self.memory.record_around(object)?;
        object_bytes(&self.memory, record, object)
    }
}
