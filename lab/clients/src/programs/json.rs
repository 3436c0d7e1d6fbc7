//! Documents: each is read into objects, changed, and written. The size is the number of documents.
//!
//! A shelf holds an eighth of them; a new document replaces a random old one. Maps are written with
//! their pairs in reverse order, so a document is copied once more before it is written.

use std::cell::Cell;
use std::fmt::Write;
use std::mem::MaybeUninit;

use surefit_freelist::Index;
use surefit_gc::{Arena, Full, GcArray, GcStr, Mutation, Rootable, Trace};

use super::between::{Between, Stopped};
use super::numbers::{Chance, Checksum};

#[derive(Clone, Copy, Trace)]
enum Value<'gc> {
    Null,
    Truth(bool),
    Number(i64),
    Text(GcStr<'gc>),
    List(GcArray<'gc, Value<'gc>>),
    Map(GcArray<'gc, (GcStr<'gc>, Value<'gc>)>),
}

type Shelf<'gc> = GcArray<'gc, Cell<Value<'gc>>>;

/// Documents on the shelf: a part of all, and a minimum.
const SHELF: (u32, u32) = (8, 32);
/// The maximum of bytes that a byte of a document takes when it is read and copied, and a constant
/// part.
const ROOM: (usize, usize) = (64, 4096);

/// Reads, changes and writes documents.
pub(super) fn run<I: Index>(
    region: &mut [MaybeUninit<u8>],
    size: u32,
    between: &mut impl Between,
) -> Result<u64, Stopped> {
    let (mut checksum, mut chance) = (Checksum::default(), Chance(8_259));
    let places = (size / SHELF.0).max(SHELF.1);
    let mut shelf = Arena::<Rootable!['gc => Shelf<'gc>], I>::new(region, |mc| {
        mc.alloc_array(places as usize, |_| Cell::new(Value::Null))
    })?;
    for _ in 0..size {
        let (mut text, depth) = (String::new(), 2 + chance.below(4));
        make(&mut text, depth, &mut chance);
        let place = chance.below(places) as usize;
        between.step(&mut shelf, ROOM.0 * text.len() + ROOM.1)?;
        let written = shelf.mutate(|mc, shelf| {
            let mut reader = Reader {
                mc,
                rest: text.as_bytes(),
            };
            let turned = turn(mc, reader.value()?)?;
            let before = shelf[place].replace(turned);
            Ok::<_, Full>((written(turned), written(before)))
        })?;
        for text in [written.0, written.1] {
            text.bytes().for_each(|byte| checksum.add(byte.into()));
        }
    }
    Ok(checksum.0)
}

/// Makes a document.
fn make(text: &mut String, depth: u32, chance: &mut Chance) {
    let kind = if depth == 0 {
        chance.below(4)
    } else {
        2 + chance.below(5)
    };
    match kind {
        0 => text.push_str("null"),
        1 => text.push_str(["false", "true"][chance.below(2) as usize]),
        2 => _ = write!(text, "{}", i64::from(chance.below(2_000_000)) - 1_000_000),
        3 => make_text(text, chance),
        4 => make_items(text, depth, chance, ['[', ']'], |_, _| ()),
        _ => make_items(text, depth, chance, ['{', '}'], |text, chance| {
            make_text(text, chance);
            text.push(':');
        }),
    }
}

fn make_text(text: &mut String, chance: &mut Chance) {
    text.push('"');
    for _ in 0..1 + chance.below(20) {
        text.push_str(["a", "e", "o", "n", "t", "r", "\\\"", "\\n", "ü"][chance.below(9) as usize]);
    }
    text.push('"');
}

fn make_items(
    text: &mut String,
    depth: u32,
    chance: &mut Chance,
    [open, close]: [char; 2],
    before: impl Fn(&mut String, &mut Chance),
) {
    text.push(open);
    for number in 0..chance.below(7) {
        if number > 0 {
            text.push(',');
        }
        before(text, chance);
        make(text, depth - 1, chance);
    }
    text.push(close);
}

/// Reads a document that is known to be valid.
struct Reader<'a, 'gc> {
    mc: &'a Mutation<'gc>,
    rest: &'a [u8],
}

impl<'gc> Reader<'_, 'gc> {
    fn value(&mut self) -> Result<Value<'gc>, Full> {
        Ok(match self.rest[0] {
            b'n' => self.skip(4, Value::Null),
            b't' => self.skip(4, Value::Truth(true)),
            b'f' => self.skip(5, Value::Truth(false)),
            b'"' => Value::Text(self.text()?),
            b'[' => Value::List(self.items(b']', Self::value)?),
            b'{' => Value::Map(self.items(b'}', Self::pair)?),
            _ => Value::Number(self.number()),
        })
    }

    fn skip<T>(&mut self, bytes: usize, value: T) -> T {
        self.rest = &self.rest[bytes..];
        value
    }

    fn pair(&mut self) -> Result<(GcStr<'gc>, Value<'gc>), Full> {
        let key = self.text()?;
        self.skip(1, ());
        Ok((key, self.value()?))
    }

    fn items<T: Trace + Copy + 'gc>(
        &mut self,
        close: u8,
        item: impl Fn(&mut Self) -> Result<T, Full>,
    ) -> Result<GcArray<'gc, T>, Full> {
        let mut items = Vec::new();
        self.skip(1, ());
        while self.rest[0] != close {
            if self.rest[0] == b',' {
                self.skip(1, ());
            }
            items.push(item(self)?);
        }
        self.skip(1, ());
        self.mc.alloc_array(items.len(), |number| items[number])
    }

    fn number(&mut self) -> i64 {
        let is_digit = |byte: &u8| *byte == b'-' || byte.is_ascii_digit();
        let length = self.rest.iter().take_while(|byte| is_digit(byte)).count();
        let digits = std::str::from_utf8(&self.rest[..length]).unwrap_or_default();
        self.skip(length, digits.parse().unwrap_or_default())
    }

    fn text(&mut self) -> Result<GcStr<'gc>, Full> {
        let mut bytes = Vec::new();
        self.skip(1, ());
        while self.rest[0] != b'"' {
            let (length, byte) = match self.rest {
                [b'\\', b'n', ..] => (2, b'\n'),
                [b'\\', escaped, ..] => (2, *escaped),
                [byte, ..] => (1, *byte),
                [] => break,
            };
            bytes.push(self.skip(length, byte));
        }
        self.skip(1, ());
        self.mc.alloc_str(&String::from_utf8_lossy(&bytes))
    }
}

