//! A program that makes what Lua 5.4 makes, with the sizes of its objects, and frees it itself.

use super::churn::Churn;
use super::error::GenerateError;
use super::groups::{Groups, Order};
use super::random::{Random, Sizes};
use super::tape::{Sink, traced};
use crate::Trace;

impl Churn {
    /// [`lua_like`] with 4 MB live.
    pub const LUA: Self = Self {
        seed: 1,
        allocations: 1_000_000,
        live_bytes: 4_000_000,
    };
}

/// A string's bytes besides its characters: a header and the zero at its end.
const STRING: u64 = 24 + 1;
/// A table without its parts.
const TABLE: u64 = 56;
/// A place of a table's array part, of which there are 2^k.
const VALUE: u64 = 16;
/// A place of a table's hash part, of which there are 2^k.
const NODE: u64 = 24;
/// A closure without its upvalues.
const CLOSURE: u64 = 32;
/// What a closure has for each upvalue.
const UPVALUE_NAME: u64 = 8;
/// An upvalue.
const UPVALUE: u64 = 40;
/// The first size of a string buffer outside of the stack; it grows by half.
const BUFFER: u64 = 1536;

/// Lengths of names and short texts.
const SHORT: Sizes = Sizes::LogUniform {
    from: 1,
    octaves: 6,
};
/// Lengths of texts that are put together in buffers.
const LONG: Sizes = Sizes::LogUniform {
    from: 1024,
    octaves: 4,
};
/// Elements of lists and maps.
const ELEMENTS: Sizes = Sizes::LogUniform {
    from: 1,
    octaves: 8,
};

/// Groups that die young, in per cent: as many as of the Java objects.
const YOUNG: u64 = 76;
/// Live bytes that hold more than any group: a list of 255 records has at most 247 KB.
const LEAST_LIVE: u64 = 256 << 10;

/// Lua-like, synthetic: not recorded, but made of the objects that Lua 5.4 makes on a 64-bit
/// machine.
///
/// ```text
/// of 100 groups
/// 30  string     24 + length + 1
/// 25  record     a table (56) with a hash part of 24 x 2^k for 1, 2, 4 or 8 fields, every second one with a string
/// 15  list       a table whose array part of 16 x 2^k is reallocated to twice its size; numbers, strings or records
/// 10  map        a table whose hash part is allocated anew in twice the size, the old one freed; keys are strings
/// 18  closure    32 + 8 n, and n upvalues of 40
///  2  buffer     reallocated by half more until the text fits, replaced by a string
/// ```
/// The sizes are those of the interpreter's structures; the shares and lengths are ours. A group
/// dies as those of [`java_like`](super::java_like) do, its newest object first, as Lua's collector
/// frees.
///
/// The group in the making when the number of allocations is reached is completed.
///
/// # Errors
/// Too many allocations, or live bytes below 256 KiB.
///
/// # Examples
/// ```
/// use surefit_trace::generate::{Churn, lua_like};
/// let trace = lua_like(&Churn { allocations: 1000, ..Churn::LUA })?;
/// let counts = &trace.header().counts;
/// let (mallocs, frees) = (counts.objects, counts.objects - counts.live_at_end);
/// assert!(counts.events > mallocs + frees, "tables and buffers grow by realloc");
/// # Ok::<(), surefit_trace::generate::GenerateError>(())
/// ```
pub fn lua_like(churn: &Churn) -> Result<Trace, GenerateError> {
    churn.in_memory()?;
    traced("lua-like", |sink| play(churn, sink))
}

pub(super) fn play(churn: &Churn, sink: Sink<'_>) -> Result<(), GenerateError> {
    churn.check(LEAST_LIVE)?;
    let mut groups = Groups::new(churn.seed, churn.live_bytes, Order::NewestFirst, sink);
    while groups.objects() < churn.allocations {
        group(&mut groups);
        let is_young = groups.random.below(100) < YOUNG;
        groups.end(is_young);
    }
    Ok(())
}

fn group(groups: &mut Groups<'_>) {
    match groups.random.below(100) {
        0..30 => string(groups),
        30..55 => record(groups),
        55..70 => list(groups),
        70..80 => map(groups),
        80..98 => closure(groups),
        _ => buffer(groups),
    }
}

fn coin(random: &mut Random) -> bool {
    random.below(2) == 0
}

fn string(groups: &mut Groups<'_>) {
    let length = SHORT.draw(&mut groups.random);
    groups.allocate(STRING + length);
}

fn record(groups: &mut Groups<'_>) {
    let fields = 1 << groups.random.below(4);
    groups.allocate(TABLE);
    groups.allocate(NODE * fields);
    for _ in 0..fields {
        if coin(&mut groups.random) {
            string(groups);
        }
    }
}

/// What a list holds, besides numbers.
type Element = Option<fn(&mut Groups<'_>)>;

fn list(groups: &mut Groups<'_>) {
    let elements = ELEMENTS.draw(&mut groups.random);
    let kinds: [Element; 3] = [None, Some(string), Some(record)];
    let element = kinds[groups.random.below(3) as usize];
    groups.allocate(TABLE);
    let array = groups.allocate(VALUE);
    for place in 0..elements {
        if place.is_power_of_two() {
            groups.grow(array, VALUE * 2 * place);
        }
        if let Some(element) = element {
            element(groups);
        }
    }
}

fn map(groups: &mut Groups<'_>) {
    let elements = ELEMENTS.draw(&mut groups.random);
    groups.allocate(TABLE);
    let hash = groups.allocate(NODE);
    for place in 0..elements {
        if place.is_power_of_two() {
            groups.replace(hash, NODE * 2 * place);
        }
        string(groups);
    }
}

fn closure(groups: &mut Groups<'_>) {
    let upvalues = groups.random.below(4);
    groups.allocate(CLOSURE + UPVALUE_NAME * upvalues);
    for _ in 0..upvalues {
        groups.allocate(UPVALUE);
    }
}

fn buffer(groups: &mut Groups<'_>) {
    let length = LONG.draw(&mut groups.random);
    let mut room = BUFFER;
    let buffer = groups.allocate(room);
    while room < length {
        room += room / 2;
        groups.grow(buffer, room);
    }
    groups.replace(buffer, STRING + length);
}
