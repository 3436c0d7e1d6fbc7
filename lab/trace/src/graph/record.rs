//! The records of a recording as they stand in its bytes: only their shape is checked here.
#![deny(clippy::arithmetic_side_effects, clippy::cast_possible_truncation)]

use std::io::Read;

use crate::Problem;
use crate::codec::{from_zigzag, read_integer};
use crate::graph::step::Class;
use crate::source::Source;

/// The most items of one record, and of one walk.
pub(super) const MOST_ITEMS: usize = 1 << 24;

/// Slots from here on are of the class, not of the object.
pub(super) const CLASS_LEVEL: u32 = 0x1000_0000;

/// The reference of an object to its class object.
pub(super) const TO_CLASS: u32 = 0x3000_0001;

/// A record.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Record {
    /// C
    Class(Class),
    /// A
    Allocation { class: u32, bytes: u32 },
    /// H; `length` is that of an array.
    Found {
        id: u32,
        class: u32,
        bytes: u32,
        length: Option<u32>,
    },
    /// Z
    Again { id: u32, bytes: u32 },
    /// S
    WalkBegins {
        number: u64,
        allocations: u64,
        bytes: u64,
    },
    /// E
    Edges(Edges),
    /// R: `(id, whether it is a root from now on)`
    Roots(Vec<(u32, bool)>),
    /// D, which ends a walk.
    Deaths(Vec<u32>),
}

/// All references of an object.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Edges {
    pub(super) object: u32,
    /// `(slot, target)`, slots as recorded.
    pub(super) own: Vec<(u32, u32)>,
    /// The targets of class-level slots.
    pub(super) class_level: Vec<u32>,
    /// The class object of the object's class.
    pub(super) class: Option<u32>,
}

impl Record {
    /// The record's letter.
    pub(super) fn letter(&self) -> char {
        match self {
            Self::Class(_) => 'C',
            Self::Allocation { .. } => 'A',
            Self::Found { .. } => 'H',
            Self::Again { .. } => 'Z',
            Self::WalkBegins { .. } => 'S',
            Self::Edges(_) => 'E',
            Self::Roots(_) => 'R',
            Self::Deaths(_) => 'D',
        }
    }
}

/// Reads the next record; `None` where the stream ends.
pub(super) fn read_record<R: Read>(source: &mut Source<R>) -> Result<Option<Record>, Problem> {
    let is_first = source.position() == 0;
    let Some(letter) = source.byte()? else {
        return source.expect_end().map(|()| None);
    };
    let record = match letter {
        b'C' => Record::Class(read_class(source)?),
        b'A' => Record::Allocation {
            class: read_id(source)?,
            bytes: read_bytes(source)?,
        },
        b'H' => read_found(source)?,
        b'Z' => read_again(source)?,
        b'S' => Record::WalkBegins {
            number: read_integer(source)?,
            allocations: read_integer(source)?,
            bytes: read_integer(source)?,
        },
        b'E' => Record::Edges(read_edges(source)?),
        b'R' => Record::Roots(read_roots(source)?),
        b'D' => Record::Deaths(read_deaths(source)?),
        _ if is_first => return Err(Problem::NotAGraph),
        _ => return Err(Problem::UnknownLetter(letter)),
    };
    Ok(Some(record))
}

fn read_id<R: Read>(source: &mut Source<R>) -> Result<u32, Problem> {
    let id = read_integer(source)?;
    u32::try_from(id).map_err(|_| unknown(id))
}

fn unknown(id: u64) -> Problem {
    Problem::UnknownObject(i64::try_from(id).unwrap_or(i64::MAX))
}

/// Reads the size of an object.
fn read_bytes<R: Read>(source: &mut Source<R>) -> Result<u32, Problem> {
    object_bytes(read_integer(source)?)
}

fn object_bytes(bytes: u64) -> Result<u32, Problem> {
    match u32::try_from(bytes) {
        Ok(small) if small <= i32::MAX as u32 => Ok(small),
        _ => Err(Problem::HugeObject(bytes)),
    }
}

fn read_class<R: Read>(source: &mut Source<R>) -> Result<Class, Problem> {
    let id = read_id(source)?;
    let fields = class_count(read_integer(source)?, "reference fields")?;
    let length = class_count(read_integer(source)?, "bytes of signature")?;
    let signature = source.bytes(length as usize)?;
    Ok(Class {
        id,
        fields,
        signature: String::from_utf8_lossy(&signature).into_owned(),
    })
}

