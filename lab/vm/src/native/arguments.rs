//! Arguments and results of the machine's functions.

use surefit_gc::Object;

use crate::classes::ClassId;
use crate::stop::{Refusal, Trap};
use crate::vm::Vm;
use crate::world::Slot;

/// What a function returns: as many slots as its descriptor says.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reply {
    Nothing,
    One(Slot),
    Two(u64),
}

/// A function of the machine, with the place of its arguments.
pub(super) type Run = fn(&mut Vm<'_>, usize) -> Result<Reply, Trap>;

pub(super) const fn int(value: i32) -> Result<Reply, Trap> {
    Ok(Reply::One(Slot::int(value)))
}

pub(super) fn object(object: Object) -> Result<Reply, Trap> {
    Ok(Reply::One(Slot::reference(Some(object))))
}

impl Vm<'_> {
    pub(super) fn int_at(&self, at: usize) -> i32 {
        self.world.stack[at].as_int()
    }

    pub(super) fn bits_at(&self, at: usize) -> u64 {
        let halves = [self.world.stack[at], self.world.stack[at + 1]];
        u64::from(halves[0].bits()) | u64::from(halves[1].bits()) << 32
    }

    pub(super) fn double_at(&self, at: usize) -> f64 {
        f64::from_bits(self.bits_at(at))
    }

    /// An argument that is an object.
    pub(super) fn object_at(&mut self, at: usize) -> Result<Object, Trap> {
        match self.world.stack[at].as_reference() {
            Some(Some(object)) => Ok(object),
            Some(None) => Err(self.throw("java/lang/NullPointerException", "")),
            None => Err(self.confused()),
        }
    }

    /// An argument that is an object of a class, or of one below it.
    pub(super) fn object_of(&mut self, at: usize, class: ClassId) -> Result<Object, Trap> {
        let object = self.object_at(at)?;
        if self.classes.is_below(self.class_of(object), class) {
            Ok(object)
        } else {
            Err(self.confused())
        }
    }

    /// A function of the machine was called with other arguments than it takes.
    pub(super) fn confused(&self) -> Trap {
        let frame = self.frames.last();
        let class = frame.map_or("?", |frame| {
            let class = self.classes.method(frame.method).class;
            &self.classes.get(class).name
        });
        Refusal::damaged(
            class,
            "it calls a native method with other arguments than it takes",
        )
        .into()
    }
}
