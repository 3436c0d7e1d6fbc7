//! The invariants of a shared direct heap that nobody uses.
//!
//! Whatever programs wrote into free page-blocks, and whatever became of a table, nothing is
//! followed before it was looked at: the records of all units come first, then the pool, then what
//! instances have, then what is on its way.
#![deny(unsafe_code)]

mod chains;
mod mixed;
mod remote_frees;

use lock_api::RawMutex;
use surefit_core::{Corruption, ensure};

use super::common::{Common, GROUPS};
use super::instance::{BUFFERED, Instance, State};
use super::memory::{EACH_FREE, Kind, Memory, Record, Span};
use super::pool::check::Found;
use super::sizes::{Class, Slot};
use super::source::Source;
use chains::{free_of, list_of, page_of};

/// Verifies M4, M5, P, R, I, X and C1.
pub(super) fn check<L: RawMutex, S: Source>(common: &Common<L, S>) -> Result<(), Corruption> {
    let (pool, memory) = (common.pool.lock(), common.memory());
    check_instances(common)?;
    let top = pool.check_top(memory)?;
    check_no_page(memory, Span::NONE)?;
    ensure(
        memory.record(Span::NONE).kind() == Kind::Nothing,
        "M4",
        "an administrative unit is something",
        0,
    )?;
    let mut found = Found::default();
    let mut at = memory.first().number();
    while at < top.number() {
        at += check_records::<S>(memory, memory.span(at), top)?;
    }
    for behind in at..memory.committed() {
        check_behind(memory, memory.span(behind))?;
    }
    // From here on each record leads to the page that it belongs to.
    let mut listed = 0;
    let mut at = memory.first().number();
    while at < top.number() {
        let span = memory.span(at);
        let units = units_of(memory, span);
        match memory.record(span).kind() {
            Kind::Page(class) => listed += usize::from(check_page(common, span, class)?),
            Kind::Mixed => listed += usize::from(mixed::check_page(common, span)?),
            Kind::Free => found.free_runs += 1,
            Kind::Nothing => found.nobodys += u64::from(check_buffered(common, span)?),
            Kind::Run | Kind::Inside(_) | Kind::InsideMixed => {}
        }
        found.nothing += u64::from(memory.record(span).kind() == Kind::Nothing);
        at += units;
    }
    found.is_whole = common.joined().all(|each| each.state() != State::Lost);
    pool.check(memory, &found)?;
    let buffered: usize = common
        .joined()
        .map(|each| each.each_buffered().count())
        .sum();
    ensure(
        buffered as u64 + found.nobodys == found.nothing,
        "I3",
        "a buffered unit is something",
        buffered,
    )?;
    let mut in_lists = 0;
    for instance in common.joined() {
        in_lists += check_lists(common, instance)?;
    }
    ensure(
        in_lists == listed,
        "I2",
        "a page says that it is listed, and is not",
        listed,
    )?;
    common
        .joined()
        .try_for_each(|instance| remote_frees::check(common, instance))
}

/// Verifies S1, and what of I needs no look at units.
fn check_instances<L: RawMutex, S: Source>(common: &Common<L, S>) -> Result<(), Corruption> {
    for (place, instance) in common.joined().enumerate() {
        let is_unused = instance.number() == 0 && instance.state() == State::Unused;
        if is_unused && place < GROUPS {
            continue;
        }
        ensure(
            usize::from(instance.number()) == place + 1 && instance.state() != State::Unused,
            "S1",
            "an instance was never used, or has another number",
            place + 1,
        )?;
        ensure(
            instance.state() != State::Served,
            "S3",
            "an instance is served by nobody",
            place + 1,
        )?;
        ensure(
            instance.buffered() <= BUFFERED,
            "I3",
            "more units are buffered than there is room for",
            place + 1,
        )?;
        let nobodys = |slot| instance.list_at(slot).is_nobodys();
        ensure(
            nobodys(Slot::NONE) && nobodys(Slot::MIXED),
            "I1",
            "the free list of no class is something",
            place + 1,
        )?;
        let empty = |class| instance.free_list(class).is_empty();
        let keeps_nothing = instance.buffered() == 0 && Class::all().all(empty);
        ensure(
            instance.state() != State::Idle || keeps_nothing,
            "I4",
            "an instance that nobody has keeps what it does not need",
            place + 1,
        )?;
    }
    Ok(())
}

