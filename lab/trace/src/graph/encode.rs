//! The records of a recording as bytes: what `record` reads.
#![deny(clippy::arithmetic_side_effects, clippy::cast_possible_truncation)]

use crate::codec::{to_zigzag, write_integer};
use crate::graph::record::{CLASS_LEVEL, Edges, Record, TO_CLASS};

/// Appends a record. Slots of a class have lost their numbers in reading; they are numbered from 0.
pub(super) fn encode(record: &Record, out: &mut Vec<u8>) {
    out.push(record.letter() as u8);
    match record {
        Record::Class(class) => {
            let length = class.signature.len() as u64;
            integers([class.id.into(), class.fields.into(), length], out);
            out.extend(class.signature.bytes());
        }
        Record::Allocation { class, bytes } => integers([*class, *bytes].map(u64::from), out),
        Record::Found {
            id,
            class,
            bytes,
            length,
        } => {
            integers([*id, *class, *bytes].map(u64::from), out);
            write_integer(length.map_or(0, |length| u64::from(length) + 1), out);
        }
        // The recorder's estimate of its slots, which nobody reads.
        Record::Again { id, bytes } => integers([u64::from(*id), u64::from(*bytes), 0], out),
        Record::WalkBegins {
            number,
            allocations,
            bytes,
        } => integers([*number, *allocations, *bytes], out),
        Record::Edges(edges) => encode_edges(edges, out),
        Record::Roots(roots) => encode_roots(roots, out),
        Record::Deaths(dead) => encode_deaths(dead, out),
    }
}

fn integers<const N: usize>(values: [u64; N], out: &mut Vec<u8>) {
    values.iter().for_each(|&value| write_integer(value, out));
}

/// The class first, then the object's own references, then those of its class.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "lengths of vectors; differences of numbers of 32 bits, in 64"
)]
fn encode_edges(edges: &Edges, out: &mut Vec<u8>) {
    let to_class = edges.class.map(|class| (TO_CLASS, class));
    let class_level = (CLASS_LEVEL..).zip(edges.class_level.iter().copied());
    let all = to_class.into_iter().chain(edges.own.iter().copied());
    let count = usize::from(to_class.is_some()) + edges.own.len() + edges.class_level.len();
    integers([edges.object.into(), count as u64], out);
    let before = (0, edges.object);
    all.chain(class_level).fold(before, |before, reference| {
        let (slot, target) = reference;
        write_integer(slot.wrapping_sub(before.0).into(), out);
        let difference = i64::from(target) - i64::from(before.1);
        write_integer(to_zigzag(difference), out);
        reference
    });
}

/// Ids ascend.
#[expect(clippy::arithmetic_side_effects, reason = "the writer sorted them")]
fn encode_roots(roots: &[(u32, bool)], out: &mut Vec<u8>) {
    let mut before = 0;
    for &(id, gained) in roots {
        out.push(if gained { b'+' } else { b'-' });
        write_integer(u64::from(id - before), out);
        before = id;
    }
    out.push(b'.');
}

/// No id is 0, and none follows itself: a difference of 0 ends them.
fn encode_deaths(dead: &[u32], out: &mut Vec<u8>) {
    let mut before = 0;
    for &id in dead {
        write_integer(id.wrapping_sub(before).into(), out);
        before = id;
    }
    write_integer(0, out);
}
