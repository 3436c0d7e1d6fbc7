//! The objects of a board, by their addresses: no two of them overlap.

use std::collections::BTreeMap;

use surefit_trace::{Align, Call, Event, Op};

use super::deframe::{Frame, Record};
use super::error::ImportError;
use super::threads::Threads;

/// Turns what happened at addresses into events of numbered objects.
#[derive(Debug, Default)]
pub(super) struct Objects {
    /// By the address: that of the last byte, and the object's number.
    living: BTreeMap<u64, (u64, u32)>,
    threads: Threads,
    objects: u32,
    /// Frees of objects that are not known: left out.
    pub(super) unknown: u64,
    /// Reallocations of objects that are not known: from there on they are.
    pub(super) found: u64,
    /// Objects whose free is missing: put before what took their place.
    pub(super) missed: u64,
}

impl Objects {
    /// Threads above the 65,536th.
    pub(super) fn more_threads(&self) -> u64 {
        self.threads.more
    }

    /// The board began anew: whatever lives is freed, the first one first.
    pub(super) fn clear(&mut self, events: &mut impl Extend<Event>) {
        let mut ids: Vec<_> = self.living.values().map(|(_, id)| *id).collect();
        ids.sort_unstable();
        self.living.clear();
        let thread = 0;
        events.extend(
            ids.into_iter()
                .map(|id| Event::new(thread, Op::Free { id })),
        );
    }

    /// Appends the events of one frame: none, one, or more where frees are missing.
    pub(super) fn take(
        &mut self,
        frame: Frame,
        events: &mut impl Extend<Event>,
    ) -> Result<(), ImportError> {
        let (address, size, op) = match frame.record {
            Record::Begin => return Ok(()),
            Record::Free { address } => {
                match self.living.remove(&address) {
                    Some((_, id)) => {
                        let thread = self.threads.number(frame.thread);
                        events.extend([Event::new(thread, Op::Free { id })]);
                    }
                    None => self.unknown += 1,
                }
                return Ok(());
            }
            Record::Alloc {
                address,
                size,
                is_zeroed,
                log2_align,
            } => (
                address,
                size,
                self.allocate(size, call(is_zeroed, log2_align))?,
            ),
            Record::Realloc { old, address, size } => {
                let op = match self.living.remove(&old) {
                    Some((_, id)) => Op::Realloc { id, size },
                    None => {
                        self.found += 1;
                        self.allocate(size, Call::Malloc)?
                    }
                };
                (address, size, op)
            }
        };
        let thread = self.threads.number(frame.thread);
        self.displace(address, size, thread, events);
        let id = match op {
            Op::Alloc { id, .. } | Op::Realloc { id, .. } | Op::Free { id } => id,
        };
        self.living.insert(address, (last_byte(address, size), id));
        events.extend([Event::new(thread, op)]);
        Ok(())
    }

    fn allocate(&mut self, size: u64, call: Call) -> Result<Op, ImportError> {
        let id = self.objects;
        self.objects = id.checked_add(1).ok_or(ImportError::TooManyObjects)?;
        Ok(Op::Alloc { id, size, call })
    }

    /// Frees what lives where an object is placed: the frees are missing.
    fn displace(&mut self, address: u64, size: u64, thread: u16, events: &mut impl Extend<Event>) {
        let last = last_byte(address, size);
        while let Some((&first, &(its_last, id))) = self.living.range(..=last).next_back() {
            if its_last < address {
                break;
            }
            self.living.remove(&first);
            self.missed += 1;
            events.extend([Event::new(thread, Op::Free { id })]);
        }
    }
}

/// The address of an object's last byte. One of no bytes has an address of its own too.
fn last_byte(address: u64, size: u64) -> u64 {
    address.saturating_add(size.max(1) - 1)
}

fn call(is_zeroed: bool, log2_align: Option<u8>) -> Call {
    match log2_align.and_then(Align::from_log2) {
        Some(align) => Call::Aligned(align),
        None if is_zeroed => Call::Calloc,
        None => Call::Malloc,
    }
}
