//! The entry of a shared object: where it is, who holds it there, and whether it is in motion or
//! freed.
//!
//! Threads that read, write, move and free an object meet in one word of 32 bits. A pin is one
//! addition to it and never waits. A move ends with one compare-exchange, which fails if any pin is
//! held at that instant.
//!
//! ```text
//! state        | pins 31..16 | group 15..4 | FREED 3 | WRITER 2 | MOVING 1 | side 0 |
//! location[0]  block, in units of 8 bytes           location[side] is where the object is
//! location[1]  block, in units of 8 bytes           the other one: a move's target, or a link
//!
//!                        begin_move: only if no pin, WRITER, FREED
//!                     ┌─────────────────────────────────────────────┐
//!   construction      │        commit: side flips, only if no pin   ▼
//!  ─────────────▶  resting ◀─────────────────────────────────────  MOVING
//!                     │    ◀───────────── cancel_move ────────────  │
//!                     └───────────┬─────────────────────────────────┘
//!                                 │ mark_freed
//!                                 ▼
//!      claim        FREED, held by pins or by a move
//!  dead ◀─────────  whose unpin, cancel_move or mark_freed leaves no pin, WRITER or MOVING
//!   │
//!   └─ deferred list ─▶ drained under the group's lock ─▶ free list ─▶ construction
//! ```
//! [`Entry::begin_construction`] sets WRITER until the object is written. FREED and WRITER mean
//! *dead*: the entry was claimed, is on a free list, or was never used. Pins of stale names may
//! come and go on a dead entry.
//!
//! # Invariants
//! - E1 `location[side]` is the object's block from activation until the block is given back.
//!   `side` changes only while there is no pin. So the location that a pin returns stays the
//!   object's until the unpin.
//! - E2 `location[1 - side]` has at most one owner: the holder of the group's lock while MOVING is
//!   set, the claimant once the entry is dead. That is why MOVING delays a claim.
//! - E3 MOVING is set and cleared only under the group's lock, and set only if there is no pin.
//! - E4 WRITER without FREED belongs to the constructor of the object.
//! - E5 Every FREED object is claimed exactly once. The thread that makes the word *claimable*
//!   (FREED, no pin, no WRITER, no MOVING) tries one compare-exchange. If that fails, the word has
//!   changed since. Either it is not claimable now: then the unpin, or the end of the move, that
//!   makes it so tries. Or it is claimable again: then the thread that made it so tries.
//! - E6 There are at most [`PIN_LIMIT`] pins, plus one per thread inside a pin that is being
//!   refused. So nothing carries out of the word below 2¹⁵ threads.
//! - E7 All changes of the word are read-modify-writes, so each continues the release sequences of
//!   those before it. The plain stores of construction and of `deactivate` are for heaps where no
//!   other thread can name the entry at that time.
//!
//! # Bounds
//! Every method executes a constant number of instructions that access the entry alone. No method
//! waits. An entry takes twelve bytes.
//!
//! # Departures
//! In the papers an entry has one word, the location, and readers race with moves. Here it has two
//! locations, and a move is a change of `side`.
//!
//! # Source
//! The word is this project's. The group's lock and the steps of a move are those of concurrent,
//! incremental Compact-fit (2009).
#![deny(unsafe_code)]

use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use super::sync::AtomicU32;

const SIDE: u32 = 1;
const MOVING: u32 = 1 << 1;
const WRITER: u32 = 1 << 2;
const FREED: u32 = 1 << 3;
const GROUP_SHIFT: u32 = 4;
const GROUP: u32 = 0xFFF0;
const PIN: u32 = 1 << 16;
/// The flags of a dead entry.
const DEAD: u32 = FREED | WRITER;

const _: () = assert!(
    SIDE | MOVING | WRITER | FREED | GROUP == PIN - 1,
    "the fields fill the lower half"
);

/// The most pins of one object at a time: half of what the field holds, so that refused pins cannot
/// overflow it (E6).
pub(crate) const PIN_LIMIT: u32 = 0x7FFF;
/// The location of an object whose page-block is gone.
pub(crate) const NO_BLOCK: u32 = u32::MAX;
/// The number of groups that the field can name.
pub(crate) const GROUPS: u32 = (GROUP >> GROUP_SHIFT) + 1;

/// One value of an entry's word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct State(u32);

impl State {
    /// The number of pins, including those about to be undone.
    #[inline]
    pub(crate) fn pins(self) -> u32 {
        self.0 >> PIN.trailing_zeros()
    }

    /// The group whose lock guards the object's moves and its block.
    #[inline]
    pub(crate) fn group(self) -> u32 {
        (self.0 & GROUP) >> GROUP_SHIFT
    }

