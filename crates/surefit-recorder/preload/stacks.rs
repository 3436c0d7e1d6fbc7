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

use crate::log::stacks::{
    ADDRESS_BITS, Header, MAGIC, MODULES, MODULES_AT, Module, NAME_BYTES, SLOTS, SLOTS_AT, Slot,
    WORDS, WORDS_AT,
};
use crate::unwind;

/// Words by which the file grows.
const GROWTH: u64 = 1 << 17;

/// Slots that are looked at for one stack.
const PROBES: usize = 64;

/// What is asked of the stacks.
#[derive(Clone, Copy)]
pub(crate) struct Wanted {
    frames: usize,
    by_frame_pointers: bool,
}

impl Wanted {
    /// What the environment says: frames, and `f` for frame pointers.
    pub(crate) fn parse(text: &CStr) -> Option<Self> {
        let text = text.to_str().ok()?;
        let number = text.trim_end_matches('f');
        Some(Self {
            // Those of this library come on top.
            frames: number.parse::<usize>().ok()? + OWN_FRAMES,
            by_frame_pointers: number.len() < text.len(),
        })
    }
}

/// Something in this library.
static OWN: u8 = 0;

/// Frames of this library between the program and the unwinder, at most.
const OWN_FRAMES: usize = 5;

/// Bytes of the file that are mapped.
pub(crate) const MAPPED_BYTES: usize = WORDS_AT + WORDS * 8;

/// The file of this process, mapped.
#[derive(Clone, Copy)]
pub(crate) struct Stacks {
    at: *mut u8,
    wanted: Wanted,
}

impl Stacks {
    /// A file of zeros that is mapped at an address, of which all before the words lies on the disk.
    ///
    /// # Safety
    /// [`MAPPED_BYTES`] are mapped there as long as the process lives.
    pub(crate) unsafe fn new(at: *mut u8, wanted: Wanted) -> Self {
        let stacks = Self { at, wanted };
        stacks.header().magic.store(MAGIC, Ordering::Release);
        stacks
    }

    /// Whether there are any; zeros are none.
    pub(crate) fn are_wanted(self) -> bool {
        !self.at.is_null()
    }

    /// The number of the stack that calls; 0 if there is no room for it. `reserve` makes room in the
    /// file for words from the first to the second number; whether it did.
    #[inline]
    pub(crate) fn current(self, reserve: impl FnOnce(u64, u64) -> bool) -> u32 {
        let addresses = unwind::addresses(self.wanted.frames, self.wanted.by_frame_pointers);
        let addresses = addresses.as_slice();
        let hash = hash(addresses);
        for probe in 0..PROBES {
            let number = (hash as usize >> 20).wrapping_add(probe) % SLOTS;
            let slot = self.slot(number);
            match slot.hash.load(Ordering::Relaxed) {
                0 => {
                    let won =
                        slot.hash
                            .compare_exchange(0, hash, Ordering::Relaxed, Ordering::Relaxed);
                    match won {
                        Ok(_) => {
                            self.fill(slot, addresses, reserve);
                            return number as u32 + 1;
                        }
                        Err(other) if other == hash => return number as u32 + 1,
                        Err(_) => {}
                    }
                }
                same if same == hash => return number as u32 + 1,
                _ => {}
            }
        }
        self.header().lost.fetch_add(1, Ordering::Relaxed);
        0
    }

    /// Writes the places of a new stack.
    #[cold]
    #[inline(never)]
    fn fill(self, slot: &Slot, addresses: &[usize], reserve: impl FnOnce(u64, u64) -> bool) {
        let Some(first) = self.take(addresses.len() as u64, reserve) else {
            self.header().lost.fetch_add(1, Ordering::Relaxed);
            return;
        };
        let own = system::link_map_of((&raw const OWN).addr());
        let mut written = 0;
        for &address in addresses {
            // The innermost are ours.
            if written == 0 && system::link_map_of(address) == own {
                continue;
            }
            if written == (self.wanted.frames - OWN_FRAMES) as u64 {
                break;
            }
            let module = self.module_of(address).unwrap_or((0, 0));
            let place = (address as u64).wrapping_sub(module.1) & ((1 << ADDRESS_BITS) - 1);
            let word = self.word(first + written);
            word.store(module.0 << ADDRESS_BITS | place, Ordering::Relaxed);
            written += 1;
        }
        slot.place.store(first << 8 | written, Ordering::Release);
    }

    /// Takes so many words.
    fn take(self, count: u64, reserve: impl FnOnce(u64, u64) -> bool) -> Option<u64> {
        let header = self.header();
        let first = header.words.fetch_add(count, Ordering::Relaxed);
        let end = first + count;
        let ready = header.ready.load(Ordering::Acquire);
        if end > ready {
            let goal = (end + GROWTH).min(WORDS as u64);
            if end > goal || !reserve(ready, goal) {
                return None;
            }
            header.ready.fetch_max(goal, Ordering::AcqRel);
        }
        Some(first)
    }

    /// The number of the module that holds an address, plus one, and its bias.
    fn module_of(self, address: usize) -> Option<(u64, u64)> {
        let map = system::link_map_of(address);
        if map.is_null() {
            return None;
        }
        // SAFETY: the linker's record of a library that is loaded: code of it called us.
        let map = unsafe { &*map };
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

/// Never zero.
#[inline]
fn hash(addresses: &[usize]) -> u64 {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut hash = FACTOR;
    for &address in addresses {
        hash = (hash ^ address as u64).wrapping_mul(FACTOR);
        hash ^= hash >> 29;
    }
    hash | 1
}
