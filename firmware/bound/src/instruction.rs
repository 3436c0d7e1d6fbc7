//! What an instruction of Thumb-2 does to the flow of control.

use anyhow::{Context, Result, bail};

/// Where the flow goes after an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flow {
    /// To the next instruction.
    Next,
    /// To a target.
    Jump(u32),
    /// To a target, or to the next instruction.
    Branch(u32),
    /// Into a function, and then to the next instruction.
    Call(u32),
    /// Out of the function.
    Return,
    /// Out of the function, or to the next instruction.
    MayReturn,
    /// To an entry of a table behind the instruction: bytes, or half-words.
    Table {
        /// The bytes of an entry.
        width: u32,
    },
    /// Nowhere: a trap.
    Stop,
    /// Into a function of which the address is in a register, and then to the next instruction.
    Indirect,
}

/// Instructions that only compute, load and store. Each may have a condition, `s`, `.n` and `.w`.
const PLAIN: [&str; 94] = [
    "adc", "add", "addw", "and", "asr", "bfc", "bfi", "bic", "clrex", "clz", "cmn", "cmp", "cpsid",
    "cpsie", "dmb", "dsb", "eor", "isb", "it", "ite", "itee", "itet", "iteee", "itett", "itt",
    "itte", "ittt", "ittet", "itttt", "ldm", "ldmia", "ldmdb", "ldr", "ldrb", "ldrd", "ldrex",
    "ldrexb", "ldrh", "ldrsb", "ldrsh", "lsl", "lsr", "mla", "mls", "mov", "movt", "movw", "mrs",
    "msr", "mul", "mvn", "neg", "nop", "orn", "orr", "pkhbt", "pkhtb", "pop", "push", "rbit",
    "rev", "rev16", "ror", "rrx", "rsb", "sbc", "sbfx", "sdiv", "sel", "smull", "stm", "stmdb",
    "stmia", "str", "strb", "strd", "strex", "strexb", "strh", "sub", "subw", "sxtb", "sxth",
    "teq", "tst", "ubfx", "udiv", "umlal", "umull", "uqadd16", "uxtah", "uxtab", "uxtb", "uxth",
];

/// The conditions that instructions may have.
pub const CONDITIONS: [&str; 16] = [
    "eq", "ne", "cs", "hs", "cc", "lo", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le",
];

impl Flow {
    /// What an instruction does, from a line of `objdump -d`.
    ///
    /// # Errors
    /// The instruction is not known, or jumps to where a register says.
    pub fn of(mnemonic: &str, operands: &str) -> Result<Self> {
        let bare = mnemonic.trim_end_matches(".w").trim_end_matches(".n");
        match bare {
            "b" => return Ok(Self::Jump(target(operands)?)),
            "bl" => return Ok(Self::Call(target(operands)?)),
            "blx" => return Ok(Self::Indirect),
            "cbz" | "cbnz" => {
                let (_, to) = operands.split_once(", ").context("no target")?;
                return Ok(Self::Branch(target(to)?));
            }
            "tbb" if operands.starts_with("[pc,") => return Ok(Self::Table { width: 1 }),
            "tbh" if operands.starts_with("[pc,") => return Ok(Self::Table { width: 2 }),
            "udf" => return Ok(Self::Stop),
            // A call of the debugger.
            "bkpt" => return Ok(Self::Next),
            _ => {}
        }
        if let Some(condition) = bare.strip_prefix('b') {
            if CONDITIONS.contains(&condition) {
                return Ok(Self::Branch(target(operands)?));
            }
        }
        let (base, conditional) = base(bare)
            .with_context(|| format!("an instruction that is not known: {mnemonic} {operands}"))?;
        let returns = match base {
            "bx" if operands == "lr" => true,
            "bx" => bail!("a jump to where a register says: {mnemonic} {operands}"),
            "pop" | "ldm" | "ldmia" | "ldmdb" => operands.contains("pc}"),
            "ldr" if operands.starts_with("pc, [sp]") => true,
            // Any other that writes the program counter.
            _ if operands.starts_with("pc,") => {
                bail!("a jump to where a register says: {mnemonic} {operands}")
            }
            _ => false,
        };
        Ok(match (returns, conditional) {
            (false, _) => Self::Next,
            (true, false) => Self::Return,
            (true, true) => Self::MayReturn,
        })
    }
}

/// The instruction without its condition and without `s`; whether it has a condition.
fn base(bare: &str) -> Option<(&'static str, bool)> {
    let known = |name: &str| {
        let plain = PLAIN.iter().chain(&["bx"]);
        plain
            .copied()
            .find(|plain| *plain == name || name.strip_suffix('s') == Some(plain))
    };
    if let Some(plain) = known(bare) {
        return Some((plain, false));
    }
    let (name, condition) = bare.split_at_checked(bare.len().checked_sub(2)?)?;
    let plain = known(name).filter(|_| CONDITIONS.contains(&condition))?;
    Some((plain, true))
}

fn target(operands: &str) -> Result<u32> {
    let digits = operands.split(' ').next().unwrap_or_default();
    u32::from_str_radix(digits, 16).with_context(|| format!("no target: {operands}"))
}

#[cfg(test)]
mod tests {
    use super::Flow;

    #[test]
    fn the_flow_of_each_kind_of_instruction() {
        let of = |mnemonic, operands| Flow::of(mnemonic, operands).expect("known");
        assert_eq!(of("b.n", "12 <f+0x2>"), Flow::Jump(0x12));
        assert_eq!(of("bls.w", "12 <f+0x2>"), Flow::Branch(0x12));
        assert_eq!(of("cbnz", "r3, 12 <f+0x2>"), Flow::Branch(0x12));
        assert_eq!(of("bl", "12 <f>"), Flow::Call(0x12));
        assert_eq!(of("bx", "lr"), Flow::Return);
        assert_eq!(of("bxhi", "lr"), Flow::MayReturn);
        assert_eq!(of("pop", "{r4, pc}"), Flow::Return);
        assert_eq!(of("popne", "{r4, pc}"), Flow::MayReturn);
        assert_eq!(of("ldr.w", "pc, [sp], #4"), Flow::Return);
        assert_eq!(of("bics", "r4, r5"), Flow::Next);
        assert_eq!(of("movhi.w", "r4, r5"), Flow::Next);
        assert_eq!(of("strdhi", "r1, r3, [r0]"), Flow::Next);
        assert_eq!(of("tbb", "[pc, r0]"), Flow::Table { width: 1 });
        assert_eq!(of("blx", "r3"), Flow::Indirect);
    }

    #[test]
    fn what_is_not_known_is_an_error() {
        for (mnemonic, operands) in [("vadd.f32", "s0, s1"), ("bx", "r3"), ("mov", "pc, r1")] {
            assert!(Flow::of(mnemonic, operands).is_err(), "{mnemonic}");
        }
    }
}
