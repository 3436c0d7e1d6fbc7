//! Numbers with 24 bits behind the point, from -128 up to 128: the same on every processor. What
//! exceeds the range saturates.

use core::ops::{Add, AddAssign, Mul, Neg, Sub};

/// A number with 24 bits behind the point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fixed(pub i32);

/// Bits behind the point.
const POINT: u32 = 24;

impl Fixed {
    /// 0.
    pub const ZERO: Self = Self(0);

    /// 1.
    pub const ONE: Self = Self(1 << POINT);

    /// A thousandth, so many times.
    pub const fn milli(thousandths: i32) -> Self {
        Self(saturated(((thousandths as i64) << POINT) / 1000))
    }

    /// Its absolute value.
    pub const fn abs(self) -> Self {
        Self(self.0.saturating_abs())
    }

    /// No more than `most`, and no less than its negative.
    pub fn within(self, most: Self) -> Self {
        self.clamp(-most, most)
    }
}

const fn saturated(value: i64) -> i32 {
    if value > i32::MAX as i64 {
        i32::MAX
    } else if value < i32::MIN as i64 {
        i32::MIN
    } else {
        value as i32
    }
}

impl Add for Fixed {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Fixed {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Fixed {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Neg for Fixed {
    type Output = Self;

    fn neg(self) -> Self {
        Self(self.0.saturating_neg())
    }
}

impl Mul for Fixed {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self(saturated((i64::from(self.0) * i64::from(other.0)) >> POINT))
    }
}

/// A generator of seeded numbers (xorshift); its state is not 0.
#[derive(Clone, Debug)]
pub struct Random(u32);

impl Random {
    /// A generator. Different users of one seed take different streams.
    pub const fn new(seed: u32, stream: u32) -> Self {
        let mixed = seed.wrapping_mul(0x9e37_79b9) ^ stream.wrapping_mul(0x85eb_ca6b);
        Self(if mixed == 0 { 1 } else { mixed })
    }

    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: u32) -> u32 {
        ((u64::from(self.next()) * u64::from(bound)) >> 32) as u32
    }

    /// A number between `-most` and `most`.
    pub fn around_zero(&mut self, most: Fixed) -> Fixed {
        let spread = (i64::from(self.next() as i32) * i64::from(most.0)) >> 31;
        Fixed(spread as i32)
    }
}