/// A copy with the pairs of all maps in reverse order.
fn turn<'gc>(mc: &Mutation<'gc>, value: Value<'gc>) -> Result<Value<'gc>, Full> {
    Ok(match value {
        Value::List(items) => {
            let turned: Result<Vec<_>, _> = items.iter().map(|&item| turn(mc, item)).collect();
            let turned = turned?;
            Value::List(mc.alloc_array(turned.len(), |number| turned[number])?)
        }
        Value::Map(pairs) => {
            let turned = |&(key, value)| Ok((key, turn(mc, value)?));
            let turned: Result<Vec<_>, _> = pairs.iter().rev().map(turned).collect();
            let turned = turned?;
            Value::Map(mc.alloc_array(turned.len(), |number| turned[number])?)
        }
        other => other,
    })
}

fn written(value: Value<'_>) -> String {
    let mut text = String::new();
    write_value(&mut text, value);
    text
}

fn write_value(text: &mut String, value: Value<'_>) {
    match value {
        Value::Null => text.push_str("null"),
        Value::Truth(truth) => text.push_str(if truth { "true" } else { "false" }),
        Value::Number(number) => _ = write!(text, "{number}"),
        Value::Text(string) => write_text(text, &string),
        Value::List(items) => write_items(text, ['[', ']'], &items, |text, &item| {
            write_value(text, item)
        }),
        Value::Map(pairs) => write_items(text, ['{', '}'], &pairs, |text, &(key, value)| {
            write_text(text, &key);
            text.push(':');
            write_value(text, value);
        }),
    }
}

fn write_items<T>(
    text: &mut String,
    [open, close]: [char; 2],
    items: &[T],
    item: impl Fn(&mut String, &T),
) {
    text.push(open);
    for (number, value) in items.iter().enumerate() {
        if number > 0 {
            text.push(',');
        }
        item(text, value);
    }
    text.push(close);
}

fn write_text(text: &mut String, string: &str) {
    text.push('"');
    for character in string.chars() {
        match character {
            '\n' => text.push_str("\\n"),
            '"' => text.push_str("\\\""),
            other => text.push(other),
        }
    }
    text.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_that_is_turned_twice_is_written_as_it_was_read() {
        let mut chance = Chance(1);
        let mut region = vec![MaybeUninit::uninit(); 8 << 20];
        let mut arena = Arena::<Rootable!['gc => ()]>::new(&mut region, |_| Ok(())).expect("room");
        for _ in 0..200 {
            let mut text = String::new();
            make(&mut text, 5, &mut chance);
            arena.ensure(4 << 20).expect("room");
            arena.mutate(|mc, ()| {
                let mut reader = Reader {
                    mc,
                    rest: text.as_bytes(),
                };
                let value = reader.value().expect("room");
                assert!(reader.rest.is_empty());
                let turned = turn(mc, value).expect("room");
                assert_eq!(written(value), text);
                assert_eq!(written(turn(mc, turned).expect("room")), text);
            });
        }
    }
}
