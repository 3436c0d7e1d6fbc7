//! Numbers of one type as numbers of another.
//!
//! Rust's casts are those of Java: floating-point numbers that are too large become the largest
//! integer, and what is no number becomes 0.

use crate::ops;
use crate::vm::Vm;
use crate::world::Slot;

/// A number of one word or two.
enum Number {
    Int(i32),
    Float(f32),
    Long(i64),
    Double(f64),
}

impl Vm<'_> {
    /// Converts the number on top of the stack; returns the new end.
    pub(super) fn convert(&mut self, op: u8, sp: usize) -> usize {
        let stack = &mut self.world.stack;
        let is_wide = matches!(
            op,
            ops::L2I | ops::L2F | ops::L2D | ops::D2I | ops::D2L | ops::D2F
        );
        let from = sp - 1 - usize::from(is_wide);
        let (low, high) = (stack[from].bits(), stack[sp - 1].bits());
        let bits = u64::from(high) << 32 | u64::from(low);
        let (int, float) = (low as i32, f32::from_bits(low));
        let (long, double) = (bits as i64, f64::from_bits(bits));
        let number = match op {
            ops::I2L => Number::Long(int.into()),
            ops::I2F => Number::Float(int as f32),
            ops::I2D => Number::Double(int.into()),
            ops::L2I => Number::Int(long as i32),
            ops::L2F => Number::Float(long as f32),
            ops::L2D => Number::Double(long as f64),
            ops::F2I => Number::Int(float as i32),
            ops::F2L => Number::Long(float as i64),
            ops::F2D => Number::Double(float.into()),
            ops::D2I => Number::Int(double as i32),
            ops::D2L => Number::Long(double as i64),
            ops::D2F => Number::Float(double as f32),
            ops::I2B => Number::Int((int as i8).into()),
            ops::I2C => Number::Int((int as u16).into()),
            _ => Number::Int((int as i16).into()),
        };
        let (bits, words) = match number {
            Number::Int(value) => (u64::from(value as u32), 1),
            Number::Float(value) => (u64::from(value.to_bits()), 1),
            Number::Long(value) => (value as u64, 2),
            Number::Double(value) => (value.to_bits(), 2),
        };
        stack[from] = Slot::word(bits as u32);
        if words == 2 {
            stack[from + 1] = Slot::word((bits >> 32) as u32);
        }
        from + words
    }
}
