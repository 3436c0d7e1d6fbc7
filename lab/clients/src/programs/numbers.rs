//! Numbers that the programs share: checksums, and pseudo-random ones.

/// A checksum of a sequence of numbers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Checksum(pub(super) u64);

impl Checksum {
    pub(super) fn add(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(5) ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

/// Pseudo-random numbers that are always the same.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chance(pub(super) u64);

impl Chance {
    /// A number less than the limit.
    pub(super) fn below(&mut self, limit: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 32) % u64::from(limit)) as u32
    }
}
