//! Arbitrary bytes as choices; when they run out, zeros follow.

/// What is left of the fuzzer's bytes.
#[derive(Debug)]
pub struct Input<'d> {
    rest: &'d [u8],
}

impl<'d> Input<'d> {
    /// All of the bytes.
    pub const fn new(rest: &'d [u8]) -> Self {
        Self { rest }
    }

    /// Whether all bytes are used up.
    pub const fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        match self.rest.split_first() {
            Some((&first, rest)) => {
                self.rest = rest;
                first
            }
            None => 0,
        }
    }

    /// The next two bytes as a number.
    pub fn number(&mut self) -> usize {
        usize::from(self.byte()) | usize::from(self.byte()) << 8
    }

    /// One of `n` choices.
    pub fn below(&mut self, n: usize) -> usize {
        if n <= 256 {
            usize::from(self.byte()) % n.max(1)
        } else {
            self.number() % n
        }
    }

    /// A request in bytes: mostly small, sometimes larger than any region, seldom absurd.
    pub fn size(&mut self) -> usize {
        let scale = self.byte();
        match scale {
            0..128 => usize::from(scale),
            128..192 => self.number() % 512,
            192..224 => self.number() % 4200,
            224..248 => self.number(),
            248..254 => self.number() << 6,
            _ => (isize::MAX as usize) >> (self.byte() % 64),
        }
    }

    /// The size of a region in bytes: mostly some tens of KiB, so that it fills up and is quickly
    /// checked.
    pub fn region_bytes(&mut self) -> usize {
        let scale = self.byte();
        match scale {
            0..128 => 4096 + self.number() / 4,
            128..240 => self.number(),
            240..252 => self.number() * 4,
            _ => self.number() * 16,
        }
    }

    /// An alignment in bytes, mostly eight or less.
    pub fn align(&mut self) -> usize {
        let choice = self.byte();
        1 << if choice < 224 {
            choice % 4
        } else {
            choice % 16
        }
    }
}