/// Checks that numbers are no greater than a reader takes: those of a record that was not read.
pub(super) fn check_numbers(record: &Record) -> Result<(), Problem> {
    match record {
        Record::Class(class) => {
            class_count(class.fields.into(), "reference fields")?;
            class_count(class.signature.len() as u64, "bytes of signature").map(drop)
        }
        Record::Allocation { bytes, .. }
        | Record::Found { bytes, .. }
        | Record::Again { bytes, .. } => object_bytes((*bytes).into()).map(drop),
        Record::Edges(edges) => {
            let of_class = edges.own.iter().find(|&&(slot, _)| slot >= CLASS_LEVEL);
            of_class.map_or(Ok(()), |&(slot, _)| {
                let (id, slots) = (edges.object, CLASS_LEVEL);
                Err(Problem::Slot { id, slot, slots })
            })
        }
        Record::Deaths(dead) if dead.len() > MOST_ITEMS => Err(too_many_items()),
        Record::Deaths(_) | Record::Roots(_) | Record::WalkBegins { .. } => Ok(()),
    }
}

fn class_count(count: u64, what: &'static str) -> Result<u32, Problem> {
    match u32::try_from(count) {
        Ok(small) if small <= Class::MAX => Ok(small),
        _ => {
            let max = Class::MAX;
            Err(Problem::HugeClass { what, count, max })
        }
    }
}

fn read_found<R: Read>(source: &mut Source<R>) -> Result<Record, Problem> {
    Ok(Record::Found {
        id: read_id(source)?,
        class: read_id(source)?,
        bytes: read_bytes(source)?,
        length: match read_integer(source)?.checked_sub(1) {
            Some(length) => Some(u32::try_from(length).map_err(|_| Problem::HugeObject(length))?),
            None => None,
        },
    })
}

/// The slots of a revived object are known from its first life; the recorder only estimates them.
fn read_again<R: Read>(source: &mut Source<R>) -> Result<Record, Problem> {
    let id = read_id(source)?;
    let bytes = read_bytes(source)?;
    read_integer(source)?;
    Ok(Record::Again { id, bytes })
}

/// Slots and targets are differences from the ones before, the first target from the object itself.
/// Slots need not ascend: they are counted modulo 2^32.
#[expect(
    clippy::cast_possible_truncation,
    reason = "differences are counted modulo 2^32"
)]
fn read_edges<R: Read>(source: &mut Source<R>) -> Result<Edges, Problem> {
    let object = read_id(source)?;
    let mut edges = Edges {
        object,
        own: Vec::new(),
        class_level: Vec::new(),
        class: None,
    };
    let (mut slot, mut target) = (0_u32, object);
    for _ in 0..read_integer(source)? {
        slot = slot.wrapping_add(read_integer(source)? as u32);
        target = moved(target, from_zigzag(read_integer(source)?))?;
        match slot {
            TO_CLASS if edges.class.is_some() => {
                return Err(Problem::SlotTwice { id: object, slot });
            }
            TO_CLASS => edges.class = Some(target),
            CLASS_LEVEL.. => push(&mut edges.class_level, target)?,
            _ => push(&mut edges.own, (slot, target))?,
        }
    }
    Ok(edges)
}

fn moved(id: u32, difference: i64) -> Result<u32, Problem> {
    let sum = i64::from(id).saturating_add(difference);
    u32::try_from(sum).map_err(|_| Problem::UnknownObject(sum))
}

/// Ids ascend.
fn read_roots<R: Read>(source: &mut Source<R>) -> Result<Vec<(u32, bool)>, Problem> {
    let mut roots = Vec::new();
    let mut id = 0;
    loop {
        let gained = match source.byte()?.ok_or(Problem::Truncated)? {
            b'+' => true,
            b'-' => false,
            b'.' => return Ok(roots),
            sign => return Err(Problem::UnknownLetter(sign)),
        };
        let difference = read_integer(source)?;
        id = u64::from(id)
            .checked_add(difference)
            .and_then(|id| u32::try_from(id).ok())
            .ok_or_else(|| unknown(difference))?;
        push(&mut roots, (id, gained))?;
    }
}

/// Ids need not ascend: their differences are counted modulo 2^32.
#[expect(
    clippy::cast_possible_truncation,
    reason = "differences are counted modulo 2^32"
)]
fn read_deaths<R: Read>(source: &mut Source<R>) -> Result<Vec<u32>, Problem> {
    let mut deaths = Vec::new();
    let mut id = 0_u32;
    loop {
        let difference = read_integer(source)?;
        if difference == 0 {
            return Ok(deaths);
        }
        id = id.wrapping_add(difference as u32);
        push(&mut deaths, id)?;
    }
}

/// Appends an item to a list of bounded length.
pub(super) fn push<T>(list: &mut Vec<T>, item: T) -> Result<(), Problem> {
    if list.len() == MOST_ITEMS {
        return Err(too_many_items());
    }
    list.try_reserve(1).map_err(|_| Problem::OutOfMemory)?;
    list.push(item);
    Ok(())
}

/// The error for a record or a walk with more items than are taken.
pub(super) fn too_many_items() -> Problem {
    Problem::TooMany {
        what: "references, root changes or deaths in one walk",
        limit: MOST_ITEMS as u64,
    }
}
