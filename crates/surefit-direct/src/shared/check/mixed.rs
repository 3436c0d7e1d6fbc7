//! Mixed pages, and the lists of those in which page-blocks may fit.
#![deny(unsafe_code)]

use lock_api::RawMutex;
use surefit_core::{Corruption, ensure};

use super::super::common::Common;
use super::super::division::GRANULES;
use super::super::instance::Instance;
use super::super::memory::{Kind, Memory, Span};
use super::super::mixed::Mixed;
use super::super::sizes::MOST_UNITS;
use super::super::source::Source;
use super::chains::check_pages;

/// Whether a run of so many units can be of a kind, if that is a mixed page: only over a source
/// that takes memory back there are divisions.
pub(super) fn may_be<S: Source>(kind: Kind, units: u32) -> bool {
    kind != Kind::Mixed || S::PURGES && units as usize <= MOST_UNITS
}

/// Verifies I2, X1 and X2 for a page of which the records are sound. Returns whether it is listed.
pub(super) fn check_page<L: RawMutex, S: Source>(
    common: &Common<L, S>,
    page: Span,
) -> Result<bool, Corruption> {
    let (memory, at) = (common.memory(), page.number() as usize);
    let record = memory.record(page);
    let owner = common
        .joined()
        .find(|instance| instance.number() == memory.owner(page));
    let Some(owner) = owner.filter(|_| !common.checks()) else {
        return Err(Corruption::new("I2", "a mixed page has no instance", at));
    };
    let used = used_of(memory, page, record.units.get());
    let Some(used) = used else {
        return Err(Corruption::new(
            "X1",
            "a page-block lies where none can",
            at,
        ));
    };
    ensure(
        used > 0 && used == usize::from(record.opened.get()),
        "X2",
        "a mixed page has other used granules than it says",
        at,
    )?;
    ensure(
        record.has_no_class(),
        "X2",
        "a mixed page frees as one of a class",
        at,
    )?;
    let is_listed = owner.lists_mixed(page, record);
    let watch = usize::from(record.watch.get());
    ensure(
        if is_listed { watch == 0 } else { watch < used },
        "X2",
        "a mixed page is watched as one that is listed, or as one that is not",
        at,
    )?;
    ensure(
        is_listed || record.next.get() == Span::NONE,
        "I2",
        "a page that is not listed leads on",
        at,
    )?;
    Ok(is_listed)
}

/// The granules that used page-blocks of a mixed page have; `None` if X1 does not hold.
fn used_of(memory: &Memory, page: Span, units: u32) -> Option<usize> {
    let (mut end, mut used) = (0, 0);
    for (at, class) in Mixed::of(memory, page, units).each_used() {
        let granules = usize::from(class?.granules());
        if at < end || at % (1 << granules.trailing_zeros()) != 0 {
            return None;
        }
        end = at + granules;
        used += granules;
    }
    (end <= units as usize * GRANULES).then_some(used)
}

/// Whether a unit that may be anything is the first one of a mixed page that an instance owns.
fn is_mixed_of(memory: &Memory, own: &Instance, page: Span) -> bool {
    memory.is_usable(page)
        && memory.owner(page) == own.number()
        && memory.record(page).kind() == Kind::Mixed
}

/// Verifies the list of mixed pages of an instance. Returns how many there are.
pub(super) fn check_list(memory: &Memory, own: &Instance) -> Result<usize, Corruption> {
    check_pages(memory, own.first_mixed(), own.last_mixed(), |page| {
        is_mixed_of(memory, own, page)
    })
}
