//! The sorted table of an object's functions, `.eh_frame_hdr`: of each where it begins, and where
//! the entry is that describes it.

use super::bytes::{Cursor, Encoding, Part};

/// The numbers of the table: 32 bits with a sign, counted from the table's own beginning.
const SORTED: u8 = 0x3b;

/// The bytes of one line: two such numbers.
const LINE: usize = 8;

/// Where the entry is of the function that begins last of those up to an address.
///
/// # Complexity
/// O(log n) reads of n functions.
pub(crate) fn find(part: Part<'_>, header: usize, address: usize) -> Option<usize> {
    let mut cursor = part.at(header)?;
    let [version, pointer, count, lines] = [cursor.u8()?, cursor.u8()?, cursor.u8()?, cursor.u8()?];
    if version != 1 || lines != SORTED {
        return None;
    }
    cursor.pointer(Encoding(pointer))?;
    let count = cursor.pointer(Encoding(count))?;
    let lines = cursor.take(count.checked_mul(LINE)?)?;
    let line = |number: usize| {
        let mut line = lines;
        line.take(number.checked_mul(LINE)?)?;
        Some((from(&mut line, header)?, from(&mut line, header)?))
    };
    // All lines before `low` begin up to the address, none from `high` on does.
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        if line(middle)?.0 <= address {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    line(low.checked_sub(1)?).map(|(_, entry)| entry)
}

fn from(line: &mut Cursor<'_>, header: usize) -> Option<usize> {
    header.checked_add_signed(isize::try_from(line.i32()?).ok()?)
}
