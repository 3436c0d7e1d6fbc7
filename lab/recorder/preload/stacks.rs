//! The file of the stacks of this process: each stack once, found by a hash.
//!
//! # Invariants
//! - A slot belongs to the hash that the first exchange puts there, for ever. So its number is the
//!   stack's, before its words are written, and whoever writes them.
//! - Of the words those below `ready` lie in the file, and the slots and modules all do, so that
//!   writing them cannot fail.

use core::ffi::CStr;
use core::sync::atomic::{AtomicU64, Ordering};

use surefit_interpose::system;

use crate::log::MOST_FRAMES;
use crate::log::stacks::{
    ADDRESS_BITS, BY_PLATFORM, BY_POINTERS, COMPARED, Header, MAGIC, MODULES, MODULES_AT, Module,
    NAME_BYTES, SLOTS, SLOTS_AT, Slot, WORDS_AT,
};
use crate::thread::unrecorded;
use crate::unwind::{self, Addresses, Callers};

/// Words by which the file grows.
const GROWTH: u64 = 1 << 17;

/// Slots that are looked at for one stack.
const PROBES: usize = 64;

/// What is asked of the stacks.
#[derive(Clone, Copy)]
pub(crate) struct Wanted {
    frames: usize,
    way: Way,
}

/// How callers are found.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// By our own reading of the tables, and by the platform's unwinder what that does not know.
    Tables,
    /// By frame pointers.
    Pointers,
    /// By the platform's unwinder.
    Platform,
    /// By tables and by the platform's unwinder; the header says how often they differ.
    Compared,
}

impl Wanted {
    /// What the environment says: frames, and a letter for the way.
    pub(crate) fn parse(text: &CStr) -> Option<Self> {
        let text = text.to_str().ok()?;
        let number = text.trim_end_matches(|letter: char| letter.is_ascii_lowercase());
        Some(Self {
            frames: number.parse::<usize>().ok()?.clamp(1, MOST_FRAMES),
            way: match &text[number.len()..] {
                BY_POINTERS => Way::Pointers,
                BY_PLATFORM => Way::Platform,
                COMPARED => Way::Compared,
                _ => Way::Tables,
            },
        })
    }
}

/// The file of this process, mapped.
#[derive(Clone, Copy)]
pub(crate) struct Stacks {
    at: *mut u8,
    wanted: Wanted,
    /// Words that there are addresses for.
    words: u64,
}

impl Stacks {
    /// A file of zeros that is mapped at an address, of which all before the words lies on the
    /// disk.
    ///
    /// # Safety
    /// What is before the words and so many words are mapped there as long as the process lives.
    pub(crate) unsafe fn new(at: *mut u8, wanted: Wanted, words: u64) -> Self {
        // A forked child remembers numbers of its parent's file.
        unwind::begin_generation();
        let stacks = Self { at, wanted, words };
        stacks.header().magic.store(MAGIC, Ordering::Release);
        stacks
    }

    /// Whether there are any; zeros are none.
    pub(crate) fn are_wanted(self) -> bool {
        !self.at.is_null()
    }

    /// The number of the stack that calls; 0 if there is no room for it. `reserve` makes room in
    /// the file for words from the first to the second number; whether it did.
    #[inline]
    pub(crate) fn current(self, reserve: impl Fn(u64, u64) -> bool) -> u32 {
        let most = self.wanted.frames;
        match self.wanted.way {
            Way::Tables => {
                let number = |callers: Callers<'_>| self.number(callers, &reserve);
                unwind::numbered(most, number)
                    .unwrap_or_else(|| self.number_of(&unwind::by_platform(most), &reserve))
            }
            Way::Pointers => self.number_of(&unwind::by_pointers(most), &reserve),
            Way::Platform => self.number_of(&unwind::by_platform(most), &reserve),
            Way::Compared => self.compared(&reserve),
        }
    }

