//! The invariants of a shared direct heap that nobody uses.
#![deny(unsafe_code)]

use lock_api::RawMutex;
use surefit_core::{Corruption, ensure};

use super::common::Common;
use super::instance::{Instance, State};
use super::memory::{Kind, Record, Span};
use super::sizes::{Class, GRANULE, UNIT_BYTES};
use super::source::Source;

/// Verifies P, R, I and M4.
pub(super) fn check<L: RawMutex, S: Source>(common: &Common<L, S>) -> Result<(), Corruption> {
    let pool = common.pool.lock();
    pool.check(common.memory())?;
    let top = u32::try_from(pool.counts().top).unwrap_or(u32::MAX);
    let mut at = common.memory().first().number();
    while at < top {
        let span = common.memory().span(at);
        at += check_span(common, span)?;
    }
    ensure(at == top, "P1", "a run leads over the top", at as usize)?;
    for instance in common.joined() {
        for unit in instance.each_buffered() {
            ensure(
                common.memory().record(unit).kind() == Kind::Nothing && unit.number() < top,
                "I3",
                "a buffered unit is something",
                unit.number() as usize,
            )?;
        }
        check_arrived(common, instance)?;
        for class in Class::all() {
            let mut before = Span::NONE;
            let mut page = instance.first(class);
            while page != Span::NONE {
                let record = common.memory().record(page);
                let at = page.number() as usize;
                let own = record.class() == Some(class) && record.owner() == instance.number();
                ensure(
                    own,
                    "I2",
                    "a list holds a page of another class or instance",
                    at,
                )?;
                ensure(
                    record.previous.get() == before,
                    "I2",
                    "a link back does not lead back",
                    at,
                )?;
                ensure(
                    page != instance.current(class),
                    "I2",
                    "the current page is listed",
                    at,
                )?;
                (before, page) = (page, record.next.get());
            }
        }
    }
    Ok(())
}

/// Verifies what an instance took out of its inbox.
fn check_arrived<L: RawMutex, S: Source>(
    common: &Common<L, S>,
    instance: &Instance,
) -> Result<(), Corruption> {
    let memory = common.memory();
    let most = memory.committed() as usize * (UNIT_BYTES / GRANULE);
    let idle = instance.state() == State::Idle;
    for block in instance.arrived().addresses(most) {
        let page = memory.around(block);
        let ours = page.filter(|page| memory.record(*page).owner() == instance.number());
        let is_block = ours.zip(ours.and_then(|page| memory.record(page).class()));
        let begins = is_block
            .is_some_and(|(page, class)| memory.offset_in(page, block) % class.block_bytes() == 0);
        ensure(
            begins && !idle,
            "I4",
            "what arrived is no page-block, or nobody frees it",
            page.unwrap_or(Span::NONE).number() as usize,
        )?;
    }
    Ok(())
}

/// Verifies one page or run. Returns its units.
fn check_span<L: RawMutex, S: Source>(
    common: &Common<L, S>,
    span: Span,
) -> Result<u32, Corruption> {
    let record = common.memory().record(span);
    let is_page = record.class().is_some();
    ensure(
        is_page || !record.has_spare(),
        "M4",
        "what is no page has frees to spare",
        span.number() as usize,
    )?;
    match record.kind() {
        Kind::Page(class) => {
            check_page(common, span, class)?;
            Ok(u32::from(class.shape().units))
        }
        Kind::Run | Kind::Free => {
            let units = record.units.get().max(1);
            check_inside(common, span, units)?;
            Ok(units)
        }
        Kind::Nothing => Ok(1),
        Kind::Inside => Err(Corruption::new(
            "P1",
            "a page has no beginning",
            span.number() as usize,
        )),
    }
}

/// Verifies that nothing begins or ends inside a run.
fn check_inside<L: RawMutex, S: Source>(
    common: &Common<L, S>,
    run: Span,
    units: u32,
) -> Result<(), Corruption> {
    for unit in 1..units.saturating_sub(1) {
        let inside = common.memory().after(run, unit);
        ensure(
            common.memory().record(inside).kind() == Kind::Nothing,
            "P1",
            "something is recorded inside a run",
            inside.number() as usize,
        )?;
    }
    Ok(())
}

fn check_page<L: RawMutex, S: Source>(
    common: &Common<L, S>,
    page: Span,
    class: Class,
) -> Result<(), Corruption> {
    let (record, shape, at) = (
        common.memory().record(page),
        class.shape(),
        page.number() as usize,
    );
    let owner = common
        .joined()
        .find(|instance| instance.number() == record.owner());
    let Some(owner) = owner else {
        return Err(Corruption::new("I2", "a page has no instance", at));
    };
    let (used, opened) = (record.used(), record.opened.get());
    ensure(
        opened <= shape.blocks,
        "I2",
        "more page-blocks were opened than there are",
        at,
    )?;
    let is_block = |address: *mut u8| {
        let offset = common.memory().offset_in(page, address);
        offset % class.block_bytes() == 0 && offset / class.block_bytes() < usize::from(opened)
    };
    let most = usize::from(shape.blocks) + 1;
    let free = record.free.addresses(most).count();
    ensure(
        record.free.addresses(most).all(is_block),
        "C1",
        "a chain leads astray",
        at,
    )?;
    ensure(
        usize::from(used) + free == usize::from(opened),
        "I2",
        "used and free are not all",
        at,
    )?;
    let current = owner.current(class) == page;
    if current {
        let hand = owner.hand(class);
        let held = hand.addresses(most).count();
        ensure(
            hand.addresses(most).all(is_block) && held <= usize::from(used),
            "I1",
            "the hand leads astray",
            at,
        )?;
    }
    check_place(owner, page, class, record)
}

/// Verifies that a page is where its counts say: current, listed or full.
fn check_place(
    owner: &Instance,
    page: Span,
    class: Class,
    record: &Record,
) -> Result<(), Corruption> {
    let at = page.number() as usize;
    let (used, unopened) = (record.used(), class.shape().blocks - record.opened.get());
    let current = owner.current(class) == page;
    let listed = owner.lists(class, page, record);
    let loose = used <= class.loose() || unopened > 0;
    ensure(
        current || !loose || listed,
        "I2",
        "a page with room is not listed",
        at,
    )?;
    ensure(
        !listed || !record.free.is_empty() || unopened > 0,
        "I2",
        "a full page is listed",
        at,
    )?;
    ensure(
        current || used > 0,
        "I2",
        "an empty page was not released",
        at,
    )
}