    /// Which of the two locations is the object's: 0 or 1.
    #[inline]
    pub(crate) fn side(self) -> usize {
        (self.0 & SIDE) as usize
    }

    /// Whether a move was in flight.
    #[inline]
    pub(crate) fn is_moving(self) -> bool {
        self.0 & MOVING != 0
    }

    /// Whether the object was under construction, or the entry was dead.
    #[inline]
    pub(crate) fn is_writer(self) -> bool {
        self.0 & WRITER != 0
    }

    /// Whether the object was freed, or the entry was dead.
    #[inline]
    pub(crate) fn is_freed(self) -> bool {
        self.0 & FREED != 0
    }

    /// Whether there is no object, not even one that a pin or a move keeps from being claimed.
    #[inline]
    pub(crate) fn is_dead(self) -> bool {
        self.0 & !(GROUP | SIDE) == DEAD
    }

    /// Whether the object is freed, and nothing keeps it from being claimed (E5).
    #[inline]
    pub(crate) fn is_claimable(self) -> bool {
        self.0 & !(GROUP | SIDE) == FREED
    }
}

/// Whether an unpin, or the end of a move, claimed a freed object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use = "a claimed object's entry must be deferred, or its block given back"]
pub(crate) enum Unpinned {
    /// Nothing to do: the object lives, or another thread has the duty.
    Held,
    /// The caller claimed the dead object: it must push the entry on the deferred list of the
    /// state's group, or, under that group's lock, give the block and the entry back.
    Claimed(State),
}

/// Who gives the memory of a freed object back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use = "the block of an object freed now must be given back"]
pub(crate) enum Freed {
    /// The caller: it has claimed the object, as with [`Unpinned::Claimed`].
    Now(State),
    /// The thread that ends the move. The caller may take the group's lock and cancel the move, or
    /// leave that to the group's next operation. [`Entry::cancel_move`] says who has claimed the
    /// object.
    Moving(State),
    /// The thread of the last unpin.
    Deferred,
}

/// A pin that was refused, because there are [`PIN_LIMIT`] already, and undone. Like any unpin,
/// undoing it may have claimed a freed object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct NotPinned(pub(crate) Unpinned);

/// An object's entry.
#[repr(C)]
pub(crate) struct Entry {
    state: AtomicU32,
    location: [AtomicU32; 2],
}

const _: () = assert!(size_of::<Entry>() == 3 * size_of::<AtomicU32>());

/// The life of an entry: from dead to live and back.
impl Entry {
    /// A dead entry.
    pub(crate) fn new() -> Self {
        Self {
            state: AtomicU32::new(DEAD),
            location: [AtomicU32::new(0), AtomicU32::new(0)],
        }
    }

    /// The word now. Relaxed: it may change at once, except the parts that the caller's pin, lock
    /// or claim keeps.
    #[inline]
    pub(crate) fn state(&self) -> State {
        State(self.state.load(Relaxed))
    }

    /// Where the object is, for a state that the caller's pin, lock or claim keeps.
    ///
    /// Relaxed: the read that gave the state acquired the `commit` or activation that named this
    /// side.
    #[inline]
    pub(crate) fn location(&self, state: State) -> u32 {
        self.location[state.side()].load(Relaxed)
    }

    /// Makes an entry dead after the caller freed its object under the group's lock, in a heap
    /// whose names end with their objects. The entry is not in motion. Its only pins are those of
    /// forgotten guards: a guard borrows the handle, which the free consumes. A claimed entry is
    /// dead already.
    #[inline]
    pub(crate) fn deactivate(&self) {
        self.deactivate_in(self.state());
    }

    /// As `deactivate`, for an entry whose state the caller has read under the group's lock.
    #[inline]
    pub(crate) fn deactivate_in(&self, state: State) {
        debug_assert!(!state.is_moving(), "E3: {state:?}");
        // Relaxed: its next activation comes after this under a lock.
        self.state.store(state.0 & (GROUP | SIDE) | DEAD, Relaxed);
    }

    /// Frees the object. Called once per object. Its bytes stay until they are claimed.
    #[inline]
    pub(crate) fn mark_freed(&self) -> Freed {
        // Release: what the caller did to the object, to the claimant.
        let state = State(self.state.fetch_or(FREED, Release) | FREED);
        if state.pins() != 0 || state.is_writer() {
            return Freed::Deferred;
        }
        if state.is_moving() {
            return Freed::Moving(state);
        }
        match self.claim(state) {
            Unpinned::Claimed(state) => Freed::Now(state),
            Unpinned::Held => Freed::Deferred,
        }
    }

