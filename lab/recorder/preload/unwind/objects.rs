//! Where the tables are of what is loaded: the linker is asked what holds an address, and the head
//! of that file, which is mapped with it, says where its tables are.
//!
//! There is no list of our own that would have to follow what is opened and closed: an address is
//! looked up once, and then its rule is known ([`super::rules`]).

use core::slice;

use surefit_interpose::system::{self, Loaded};

use crate::tables::bytes::Part;

/// The tables of a program or library.
pub(super) struct Tables {
    /// The part of the file that holds them, mapped.
    pub(super) part: Part<'static>,
    /// Where the sorted one begins.
    pub(super) header: usize,
}

/// What holds an address.
pub(super) enum Holder {
    /// A program or library with tables.
    Known(Tables),
    /// One whose tables are not found.
    Tableless,
    /// None.
    Nobody,
}

/// The tables for an address of code.
///
/// They can be read as long as what holds them is loaded: so while code of it runs or is to be
/// returned to.
pub(super) fn holder_of(pc: usize) -> Holder {
    match system::loaded_at(pc) {
        None => Holder::Nobody,
        Some(loaded) => match tables(loaded) {
            Some(tables) => Holder::Known(tables),
            None => Holder::Tableless,
        },
    }
}

/// Bytes of the file's head that are looked at: a page is mapped at least.
const HEAD: usize = 4096;

const HEADER_BYTES: usize = 56;
const LOADED: u32 = 1;
const TABLES: u32 = 0x6474_e550;
const READABLE: u32 = 4;

/// A part of the file, as it is mapped.
#[derive(Clone, Copy)]
struct Segment {
    kind: u32,
    flags: u32,
    at: usize,
    bytes: usize,
}

impl Segment {
    /// Whether it can be read at an address.
    fn shows(&self, address: usize) -> bool {
        let inside = address.wrapping_sub(self.at) < self.bytes;
        self.kind == LOADED && self.flags & READABLE != 0 && inside
    }
}

/// Where what holds an address begins, and how many bytes it has.
pub(super) fn range_of(address: usize) -> Option<(usize, usize)> {
    let loaded = system::loaded_at(address)?;
    let ends = segments(loaded)?.filter(|it| it.kind == LOADED);
    let end = ends.map(|it| it.at.wrapping_add(it.bytes)).max()?;
    Some((loaded.start, end.checked_sub(loaded.start)?))
}

fn tables(loaded: Loaded) -> Option<Tables> {
    tables_by_head(loaded).or_else(|| tables_in_gaps(loaded))
}

fn tables_by_head(loaded: Loaded) -> Option<Tables> {
    let segments = segments(loaded)?;
    let header = segments.clone().find(|it| it.kind == TABLES)?.at;
    let within = segments.clone().find(|it| it.shows(header))?;
    // SAFETY: the segment is mapped, and can be read.
    Some(unsafe { Tables::new(header, within.at, within.bytes) })
}

/// The tables of what has gaps between its parts: its head is not where the part begins that holds
/// an address, but the linker knows the part that holds the tables.
fn tables_in_gaps(loaded: Loaded) -> Option<Tables> {
    let header = loaded.functions;
    let within = system::loaded_at(header).filter(|it| it.map == loaded.map && it.end > header)?;
    let is_part = (within.start, within.end) != (loaded.start, loaded.end);
    // SAFETY: the part is mapped, and can be read: the platform's unwinder reads it.
    is_part.then(|| unsafe { Tables::new(header, within.start, within.end - within.start) })
}

impl Tables {
    /// # Safety
    /// So many bytes are mapped at `start`, and can be read.
    unsafe fn new(header: usize, start: usize, bytes: usize) -> Self {
        let at = core::ptr::with_exposed_provenance(start);
        // SAFETY: the caller's promise; nobody changes tables.
        let part = Part::new(start, unsafe { slice::from_raw_parts(at, bytes) });
        Self { part, header }
    }
}

/// The segments that a file's head lists, of 64 bits.
fn segments(loaded: Loaded) -> Option<impl Iterator<Item = Segment> + Clone> {
    const MAGIC: u32 = u32::from_le_bytes(*b"\x7fELF");
    let start = loaded.start;
    let at = core::ptr::with_exposed_provenance(start);
    // SAFETY: the first page of what is loaded.
    let head = Part::new(start, unsafe { slice::from_raw_parts(at, HEAD) });
    // SAFETY: the linker's record of what is loaded: code of it called us.
    let bias = unsafe { (*loaded.map).bias };
    let number = |offset: usize| head.at(start + offset)?.u16();
    let is_file = head.at(start)?.u32()? == MAGIC && number(4)? & 255 == 2;
    let first = usize::try_from(head.at(start + 32)?.u64()?).ok()?;
    if !is_file || usize::from(number(54)?) != HEADER_BYTES {
        return None;
    }
    let count = usize::from(number(56)?);
    Some((0..count).map_while(move |number| {
        let offset = first.checked_add(number * HEADER_BYTES)?;
        let mut line = head.at(start.checked_add(offset)?)?;
        let (kind, flags) = (line.u32()?, line.u32()?);
        line.take(8)?;
        let at = usize::try_from(line.u64()?).ok()?.wrapping_add(bias);
        line.take(8)?;
        let bytes = usize::try_from(line.u64()?).ok()?;
        Some(Segment {
            kind,
            flags,
            at,
            bytes,
        })
    }))
}
