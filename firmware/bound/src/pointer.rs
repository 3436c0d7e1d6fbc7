//! What an instruction does to the stack pointer.
//!
//! Depths are bytes below the stack pointer with which the function began. Registers that hold a
//! depth (frame pointers) or a constant (sizes of large frames) are followed.

use std::collections::BTreeMap;

use crate::instruction::CONDITIONS;
use crate::listing::{Function, Line};

/// What a register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    /// An address in the stack, at most so deep.
    Depth(i64),
    /// A number.
    Number(i64),
}

/// How deep the stack is at an instruction, and what is known of the registers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pointer {
    /// Bytes below the function's beginning.
    pub depth: i64,
    registers: BTreeMap<String, Value>,
    /// A condition, and the depth if it is true. Otherwise the depth is as before.
    under: Option<(String, i64)>,
}

/// Instructions of which the first operand is only read; but not `strex`.
const READS: [&str; 9] = [
    "str", "cmp", "cmn", "tst", "teq", "push", "vpush", "cbz", "cbnz",
];

/// Parts of the names of instructions that write their first two operands.
const TWO_RESULTS: [&str; 7] = ["mull", "lal", "maal", "lsld", "ldrd", "ldrexd", "vmov"];

impl Pointer {
    /// Goes through an instruction of a function; false if it sets the stack pointer to what is not
    /// known.
    pub fn step(&mut self, function: &Function, line: &Line) -> bool {
        let bare = bare(line);
        let operands = &line.operands;
        let under = self.under.take();
        self.under = under.filter(|(condition, _)| bare.ends_with(condition));
        if let Some(more) = pushed(bare, operands) {
            self.depth += more;
            self.forget(bare, operands, &operands.split(", ").collect::<Vec<_>>());
            return true;
        }
        if let Some((name, condition)) = conditional(bare).filter(|_| moves(bare, operands)) {
            return self.step_under(function, line, name, condition);
        }
        let parts: Vec<&str> = operands.split(", ").collect();
        let to = parts[0];
        let result = self.result(bare, &parts, function, line);
        match (to, result) {
            ("sp", Some(Value::Depth(depth))) => self.depth = depth,
            ("sp", _) if moves(bare, operands) => return false,
            (_, Some(value)) => {
                self.registers.insert(to.to_owned(), value);
            }
            _ => self.forget(bare, operands, &parts),
        }
        let sets = bare.starts_with("msr") && to.to_ascii_lowercase().contains("sp");
        !sets && !is_written_back(operands)
    }

    /// An instruction that moves the stack pointer under a condition: what follows without the
    /// condition is as deep as before. False if it is deeper under the condition.
    fn step_under(
        &mut self,
        function: &Function,
        line: &Line,
        name: &str,
        condition: &str,
    ) -> bool {
        let mut then = self.clone();
        if let Some((_, depth)) = then.under.take() {
            then.depth = depth;
        }
        let line = Line {
            mnemonic: name.to_owned(),
            ..line.clone()
        };
        let is_known = then.step(function, &line) && then.depth <= self.depth;
        self.under = Some((condition.to_owned(), then.depth));
        self.forget_loaded(&line.operands);
        is_known
    }

    /// The depth at a branch, if it is taken.
    pub fn depth_under(&self, line: &Line) -> i64 {
        match &self.under {
            Some((condition, depth)) if bare(line).ends_with(condition) => *depth,
            _ => self.depth,
        }
    }

    /// A call was made: the registers that it may change are not known.
    pub fn after_call(&mut self) {
        for register in ["r0", "r1", "r2", "r3", "ip", "r12", "lr"] {
            self.registers.remove(register);
        }
    }

    /// Joins what is known on another way to the same instruction; false if the depths differ.
    pub fn join(&mut self, other: &Self) -> bool {
        self.registers
            .retain(|register, value| other.registers.get(register) == Some(value));
        self.depth == other.depth
    }

    fn value(&self, operand: &str) -> Option<Value> {
        match operand {
            "sp" => Some(Value::Depth(self.depth)),
            _ if operand.starts_with('#') => number(operand).map(Value::Number),
            _ => self.registers.get(operand).copied(),
        }
    }

