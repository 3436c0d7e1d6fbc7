//! The interpreter: one loop over the instructions of all frames.
//!
//! ```text
//! run:      execute; what is thrown looks for its handler; execute again
//! execute:  code, pc, base, sp of the last frame are variables of the loop
//!           before anything that may throw, allocate or call, they are saved to the frame
//!           at the end of a turn, another thread's frame may be the last one
//! ```
//! No call of Java is a call of Rust: a deep recursion ends where the machine's own stack ends.
//!
//! | file | holds |
//! | --- | --- |
//! | `mod` | the loop |
//! | `resolve` | what an instruction's name stands for, at its first use |
//! | `calls` | calls, and the initialisation of classes |
//! | `frames` | runs of the loop; where it is in a frame |
//! | `numbers` | arithmetic of long, float and double |
//! | `convert` | numbers of one type as numbers of another |
//! | `access` | arrays, types, and what is wrong with a reference |

mod access;
mod calls;
mod convert;
mod frames;
mod numbers;
mod resolve;

use self::access::{BYTES, REFERENCES, SHORTS, WIDE, WORDS};
use self::frames::Registers;
use self::resolve::Resolved;
use crate::ops;
use crate::stop::Trap;
use crate::vm::Vm;
use crate::world::{ARRAY_HEADER, Slot};