    /// Frees an object that the caller has pinned; the last unpin claims it. Returns false if it
    /// was freed before.
    #[inline]
    pub(crate) fn free_pinned(&self) -> bool {
        // Release: as in `mark_freed`.
        self.state.fetch_or(FREED, Release) & FREED == 0
    }

    /// The caller made the word `state`. If that is claimable, the call tries once to claim the
    /// object (E5).
    #[inline]
    fn claim(&self, state: State) -> Unpinned {
        if !state.is_claimable() {
            return Unpinned::Held;
        }
        let dead = state.0 | DEAD;
        // Acquire: every earlier `unpin` and `cancel_move`, so that the block is not reused before
        // its readers are done, and the link is written after the target that a move staged (E2).
        match self.state.compare_exchange(state.0, dead, Acquire, Relaxed) {
            Ok(_) => Unpinned::Claimed(State(dead)),
            Err(_) => Unpinned::Held,
        }
    }
}

/// Pins.
impl Entry {
    /// Pins the object, and returns where it is. Does not disturb a move. A caller that will write,
    /// or let others write through a shared reference, must first settle a move that the returned
    /// state shows, under the group's lock.
    ///
    /// # Errors
    /// There are [`PIN_LIMIT`] pins already.
    #[inline]
    pub(crate) fn pin(&self) -> Result<(State, u32), NotPinned> {
        // Acquire: the copy and the target of the last `commit`; the copying that a `cancel_move`
        // ended (a writer must come after it); the object that `end_construction` claimed.
        let state = State(self.state.fetch_add(PIN, Acquire));
        if state.pins() >= PIN_LIMIT {
            return Err(self.refuse());
        }
        Ok((state, self.location(state)))
    }

    #[cold]
    fn refuse(&self) -> NotPinned {
        NotPinned(self.unpin())
    }

    /// Unpins the object. The caller has no access to it any more.
    #[inline]
    pub(crate) fn unpin(&self) -> Unpinned {
        // Release: the reads and writes under the pin, to `begin_move` (it copies what was
        // written), to `commit` (it gives back the block that was read), and to `claim`.
        let before = self.state.fetch_sub(PIN, Release);
        debug_assert!(before >= PIN, "E6: {:?}", State(before));
        self.claim(State(before - PIN))
    }
}

/// Moves, all under the group's lock.
impl Entry {
    /// Begins to move the object, unless it is pinned, freed or in motion.
    #[inline]
    pub(crate) fn begin_move(&self) -> bool {
        let resting = self.state.load(Relaxed) & (GROUP | SIDE);
        // Acquire: what was written under pins, to be copied.
        self.state
            .compare_exchange(resting, resting | MOVING, Acquire, Relaxed)
            .is_ok()
    }

    /// Stores where the move goes. The location belongs to the holder of the lock while MOVING is
    /// set (E2); nobody reads it before the commit.
    #[inline]
    pub(crate) fn stage(&self, target: u32) {
        let state = self.state();
        debug_assert!(state.is_moving(), "E2: {state:?}");
        self.location[1 - state.side()].store(target, Relaxed);
    }

    /// Ends a move whose bytes are all copied. From then on the object is at the target, and its
    /// old block may be reused. Returns false if there is a pin at this instant, or the object is
    /// freed: then the move must be cancelled.
    #[inline]
    pub(crate) fn commit(&self) -> bool {
        let moving = self.state.load(Relaxed) & (GROUP | SIDE) | MOVING;
        // Acquire: the `unpin` of every reader of the old block. Release: the copy and the target,
        // to every `pin`.
        self.state
            .compare_exchange(moving, (moving ^ SIDE) & !MOVING, AcqRel, Relaxed)
            .is_ok()
    }

    /// Ends a move without effect. If only the move kept a freed object from being claimed, the
    /// caller claims it.
    #[inline]
    pub(crate) fn cancel_move(&self) -> Unpinned {
        // Release: the copying, which read the object, to the `pin` of a later writer; and the
        // staged target, to the claimant that stores a link in its place (E2).
        let before = self.state.fetch_and(!MOVING, Release);
        debug_assert!(before & MOVING != 0, "E3: {:?}", State(before));
        self.claim(State(before & !MOVING))
    }
}

