//! The numbers and records of the format, as bytes.
#![deny(clippy::arithmetic_side_effects, clippy::cast_possible_truncation)]

use crate::header::{PLAIN, WITH_SITES};
use crate::source::Source;
use crate::{Align, Call, Event, Op, Problem, Stack};
use std::io::Read;

/// The first bytes of a trace.
pub(crate) const MAGIC: [u8; 4] = *b"SFT1";
/// The version of the format that a trace is written in: the oldest one that has all of it.
pub(crate) const fn version(has_sites: bool) -> u64 {
    if has_sites { WITH_SITES } else { PLAIN }
}

/// Whether a trace of a version has call sites.
///
/// # Errors
/// The version is unknown.
pub(crate) const fn has_sites(version: u64) -> Result<bool, Problem> {
    match version {
        PLAIN => Ok(false),
        WITH_SITES => Ok(true),
        _ => Err(Problem::Version(version)),
    }
}

pub(crate) const ALLOC: u8 = 0;
pub(crate) const ZALLOC: u8 = 1;
pub(crate) const AALLOC: u8 = 2;
pub(crate) const REALLOC: u8 = 3;
pub(crate) const FREE_AGE: u8 = 4;
pub(crate) const FREE_DELTA: u8 = 5;
pub(crate) const THREAD: u8 = 6;

/// The value from which on a record's first byte is followed by the rest of the value.
const LONG: u64 = 31;

/// Reads an unsigned LEB128 integer of at most ten bytes.
pub(crate) fn read_integer<R: Read>(source: &mut Source<R>) -> Result<u64, Problem> {
    let mut value = 0;
    for shift in (0..70).step_by(7) {
        let byte = source.byte()?.ok_or(Problem::Truncated)?;
        let bits = u64::from(byte & 127);
        if shift == 63 && bits > 1 {
            return Err(Problem::LongInteger);
        }
        value |= bits << shift;
        if byte < 128 {
            return Ok(value);
        }
    }
    Err(Problem::LongInteger)
}

/// Reads the first byte of a record and what follows of its value: `(op, v)`.
#[inline]
pub(crate) fn read_record<R: Read>(source: &mut Source<R>) -> Result<(u8, u64), Problem> {
    let byte = source.byte()?.ok_or(Problem::Truncated)?;
    let value = u64::from(byte >> 3);
    if value < LONG {
        return Ok((byte & 7, value));
    }
    let more = read_integer(source)?;
    let value = more.checked_add(LONG).ok_or(Problem::LongInteger)?;
    Ok((byte & 7, value))
}

/// Appends an unsigned LEB128 integer.
#[expect(
    clippy::cast_possible_truncation,
    reason = "seven bits, or what is below 128"
)]
pub(crate) fn write_integer(mut value: u64, out: &mut Vec<u8>) {
    while value >= 128 {
        out.push(value as u8 | 128);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends the first byte of a record and the rest of its value.
#[expect(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    reason = "the value is below or at least LONG, which is below 32"
)]
pub(crate) fn write_record(op: u8, value: u64, out: &mut Vec<u8>) {
    if value < LONG {
        return out.push((value as u8) << 3 | op);
    }
    out.push((LONG as u8) << 3 | op);
    write_integer(value - LONG, out);
}

/// The bytes that a record of this value takes.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "the value is at least LONG; 64 bits have no more leading zeros"
)]
fn record_bytes(value: u64) -> u32 {
    if value < LONG {
        return 1;
    }
    1 + (64 - ((value - LONG) | 1).leading_zeros()).div_ceil(7)
}

/// The signed integer that an unsigned one stands for: 0, 1, 2, 3 are 0, -1, 1, -2.
#[expect(clippy::arithmetic_side_effects, reason = "one bit, negated")]
pub(crate) const fn from_zigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// The unsigned integer that stands for a signed one.
pub(crate) const fn to_zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

