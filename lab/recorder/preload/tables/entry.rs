//! What `.eh_frame` says of one function: where it is, and two programs, the first of which many
//! functions share.

use super::bytes::{Cursor, Encoding, Part};

/// The description of a function.
pub(crate) struct Entry<'a> {
    start: usize,
    bytes: usize,
    pub(crate) shared: Shared<'a>,
    /// The function's own program.
    pub(crate) program: Cursor<'a>,
}

/// What many functions share.
pub(crate) struct Shared<'a> {
    /// What steps of the address are multiples of.
    pub(crate) code_factor: u64,
    /// What offsets are multiples of.
    pub(crate) data_factor: i64,
    pointers: Encoding,
    /// Whether there is something between the two lengths and the program.
    has_length: bool,
    /// Whether it is what a signal's handler returns to.
    pub(crate) is_signal: bool,
    /// The number of the return address's register.
    pub(crate) return_register: u64,
    /// The program that runs before the function's own.
    pub(crate) program: Cursor<'a>,
}

impl Entry<'_> {
    /// Whether it describes the code at an address.
    pub(crate) fn holds(&self, address: usize) -> bool {
        address
            .checked_sub(self.start)
            .is_some_and(|into| into < self.bytes)
    }

    /// Where the function begins.
    pub(crate) fn start(&self) -> usize {
        self.start
    }
}

/// Reads the entry at an address; `None` if it is none, or of a kind that is not known here.
pub(crate) fn read(part: Part<'_>, address: usize) -> Option<Entry<'_>> {
    let mut entry = contents(part, address)?;
    let here = entry.address();
    let back = usize::try_from(entry.u32()?).ok()?;
    if back == 0 {
        return None;
    }
    let shared = shared(part, here.checked_sub(back)?)?;
    let start = entry.pointer(shared.pointers)?;
    let bytes = entry.pointer(shared.pointers.number_alone())?;
    if shared.has_length {
        let length = entry.unsigned()?;
        entry.take(usize::try_from(length).ok()?)?;
    }
    Some(Entry {
        start,
        bytes,
        shared,
        program: entry,
    })
}

/// What is behind the length at an address. A length of 64 bits is of no compiler.
fn contents(part: Part<'_>, address: usize) -> Option<Cursor<'_>> {
    let mut cursor = part.at(address)?;
    let length = cursor.u32()?;
    if length == 0 || length == u32::MAX {
        return None;
    }
    cursor.take(usize::try_from(length).ok()?)
}

fn shared(part: Part<'_>, address: usize) -> Option<Shared<'_>> {
    let mut cursor = contents(part, address)?;
    let (zero, version) = (cursor.u32()?, cursor.u8()?);
    if zero != 0 || version != 1 && version != 3 {
        return None;
    }
    let mut letters = cursor;
    while cursor.u8()? != 0 {}
    let code_factor = cursor.unsigned()?;
    let data_factor = cursor.signed()?;
    let return_register = match version {
        1 => u64::from(cursor.u8()?),
        _ => cursor.unsigned()?,
    };
    let mut shared = Shared {
        code_factor,
        data_factor,
        pointers: Encoding::ABSOLUTE,
        has_length: false,
        is_signal: false,
        return_register,
        program: cursor,
    };
    shared.read_letters(&mut letters)?;
    Some(shared)
}

impl Shared<'_> {
    /// Reads what the letters say that there is: `z` is first, if any is.
    fn read_letters(&mut self, letters: &mut Cursor<'_>) -> Option<()> {
        let mut data = match letters.u8()? {
            0 => return Some(()),
            b'z' => {
                let length = self.program.unsigned()?;
                self.program.take(usize::try_from(length).ok()?)?
            }
            _ => return None,
        };
        self.has_length = true;
        loop {
            match letters.u8()? {
                0 => return Some(()),
                b'R' => self.pointers = Encoding(data.u8()?),
                b'L' => drop(data.u8()?),
                b'P' => {
                    let encoding = Encoding(data.u8()?);
                    data.pointer(encoding.number_alone())?;
                }
                b'S' => self.is_signal = true,
                _ => return None,
            }
        }
    }
}