/// Construction: the bytes of a new object are written after the group's lock is released, and
/// nothing may move the object before.
impl Entry {
    /// Makes the entry that of an object of `group` under construction, in the block at `location`.
    /// Nobody moves it; only stale names pin it, and they undo that. The entry is dead before; the
    /// caller holds the lock under which it took the block.
    #[inline]
    pub(crate) fn begin_construction(&self, group: u32, location: u32) {
        let lower = self.state.load(Relaxed) & (PIN - 1);
        debug_assert!(
            group < GROUPS && lower & (DEAD | MOVING) == DEAD,
            "E1: {lower:#x}"
        );
        self.location[0].store(location, Relaxed);
        // The lower half of a dead entry belongs to the caller alone, so one addition replaces it
        // without a carry. WRITER without a pin means: under construction.
        let built = group << GROUP_SHIFT | WRITER;
        self.state.fetch_add(built.wrapping_sub(lower), Relaxed);
    }

    /// Ends the construction: the object's bytes are written, and it may be pinned and moved.
    #[inline]
    pub(crate) fn end_construction(&self) {
        // Release: the object, to `begin_move` and to pins.
        self.state.fetch_and(!WRITER, Release);
    }

    /// As `begin_construction`, if only the caller can name the entry.
    #[inline]
    pub(crate) fn begin_construction_alone(&self, group: u32, location: u32) {
        debug_assert!(
            group < GROUPS && self.state().is_dead(),
            "E1: {:?}",
            self.state()
        );
        self.location[0].store(location, Relaxed);
        // Relaxed: a search for something to move finds it under the same lock.
        self.state.store(group << GROUP_SHIFT | WRITER, Relaxed);
    }

    /// As `end_construction`, if only the caller can name the entry. A thread that finds it in a
    /// search for a victim changes nothing.
    #[inline]
    pub(crate) fn end_construction_alone(&self) {
        let built = self.state.load(Relaxed) & !WRITER;
        // Release: the object, to `begin_move` and to pins.
        self.state.store(built, Release);
    }
}

/// The end of an object in heaps whose names may be stale.
impl Entry {
    /// As `deactivate`, for an entry that stale names may pin and unpin at this moment. A thread
    /// that tried to claim it for them has found it dead already, or finds it dead now.
    pub(crate) fn deactivate_keeping_pins(&self) {
        // Relaxed: its next activation comes after this under a lock.
        self.state.fetch_or(DEAD, Relaxed);
    }
}

/// Drained objects whose page-block has been given back already.
impl Entry {
    /// Whether the object is freed and claimed, so that the holder of the group's lock may give its
    /// page-block back.
    pub(crate) fn is_dead(&self) -> bool {
        // Acquire: the `unpin` of every reader of the block, whose releases the claim continues
        // (E7), so that its next object is written after those reads.
        State(self.state.load(Acquire)).is_dead()
    }

    /// Records that the page-block of a dead object was given back before its entry was drained.
    /// The caller holds the group's lock.
    pub(crate) fn forget_block(&self) {
        let state = self.state();
        debug_assert!(state.is_freed() && state.is_writer(), "E1: {state:?}");
        self.location[state.side()].store(NO_BLOCK, Relaxed);
    }
}

/// Links. A free list uses `location[0]` of dead entries. The deferred list and the stack of parked
/// pairs use the location that is not the object's (E2), because the drain, or the next object,
/// still needs the block. All links are published by their lists.
impl Entry {
    /// The next entry of the free list.
    #[inline]
    pub(crate) fn next(&self) -> u32 {
        self.location[0].load(Relaxed)
    }

    /// Links a dead entry into a free list. Its block has been given back.
    #[inline]
    pub(crate) fn set_next(&self, next: u32) {
        debug_assert!(self.state().0 & DEAD == DEAD, "E1: {:?}", self.state());
        self.location[0].store(next, Relaxed);
    }

    /// The next entry of the deferred list.
    #[inline]
    pub(crate) fn deferred_next(&self) -> u32 {
        self.location[1 - self.state().side()].load(Relaxed)
    }

    /// Links an entry that the caller claimed into the deferred list.
    #[inline]
    pub(crate) fn set_deferred_next(&self, next: u32) {
        let state = self.state();
        debug_assert!(state.0 & DEAD == DEAD, "E2: {state:?}");
        self.location[1 - state.side()].store(next, Relaxed);
    }

    /// The next entry of the stack of parked pairs, and the block of this one.
    #[inline]
    pub(crate) fn parked(&self) -> (u32, u32) {
        let side = self.state().side();
        let next = self.location[1 - side].load(Relaxed);
        (next, self.location[side].load(Relaxed))
    }

    /// Links an entry that is in `state`, and not in motion, into the stack of parked pairs. The
    /// caller holds the group's lock, and has freed the object.
    #[inline]
    pub(crate) fn set_parked_next(&self, state: State, next: u32) {
        debug_assert!(!state.is_moving(), "E2: {state:?}");
        self.location[1 - state.side()].store(next, Relaxed);
    }
}