/// Units of what begins at a unit that was looked at.
fn units_of(memory: &Memory, span: Span) -> u32 {
    let record = memory.record(span);
    match record.kind() {
        Kind::Page(class) => u32::from(class.shape().units),
        Kind::Run | Kind::Free | Kind::Mixed => record.units.get(),
        Kind::Nothing | Kind::Inside(_) | Kind::InsideMixed => 1,
    }
}

/// Verifies M4 for a unit that belongs to no page.
fn check_no_page(memory: &Memory, unit: Span) -> Result<(), Corruption> {
    ensure(
        memory.record(unit).is_no_page(),
        "M4",
        "what is no page looks like one to a free",
        unit.number() as usize,
    )?;
    check_slot(memory, unit, Slot::NONE, 0)
}

/// Verifies M5 for a unit.
fn check_slot(memory: &Memory, unit: Span, slot: Slot, owner: u16) -> Result<(), Corruption> {
    ensure(
        memory.slot(unit) == slot && memory.owner(unit) == owner,
        "M5",
        "a unit's slot is not that of its page's class and instance",
        unit.number() as usize,
    )
}

/// Verifies P1 and M4 for a unit behind the top.
fn check_behind(memory: &Memory, unit: Span) -> Result<(), Corruption> {
    check_no_page(memory, unit)?;
    ensure(
        memory.record(unit).kind() == Kind::Nothing,
        "P1",
        "something is recorded behind the top",
        unit.number() as usize,
    )
}

/// Verifies the records of one page or run (P1, M4). Returns its units.
fn check_records<S: Source>(memory: &Memory, span: Span, top: Span) -> Result<u32, Corruption> {
    let (kind, units) = (memory.record(span).kind(), units_of(memory, span));
    let at = span.number() as usize;
    let begins = !matches!(kind, Kind::Inside(_) | Kind::InsideMixed);
    ensure(begins, "P1", "a page has no beginning", at)?;
    ensure(
        units > 0 && units <= top.number() - span.number() && mixed::may_be::<S>(kind, units),
        "P1",
        "a run leads over the top",
        at,
    )?;
    // Of a page: what its later units are, and the slot of all.
    let page = match kind {
        Kind::Page(class) => Some((Kind::Inside(class), class.slot())),
        Kind::Mixed => Some((Kind::InsideMixed, Slot::MIXED)),
        _ => None,
    };
    let owner = memory.owner(span);
    if let Some((_, slot)) = page {
        let begins = memory.record(span).is_back(0);
        ensure(begins, "I2", "a page begins somewhere else", at)?;
        check_slot(memory, span, slot, owner)?;
    } else {
        check_no_page(memory, span)?;
    }
    for unit in 1..units {
        let inside = memory.after(span, unit);
        let record = memory.record(inside);
        let last_of_free = kind == Kind::Free && unit == units - 1;
        let sound = if let Some((later, slot)) = page {
            check_slot(memory, inside, slot, owner)?;
            record.kind() == later && record.is_inside(unit)
        } else {
            check_no_page(memory, inside)?;
            record.kind()
                == if last_of_free {
                    Kind::Free
                } else {
                    Kind::Nothing
                }
        };
        ensure(
            sound,
            "P1",
            "something is recorded inside a page or run",
            inside.number() as usize,
        )?;
    }
    Ok(units)
}

/// Verifies I3 for a unit that is nothing. Returns whether it is in no buffer.
fn check_buffered<L: RawMutex, S: Source>(
    common: &Common<L, S>,
    unit: Span,
) -> Result<bool, Corruption> {
    let buffered = common.joined().flat_map(Instance::each_buffered);
    let times = buffered.filter(|each| *each == unit).count();
    ensure(
        times <= 1,
        "I3",
        "a unit is buffered twice",
        unit.number() as usize,
    )?;
    Ok(times == 0)
}

