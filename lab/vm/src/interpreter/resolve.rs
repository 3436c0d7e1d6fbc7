//! What an instruction's name stands for, found at its first use.

use super::calls::Readiness;
use crate::classes::{ABSTRACT, ClassId, INTERFACE, MethodId, PRIVATE, STATIC};
use crate::classfile::{Constant, Member};
use crate::descriptor::Kind;
use crate::ops::{self, Insn};
use crate::stop::{Refusal, Trap};
use crate::vm::Vm;

/// An instruction without a name.
pub(super) enum Resolved {
    /// From now on.
    Always(Insn),
    /// This time: its class is being initialised by this thread, and not ready for others; it may
    /// still fail.
    Now(Insn),
    /// Its class is initialised first, by frames that are the last now or by another thread. The
    /// instruction runs again then.
    Later,
}

impl Vm<'_> {
    /// The instruction without a name.
    #[cold]
    pub(super) fn resolve(&mut self, insn: Insn) -> Result<Resolved, Trap> {
        let frame = self.frames.last().expect("a frame runs");
        let of = self.classes.method(frame.method).class;
        let constant = insn.a as u16;
        Ok(Resolved::Always(match insn.op {
            ops::LDC => self.resolve_constant(of, constant)?,
            ops::GETSTATIC | ops::PUTSTATIC => return self.resolve_static(of, insn),
            ops::GETFIELD | ops::PUTFIELD => self.resolve_field(of, insn)?,
            ops::INVOKESTATIC => {
                let method = self.named_method(of, constant)?;
                self.expect_static(method, true)?;
                let class = self.classes.method(method).class;
                return self.when_ready(
                    class,
                    Insn {
                        op: ops::CALL_STATIC,
                        a: method,
                        b: insn.b,
                    },
                );
            }
            ops::INVOKEVIRTUAL | ops::INVOKESPECIAL | ops::INVOKEINTERFACE => {
                self.resolve_call(of, insn)?
            }
            ops::NEW => {
                let class = self.named_class(of, constant)?;
                let what = self.classes.get(class);
                if what.element.is_some() || what.flags & (ABSTRACT | INTERFACE) != 0 {
                    let name = what.name.replace('/', ".");
                    return Err(self.throw("java/lang/InstantiationError", &name));
                }
                return self.when_ready(class, with(ops::NEW_OF, class));
            }
            ops::NEWARRAY => {
                const LETTERS: &[u8; 8] = b"ZCFDBSIJ";
                let letter = LETTERS.get((insn.a as usize).wrapping_sub(4)).copied();
                let letter = char::from(letter.unwrap_or(b'I'));
                with(ops::ANEWARRAY_OF, self.load(&format!("[{letter}"))?)
            }
            ops::ANEWARRAY => {
                let element = self.named_class(of, constant)?;
                with(ops::ANEWARRAY_OF, self.array_of(element)?)
            }
            ops::CHECKCAST => with(ops::CHECKCAST_OF, self.named_class(of, constant)?),
            ops::INSTANCEOF => with(ops::INSTANCEOF_OF, self.named_class(of, constant)?),
            ops::MULTIANEWARRAY => Insn {
                op: ops::MULTIANEWARRAY_OF,
                a: self.named_class(of, constant)?,
                b: insn.b,
            },
            _ => return Err(self.damaged(of, "an instruction is unknown")),
        }))
    }

    fn damaged(&self, class: ClassId, what: &str) -> Trap {
        Refusal::damaged(&self.classes.get(class).name, what).into()
    }

    /// The instruction, if its class is ready.
    fn when_ready(&mut self, class: ClassId, insn: Insn) -> Result<Resolved, Trap> {
        let frame = self.frames.len() - 1;
        self.frames[frame].again = true;
        let readiness = self.initialise(class)?;
        self.frames[frame].again = readiness == Readiness::Later;
        Ok(match readiness {
            Readiness::Ready => Resolved::Always(insn),
            Readiness::ForThisThread => Resolved::Now(insn),
            Readiness::Later => Resolved::Later,
        })
    }

    fn resolve_constant(&mut self, of: ClassId, constant: u16) -> Result<Insn, Trap> {
        let file = self.classes.get(of).file.clone();
        let pool = file.as_ref().map(|file| &file.pool);
        let pool = pool.ok_or_else(|| self.damaged(of, "an array has no code"))?;
        let root = match pool.get(constant) {
            Ok(Constant::String(text)) => {
                let text = pool.units(*text).map_err(|what| self.damaged(of, what))?;
                self.literal(text)?
            }
            Ok(Constant::Class(_)) => {
                let class = self.named_class(of, constant)?;
                self.mirror(class)?
            }
            _ => return Err(self.damaged(of, "a constant cannot be pushed")),
        };
        Ok(with(ops::PUSH_ROOT, root))
    }

    fn member(&self, of: ClassId, constant: u16) -> Result<Member, Trap> {
        let file = self.classes.get(of).file.as_ref();
        let file = file.ok_or_else(|| self.damaged(of, "an array has no code"))?;
        file.pool
            .member(constant)
            .map_err(|what| self.damaged(of, what))
    }

    /// A field: its class, what it holds, its place.
    fn named_field(
        &mut self,
        of: ClassId,
        constant: u16,
        is_static: bool,
    ) -> Result<(ClassId, Kind, u32), Trap> {
        let member = self.member(of, constant)?;
        let class = self.load(&member.class)?;
        match self.classes.find_field(class, &member) {
            Some((class, field)) if field.is_static == is_static => {
                Ok((class, field.kind, field.place))
            }
            Some(_) => Err(self.damaged(of, "a static field is used as another, or the other way")),
            None => Err(Refusal::Missing(format!("field {}.{}", member.class, member.name)).into()),
        }
    }

    fn resolve_static(&mut self, of: ClassId, insn: Insn) -> Result<Resolved, Trap> {
        let (class, kind, place) = self.named_field(of, insn.a as u16, true)?;
        let op = match (insn.op, kind) {
            (ops::GETSTATIC, Kind::Wide) => ops::GETSTATIC2,
            (ops::GETSTATIC, _) => ops::GETSTATIC1,
            (_, Kind::Wide) => ops::PUTSTATIC2,
            _ => ops::PUTSTATIC1,
        };
        self.when_ready(class, with(op, place))
    }

    fn resolve_field(&mut self, of: ClassId, insn: Insn) -> Result<Insn, Trap> {
        let (class, kind, place) = self.named_field(of, insn.a as u16, false)?;
        let first = if insn.op == ops::GETFIELD {
            [ops::GETFIELD1, ops::GETFIELDA, ops::GETFIELD2]
        } else {
            [ops::PUTFIELD1, ops::PUTFIELDA, ops::PUTFIELD2]
        };
        let op = match kind {
            Kind::Word => first[0],
            Kind::Reference => first[1],
            Kind::Wide => first[2],
        };
        Ok(Insn {
            op,
            a: place,
            b: class as u16,
        })
    }

    fn named_method(&mut self, of: ClassId, constant: u16) -> Result<MethodId, Trap> {
        let member = self.member(of, constant)?;
        let class = self.load(&member.class)?;
        let found = self
            .classes
            .find_method(class, &member.name, &member.descriptor);
        found.ok_or_else(|| {
            let name = format!(
                "method {}.{}{}",
                member.class, member.name, member.descriptor
            );
            Refusal::Missing(name).into()
        })
    }

    fn expect_static(&self, method: MethodId, is_static: bool) -> Result<(), Trap> {
        let method = self.classes.method(method);
        if (method.flags & STATIC != 0) == is_static {
            return Ok(());
        }
        let what = format!(
            "static method {} is called as another, or the other way",
            method.name
        );
        Err(self.damaged(method.class, &what))
    }

    /// A call of an object's method.
    fn resolve_call(&mut self, of: ClassId, insn: Insn) -> Result<Insn, Trap> {
        let method = self.named_method(of, insn.a as u16)?;
        self.expect_static(method, false)?;
        let called = self.classes.method(method);
        let is_of_interface = self.classes.get(called.class).flags & INTERFACE != 0;
        let is_special = insn.op == ops::INVOKESPECIAL;
        // super.method(): javac names the superclass, so what the name says is the one.
        let op = if is_special || called.flags & PRIVATE != 0 {
            ops::CALL_SPECIAL
        } else if is_of_interface {
            ops::CALL_INTERFACE
        } else {
            ops::CALL_VIRTUAL
        };
        if op == ops::CALL_VIRTUAL && called.place.is_none() {
            return Err(self.damaged(of, "a method is called that no table has"));
        }
        let arguments = called.arguments;
        Ok(Insn {
            op,
            a: method,
            b: arguments,
        })
    }
}

const fn with(op: u8, a: u32) -> Insn {
    Insn { op, a, b: 0 }
}