impl Vm<'_> {
    #[expect(
        clippy::too_many_lines,
        clippy::cognitive_complexity,
        reason = "one arm for each operation"
    )]
    fn execute(&mut self) -> Result<(), Trap> {
        if self.frames.is_empty() {
            return Ok(());
        }
        let Registers {
            mut code,
            mut pc,
            mut base,
            mut sp,
        } = self.registers();

        macro_rules! reload {
            () => {
                Registers { code, pc, base, sp } = self.registers()
            };
        }
        macro_rules! save {
            () => {
                self.save(pc, sp)
            };
        }
        macro_rules! push {
            ($slot:expr) => {{
                let slot = $slot;
                self.world.stack[sp] = slot;
                sp += 1;
            }};
        }
        macro_rules! pop {
            () => {{
                sp -= 1;
                self.world.stack[sp]
            }};
        }
        macro_rules! int {
            () => {
                pop!().as_int()
            };
        }
        macro_rules! bits {
            () => {{
                let high = u64::from(pop!().bits());
                high << 32 | u64::from(pop!().bits())
            }};
        }
        macro_rules! long {
            () => {
                bits!() as i64
            };
        }
        macro_rules! push_int {
            ($value:expr) => {
                push!(Slot::int($value))
            };
        }
        macro_rules! push_bits {
            ($value:expr) => {{
                let bits: u64 = $value;
                push!(Slot::word(bits as u32));
                push!(Slot::word((bits >> 32) as u32));
            }};
        }
        macro_rules! push_long {
            ($value:expr) => {{
                let value: i64 = $value;
                push_bits!(value as u64)
            }};
        }
        // A value, or what is thrown after the registers were saved.
        macro_rules! sound {
            ($result:expr) => {
                match $result {
                    Ok(value) => value,
                    Err(fault) => {
                        save!();
                        return Err(self.fault(fault));
                    }
                }
            };
        }
        macro_rules! object {
            ($slot:expr) => {
                sound!(access::object($slot))
            };
        }
        macro_rules! two_ints {
            (|$a:ident, $b:ident| $result:expr) => {{
                let ($b, $a) = (int!(), int!());
                push_int!($result)
            }};
        }
        macro_rules! divisor {
            ($value:expr) => {{
                let value = $value;
                if value == 0 {
                    save!();
                    return Err(self.throw("java/lang/ArithmeticException", "/ by zero"));
                }
                value
            }};
        }
        // Counts a branch or a call: between two instructions.
        macro_rules! count {
            () => {{
                self.turn_left -= 1;
                if self.turn_left == 0 {
                    break;
                }
            }};
        }
        macro_rules! jump {
            ($target:expr) => {{
                pc = $target as usize;
                count!();
            }};
        }
        macro_rules! branch {
            ($insn:ident, |$a:ident| $taken:expr) => {{
                let $a = int!();
                if $taken {
                    jump!($insn.a);
                }
            }};
            ($insn:ident, |$a:ident, $b:ident| $taken:expr) => {{
                let ($b, $a) = (int!(), int!());
                if $taken {
                    jump!($insn.a);
                }
            }};
        }
        // The place of an element: the array, the index.
        macro_rules! element {
            ($shape:expr) => {{
                let index = int!();
                let array = object!(pop!());
                sound!(self.element(array, index, $shape));
                (array, index as u32)
            }};
        }
        // An object with the words of a class.
        macro_rules! of_class {
            ($insn:ident) => {{
                let object = object!(pop!());
                sound!(self.of_class(object, $insn.b));
                object
            }};
        }
        macro_rules! enter {
            ($method:expr) => {{
                save!();
                self.call($method)?;
                reload!();
                count!();
            }};
        }
        macro_rules! fetch {
            () => {{
                pc += 1;
                code.insns[pc - 1].get()
            }};
        }

        loop {
            let mut insn = fetch!();
            loop {
                match insn.op {
                    ops::NOP => {}
                    ops::ACONST_NULL => push!(Slot::NULL),
                    ops::PUSH => push!(Slot::word(insn.a)),
                    ops::PUSH2 => {
                        push!(Slot::word(insn.b.into()));
                        push!(Slot::word(insn.a));
                    }
                    ops::PUSH_LONG => push_bits!(code.longs[insn.a as usize]),
                    ops::PUSH_ROOT => {
                        push!(Slot::reference(Some(self.world.constants[insn.a as usize])));
                    }
                    ops::LOAD => push!(self.world.stack[base + insn.a as usize]),
                    ops::LOAD2 => {
                        push!(self.world.stack[base + insn.a as usize]);
                        push!(self.world.stack[base + insn.a as usize + 1]);
                    }
                    ops::STORE => self.world.stack[base + insn.a as usize] = pop!(),
                    ops::STORE2 => {
                        self.world.stack[base + insn.a as usize + 1] = pop!();
                        self.world.stack[base + insn.a as usize] = pop!();
                    }
                    ops::IINC => {
                        let local = &mut self.world.stack[base + insn.a as usize];
                        *local = Slot::int(local.as_int().wrapping_add((insn.b as i16).into()));
                    }

                    ops::IALOAD => {
                        let (array, index) = element!(WORDS);
                        push!(Slot::word(self.heap.load(array, ARRAY_HEADER + index)));
                    }
                    ops::LALOAD => {
                        let (array, index) = element!(WIDE);
                        push!(Slot::word(self.heap.load(array, ARRAY_HEADER + 2 * index)));
                        push!(Slot::word(
                            self.heap.load(array, ARRAY_HEADER + 2 * index + 1)
                        ));
                    }
                    ops::AALOAD => {
                        let (array, index) = element!(REFERENCES);
                        let part = self.heap.load(array, ARRAY_HEADER + index);
                        push!(Slot::reference(surefit_gc::Object::of(part)));
                    }
                    ops::BALOAD => {
                        let (array, index) = element!(BYTES);
                        push_int!(i32::from(self.small(array, index, 2) as i8));
                    }
                    ops::CALOAD => {
                        let (array, index) = element!(SHORTS);
                        push_int!(i32::from(self.small(array, index, 1) as u16));
                    }
                    ops::SALOAD => {
                        let (array, index) = element!(SHORTS);
                        push_int!(i32::from(self.small(array, index, 1) as i16));
                    }
                    ops::IASTORE => {
                        let value = pop!().bits();
                        let (array, index) = element!(WORDS);
                        self.heap.store_data(array, ARRAY_HEADER + index, value);
                    }
                    ops::LASTORE => {
                        let (high, low) = (pop!().bits(), pop!().bits());
                        let (array, index) = element!(WIDE);
                        self.heap.store_data(array, ARRAY_HEADER + 2 * index, low);
                        self.heap
                            .store_data(array, ARRAY_HEADER + 2 * index + 1, high);
                    }
                    ops::AASTORE => {
                        let value = sound!(access::reference(pop!()));
                        let (array, index) = element!(REFERENCES);
                        sound!(self.may_hold(array, value));
                        self.heap.store(array, ARRAY_HEADER + index, value);
                    }
                    ops::BASTORE => {
                        let value = pop!().bits();
                        let (array, index) = element!(BYTES);
                        self.store_small(array, index, 2, value);
                    }
                    ops::CASTORE | ops::SASTORE => {
                        let value = pop!().bits();
                        let (array, index) = element!(SHORTS);
                        self.store_small(array, index, 1, value);
                    }

                    ops::POP => sp -= 1,
                    ops::POP2 => sp -= 2,
                    ops::DUP => push!(self.world.stack[sp - 1]),
                    ops::DUP2 => {
                        push!(self.world.stack[sp - 2]);
                        push!(self.world.stack[sp - 2]);
                    }
                    // The slots under the copy move up by as many as are copied.
                    ops::DUP_X1 => sp = self.slide(sp, 1, 1),
                    ops::DUP_X2 => sp = self.slide(sp, 1, 2),
                    ops::DUP2_X1 => sp = self.slide(sp, 2, 1),
                    ops::DUP2_X2 => sp = self.slide(sp, 2, 2),
                    ops::SWAP => self.world.stack.swap(sp - 1, sp - 2),

                    ops::IADD => two_ints!(|a, b| a.wrapping_add(b)),
                    ops::ISUB => two_ints!(|a, b| a.wrapping_sub(b)),
                    ops::IMUL => two_ints!(|a, b| a.wrapping_mul(b)),
                    ops::IDIV => {
                        let (b, a) = (divisor!(int!()), int!());
                        push_int!(a.wrapping_div(b));
                    }
                    ops::IREM => {
                        let (b, a) = (divisor!(int!()), int!());
                        push_int!(a.wrapping_rem(b));
                    }
                    ops::INEG => {
                        let a = int!();
                        push_int!(a.wrapping_neg());
                    }
                    ops::ISHL => two_ints!(|a, b| a.wrapping_shl(b as u32)),
                    ops::ISHR => two_ints!(|a, b| a.wrapping_shr(b as u32)),
                    ops::IUSHR => two_ints!(|a, b| (a as u32).wrapping_shr(b as u32) as i32),
                    ops::IAND => two_ints!(|a, b| a & b),
                    ops::IOR => two_ints!(|a, b| a | b),
                    ops::IXOR => two_ints!(|a, b| a ^ b),
                    ops::FADD..=ops::DADD
                    | ops::FSUB..=ops::DSUB
                    | ops::FMUL..=ops::DMUL
                    | ops::FDIV..=ops::DDIV
                    | ops::FREM..=ops::DREM
                    | ops::FNEG..=ops::DNEG => sp = self.real(insn.op, sp),
                    ops::LADD
                    | ops::LSUB
                    | ops::LMUL
                    | ops::LNEG
                    | ops::LSHL
                    | ops::LSHR
                    | ops::LUSHR
                    | ops::LAND
                    | ops::LOR
                    | ops::LXOR => sp = self.long(insn.op, sp),
                    ops::LDIV => {
                        let (b, a) = (divisor!(long!()), long!());
                        push_long!(a.wrapping_div(b));
                    }
                    ops::LREM => {
                        let (b, a) = (divisor!(long!()), long!());
                        push_long!(a.wrapping_rem(b));
                    }
                    ops::I2L..=ops::I2S => sp = self.convert(insn.op, sp),
                    ops::LCMP..=ops::DCMPG => sp = self.compare(insn.op, sp),

                    ops::IFEQ => branch!(insn, |a| a == 0),
                    ops::IFNE => branch!(insn, |a| a != 0),
                    ops::IFLT => branch!(insn, |a| a < 0),
                    ops::IFGE => branch!(insn, |a| a >= 0),
                    ops::IFGT => branch!(insn, |a| a > 0),
                    ops::IFLE => branch!(insn, |a| a <= 0),
                    ops::IF_ICMPEQ | ops::IF_ACMPEQ => branch!(insn, |a, b| a == b),
                    ops::IF_ICMPNE | ops::IF_ACMPNE => branch!(insn, |a, b| a != b),
                    ops::IF_ICMPLT => branch!(insn, |a, b| a < b),
                    ops::IF_ICMPGE => branch!(insn, |a, b| a >= b),
                    ops::IF_ICMPGT => branch!(insn, |a, b| a > b),
                    ops::IF_ICMPLE => branch!(insn, |a, b| a <= b),
                    ops::IFNULL => branch!(insn, |a| a == 0),
                    ops::IFNONNULL => branch!(insn, |a| a != 0),
                    ops::GOTO => jump!(insn.a),
                    ops::TABLESWITCH | ops::LOOKUPSWITCH => {
                        jump!(code.switches[insn.a as usize].target(int!()));
                    }

                    ops::RETURN | ops::RETURN1 | ops::RETURN2 => {
                        let results = self.returned(insn.op, sp, base);
                        self.world.top = base + results;
                        if self.frames.is_empty() {
                            return Ok(());
                        }
                        reload!();
                    }
                    ops::CALL_STATIC => enter!(insn.a),
                    ops::CALL_SPECIAL => {
                        object!(self.world.stack[sp - usize::from(insn.b)]);
                        enter!(insn.a);
                    }
                    ops::CALL_VIRTUAL => {
                        let this = object!(self.world.stack[sp - usize::from(insn.b)]);
                        let method = sound!(self.overriding(this, insn.a));
                        enter!(method);
                    }
                    ops::CALL_INTERFACE => {
                        let this = object!(self.world.stack[sp - usize::from(insn.b)]);
                        save!();
                        let method = self.implementing(this, insn.a)?;
                        enter!(method);
                    }

                    ops::GETFIELD1 => {
                        let object = of_class!(insn);
                        push!(Slot::word(self.heap.load(object, insn.a)));
                    }
                    ops::GETFIELDA => {
                        let object = of_class!(insn);
                        let part = self.heap.load(object, insn.a);
                        push!(Slot::reference(surefit_gc::Object::of(part)));
                    }
                    ops::GETFIELD2 => {
                        let object = of_class!(insn);
                        push!(Slot::word(self.heap.load(object, insn.a)));
                        push!(Slot::word(self.heap.load(object, insn.a + 1)));
                    }
                    ops::PUTFIELD1 => {
                        let value = pop!().bits();
                        let object = of_class!(insn);
                        self.heap.store_data(object, insn.a, value);
                    }
                    ops::PUTFIELDA => {
                        let value = sound!(access::reference(pop!()));
                        let object = of_class!(insn);
                        self.heap.store(object, insn.a, value);
                    }
                    ops::PUTFIELD2 => {
                        let (high, low) = (pop!().bits(), pop!().bits());
                        let object = of_class!(insn);
                        self.heap.store_data(object, insn.a, low);
                        self.heap.store_data(object, insn.a + 1, high);
                    }
                    ops::GETSTATIC1 => push!(self.world.statics[insn.a as usize]),
                    ops::GETSTATIC2 => {
                        push!(self.world.statics[insn.a as usize]);
                        push!(self.world.statics[insn.a as usize + 1]);
                    }
                    ops::PUTSTATIC1 => self.world.statics[insn.a as usize] = pop!(),
                    ops::PUTSTATIC2 => {
                        self.world.statics[insn.a as usize + 1] = pop!();
                        self.world.statics[insn.a as usize] = pop!();
                    }

                    ops::NEW_OF => {
                        save!();
                        let object = self.new_object(insn.a)?;
                        push!(Slot::reference(Some(object)));
                    }
                    ops::ANEWARRAY_OF => {
                        let length = int!();
                        save!();
                        let array = self.new_array(insn.a, length)?;
                        push!(Slot::reference(Some(array)));
                    }
                    ops::MULTIANEWARRAY_OF => {
                        let mut counts = vec![0; insn.b.into()];
                        counts.iter_mut().rev().for_each(|count| *count = int!());
                        save!();
                        let array = self.many_arrays(insn.a, &counts)?;
                        push!(Slot::reference(Some(array)));
                    }
                    ops::ARRAYLENGTH => {
                        let array = object!(pop!());
                        let length = sound!(self.length_of(array));
                        push!(Slot::word(length));
                    }
                    ops::CHECKCAST_OF => {
                        let slot = self.world.stack[sp - 1];
                        if let Some(object) = sound!(access::reference(slot)) {
                            sound!(self.cast(object, insn.a));
                        }
                    }
                    ops::INSTANCEOF_OF => {
                        let object = sound!(access::reference(pop!()));
                        let is = object
                            .is_some_and(|object| self.classes.is_a(self.class_of(object), insn.a));
                        push_int!(is.into());
                    }
                    ops::ATHROW => {
                        let thrown = object!(pop!());
                        sound!(self.is_throwable(thrown));
                        save!();
                        return Err(self.throw_object(thrown));
                    }
                    ops::MONITORENTER => {
                        let monitor = object!(pop!());
                        self.lock(monitor);
                        count!();
                    }
                    ops::MONITOREXIT => {
                        let monitor = object!(pop!());
                        if !self.unlock(monitor) {
                            save!();
                            return Err(self.throw("java/lang/IllegalMonitorStateException", ""));
                        }
                    }
                    // What still has a name.
                    _ => {
                        save!();
                        match self.resolve(insn)? {
                            Resolved::Always(resolved) => {
                                code.insns[pc - 1].set(resolved);
                                insn = resolved;
                                continue;
                            }
                            Resolved::Now(resolved) => {
                                insn = resolved;
                                continue;
                            }
                            Resolved::Later => {
                                reload!();
                                count!();
                            }
                        }
                    }
                }
                insn = fetch!();
            }
            save!();
            self.turn()?;
            reload!();
        }
    }
}
