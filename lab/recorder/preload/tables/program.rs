//! The instructions that say how a function's frame changes from address to address (DWARF 5,
//! §6.4.2).

use super::bytes::Cursor;
use super::entry::{Entry, Shared};
use super::rule::{Frame, Rule};

/// The registers that matter, as the processor's supplement numbers them.
const FRAME_POINTER: u64 = 6;
const STACK_POINTER: u64 = 7;
const RETURN_ADDRESS: u64 = 16;

/// Rows that can be remembered at once; compilers remember one.
const REMEMBERED: usize = 8;

/// Where the caller's value of a register is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// In the register.
    Same,
    /// So many bytes from the frame's end.
    At(i64),
    /// Nowhere.
    Nowhere,
    /// Somewhere else.
    Other,
}

/// What holds for one address.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// The register from which the frame's end counts, and how far it is; `None` for anything else.
    end: Option<(u64, i64)>,
    frame_pointer: Place,
    stack_pointer: Place,
    return_address: Place,
}

/// Runs the programs of an entry up to an address, and makes a rule of what holds there; `None` if
/// they are wrong.
pub(crate) fn run(entry: &Entry<'_>, address: usize) -> Option<Rule> {
    let shared = &entry.shared;
    if shared.is_signal || shared.return_register != RETURN_ADDRESS {
        return Some(Rule::Other);
    }
    let first = Row {
        end: None,
        frame_pointer: Place::Same,
        stack_pointer: Place::Same,
        return_address: Place::Same,
    };
    let mut machine = Machine {
        shared,
        at: entry.start(),
        row: first,
        first,
        remembered: [first; REMEMBERED],
        depth: 0,
    };
    machine.run(shared.program, address)?;
    machine.at = entry.start();
    machine.first = machine.row;
    machine.run(entry.program, address)?;
    Some(machine.row.rule())
}

struct Machine<'a> {
    shared: &'a Shared<'a>,
    /// From which address on the row holds.
    at: usize,
    row: Row,
    /// The row after the shared program.
    first: Row,
    remembered: [Row; REMEMBERED],
    depth: usize,
}

impl Machine<'_> {
    /// Runs a program until it would go beyond an address.
    fn run(&mut self, mut program: Cursor<'_>, address: usize) -> Option<()> {
        while !program.is_at_end() && self.at <= address {
            self.step(&mut program)?;
        }
        Some(())
    }

    fn step(&mut self, program: &mut Cursor<'_>) -> Option<()> {
        let byte = program.u8()?;
        let operand = u64::from(byte & 63);
        match byte >> 6 {
            1 => self.advance(operand)?,
            2 => {
                let offset = self.offset(program)?;
                self.row.set(operand, Place::At(offset));
            }
            3 => self.row.restore(operand, &self.first),
            _ => return self.extended(byte, program),
        }
        Some(())
    }

    /// The instructions without an operand in their first byte.
    fn extended(&mut self, byte: u8, program: &mut Cursor<'_>) -> Option<()> {
        match byte {
            // Nothing; the bytes of arguments, which do not matter here.
            0x00 => {}
            0x2e => drop(program.unsigned()?),
            0x01 => return None,
            0x02..=0x04 => {
                let by = match byte {
                    2 => u64::from(program.u8()?),
                    3 => u64::from(program.u16()?),
                    _ => u64::from(program.u32()?),
                };
                self.advance(by)?;
            }
            0x0a => {
                *self.remembered.get_mut(self.depth)? = self.row;
                self.depth += 1;
            }
            0x0b => {
                self.depth = self.depth.checked_sub(1)?;
                self.row = *self.remembered.get(self.depth)?;
            }
            0x0c..=0x0f | 0x12 | 0x13 => self.define_end(byte, program)?,
            _ => self.define_register(byte, program)?,
        }
        Some(())
    }

    /// Where the frame ends.
    fn define_end(&mut self, byte: u8, program: &mut Cursor<'_>) -> Option<()> {
        let register = match byte {
            0x0c | 0x0d | 0x12 => Some(program.unsigned()?),
            _ => None,
        };
        let offset = match byte {
            0x0c | 0x0e => Some(i64::try_from(program.unsigned()?).ok()?),
            0x12 | 0x13 => Some(self.scaled(program)?),
            _ => None,
        };
        self.row.end = match (register, offset, self.row.end) {
            (Some(register), Some(offset), _) => Some((register, offset)),
            (Some(register), None, Some((_, offset))) => Some((register, offset)),
            (None, Some(offset), Some((register, _))) => Some((register, offset)),
            (None, None, _) => {
                expression(program)?;
                None
            }
            // One half, after an expression.
            _ => return None,
        };
        Some(())
    }

    /// Where a register's value is.
    fn define_register(&mut self, byte: u8, program: &mut Cursor<'_>) -> Option<()> {
        let register = program.unsigned()?;
        let place = match byte {
            0x05 => Place::At(self.offset(program)?),
            0x06 => {
                self.row.restore(register, &self.first);
                return Some(());
            }
            0x07 => Place::Nowhere,
            0x08 => Place::Same,
            0x09 => {
                program.unsigned()?;
                Place::Other
            }
            0x10 | 0x16 => {
                expression(program)?;
                Place::Other
            }
            0x11 => Place::At(self.scaled(program)?),
            0x14 | 0x15 => {
                program.signed()?;
                Place::Other
            }
            0x2f => Place::At(self.offset(program)?.checked_neg()?),
            _ => return None,
        };
        self.row.set(register, place);
        Some(())
    }

    fn advance(&mut self, by: u64) -> Option<()> {
        let bytes = by.checked_mul(self.shared.code_factor)?;
        self.at = self.at.checked_add(usize::try_from(bytes).ok()?)?;
        Some(())
    }

    fn offset(&self, program: &mut Cursor<'_>) -> Option<i64> {
        let number = i64::try_from(program.unsigned()?).ok()?;
        number.checked_mul(self.shared.data_factor)
    }

    /// The same with a sign.
    fn scaled(&self, program: &mut Cursor<'_>) -> Option<i64> {
        program.signed()?.checked_mul(self.shared.data_factor)
    }
}

/// Skips an expression.
fn expression(program: &mut Cursor<'_>) -> Option<()> {
    let length = program.unsigned()?;
    program.take(usize::try_from(length).ok()?).map(drop)
}

impl Row {
    fn place(&mut self, register: u64) -> Option<&mut Place> {
        match register {
            FRAME_POINTER => Some(&mut self.frame_pointer),
            STACK_POINTER => Some(&mut self.stack_pointer),
            RETURN_ADDRESS => Some(&mut self.return_address),
            _ => None,
        }
    }

    fn set(&mut self, register: u64, to: Place) {
        if let Some(place) = self.place(register) {
            *place = to;
        }
    }

    fn restore(&mut self, register: u64, first: &Self) {
        let mut first = *first;
        if let (Some(place), Some(old)) = (self.place(register), first.place(register)) {
            *place = *old;
        }
    }

    fn rule(&self) -> Rule {
        if self.return_address == Place::Nowhere {
            return Rule::Last;
        }
        let saved = match self.frame_pointer {
            Place::Same | Place::Nowhere => None,
            Place::At(offset) => Some(offset),
            Place::Other => return Rule::Other,
        };
        let is_usual = self.return_address == Place::At(-8) && self.stack_pointer == Place::Same;
        let frame = match self.end {
            Some((register @ (FRAME_POINTER | STACK_POINTER), offset)) if is_usual => {
                Frame::new(register == FRAME_POINTER, offset, saved)
            }
            _ => None,
        };
        frame.map_or(Rule::Other, Rule::Frame)
    }
}
