//! Walks over chains of free page-blocks, each of which is looked at before its link is read, and
//! over lists of pages.
#![deny(unsafe_code)]

use core::ptr::null_mut;

use surefit_core::{Corruption, ensure};

use super::super::instance::Instance;
use super::super::memory::{Kind, Memory, Span};
use super::super::mixed::class_at;
use super::super::sizes::Class;

/// Follows a chain. Returns how many page-blocks there are, and the last one; `None` if one is not
/// sound, and then it was not read, or there are more than `most`.
pub(super) fn walk(
    memory: &Memory,
    first: *mut u8,
    most: usize,
    mut sound: impl FnMut(*mut u8) -> bool,
) -> Option<(usize, *mut u8)> {
    let (mut block, mut last, mut count) = (first, null_mut(), 0);
    while !block.is_null() {
        if count == most || !sound(block) {
            return None;
        }
        (last, count) = (block, count + 1);
        block = memory.link(block)?;
    }
    Some((count, last))
}

/// Whether a page-block of a page, that was ever used, begins at an address.
pub(super) fn is_block_of(memory: &Memory, page: Span, class: Class, address: *mut u8) -> bool {
    let offset = memory.offset_in(page, address);
    let opened = usize::from(memory.record(page).opened.get());
    offset % class.block_bytes() == 0 && offset / class.block_bytes() < opened
}

/// The free page-blocks of a page: how many, and the last one.
pub(super) fn free_of(memory: &Memory, page: Span, class: Class) -> Option<(usize, *mut u8)> {
    let most = usize::from(class.shape().blocks);
    let first = memory.record(page).free.first().cast();
    walk(memory, first, most, |at| {
        is_block_of(memory, page, class, at)
    })
}

/// The free list of a class of an instance.
pub(super) fn list_of(memory: &Memory, own: &Instance, class: Class) -> Option<(usize, *mut u8)> {
    let most = usize::from(class.shape().blocks.max(class.kept()));
    let first = own.free_list(class).first().cast();
    walk(memory, first, most, |at| {
        page_of(memory, class, at).is_some()
    })
}

/// The page of the page-block of a class that begins at an address, if one does.
pub(super) fn page_of(memory: &Memory, class: Class, block: *mut u8) -> Option<Span> {
    let page = memory.around(block)?;
    let record = memory.record(page);
    let is_one = class_at(memory, record, block) == Some(class)
        && (record.kind() == Kind::Mixed || is_block_of(memory, page, class, block));
    is_one.then_some(page)
}

/// Verifies a list of an instance's pages, which a number that may be anything must be to be
/// followed. Returns how many there are.
pub(super) fn check_pages(
    memory: &Memory,
    first: Span,
    last: Span,
    sound: impl Fn(Span) -> bool,
) -> Result<usize, Corruption> {
    let most = memory.committed() as usize;
    let (mut before, mut page, mut listed) = (Span::NONE, first, 0);
    while page != Span::NONE {
        let at = page.number() as usize;
        ensure(
            sound(page),
            "I2",
            "a list holds a page of another kind or instance, or a current one",
            at,
        )?;
        let record = memory.record(page);
        ensure(
            record.previous.get() == before && listed < most,
            "I2",
            "a link back does not lead back",
            at,
        )?;
        listed += 1;
        (before, page) = (page, record.next.get());
    }
    ensure(
        last == before,
        "I2",
        "a list does not end at its last page",
        last.number() as usize,
    )?;
    Ok(listed)
}
