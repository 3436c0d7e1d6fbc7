//! The code of a method, decoded and compared with its bounds: once, before its first call.
//!
//! ```text
//! bytes of the code      | iload_1 | bipush 7 | iadd | ifne +9 | …
//! instructions           | LOAD 1  | PUSH 7   | IADD | IFNE i  | …       i: an index of instructions
//! depth of the stack       0         1          2      1
//! ```
//! Every instruction that can run has one depth of the stack, between 0 and what the method
//! declares; none is after the last; each local exists. So the interpreter leaves no frame,
//! whatever the file says. This is no verifier: what a slot holds is looked at when it is used.

use std::cell::Cell;
use std::rc::Rc;

use crate::classfile::{Bytes, ClassFile, CodeFile, Constant, Parsed, Pool};
use crate::descriptor::{Kind, Signature};
use crate::ops::{self, Insn, effect};

/// Decoded code.
#[derive(Debug)]
pub(crate) struct Code {
    pub(crate) insns: Box<[Cell<Insn>]>,
    /// Slots of the locals.
    pub(crate) locals: usize,
    /// Slots of locals and stack.
    pub(crate) frame: usize,
    pub(crate) handlers: Vec<Handler>,
    pub(crate) switches: Vec<Switch>,
    pub(crate) longs: Vec<u64>,
    /// From an instruction on: the line of the source.
    lines: Vec<(u32, u16)>,
}

impl Code {
    /// The line of an instruction; 0 if it is not known.
    pub(crate) fn line(&self, insn: u32) -> u16 {
        let before = self.lines.iter().filter(|(from, _)| *from <= insn);
        before
            .max_by_key(|(from, _)| *from)
            .map_or(0, |(_, line)| *line)
    }
}

/// An entry of the table of exceptions, in instructions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Handler {
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) target: u32,
    /// The constant of the class that is caught; 0 for all.
    pub(crate) caught: u16,
}

/// The targets of a switch.
#[derive(Debug)]
pub(crate) enum Switch {
    Table {
        low: i32,
        targets: Vec<u32>,
        other: u32,
    },
    /// Sorted by keys.
    Lookup { pairs: Vec<(i32, u32)>, other: u32 },
}

impl Switch {
    /// Where it goes.
    pub(crate) fn target(&self, key: i32) -> u32 {
        match self {
            Self::Table {
                low,
                targets,
                other,
            } => {
                let index = key.wrapping_sub(*low) as u32 as usize;
                let index = if key < *low { usize::MAX } else { index };
                *targets.get(index).unwrap_or(other)
            }
            Self::Lookup { pairs, other } => {
                let found = pairs.binary_search_by_key(&key, |pair| pair.0);
                found.map_or(*other, |index| pairs[index].1)
            }
        }
    }

    fn targets(&self) -> Vec<u32> {
        match self {
            Self::Table { targets, other, .. } => targets.iter().chain([other]).copied().collect(),
            Self::Lookup { pairs, other } => {
                let all = pairs.iter().map(|pair| pair.1);
                all.chain([*other]).collect()
            }
        }
    }
}

const OUTSIDE: &str = "a branch leads into no instruction";
const NO_INSN: u32 = u32::MAX;

/// Decodes the code of a method. O(its bytes).
pub(crate) fn decode(class: &ClassFile, code: &CodeFile, results: u16) -> Parsed<Code> {
    let starts = starts(code)?;
    let mut decoder = Decoder {
        class,
        code,
        results,
        index: vec![NO_INSN; code.bytes.len()],
        effects: Vec::with_capacity(starts.len()),
        switches: Vec::new(),
        longs: Vec::new(),
    };
    for (index, &at) in starts.iter().enumerate() {
        decoder.index[at] = index as u32;
    }
    let decoded: Parsed<Vec<Insn>> = starts.iter().map(|&at| decoder.one(at)).collect();
    let insns = decoded?;
    let handlers = decoder.handlers(insns.len())?;
    decoder.depths(&insns, &handlers)?;
    let lines = code.lines.iter().filter_map(|&(at, line)| {
        let index = decoder.index.get(usize::from(at));
        index.map(|&index| (index, line))
    });
    Ok(Code {
        locals: code.max_locals.into(),
        frame: usize::from(code.max_locals) + usize::from(code.max_stack),
        handlers,
        lines: lines.collect(),
        switches: decoder.switches,
        longs: decoder.longs,
        insns: insns.into_iter().map(Cell::new).collect(),
    })
}

