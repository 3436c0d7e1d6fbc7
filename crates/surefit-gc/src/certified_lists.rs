//! The certificate for a collected heap over free lists: only for systems that find every chunk of
//! a certain length, and merge free neighbours at once.
//!
//! It rests on the bound M + N·f of `surefit-freelist`: N chunks of M granules, live or not freed
//! yet, where f granules are found for the largest request. So it is far above what ordinary
//! programs need.
//!
//! A chunk may keep a granule that was left over, and so have two words more than its request. The
//! program does not know which do: so the schedule, and all amounts that the certificate tells,
//! have a granule more for every object than was declared. M + N·f has room for these granules.
#![deny(unsafe_code)]

use surefit_freelist::{Heap, Index, When};

use crate::chunks::{GRANULE, HEADER, chunk_bytes, with_rests};
use crate::edges::Edges;
use crate::free_list::{FreeList, MARKED_BYTES};
use crate::schedule::certificate::{self, Needs};
use crate::schedule::{Amount, CollectedCertificate, Headroom, NotCertifiable, Program};
use crate::settings::Settings;
use crate::tables;

impl<I: Index> FreeList<'_, I> {
    /// What an object of so many bytes takes: a chunk with its header. Eight bytes that are left
    /// over may stay with it: [`FreeList::certify`] allows for them; declarations do not.
    #[must_use]
    pub fn cost(bytes: usize) -> Amount {
        Amount {
            objects: 1,
            bytes: chunk_bytes::<I>(bytes),
        }
    }

    /// The schedule, and the bytes of region, that are enough for a program whose requests have at
    /// most `largest` bytes. The collector's settings are [`FreeList::certified_settings`].
    ///
    /// # Errors
    /// Why there is none; [`NotCertifiable::Heap`] for a system that does not merge free neighbours
    /// at once.
    pub fn certify(
        largest: usize,
        program: &Program,
        headroom: &Headroom,
    ) -> Result<CollectedCertificate, NotCertifiable> {
        if !matches!(I::COALESCING, When::Immediate) {
            return Err(NotCertifiable::Heap);
        }
        let excess = 1 + u64::from(Edges::STRIDE);
        let mark_stack = certificate::stack_for(program);
        let program = Program {
            live: with_rests(program.live),
            ..*program
        };
        let headroom = headroom_with_rests(headroom);
        certificate::certify(&program, &headroom, 0, excess, |occupied| {
            needs::<I>(largest, occupied, mark_stack)
        })
    }

    /// The settings with which a certificate holds: a fixed heap, in which no object is large.
    #[must_use]
    pub fn certified_settings(certificate: &CollectedCertificate) -> Settings {
        Settings {
            mark_stack: certificate.mark_stack,
            large_from: usize::MAX,
            ..Settings::default()
        }
    }
}

/// The same headroom, for chunks that keep what is left over.
const fn headroom_with_rests(headroom: &Headroom) -> Headroom {
    match *headroom {
        Headroom::ByWork(cycle) => Headroom::ByWork(with_rests(cycle)),
        Headroom::ByTime {
            quanta,
            allocated,
            units,
        } => Headroom::ByTime {
            quanta,
            allocated: with_rests(allocated),
            units,
        },
    }
}

/// The region for a heap in which so much is occupied.
fn needs<I: Index>(largest: usize, occupied: Amount, mark_stack: usize) -> Option<Needs> {
    let objects = usize::try_from(occupied.objects).ok()?;
    let chunks = usize::try_from(occupied.bytes).ok()?;
    // `enough_bytes` takes requested bytes, and adds so many per object for headers, rounding and
    // what is left over: here they are counted already.
    let rounded_up = (HEADER + GRANULE * I::rounded(1) as usize).max(2 * GRANULE) + GRANULE;
    let requested = chunks.saturating_sub(objects.checked_mul(rounded_up)?);
    let heap_bytes = Heap::<I>::enough_bytes(objects, requested, largest)?;
    let mut region_bytes = heap_bytes;
    loop {
        let bit_words = region_bytes / MARKED_BYTES + 1;
        let words = mark_stack.checked_add(2 * bit_words)?;
        let tables = words.checked_mul(tables::WORD)? + tables::WORD - 1;
        let whole = heap_bytes.checked_add(tables)?;
        if whole > isize::MAX as usize {
            return None;
        }
        if whole <= region_bytes {
            return Some(Needs {
                region_bytes,
                heap_bytes,
                bit_words: bit_words as u64,
            });
        }
        region_bytes = whole;
    }
}