/// Turns events into records; it keeps the state that the format's reader keeps.
#[derive(Clone, Debug, Default)]
pub(crate) struct Encoder {
    next_id: u64,
    predicted: u64,
    thread: u16,
    /// The last stack named; `None` if the trace has no call sites.
    stack: Option<Stack>,
}

impl Encoder {
    /// Nothing is encoded yet; allocations and reallocations name their stacks or not.
    pub(crate) fn new(has_sites: bool) -> Self {
        Self {
            stack: has_sites.then_some(Stack::UNKNOWN),
            ..Self::default()
        }
    }

    /// Whether allocations and reallocations name their stacks.
    pub(crate) fn has_sites(&self) -> bool {
        self.stack.is_some()
    }

    /// Appends the records of one event, which is valid where it stands. `stack` is of no account
    /// for a free, or if the trace has no call sites.
    #[inline]
    pub(crate) fn event(&mut self, event: Event, stack: Stack, out: &mut Vec<u8>) {
        if event.thread() != self.thread {
            self.thread = event.thread();
            write_record(THREAD, u64::from(self.thread), out);
        }
        match event.op() {
            Op::Alloc { size, call, .. } => self.allocate(size, call, out),
            Op::Realloc { id, size } => {
                write_record(REALLOC, self.age(id), out);
                write_integer(size, out);
            }
            Op::Free { id } => return self.free(id, out),
        }
        if let Some(last) = &mut self.stack {
            let delta = i64::from(stack.number()).wrapping_sub(i64::from(last.number()));
            write_integer(to_zigzag(delta), out);
            *last = stack;
        }
    }

    #[expect(
        clippy::arithmetic_side_effects,
        reason = "objects have numbers of 32 bits, counted in 64"
    )]
    fn allocate(&mut self, size: u64, call: Call, out: &mut Vec<u8>) {
        match call {
            Call::Malloc => write_record(ALLOC, size, out),
            Call::Calloc => write_record(ZALLOC, size, out),
            Call::Aligned(align) => {
                write_record(AALLOC, u64::from(Align::log2(align)), out);
                write_integer(size, out);
            }
        }
        self.next_id += 1;
    }

    /// Takes the distance from the last freed object where that is shorter, or where it is zero.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "differences of numbers of 33 bits, in 64"
    )]
    fn free(&mut self, id: u32, out: &mut Vec<u8>) {
        let delta = to_zigzag(i64::from(id) - self.predicted as i64);
        let age = self.age(id);
        if delta == 0 || record_bytes(delta) < record_bytes(age) {
            write_record(FREE_DELTA, delta, out);
        } else {
            write_record(FREE_AGE, age, out);
        }
        self.predicted = u64::from(id) + 1;
    }

    #[expect(
        clippy::arithmetic_side_effects,
        reason = "the object was allocated before: its number is below the next one"
    )]
    fn age(&self, id: u32) -> u64 {
        self.next_id - 1 - u64::from(id)
    }
}

#[cfg(test)]
mod tests {
    use super::{from_zigzag, record_bytes, to_zigzag, write_integer, write_record};

    #[test]
    fn zigzag_is_as_the_format_says() {
        assert_eq!([0, 1, 2, 3, 4].map(from_zigzag), [0, -1, 1, -2, 2]);
        for value in [0, -1, 1, i64::MAX, i64::MIN] {
            assert_eq!(from_zigzag(to_zigzag(value)), value);
        }
    }

    #[test]
    fn a_record_takes_as_many_bytes_as_predicted() {
        for value in [0, 30, 31, 158, 159, 31 + 16383, 31 + 16384, u64::MAX] {
            let mut bytes = Vec::new();
            write_record(4, value, &mut bytes);
            assert_eq!(
                bytes.len() as u64,
                u64::from(record_bytes(value)),
                "value {value}"
            );
        }
    }

    #[test]
    fn the_largest_integer_takes_ten_bytes() {
        let mut bytes = Vec::new();
        write_integer(u64::MAX, &mut bytes);
        assert_eq!(bytes.len(), 10);
    }
}
