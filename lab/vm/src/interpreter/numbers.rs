//! Arithmetic of long, float and double: the operands are taken from the stack, the result is put
//! there. Each function returns the new end of the stack.

use crate::ops;
use crate::vm::Vm;
use crate::world::Slot;

impl Vm<'_> {
    /// Float and double.
    #[inline(always)]
    pub(super) fn real(&mut self, op: u8, sp: usize) -> usize {
        match op {
            ops::FADD => self.floats(sp, |a, b| a + b),
            ops::FSUB => self.floats(sp, |a, b| a - b),
            ops::FMUL => self.floats(sp, |a, b| a * b),
            ops::FDIV => self.floats(sp, |a, b| a / b),
            ops::FREM => self.floats(sp, |a, b| a % b),
            ops::FNEG => {
                let value = -self.float(sp - 1);
                self.set_float(sp - 1, value)
            }
            ops::DADD => self.doubles(sp, |a, b| a + b),
            ops::DSUB => self.doubles(sp, |a, b| a - b),
            ops::DMUL => self.doubles(sp, |a, b| a * b),
            ops::DDIV => self.doubles(sp, |a, b| a / b),
            ops::DREM => self.doubles(sp, |a, b| a % b),
            _ => {
                let value = -self.double(sp - 2);
                self.set_bits(sp - 2, value.to_bits())
            }
        }
    }

    /// Long, but for what may divide by zero.
    #[inline(always)]
    pub(super) fn long(&mut self, op: u8, sp: usize) -> usize {
        match op {
            ops::LADD => self.longs(sp, i64::wrapping_add),
            ops::LSUB => self.longs(sp, i64::wrapping_sub),
            ops::LMUL => self.longs(sp, i64::wrapping_mul),
            ops::LAND => self.longs(sp, |a, b| a & b),
            ops::LOR => self.longs(sp, |a, b| a | b),
            ops::LXOR => self.longs(sp, |a, b| a ^ b),
            ops::LSHL => self.shift(sp, i64::wrapping_shl),
            ops::LSHR => self.shift(sp, i64::wrapping_shr),
            ops::LUSHR => self.shift(sp, |a, by| (a as u64).wrapping_shr(by) as i64),
            _ => {
                let value = (self.bits(sp - 2) as i64).wrapping_neg();
                self.set_bits(sp - 2, value as u64)
            }
        }
    }

    /// −1, 0 or 1; what is no number is less or greater than all, as the operation says.
    #[inline(always)]
    pub(super) fn compare(&mut self, op: u8, sp: usize) -> usize {
        let unordered = if matches!(op, ops::FCMPL | ops::DCMPL) {
            -1
        } else {
            1
        };
        let (order, at) = match op {
            ops::LCMP => {
                let (a, b) = (self.bits(sp - 4) as i64, self.bits(sp - 2) as i64);
                (Some(a.cmp(&b)), sp - 4)
            }
            ops::FCMPL | ops::FCMPG => {
                let (a, b) = (self.float(sp - 2), self.float(sp - 1));
                (a.partial_cmp(&b), sp - 2)
            }
            _ => {
                let (a, b) = (self.double(sp - 4), self.double(sp - 2));
                (a.partial_cmp(&b), sp - 4)
            }
        };
        self.world.stack[at] = Slot::int(order.map_or(unordered, |order| order as i32));
        at + 1
    }

    #[inline(always)]
    fn floats(&mut self, sp: usize, result: impl Fn(f32, f32) -> f32) -> usize {
        let value = result(self.float(sp - 2), self.float(sp - 1));
        self.set_float(sp - 2, value)
    }

    #[inline(always)]
    fn doubles(&mut self, sp: usize, result: impl Fn(f64, f64) -> f64) -> usize {
        let value = result(self.double(sp - 4), self.double(sp - 2));
        self.set_bits(sp - 4, value.to_bits())
    }

    #[inline(always)]
    fn longs(&mut self, sp: usize, result: impl Fn(i64, i64) -> i64) -> usize {
        let value = result(self.bits(sp - 4) as i64, self.bits(sp - 2) as i64);
        self.set_bits(sp - 4, value as u64)
    }

    #[inline(always)]
    fn shift(&mut self, sp: usize, result: impl Fn(i64, u32) -> i64) -> usize {
        let value = result(self.bits(sp - 3) as i64, self.world.stack[sp - 1].bits());
        self.set_bits(sp - 3, value as u64)
    }

    #[inline(always)]
    fn float(&self, at: usize) -> f32 {
        f32::from_bits(self.world.stack[at].bits())
    }

    #[inline(always)]
    fn set_float(&mut self, at: usize, value: f32) -> usize {
        self.world.stack[at] = Slot::word(value.to_bits());
        at + 1
    }

    #[inline(always)]
    fn bits(&self, at: usize) -> u64 {
        let (low, high) = (self.world.stack[at], self.world.stack[at + 1]);
        u64::from(high.bits()) << 32 | u64::from(low.bits())
    }

    #[inline(always)]
    fn double(&self, at: usize) -> f64 {
        f64::from_bits(self.bits(at))
    }

    #[inline(always)]
    fn set_bits(&mut self, at: usize, bits: u64) -> usize {
        self.world.stack[at] = Slot::word(bits as u32);
        self.world.stack[at + 1] = Slot::word((bits >> 32) as u32);
        at + 2
    }
}