    /// What an instruction puts into its first operand, if that can be said.
    fn result(
        &self,
        bare: &str,
        parts: &[&str],
        function: &Function,
        line: &Line,
    ) -> Option<Value> {
        if parts.len() > 3 {
            return None;
        }
        let value = |at: usize| parts.get(at).and_then(|it| self.value(it));
        // With two operands, the first one is also read.
        let (left, right) = match parts.len() {
            2 => (value(0), value(1)),
            _ => (value(1), value(2)),
        };
        match (bare, left, right) {
            ("mov" | "movs" | "movw", _, _) if parts.len() == 2 => value(1),
            ("movt", Some(Value::Number(low)), Some(Value::Number(high))) => {
                Some(Value::Number((low & 0xffff) | (high << 16)))
            }
            ("ldr", _, _) => literal(parts, function, line).map(Value::Number),
            ("add" | "adds" | "addw", Some(Value::Depth(depth)), Some(Value::Number(more)))
            | ("add" | "adds", Some(Value::Number(more)), Some(Value::Depth(depth))) => {
                Some(Value::Depth(depth - i64::from(more as i32)))
            }
            ("sub" | "subs" | "subw", Some(Value::Depth(depth)), Some(Value::Number(less))) => {
                Some(Value::Depth(depth + i64::from(less as i32)))
            }
            // Rounded down to a multiple of a power of two.
            ("bfc", _, _) => match (value(0), value(1), value(2)) {
                (Some(Value::Depth(depth)), Some(Value::Number(0)), Some(Value::Number(bits))) => {
                    Some(Value::Depth(depth + (1 << bits) - 1))
                }
                _ => None,
            },
            ("bic" | "bics", Some(Value::Depth(depth)), Some(Value::Number(mask)))
                if (mask + 1) & mask == 0 =>
            {
                Some(Value::Depth(depth + mask))
            }
            _ => None,
        }
    }

    /// Forgets the registers that an instruction writes.
    fn forget(&mut self, bare: &str, operands: &str, parts: &[&str]) {
        self.forget_loaded(operands);
        let is_read = READS.iter().any(|read| bare.starts_with(read));
        if !is_read || bare.starts_with("strex") {
            // A list behind it may move it.
            self.registers.remove(parts[0].trim_end_matches('!'));
        }
        if TWO_RESULTS.iter().any(|it| bare.contains(it)) {
            self.registers.remove(parts.get(1).copied().unwrap_or(""));
        }
        if operands.ends_with('!') || operands.contains("], ") {
            let base = operands.split_once('[').map_or("", |(_, base)| base);
            let base = base.split([',', ']']).next().unwrap_or("");
            self.registers.remove(base);
        }
    }

    fn forget_loaded(&mut self, operands: &str) {
        let list = operands.split_once('{').map_or("", |(_, list)| list);
        for register in list.trim_end_matches('}').split(", ") {
            self.registers.remove(register);
        }
    }
}

fn bare(line: &Line) -> &str {
    line.mnemonic.trim_end_matches(".w").trim_end_matches(".n")
}

/// The name and the condition of an instruction that may have one.
fn conditional(bare: &str) -> Option<(&str, &str)> {
    let parts = bare.split_at_checked(bare.len().checked_sub(2)?)?;
    Some(parts).filter(|(_, condition)| CONDITIONS.contains(condition))
}

/// Whether an instruction with these operands moves the stack pointer.
fn moves(bare: &str, operands: &str) -> bool {
    let is_read = READS.iter().any(|read| bare.starts_with(read));
    let is_result = operands.starts_with("sp,") && !operands.contains('{') && !is_read;
    let lists = ["push", "pop", "vpush", "vpop"];
    is_result || is_written_back(operands) || lists.iter().any(|it| bare.starts_with(it))
}

/// Whether the stack pointer is an address that the instruction moves.
fn is_written_back(operands: &str) -> bool {
    let moved = operands.contains("[sp,") && operands.ends_with("]!");
    moved || operands.contains("sp!") || operands.contains("[sp], ")
}