    /// Finds the callers twice.
    #[cold]
    fn compared(self, reserve: &impl Fn(u64, u64) -> bool) -> u32 {
        let found = unwind::by_platform(self.wanted.frames);
        let header = self.header();
        let mut count = &header.by_platform;
        // Zero is no number: so it is asked anew each time, even if nothing seems to have changed.
        let _ = unwind::numbered(self.wanted.frames, |callers: Callers<'_>| {
            let is_same = callers.eq(found.as_slice().iter().copied());
            count = if is_same {
                &header.alike
            } else {
                &header.different
            };
            0
        });
        count.fetch_add(1, Ordering::Relaxed);
        self.number_of(&found, reserve)
    }

    fn number_of(self, found: &Addresses, reserve: &impl Fn(u64, u64) -> bool) -> u32 {
        self.number(found.as_slice().iter().copied(), reserve)
    }

    /// The number of a stack.
    #[inline]
    fn number(
        self,
        callers: impl Iterator<Item = usize> + Clone,
        reserve: &impl Fn(u64, u64) -> bool,
    ) -> u32 {
        let hash = hash(unwind::generation(), callers.clone());
        for probe in 0..PROBES {
            let number = (hash as usize >> 20).wrapping_add(probe) % SLOTS;
            let slot = self.slot(number);
            let mut held = slot.hash.load(Ordering::Relaxed);
            if held == 0 {
                let new = (hash, Ordering::Relaxed, Ordering::Relaxed);
                match slot.hash.compare_exchange(0, new.0, new.1, new.2) {
                    Ok(_) => {
                        unrecorded(|| self.fill(slot, callers.clone(), reserve));
                        held = hash;
                    }
                    Err(other) => held = other,
                }
            }
            if held == hash {
                return number as u32 + 1;
            }
        }
        self.header().lost.fetch_add(1, Ordering::Relaxed);
        0
    }

    /// Writes the places of a new stack.
    #[cold]
    #[inline(never)]
    fn fill(
        self,
        slot: &Slot,
        callers: impl Iterator<Item = usize> + Clone,
        reserve: &impl Fn(u64, u64) -> bool,
    ) {
        let count = callers.clone().count() as u64;
        let Some(first) = self.take(count, reserve) else {
            self.header().lost.fetch_add(1, Ordering::Relaxed);
            return;
        };
        for (word, address) in (first..).zip(callers) {
            let module = self.module_of(address).unwrap_or((0, 0));
            let place = (address as u64).wrapping_sub(module.1) & ((1 << ADDRESS_BITS) - 1);
            let place = module.0 << ADDRESS_BITS | place;
            self.word(word).store(place, Ordering::Relaxed);
        }
        slot.place.store(first << 8 | count, Ordering::Release);
    }

    /// Takes so many words.
    fn take(self, count: u64, reserve: &impl Fn(u64, u64) -> bool) -> Option<u64> {
        let header = self.header();
        let first = header.words.fetch_add(count, Ordering::Relaxed);
        let end = first + count;
        let ready = header.ready.load(Ordering::Acquire);
        if end > ready {
            let goal = (end + GROWTH).min(self.words);
            if end > goal || !reserve(ready, goal) {
                return None;
            }
            header.ready.fetch_max(goal, Ordering::AcqRel);
        }
        Some(first)
    }

    /// The number of the module that holds an address, plus one, and its bias.
    fn module_of(self, address: usize) -> Option<(u64, u64)> {
        let loaded = system::loaded_at(address)?;
        // SAFETY: the linker's record of a library that is loaded: code of it called us.
        let map = unsafe { &*loaded.map };
        // SAFETY: a text that ends with zero, or null.
        let name = unsafe { map.name.as_ref().map(|name| CStr::from_ptr(name)) };
        let name = name.map_or(&[][..], CStr::to_bytes);
        let bias = map.bias as u64;
        let number = self.module(bias, &name[..name.len().min(NAME_BYTES - 1)])?;
        Some((number as u64 + 1, bias))
    }

    /// The number of a module; a new one gets the next.
    fn module(self, bias: u64, name: &[u8]) -> Option<usize> {
        (0..MODULES).find(|number| {
            // SAFETY: below MODULES, so in the mapping and the file.
            let module = unsafe { &*self.at.add(MODULES_AT).cast::<Module>().add(*number) };
            let first = module
                .state
                .compare_exchange(0, 1, Ordering::AcqRel, Ordering::Acquire);
            match first {
                Ok(_) => {
                    write_name(module, name);
                    module.bias.store(bias, Ordering::Relaxed);
                    module.state.store(2, Ordering::Release);
                    true
                }
                // Another thread writes one: this one may get a second number.
                Err(1) => false,
                Err(_) => module.bias.load(Ordering::Relaxed) == bias && has_name(module, name),
            }
        })
    }

    fn header(&self) -> &Header {
        // SAFETY: the first bytes of the mapping.
        unsafe { &*self.at.cast() }
    }

    fn slot(&self, number: usize) -> &Slot {
        // SAFETY: below SLOTS, so in the mapping and the file.
        unsafe { &*self.at.add(SLOTS_AT).cast::<Slot>().add(number) }
    }

    fn word(&self, number: u64) -> &AtomicU64 {
        // SAFETY: below `ready`, so in the mapping and the file.
        unsafe {
            &*self
                .at
                .add(WORDS_AT)
                .cast::<AtomicU64>()
                .add(number as usize)
        }
    }
}

/// Writes a module's name. The program has none for the linker: the system knows its file.
fn write_name(module: &Module, name: &[u8]) {
    let mut own = [0; NAME_BYTES - 1];
    let name = if name.is_empty() {
        let link = c"/proc/self/exe".as_ptr();
        // SAFETY: a text that ends with zero, and a place of this length.
        let bytes = unsafe { system::readlink(link, own.as_mut_ptr().cast(), own.len()) };
        &own[..usize::try_from(bytes).unwrap_or(0)]
    } else {
        name
    };
    for (to, byte) in module.name.iter().zip(name) {
        to.store(*byte, Ordering::Relaxed);
    }
}

/// Whether a module has this name; there is one program only.
fn has_name(module: &Module, name: &[u8]) -> bool {
    let written = module.name.iter().map(|byte| byte.load(Ordering::Relaxed));
    let name = name.iter().copied().chain([0]);
    name.clone().count() == 1 || written.take(name.clone().count()).eq(name)
}

/// A hash of the callers, and of how often something was unloaded: what is loaded later may have
/// the same addresses. Never zero.
#[inline]
fn hash(generation: u32, callers: impl Iterator<Item = usize>) -> u64 {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut hash = FACTOR ^ u64::from(generation);
    for address in callers {
        hash = (hash ^ address as u64).wrapping_mul(FACTOR);
        hash ^= hash >> 29;
    }
    hash | 1
}
