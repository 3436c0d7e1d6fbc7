//! surefit's concurrent Compact-fit in several instances: `n-cf`, one instance per group of
//! threads.
//!
//! A replay has one thread, so it uses one instance; the other instances cost only their tables.

use std::alloc::Layout;
use std::mem::MaybeUninit;
use std::ptr;

use anyhow::{Context, Result, bail};
use surefit_compact::certify::{Demand, SharedCertificate, Sharing, Uncertifiable, certify_shared};
use surefit_compact::shared::{Local, PerClass, PerHeap, ShardedHeap, SharedConfig, Stepwise};
use surefit_compact::{Config, Tail};
use surefit_core::{Corruption, Refused, Usage};

use super::cf_keys::{cf_keys, config};
use super::name::{Name, handle};
use super::shared::{
    HANDLE_BYTES, Lock, MOST_BYTES, certified, shared, stepwise, subject_of_one_thread,
};
use crate::keys::Keys;
use crate::steps::Steps;
use crate::subject::{Allocator, Certified, HandleCost, Moves, Pass, Subject, less_control};

/// Several instances over one region.
#[derive(Debug)]
pub struct NCf;

/// How a sharded heap is configured.
#[derive(Clone, Debug)]
pub struct Options {
    locks: Locks,
    instances: u16,
}

#[derive(Clone, Debug)]
enum Locks {
    Heap(SharedConfig<PerHeap>),
    Class(SharedConfig<PerClass>),
}

impl Allocator for NCf {
    type Options = Box<Options>;

    const HAS_POINTERS: bool = false;

    const KEYS: &'static [&'static str] = cf_keys![
        "threads-per-instance=N",
        "lock=heap|class",
        "increment=BYTES",
        "threads=N",
        "pins=N"
    ];

    fn options(keys: &Keys) -> Result<Box<Options>> {
        let threads = keys.number("threads")?.unwrap_or(1);
        let each = keys.number("threads-per-instance")?.unwrap_or(1);
        if each == 0 {
            bail!("threads-per-instance=0: write at least 1");
        }
        let config = config(keys, Tail::BackReferences { bytes: 4 })?;
        let locks = match keys.get("lock") {
            Some("heap") => Locks::Heap(stepwise(keys, shared(keys, config)?)?),
            None | Some("class") => Locks::Class(stepwise(keys, shared(keys, config)?)?),
            Some(other) => bail!("lock={other}: write heap or class"),
        };
        let instances = u16::try_from(threads.div_ceil(each));
        let instances = instances.with_context(|| format!("threads={threads}: too many"))?;
        Ok(Box::new(Options { locks, instances }))
    }

    fn run<P: Pass>(
        options: &Box<Options>,
        memory: &mut [MaybeUninit<u8>],
        pass: P,
    ) -> Result<P::Output, Refused> {
        let usable = memory.len().min(MOST_BYTES);
        let memory = &mut memory[..usable];
        match &options.locks {
            Locks::Heap(config) => run(memory, config, options.instances, pass),
            Locks::Class(config) => run(memory, config, options.instances, pass),
        }
    }

    fn most_bytes(_options: &Box<Options>) -> usize {
        MOST_BYTES
    }

    fn handles(options: &Box<Options>) -> Option<HandleCost> {
        Some(HandleCost {
            bytes_per_object: HANDLE_BYTES,
            piece_bytes: match &options.locks {
                Locks::Heap(config) => config.config().piece_bytes(),
                Locks::Class(config) => config.config().piece_bytes(),
            },
            in_short_regions: None,
        })
    }

    fn certified(options: &Box<Options>, steps: &Steps) -> Option<Certified> {
        let sharing = Sharing::new(1).with_instances(u32::from(options.instances));
        match &options.locks {
            Locks::Heap(config) => certified(config, control(config), &sharing, steps),
            Locks::Class(config) => certified(config, control(config), &sharing, steps),
        }
    }
}

impl Options {
    /// The bound, the pages, the size-classes and the pieces.
    #[must_use]
    pub fn config(&self) -> &Config {
        match &self.locks {
            Locks::Heap(config) => config.config(),
            Locks::Class(config) => config.config(),
        }
    }

    /// The most threads that are registered at once.
    #[must_use]
    pub fn threads(&self) -> u16 {
        match &self.locks {
            Locks::Heap(config) => config.locals(),
            Locks::Class(config) => config.locals(),
        }
    }

    /// How many instances the heap has.
    #[must_use]
    pub fn instances(&self) -> u16 {
        self.instances
    }

    /// The certificate of a demand, and the bytes of the heap's control structure.
    ///
    /// # Errors
    /// Why no heap of this configuration can serve the demand.
    pub fn certify(
        &self,
        sharing: &Sharing,
        demand: &Demand<'_>,
    ) -> Result<(SharedCertificate, usize), Uncertifiable> {
        match &self.locks {
            Locks::Heap(config) => {
                let certificate = certify_shared::<Lock, _>(config, sharing, demand)?;
                Ok((certificate, control(config)))
            }
            Locks::Class(config) => {
                let certificate = certify_shared::<Lock, _>(config, sharing, demand)?;
                Ok((certificate, control(config)))
            }
        }
    }
}

/// Bytes of a sharded heap's control structure.
const fn control<G: Stepwise>(_config: &SharedConfig<G>) -> usize {
    size_of::<ShardedHeap<'static, Lock, G>>().next_multiple_of(8)
}

fn run<G: Stepwise, P: Pass>(
    memory: &mut [MaybeUninit<u8>],
    config: &SharedConfig<G>,
    instances: u16,
    pass: P,
) -> Result<P::Output, Refused> {
    let memory = less_control::<ShardedHeap<'_, Lock, G>>(memory)?;
    let heap = ShardedHeap::new(memory, config, instances)?;
    let local = heap.register()?;
    let piece_bytes = config.config().piece_bytes();
    Ok(pass.run(Many {
        heap: &heap,
        local,
        piece_bytes,
    }))
}

subject_of_one_thread! {
    /// n-CF.
    Many of ShardedHeap with locks that Stepwise
}