/// Where the instructions begin.
fn starts(code: &CodeFile) -> Parsed<Vec<usize>> {
    let (mut at, len) = (0, code.bytes.len());
    let mut starts = Vec::new();
    while at < len {
        starts.push(at);
        at += length(code, at)?;
    }
    if at == len {
        Ok(starts)
    } else {
        Err("the last instruction is cut short")
    }
}

/// Bytes of the instruction at a byte.
fn length(code: &CodeFile, at: usize) -> Parsed<usize> {
    let byte = |offset: usize| {
        code.bytes
            .get(at + offset)
            .copied()
            .ok_or("code ends too early")
    };
    Ok(match byte(0)? {
        16 | 18 | 21..=25 | 54..=58 | 188 => 2,
        17 | 19 | 20 | 132 | 153..=167 | 178..=184 | 187 | 189 | 192 | 193 | 198 | 199 => 3,
        197 => 4,
        185 | 200 => 5,
        196 if byte(1)? == 132 => 6,
        196 => 4,
        op @ (170 | 171) => {
            let from = (at + 4) & !3;
            let rest = code.bytes.get(from..).ok_or("code ends too early")?;
            let mut rest = Bytes(rest);
            rest.u32()?;
            let (first, second) = (rest.u32()?, rest.u32().unwrap_or(0));
            let entries = if op == 170 {
                let count = i64::from(second as i32) - i64::from(first as i32) + 1;
                usize::try_from(count).map_err(|_| "a switch has no entries")?
            } else {
                usize::try_from(first).map_err(|_| "a switch is too long")?
            };
            if entries > code.bytes.len() {
                return Err("a switch is too long");
            }
            from - at
                + if op == 170 {
                    12 + 4 * entries
                } else {
                    8 + 8 * entries
                }
        }
        0..=15 | 26..=53 | 59..=131 | 133..=152 | 172..=177 | 190 | 191 | 194 | 195 => 1,
        168 | 169 | 201 => return Err("it has subroutines (jsr, ret), which are not run"),
        186 => return Err("it has invokedynamic, which is not run: compile without lambdas"),
        _ => return Err("an instruction is unknown"),
    })
}

struct Decoder<'c> {
    class: &'c ClassFile,
    code: &'c CodeFile,
    /// Slots that the method returns.
    results: u16,
    /// The instruction that begins at each byte.
    index: Vec<u32>,
    /// What each instruction takes from the stack and puts there.
    effects: Vec<(u16, u16)>,
    switches: Vec<Switch>,
    longs: Vec<u64>,
}