/// Verifies a page except for those of its page-blocks that are in a free list. Returns whether it
/// is listed.
fn check_page<L: RawMutex, S: Source>(
    common: &Common<L, S>,
    page: Span,
    class: Class,
) -> Result<bool, Corruption> {
    let (memory, at) = (common.memory(), page.number() as usize);
    let record = memory.record(page);
    let owner = common
        .joined()
        .find(|instance| instance.number() == memory.owner(page));
    let Some(owner) = owner else {
        return Err(Corruption::new("I2", "a page has no instance", at));
    };
    let (used, opened) = (usize::from(record.used()), record.opened.get());
    ensure(
        opened <= class.shape().blocks,
        "I2",
        "more page-blocks were opened than there are",
        at,
    )?;
    let Some((free, _)) = free_of(memory, page, class) else {
        return Err(Corruption::new("C1", "a chain leads astray", at));
    };
    ensure(
        used + free == usize::from(opened),
        "I2",
        "used and free are not all",
        at,
    )?;
    let is_listed = owner.lists(class, page, record);
    let watch = if is_listed || owner.current(class) == page {
        common.watched()
    } else if common.checks() {
        EACH_FREE
    } else {
        class.loose()
    };
    ensure(
        record.watch.get() == watch,
        "I2",
        "a page is watched as one that is full, or as one that is not",
        at,
    )?;
    check_place(owner, page, class, record)?;
    Ok(is_listed)
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
        listed || record.next.get() == Span::NONE,
        "I2",
        "a page that is not listed leads on",
        at,
    )?;
    ensure(
        current || used > 0,
        "I2",
        "an empty page was not released",
        at,
    )
}

/// Whether a unit that may be anything is the first one of a page of a class that an instance owns.
fn is_page_of(memory: &Memory, own: &Instance, class: Class, page: Span) -> bool {
    let record = memory
        .is_usable(page)
        .then(|| memory.record(page))
        .filter(|_| memory.owner(page) == own.number());
    record.and_then(Record::class) == Some(class)
}

/// Verifies the current page, I1 and L1.
fn check_hand<L: RawMutex, S: Source>(
    common: &Common<L, S>,
    own: &Instance,
    class: Class,
) -> Result<(), Corruption> {
    let (memory, page) = (common.memory(), own.current(class));
    let at = page.number() as usize;
    ensure(
        page == Span::NONE || is_page_of(memory, own, class, page),
        "I2",
        "the current page is of another class or instance",
        at,
    )?;
    let Some((held, last)) = list_of(memory, own, class) else {
        return Err(Corruption::new("I1", "a free list leads astray", at));
    };
    ensure(
        own.free_list(class).is_sound(class, held),
        "L1",
        "a free list has other room than it says",
        at,
    )?;
    // Two chains that share a page-block share all behind it.
    let ends = |chain: Option<(usize, *mut u8)>| chain.is_some_and(|(_, end)| end == last);
    let others = common.joined().filter(|each| each.number() != own.number());
    let in_page = page_of(memory, class, last).and_then(|page| free_of(memory, page, class));
    let mut lists = others.map(|each| list_of(memory, each, class));
    let shared = held > 0 && (ends(in_page) || lists.any(ends));
    ensure(
        !shared,
        "C1",
        "a page-block is in a free list, and in another one or free in its page",
        at,
    )
}

/// Verifies the lists of an instance. Returns how many pages there are in them.
fn check_lists<L: RawMutex, S: Source>(
    common: &Common<L, S>,
    own: &Instance,
) -> Result<usize, Corruption> {
    let mut listed = mixed::check_list(common.memory(), own)?;
    for class in Class::all() {
        check_hand(common, own, class)?;
        listed += check_list(common.memory(), own, class)?;
    }
    Ok(listed)
}

/// Verifies the list of a class's pages that are not full. Returns how many there are.
fn check_list(memory: &Memory, own: &Instance, class: Class) -> Result<usize, Corruption> {
    let current = own.current(class);
    chains::check_pages(memory, own.first(class), own.last(class), |page| {
        is_page_of(memory, own, class, page) && page != current
    })
}
