//! Reading numbers from a part of memory, by address.

/// Bytes that begin at an address.
#[derive(Clone, Copy)]
pub(crate) struct Part<'a> {
    start: usize,
    bytes: &'a [u8],
}

impl<'a> Part<'a> {
    pub(crate) fn new(start: usize, bytes: &'a [u8]) -> Self {
        Self { start, bytes }
    }

    /// Begins to read at an address; `None` if it is outside.
    pub(crate) fn at(self, address: usize) -> Option<Cursor<'a>> {
        let offset = address.checked_sub(self.start)?;
        let left = self.bytes.get(offset..)?;
        Some(Cursor { address, left })
    }
}

/// How a pointer is written: the lower four bits say as what number, the next three from where it
/// counts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Encoding(pub(crate) u8);

impl Encoding {
    pub(crate) const ABSOLUTE: Self = Self(0);
    const FROM_ITSELF: u8 = 0x10;

    /// The same number, not counted from anywhere.
    pub(crate) fn number_alone(self) -> Self {
        Self(self.0 & 15)
    }
}

/// Where reading is. Each read is `None` at the end, and each that is not takes at least one byte.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'a> {
    address: usize,
    left: &'a [u8],
}

impl<'a> Cursor<'a> {
    /// The address of the next byte.
    pub(crate) fn address(&self) -> usize {
        self.address
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.left.is_empty()
    }

    /// Takes so many bytes.
    pub(crate) fn take(&mut self, bytes: usize) -> Option<Cursor<'a>> {
        let (taken, left) = self.left.split_at_checked(bytes)?;
        let start = self.address;
        self.address = start.checked_add(bytes)?;
        self.left = left;
        Some(Cursor {
            address: start,
            left: taken,
        })
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.left.try_into().ok()
    }

    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_le_bytes)
    }

    pub(crate) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn i32(&mut self) -> Option<i32> {
        self.array().map(i32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// A number of any length, seven bits a byte, the lowest first; of at most 64 bits.
    pub(crate) fn unsigned(&mut self) -> Option<u64> {
        self.long().map(|(number, _)| number)
    }

    /// The same with a sign.
    pub(crate) fn signed(&mut self) -> Option<i64> {
        let (number, bits) = self.long()?;
        let above = 64_u32.saturating_sub(bits);
        Some(with_sign(number << above) >> above)
    }

    fn long(&mut self) -> Option<(u64, u32)> {
        let (mut number, mut bits) = (0, 0);
        loop {
            let byte = self.u8()?;
            number |= u64::from(byte & 127).checked_shl(bits)?;
            bits += 7;
            if byte < 128 {
                return Some((number, bits));
            }
        }
    }

    /// A pointer. What counts from a function or the data segment is none here.
    pub(crate) fn pointer(&mut self, encoding: Encoding) -> Option<usize> {
        let here = self.address;
        let number = match encoding.0 & 15 {
            0 | 4 | 12 => with_sign(self.u64()?),
            1 => with_sign(self.unsigned()?),
            2 => i64::from(self.u16()?),
            3 => i64::from(self.u32()?),
            9 => self.signed()?,
            10 => i64::from(i16::from_le_bytes(self.array()?)),
            11 => i64::from(self.i32()?),
            _ => return None,
        };
        let number = usize::try_from(u64::from_ne_bytes(number.to_ne_bytes())).ok()?;
        match encoding.0 & !15 {
            0 => Some(number),
            Encoding::FROM_ITSELF => Some(here.wrapping_add(number)),
            _ => None,
        }
    }
}

/// The number whose 64 bits these are.
fn with_sign(bits: u64) -> i64 {
    i64::from_ne_bytes(bits.to_ne_bytes())
}
