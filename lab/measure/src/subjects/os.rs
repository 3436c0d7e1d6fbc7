//! surefit's Compact-fit over the operating system's memory: `cf-os`, which gives emptied pages
//! back.
//!
//! It lives in no region of ours. Time is counted in frees, so that every replay gives back the
//! same: a tick comes after every `FREES_PER_TICK` frees, and its times are in the measured time.
//! A tick makes at most 16 system calls (`Limits::calls_per_tick`): one per 16 frees.

use std::alloc::Layout;
use std::mem::MaybeUninit;
use std::time::Duration;

use anyhow::{Result, bail};
use surefit_compact::os::{Limits, OsHeap, OsHeapError};
use surefit_compact::{Bytes, Config, Tail, Wide, Width};
use surefit_core::{Corruption, Refused};

use super::cf_keys::{cf_keys, config};
use crate::keys::Keys;
use crate::sizes;
use crate::subject::{
    Allocator, Chosen, HandleCost, Moves, Pass, Subject, in_turns, increment_object,
};

/// Frees from one tick to the next.
const FREES_PER_TICK: u64 = 256;

/// The hard limit unless the user names one: as far as the address space goes that is reserved.
const DEFAULT_LIMIT: usize = 4 << 30;

/// For how many frees a page is empty before it is given back, unless the user says otherwise.
///
/// On redis-drift, with 2.7 million frees, this delay makes 4273 system calls in a replay, which
/// take back 79 MB: 1.6 calls per 1000 frees. Resident ÷ live is 1.40 over the trace. A delay of
/// 65,536 makes 1159 calls and holds 1.57; a delay of 256 makes 5108 and holds 1.40.
const DEFAULT_DELAY: u64 = 4096;

/// The moving heap over the operating system's memory.
#[derive(Debug)]
pub struct CfOs;

/// How such a heap is configured.
#[derive(Clone, Debug)]
pub struct Options {
    config: Config,
    limit: usize,
    delay: u64,
}

impl Allocator for CfOs {
    type Options = Box<Options>;

    const HAS_POINTERS: bool = false;

    const IN_REGION: bool = false;

    const KEYS: &'static [&'static str] = cf_keys!["limit=BYTES", "delay=FREES"];

    fn options(keys: &Keys) -> Result<Box<Options>> {
        let config = config(keys, Tail::BackReferences { bytes: 4 })?;
        let limit = keys.get("limit").map(sizes::bytes).transpose()?;
        let options = Options {
            config,
            limit: limit.unwrap_or(DEFAULT_LIMIT),
            delay: keys.number("delay")?.map_or(DEFAULT_DELAY, u64::from),
        };
        match OsHeap::<Wide>::new(&options.config, options.limits()) {
            Err(error @ (OsHeapError::TooLow { .. } | OsHeapError::Refused(_))) => {
                bail!("limit={}: {error}", options.limit)
            }
            _ => Ok(Box::new(options)),
        }
    }

    fn run<P: Pass>(
        options: &Box<Options>,
        _: &mut [MaybeUninit<u8>],
        pass: P,
    ) -> Result<P::Output, Refused> {
        let heap = OsHeap::new(&options.config, options.limits());
        let heap = heap.map_err(|error| match error {
            OsHeapError::Refused(refused) => refused,
            _ => Refused::Region {
                needed: options.limit,
            },
        })?;
        Ok(pass.run(Ticking { heap, frees: 0 }))
    }

    fn handles(options: &Box<Options>) -> Option<HandleCost> {
        Some(HandleCost {
            bytes_per_object: Wide::ENTRY_BYTES + Wide::WORD_BYTES,
            piece_bytes: options.config.piece_bytes(),
            in_short_regions: None,
        })
    }
}

impl Options {
    fn limits(&self) -> Limits {
        Limits {
            delay: Duration::from_nanos(self.delay),
            ..Limits::new(self.limit, self.limit)
        }
    }
}

/// A heap whose clock counts frees, as nanoseconds.
#[derive(Debug)]
struct Ticking<'c> {
    heap: OsHeap<'c>,
    frees: u64,
}

impl Ticking<'_> {
    #[inline(always)]
    fn count_free(&mut self) {
        self.frees += 1;
        if self.frees % FREES_PER_TICK == 0 {
            self.tick();
        }
    }

    /// What the system does not take back stays resident, which the figures show.
    #[cold]
    fn tick(&mut self) {
        let _given = self.heap.tick(Duration::from_nanos(self.frees));
    }
}

impl Subject for Ticking<'_> {
    type Object = Bytes<MaybeUninit<u8>>;

    #[inline(always)]
    fn allocate(&mut self, layout: Layout, zeroed: bool) -> Result<Self::Object, Refused> {
        if zeroed {
            return Ok(self.heap.alloc_zeroed(layout)?.into_uninit());
        }
        self.heap.alloc(layout)
    }

    #[inline(always)]
    unsafe fn free(&mut self, object: Self::Object, _layout: Layout) {
        self.heap.free_bytes(object);
        self.count_free();
    }

    #[inline(always)]
    unsafe fn resize(
        &mut self,
        object: &mut Self::Object,
        layout: Layout,
        new_size: usize,
    ) -> Result<(), Refused> {
        // SAFETY: the sizes of steps are below 2^32 and their alignments at most 2^30, far from
        // overflow.
        let new_layout = unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
        self.heap.resize(object, new_layout)
    }

    #[inline(always)]
    unsafe fn chunk<'a>(
        &'a mut self,
        object: &'a mut Self::Object,
        _layout: Layout,
        offset: usize,
    ) -> &'a mut [MaybeUninit<u8>] {
        self.heap.heap().chunk_mut(object, offset)
    }

    #[inline(always)]
    unsafe fn access_words(&mut self, turns: u64, chosen: &mut impl Chosen<Self::Object>) {
        let view = self.heap.heap().view();
        in_turns!(turns, {
            let (object, _) = chosen.next();
            // SAFETY: the caller wrote the word before.
            unsafe { increment_object!(view, object) };
        });
    }

    fn check(&self) -> Result<(), Corruption> {
        self.heap.check()
    }

    fn moves(&self) -> Option<Moves> {
        let stats = self.heap.heap().stats();
        Some(Moves {
            total: stats.moves_total,
            bytes_total: stats.moved_bytes_total,
            bytes_max_per_op: Some(stats.moved_bytes_max_per_op),
            bytes_max_per_section: None,
        })
    }

    fn piece_bytes(&self) -> Option<usize> {
        self.heap.heap().config().piece_bytes()
    }
}
