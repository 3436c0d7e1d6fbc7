//! The memories that a flight can have, and what a program is told about a flight.

use core::mem::MaybeUninit;

use surefit::RawHeap;
use surefit::compact::shared::ShardedHeap;
use surefit::freelist::{FirstFit, Tlsf};

use crate::board::{clock, machine};
#[cfg(feature = "collector")]
use crate::collected::Collected;
use crate::fixed::Random;
use crate::load::{Load, PROCESSES};
use crate::memory::{Instances, Memory};
use crate::plan::{CONFIG, Covers, Lock};
use crate::pointers::Pointers;
use crate::radio::{Mailbox, Radio};

/// A memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Compact-fit, with an instance for each process.
    Instances,
    /// The same, and the radio interrupts at any instruction.
    Anywhere,
    /// The same, with the mission on a collector.
    #[cfg(feature = "collector")]
    Collected,
    /// TLSF.
    Tlsf,
    /// First fit.
    FirstFit,
}

/// What a program is told about a flight.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Its periods.
    pub periods: u32,
    /// Whether there is a guest.
    pub with_guest: bool,
    /// Its memory.
    pub kind: Kind,
}

impl Options {
    /// What it does if nothing is said.
    pub const DEFAULT: Self = Self {
        periods: 10_000,
        with_guest: true,
        kind: Kind::Instances,
    };

    /// Takes a word of the command; whether it is understood.
    pub fn take(&mut self, word: &str) -> bool {
        match word {
            "compact-fit" => self.kind = Kind::Instances,
            "alone" => self.with_guest = false,
            "anywhere" if machine::INTERRUPTS => self.kind = Kind::Anywhere,
            #[cfg(feature = "collector")]
            "collector" => self.kind = Kind::Collected,
            "tlsf" => self.kind = Kind::Tlsf,
            "first-fit" => self.kind = Kind::FirstFit,
            _ => match word.parse() {
                Ok(periods) => self.periods = periods,
                Err(_) => return false,
            },
        }
        true
    }
}

/// Bytes of the second region.
pub const BESIDE_BYTES: usize = if cfg!(target_os = "none") {
    64 << 10
} else {
    1 << 20
};

/// The regions of a flight, each at a multiple of the page size.
#[derive(Debug)]
pub struct Regions<'m> {
    /// Of the heap.
    pub heap: &'m mut [MaybeUninit<u8>],
    /// Of the collector, or of the table of a heap of pointers.
    pub beside: &'m mut [MaybeUninit<u8>],
}

/// Memory of a flight whose heap has so many bytes.
#[cfg(not(target_os = "none"))]
pub fn with_regions<R>(bytes: usize, f: impl FnOnce(Regions<'_>) -> R) -> R {
    let page = crate::load::PAGE as usize;
    let [mut heap, mut beside] =
        [bytes, BESIDE_BYTES].map(|bytes| vec![MaybeUninit::new(0xa5_u8); bytes + page]);
    let aligned = |memory: &[MaybeUninit<u8>]| memory.as_ptr().align_offset(page);
    let firsts = (aligned(&heap), aligned(&beside));
    f(Regions {
        heap: &mut heap[firsts.0..][..bytes],
        beside: &mut beside[firsts.1..][..BESIDE_BYTES],
    })
}

/// What is done with the memory of a flight, whatever it is.
pub trait Visit {
    /// What comes out.
    type Result;

    /// Does it.
    fn visit<M: Memory>(self, memory: M) -> Self::Result;
}

/// Visits a memory; `None` if it has no room for itself.
pub fn on<V: Visit>(kind: Kind, regions: Regions<'_>, load: &Load, visit: V) -> Option<V::Result> {
    let Regions { heap, beside } = regions;
    match kind {
        Kind::Tlsf => return on_pointers(Tlsf::new(heap).ok()?, beside, load, visit),
        Kind::FirstFit => return on_pointers(FirstFit::new(heap).ok()?, beside, load, visit),
        _ => {}
    }
    let heap = ShardedHeap::<Lock, Covers>::new(heap, &CONFIG, PROCESSES as u16).ok()?;
    let mailbox = &Mailbox::new();
    let mailbox = (kind == Kind::Anywhere).then_some(mailbox);
    let instances = Instances::new(&heap, load, mailbox).ok()?;
    #[cfg(feature = "collector")]
    if kind == Kind::Collected {
        return Some(visit.visit(Collected::new(instances, beside, load).ok()?));
    }
    let Some(mailbox) = mailbox else {
        return Some(visit.visit(instances));
    };
    let radio = Radio::new(&heap).ok()?;
    let mut random = Random::new(load.seed, 6);
    let mut visited = None;
    machine::interrupted(
        &mut move || {
            clock::handle(|| {
                mailbox.serve(&radio);
                500 + random.below(20_000)
            })
        },
        || visited = Some(visit.visit(instances)),
    );
    visited
}

fn on_pointers<H: RawHeap, V: Visit>(
    heap: H,
    beside: &mut [MaybeUninit<u8>],
    load: &Load,
    visit: V,
) -> Option<V::Result> {
    Some(visit.visit(Pointers::new(heap, beside, load)))
}