impl Decoder<'_> {
    fn pool(&self) -> &Pool {
        &self.class.pool
    }

    /// Decodes the instruction at a byte.
    fn one(&mut self, at: usize) -> Parsed<Insn> {
        let mut rest = Bytes(&self.code.bytes[at..]);
        let op = rest.u8()?;
        let (insn, stack) = match op {
            196 => self.wide(&mut rest)?,
            178..=185 => self.named(op, rest.u16()?)?,
            197 => {
                let (class, dimensions) = (rest.u16()?, rest.u8()?);
                let name = self.pool().class(class)?;
                let most = name.bytes().take_while(|&byte| byte == b'[').count();
                if dimensions == 0 || most < dimensions.into() {
                    return Err("an array has fewer dimensions than are made");
                }
                (
                    insn(ops::MULTIANEWARRAY, class.into(), dimensions.into()),
                    (dimensions.into(), 1),
                )
            }
            170 | 171 => (self.switch(op, at)?, (1, 0)),
            _ => {
                let stack = effect(op).ok_or("an instruction is unknown")?;
                (self.plain(op, at, &mut rest)?, stack)
            }
        };
        let local = match insn.op {
            ops::LOAD | ops::STORE | ops::IINC => insn.a + 1,
            ops::LOAD2 | ops::STORE2 => insn.a + 2,
            _ => 0,
        };
        if local > u32::from(self.code.max_locals) {
            return Err("a local variable is outside of the frame");
        }
        self.effects.push(stack);
        Ok(insn)
    }

    /// An instruction whose effect on the stack is always the same.
    fn plain(&mut self, op: u8, at: usize, rest: &mut Bytes<'_>) -> Parsed<Insn> {
        Ok(match op {
            2..=8 => push(i32::from(op) - 3),
            9 | 10 => insn(ops::PUSH2, 0, u16::from(op) - 9),
            11..=13 => push(f32::from(op - 11).to_bits() as i32),
            14 | 15 => insn(ops::PUSH2, (f64::from(op - 14).to_bits() >> 32) as u32, 0),
            16 => push(i32::from(rest.u8()? as i8)),
            17 => push(i32::from(rest.u16()? as i16)),
            18 => self.constant(rest.u8()?.into())?,
            19 => self.constant(rest.u16()?)?,
            20 => match *self.pool().get(rest.u16()?)? {
                Constant::Wide(value) => {
                    self.longs.push(value);
                    insn(ops::PUSH_LONG, self.longs.len() as u32 - 1, 0)
                }
                _ => return Err("a constant has not two words"),
            },
            21..=25 | 54..=58 => {
                let first = if op < 54 { 21 } else { 54 };
                local(first, (op - first).into(), rest.u8()?.into())
            }
            26..=45 => local(21, u16::from(op - 26) / 4, u16::from(op - 26) % 4),
            59..=78 => local(54, u16::from(op - 59) / 4, u16::from(op - 59) % 4),
            48 => bare(ops::IALOAD),
            49 => bare(ops::LALOAD),
            81 => bare(ops::IASTORE),
            82 => bare(ops::LASTORE),
            132 => {
                let local = rest.u8()?;
                let by = i16::from(rest.u8()? as i8);
                insn(ops::IINC, local.into(), by as u16)
            }
            153..=167 | 198 | 199 => {
                let to = self.branch(at, i32::from(rest.u16()? as i16))?;
                insn(op, to, 0)
            }
            200 => insn(ops::GOTO, self.branch(at, rest.u32()? as i32)?, 0),
            172..=177 => {
                let (op, results) = match op {
                    177 => (ops::RETURN, 0),
                    173 | 175 => (ops::RETURN2, 2),
                    _ => (ops::RETURN1, 1),
                };
                if results != self.results {
                    return Err("a method returns another type than it declares");
                }
                bare(op)
            }
            187 | 189 | 192 | 193 => {
                let class = rest.u16()?;
                self.pool().class(class)?;
                insn(op, class.into(), 0)
            }
            188 => match rest.u8()? {
                code @ 4..=11 => insn(op, code.into(), 0),
                _ => return Err("an array has elements of an unknown type"),
            },
            _ => bare(op),
        })
    }

    /// A constant of one word.
    fn constant(&self, index: u16) -> Parsed<Insn> {
        match self.pool().get(index)? {
            Constant::Word(value) => Ok(push(*value as i32)),
            Constant::String(_) | Constant::Class(_) => Ok(insn(ops::LDC, index.into(), 0)),
            _ => Err("a constant cannot be pushed"),
        }
    }

    /// A local of two bytes, or a long increment.
    fn wide(&self, rest: &mut Bytes<'_>) -> Parsed<(Insn, (u16, u16))> {
        let op = rest.u8()?;
        let number = rest.u16()?;
        let insn = match op {
            21..=25 => local(21, (op - 21).into(), number),
            54..=58 => local(54, (op - 54).into(), number),
            132 => insn(ops::IINC, number.into(), rest.u16()?),
            _ => return Err("an instruction is unknown"),
        };
        Ok((insn, effect(op).ok_or("an instruction is unknown")?))
    }

    /// An access to a field, or a call.
    fn named(&self, op: u8, index: u16) -> Parsed<(Insn, (u16, u16))> {
        let member = self.pool().member(index)?;
        let stack = if op < 182 {
            let words = Kind::of(&member.descriptor)?.words();
            match op {
                ops::GETSTATIC => (0, words),
                ops::PUTSTATIC => (words, 0),
                ops::GETFIELD => (1, words),
                _ => (1 + words, 0),
            }
        } else {
            let signature = Signature::of(&member.descriptor)?;
            let this = u16::from(op != ops::INVOKESTATIC);
            (this + signature.arguments, signature.results())
        };
        Ok((insn(op, index.into(), 0), stack))
    }

    fn switch(&mut self, op: u8, at: usize) -> Parsed<Insn> {
        let mut rest = Bytes(&self.code.bytes[(at + 4) & !3..]);
        let other = self.branch(at, rest.u32()? as i32)?;
        let first = rest.u32()?;
        let switch = if op == 170 {
            let low = first as i32;
            let high = rest.u32()? as i32;
            let targets = (low..=high).map(|_| self.branch(at, rest.u32()? as i32));
            Switch::Table {
                low,
                targets: targets.collect::<Parsed<_>>()?,
                other,
            }
        } else {
            let pairs = (0..first).map(|_| {
                let key = rest.u32()? as i32;
                Ok((key, self.branch(at, rest.u32()? as i32)?))
            });
            let pairs = pairs.collect::<Parsed<Vec<_>>>()?;
            if !pairs.is_sorted_by_key(|pair| pair.0) {
                return Err("the keys of a switch are not sorted");
            }
            Switch::Lookup { pairs, other }
        };
        self.switches.push(switch);
        Ok(insn(op, self.switches.len() as u32 - 1, 0))
    }

    /// The instruction at a distance of bytes.
    fn branch(&self, at: usize, by: i32) -> Parsed<u32> {
        let to = i64::try_from(at).map_err(|_| OUTSIDE)? + i64::from(by);
        self.at(usize::try_from(to).map_err(|_| OUTSIDE)?)
    }

    fn at(&self, byte: usize) -> Parsed<u32> {
        let index = self.index.get(byte).copied();
        index.filter(|&index| index != NO_INSN).ok_or(OUTSIDE)
    }

    fn handlers(&self, count: usize) -> Parsed<Vec<Handler>> {
        let all = self.code.handlers.iter().map(|entry| {
            if entry.caught != 0 {
                self.pool().class(entry.caught)?;
            }
            let end = usize::from(entry.end);
            Ok(Handler {
                start: self.at(entry.start.into())?,
                end: if end == self.index.len() {
                    count as u32
                } else {
                    self.at(end)?
                },
                target: self.at(entry.handler.into())?,
                caught: entry.caught,
            })
        });
        all.collect()
    }

    /// Follows the code, with the depth of the stack before each instruction.
    fn depths(&self, insns: &[Insn], handlers: &[Handler]) -> Parsed<()> {
        let mut depths: Vec<Option<u16>> = vec![None; insns.len()];
        let mut work: Vec<(u32, u16)> = vec![(0, 0)];
        work.extend(handlers.iter().map(|handler| (handler.target, 1)));
        while let Some((index, depth)) = work.pop() {
            let place = depths.get_mut(index as usize);
            let place = place.ok_or("a method ends without a return")?;
            match *place {
                Some(known) if known == depth => continue,
                Some(_) => return Err("the stack has two depths at one instruction"),
                None => *place = Some(depth),
            }
            let (insn, (takes, puts)) = (insns[index as usize], self.effects[index as usize]);
            let left = depth.checked_sub(takes).ok_or("the stack is empty")?;
            let depth = left.checked_add(puts);
            let depth = depth.filter(|&depth| depth <= self.code.max_stack);
            let depth = depth.ok_or("the stack is deeper than declared")?;
            match insn.op {
                ops::RETURN | ops::RETURN1 | ops::RETURN2 | ops::ATHROW => {}
                ops::GOTO => work.push((insn.a, depth)),
                ops::TABLESWITCH | ops::LOOKUPSWITCH => {
                    let targets = self.switches[insn.a as usize].targets();
                    work.extend(targets.into_iter().map(|target| (target, depth)));
                }
                ops::IFEQ..=ops::IF_ACMPNE | ops::IFNULL | ops::IFNONNULL => {
                    work.extend([(index + 1, depth), (insn.a, depth)]);
                }
                _ => work.push((index + 1, depth)),
            }
        }
        Ok(())
    }
}

const fn insn(op: u8, a: u32, b: u16) -> Insn {
    Insn { op, b, a }
}

const fn bare(op: u8) -> Insn {
    insn(op, 0, 0)
}

const fn push(value: i32) -> Insn {
    insn(ops::PUSH, value as u32, 0)
}

/// A load or store (by the first of its kind) of type `kind`: int, long, float, double, reference.
fn local(first: u8, kind: u16, number: u16) -> Insn {
    let is_wide = kind == 1 || kind == 3;
    insn(first + u8::from(is_wide), number.into(), 0)
}

/// A code that is shared by all frames of its method.
pub(crate) type SharedCode = Rc<Code>;