/// By how much an instruction that stores or loads through the stack pointer moves it.
fn pushed(bare: &str, operands: &str) -> Option<i64> {
    let list = || operands.split_once('{').map_or("", |(_, list)| list);
    match bare {
        "push" | "vpush" => return Some(listed(list())),
        "pop" | "vpop" => return Some(-listed(list())),
        "stmdb" | "stmfd" | "vstmdb" if operands.starts_with("sp!") => {
            return Some(listed(list()));
        }
        "ldm" | "ldmia" | "ldmfd" | "vldmia" if operands.starts_with("sp!") => {
            return Some(-listed(list()));
        }
        _ => {}
    }
    let moved = ["str", "strd", "ldr", "ldrd"].contains(&bare);
    if let Some((_, by)) = operands.split_once("[sp, #").filter(|_| moved) {
        return number(by.strip_suffix("]!")?).map(|by| -by);
    }
    let (_, by) = operands.split_once("[sp], ").filter(|_| moved)?;
    number(by).map(|by| -by)
}

/// The bytes of the registers in a list.
fn listed(list: &str) -> i64 {
    let bytes = |register: &str| match register.chars().next() {
        Some('d') => 8,
        _ => 4,
    };
    let mut sum = 0;
    for register in list.trim_end_matches('}').split(", ") {
        let count = match register.split_once('-') {
            Some((first, last)) => {
                let number = |it: &str| it.trim_start_matches(['d', 's', 'r']).parse().unwrap_or(0);
                number(last) - number(first) + 1
            }
            None => 1,
        };
        sum += count * bytes(register);
    }
    sum
}

