//! What a bucket knows of a record without its body.

/// The bytes of a deadline in a body.
pub(super) const DEADLINE: usize = size_of::<u64>();

/// What a bucket knows of a record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    pub(super) hash: u32,
    /// The length of the key.
    pub(super) key: u16,
    /// The length of the body, in the low bits, and flags.
    pub(super) word: u16,
}

impl Head {
    /// The bytes of a head in a bucket.
    pub(super) const BYTES: usize = 8;

    const LEN: u16 = 0x7FF;
    pub(super) const USED: u16 = 1 << 11;
    pub(super) const MORTAL: u16 = 1 << 12;
    pub(super) const OUTSIDE: u16 = 1 << 13;
    /// The lowest bit of the number of the key's hash that is written here.
    const NUMBER: u32 = 14;

    #[inline]
    pub(super) const fn to_bytes(self) -> [u8; Self::BYTES] {
        let (key, word) = (self.key as u64, self.word as u64);
        (self.hash as u64 | key << 32 | word << 48).to_le_bytes()
    }

    #[expect(clippy::cast_possible_truncation, reason = "parts of a word")]
    #[inline]
    pub(super) const fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        let all = u64::from_le_bytes(bytes);
        Self {
            hash: all as u32,
            key: (all >> 32) as u16,
            word: (all >> 48) as u16,
        }
    }

    /// The bytes of the body.
    #[inline]
    pub(super) const fn len(self) -> usize {
        (self.word & Self::LEN) as usize
    }

    #[expect(clippy::cast_possible_truncation, reason = "a body is shorter")]
    pub(super) fn set_len(&mut self, len: usize) {
        debug_assert!(len <= Self::LEN as usize, "a body is short");
        self.word = self.word & !Self::LEN | len as u16;
    }

    #[inline]
    pub(super) const fn has(self, flag: u16) -> bool {
        self.word & flag != 0
    }

    pub(super) fn set(&mut self, flag: u16, is_set: bool) {
        self.word = if is_set {
            self.word | flag
        } else {
            self.word & !flag
        };
    }

    /// Which of the key's hashes the head has.
    #[inline]
    pub(super) const fn number(self) -> u16 {
        self.word >> Self::NUMBER
    }

    pub(super) const fn set_number(&mut self, number: u16) {
        self.word = self.word & (u16::MAX >> 2) | number << Self::NUMBER;
    }

    /// The hash and its number.
    pub(super) const fn place(self) -> Place {
        Place {
            hash: self.hash,
            number: self.number(),
        }
    }

    pub(super) const fn deadline_len(self) -> usize {
        if self.has(Self::MORTAL) { DEADLINE } else { 0 }
    }
}

/// One of a key's hashes, by which its record lies in a bucket, and the hash's number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) hash: u32,
    pub(super) number: u16,
}

/// Where a record is.
#[derive(Clone, Copy, Debug)]
pub(super) struct At {
    pub(super) head: Head,
    pub(super) index: usize,
    /// Where its body begins.
    pub(super) start: usize,
    /// The outsides before its own.
    pub(super) outside: usize,
}

impl At {
    pub(super) const fn end(&self) -> usize {
        self.start + self.head.len()
    }
}
