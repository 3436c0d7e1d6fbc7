//! What is on its way to an instance: in its inbox, taken out of it, or in batches that others have
//! begun.
#![deny(unsafe_code)]

use lock_api::RawMutex;
use surefit_core::{Corruption, ensure};

use super::super::common::Common;
use super::super::instance::{Instance, State};
use super::super::mixed::class_at;
use super::super::remote_frees::Batch;
use super::super::sizes::{Class, GRANULE, UNIT_BYTES};
use super::super::source::Source;
use super::chains::{free_of, list_of, page_of, walk};

/// Verifies I4, I6, and C1 for what is on its way to an instance. Linear in that, and in the
/// instances.
pub(super) fn check<L: RawMutex, S: Source>(
    common: &Common<L, S>,
    to: &Instance,
) -> Result<(), Corruption> {
    check_outbox(common, to)?;
    let arrived = check_chain(common, to, to.arrived().first().cast())?;
    let inbox = check_chain(common, to, to.inbox().first().cast())?;
    let at = usize::from(to.number());
    ensure(
        to.state() != State::Idle || (arrived.is_none() && inbox.is_none()),
        "I4",
        "something arrived that nobody frees",
        at,
    )?;
    ensure(
        arrived.is_none() || arrived != inbox,
        "C1",
        "a page-block arrived twice",
        at,
    )?;
    ensure(
        to.arrived().looks_ahead(most(common)) && to.inbox().looks_ahead(most(common)),
        "C1",
        "a page-block leads ahead to a wrong one",
        at,
    )?;
    let batches = || {
        let each = common.joined().map(|from| from.batch(to.number()));
        each.filter(|batch| !batch.is_empty() && batch.to() == to.number())
    };
    for (place, batch) in batches().enumerate() {
        let last = check_chain(common, to, batch.first().cast())?;
        let elsewhere = batches()
            .skip(place + 1)
            .any(|other| other.last() == batch.last());
        ensure(
            last == Some(batch.last().cast()),
            "I6",
            "a batch does not end at its last page-block",
            at,
        )?;
        ensure(
            !elsewhere && last != arrived && last != inbox,
            "C1",
            "a page-block was freed twice",
            at,
        )?;
    }
    Ok(())
}

/// Verifies I6 for the batches of an instance, but for their last page-blocks.
fn check_outbox<L: RawMutex, S: Source>(
    common: &Common<L, S>,
    own: &Instance,
) -> Result<(), Corruption> {
    let at = usize::from(own.number());
    for batch in own.batches() {
        if batch.is_empty() {
            ensure(
                batch.is_closed(),
                "I6",
                "an empty batch takes page-blocks",
                at,
            )?;
            continue;
        }
        let to = common.joined().find(|each| each.number() == batch.to());
        let to = to.filter(|to| to.number() != own.number());
        let placed = to.filter(|_| core::ptr::eq(own.batch(batch.to()), batch));
        let Some(to) = placed.filter(|_| own.state() != State::Idle) else {
            return Err(Corruption::new("I6", "a batch is for nobody", at));
        };
        let mut bytes = 0;
        let all = walk(
            common.memory(),
            batch.first().cast(),
            most(common),
            |block| {
                let class = class_of(common, to, block);
                bytes += class.map_or(0, |class| Batch::counts_for(class.shape().block_bytes));
                class.is_some()
            },
        );
        ensure(
            all.is_some() && batch.is_room_after(bytes),
            "I6",
            "a batch leads astray, or has other room than it says",
            at,
        )?;
    }
    Ok(())
}

/// At most so many page-blocks there are.
fn most<L: RawMutex, S: Source>(common: &Common<L, S>) -> usize {
    common.memory().committed() as usize * (UNIT_BYTES / GRANULE)
}

/// The class of the page-block that begins at an address, if it is one of an instance.
fn class_of<L: RawMutex, S: Source>(
    common: &Common<L, S>,
    to: &Instance,
    block: *mut u8,
) -> Option<Class> {
    let memory = common.memory();
    let (unit, record) = (memory.unit_of(block)?, memory.record_around(block)?);
    let class = class_at(memory, record, block);
    let class = class.filter(|_| memory.owner(unit) == to.number())?;
    page_of(memory, class, block).map(|_| class)
}

/// Verifies a chain of page-blocks that others freed of an instance (C1). Returns the last one.
fn check_chain<L: RawMutex, S: Source>(
    common: &Common<L, S>,
    to: &Instance,
    first: *mut u8,
) -> Result<Option<*mut u8>, Corruption> {
    let (memory, at) = (common.memory(), usize::from(to.number()));
    let sound = |block| class_of(common, to, block).is_some();
    let Some((count, last)) = walk(memory, first, most(common), sound) else {
        return Err(Corruption::new("I4", "what was freed is no page-block", at));
    };
    if count == 0 {
        return Ok(None);
    }
    let page = memory.around(last);
    let of_class = page.zip(class_of(common, to, last));
    let ends = |chain: Option<(usize, *mut u8)>| chain.is_some_and(|(_, end)| end == last);
    // Two chains that share a page-block share all behind it.
    let shared = of_class.is_some_and(|(page, class)| {
        let mut lists = common.joined().map(|each| list_of(memory, each, class));
        lists.any(ends) || ends(free_of(memory, page, class))
    });
    ensure(!shared, "C1", "a page-block is free, and on its way", at)?;
    Ok(Some(last))
}