/// A number as it is printed: `#16`, `#-4`, `#0x10`.
fn number(text: &str) -> Option<i64> {
    let text = text.trim_start_matches('#');
    match text.strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// The number behind the function's code that is loaded.
fn literal(parts: &[&str], function: &Function, line: &Line) -> Option<i64> {
    let ["[pc", by] = parts.get(1..)? else {
        return None;
    };
    let by = number(by.strip_suffix(']')?)?;
    let at = (line.address + 4) & !3;
    let at = u32::try_from(i64::from(at) + by).ok()?;
    let bytes = (at..at + 4).map(|at| function.data.get(&at).copied());
    let bytes: Vec<u8> = bytes.collect::<Option<_>>()?;
    Some(i64::from(i32::from_le_bytes(bytes.try_into().ok()?)))
}

#[cfg(test)]
mod tests {
    use super::Pointer;
    use crate::listing::{Function, Line};

    /// The depth after some instructions; `None` if it is not known.
    fn depth(lines: &[(&str, &str)]) -> Option<i64> {
        let function = Function {
            name: String::new(),
            path: String::new(),
            lines: Vec::new(),
            data: (0x10..).zip(0xffff_ec00_u32.to_le_bytes()).collect(),
        };
        let mut pointer = Pointer::default();
        for &(mnemonic, operands) in lines {
            let line = Line {
                address: 0,
                bytes: 2,
                mnemonic: mnemonic.to_owned(),
                operands: operands.to_owned(),
            };
            if !pointer.step(&function, &line) {
                return None;
            }
        }
        Some(pointer.depth)
    }

    #[test]
    fn what_is_pushed_is_as_deep() {
        assert_eq!(
            depth(&[("push", "{r4, r5, lr}"), ("sub", "sp, #16")]),
            Some(28)
        );
        assert_eq!(
            depth(&[("stmdb", "sp!, {r4, r5, r6, r7, r8, lr}")]),
            Some(24)
        );
        assert_eq!(depth(&[("vpush", "{d8-d9}"), ("vpush", "{s16}")]), Some(20));
        assert_eq!(depth(&[("str.w", "lr, [sp, #-4]!")]), Some(4));
        assert_eq!(depth(&[("strd", "r0, r1, [sp, #-8]!")]), Some(8));
        assert_eq!(
            depth(&[("str", "r0, [sp, #4]"), ("ldr", "r0, [sp]")]),
            Some(0)
        );
        assert_eq!(depth(&[("push", "{r7, lr}"), ("pop", "{r7, pc}")]), Some(0));
        assert_eq!(
            depth(&[("push", "{lr}"), ("ldr.w", "lr, [sp], #4")]),
            Some(0)
        );
    }

    #[test]
    fn large_frames_take_their_size_from_a_register() {
        let large = [("movw", "ip, #5000"), ("sub.w", "sp, sp, ip")];
        assert_eq!(depth(&large), Some(5000));
        // As a Cortex-M0 does it: the number is negative.
        let loaded = [("ldr", "r4, [pc, #12]"), ("add", "sp, r4")];
        assert_eq!(depth(&loaded), Some(5120));
        assert_eq!(depth(&[("ldr", "r4, [r0, #12]"), ("add", "sp, r4")]), None);
        assert_eq!(
            depth(&[("movs", "r4, #8"), ("ldr", "r4, [r0]"), ("sub", "sp, r4")]),
            None
        );
    }

    #[test]
    fn a_frame_pointer_restores_the_depth() {
        let lines = [
            ("push", "{r4, r7, lr}"),
            ("add", "r7, sp, #4"),
            ("sub.w", "r4, sp, #32"),
            ("bfc", "r4, #0, #4"),
            ("mov", "sp, r4"),
        ];
        assert_eq!(depth(&lines), Some(12 + 32 + 15));
        let back = [
            ("ldr", "r0, [r7, #4]"),
            ("subs", "r4, r7, #4"),
            ("mov", "sp, r4"),
        ];
        assert_eq!(depth(&[&lines[..], &back].concat()), Some(12));
    }

    #[test]
    fn every_register_that_is_written_is_forgotten() {
        for line in [
            ("strex", "r7, r0, [r1]"),
            ("strexd", "r7, r0, r1, [r2]"),
            ("ldrd", "r0, r7, [r1]"),
            ("ldrexd", "r0, r7, [r1]"),
            ("ldrd", "r4, r7, [sp], #8"),
            ("ldr.w", "r7, [sp], #4"),
            ("ldr.w", "r0, [r7], #4"),
            ("str.w", "r0, [r7, #4]!"),
            ("umull", "r0, r7, r1, r2"),
            ("umaal", "r0, r7, r1, r2"),
            ("vmov", "r0, r7, d8"),
            ("vldmia", "r7!, {d8-d9}"),
            ("vstmia", "r7!, {d8-d9}"),
            ("ldmia.w", "r0, {r1, r7}"),
            ("stmia.w", "r7!, {r1, r2}"),
            ("pop", "{r7}"),
            ("addne", "r7, r0"),
        ] {
            let restored = [("mov", "r7, sp"), line, ("mov", "sp, r7")];
            assert_eq!(depth(&restored), None, "{line:?}");
        }
        for line in [
            ("str", "r7, [r0, #4]"),
            ("strd", "r0, r7, [r1]"),
            ("strex", "r0, r7, [r1]"),
            ("cmp", "r7, #0"),
        ] {
            let restored = [("mov", "r7, sp"), line, ("mov", "sp, r7")];
            assert_eq!(depth(&restored), Some(0), "{line:?}");
        }
    }

    #[test]
    fn a_frame_that_ends_under_a_condition_is_as_deep_as_before_without_it() {
        let lines = [("sub", "sp, #12"), ("addhi", "sp, #12")];
        assert_eq!(depth(&lines), Some(12));
        assert_eq!(depth(&[("subhi", "sp, #12")]), None);
    }

    #[test]
    fn what_sets_the_pointer_otherwise_is_not_known() {
        for line in [
            ("mov", "sp, r3"),
            ("msr", "MSP, r0"),
            ("pushne", "{r4}"),
            ("subne", "sp, #8"),
            ("ldr", "sp, [r0]"),
        ] {
            assert_eq!(depth(&[line]), None, "{line:?}");
        }
        for line in [
            ("cmp", "sp, r3"),
            ("ldmia", "sp, {r0, r1}"),
            ("stmia", "sp, {r0, r2}"),
        ] {
            assert_eq!(depth(&[line]), Some(0), "{line:?}");
        }
    }
}
