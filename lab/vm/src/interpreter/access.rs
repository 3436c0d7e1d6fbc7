//! Access to objects: each looks at what it needs, since no verifier has looked before.

use surefit_gc::Object;

use crate::classes::{ClassId, Element, MethodId, OBJECT};
use crate::stop::{Refusal, Trap};
use crate::vm::Vm;
use crate::world::{ARRAY_HEADER, Shape, Slot};

/// Why a reference cannot be used.
pub(super) enum Fault {
    Null,
    /// The code takes what is no reference, or an object of another class, for one.
    Confused,
    Index(i32, u32),
    /// An array cannot hold objects of a class.
    Store(ClassId),
    Cast(ClassId, ClassId),
}

/// Arrays with elements of 1, 2, 4 and 8 bytes, and of references.
pub(super) const BYTES: u8 = 0;
pub(super) const SHORTS: u8 = 1;
pub(super) const WORDS: u8 = 2;
pub(super) const WIDE: u8 = 3;
pub(super) const REFERENCES: u8 = 4;

/// The reference in a slot.
#[inline(always)]
pub(super) fn reference(slot: Slot) -> Result<Option<Object>, Fault> {
    slot.as_reference().ok_or(Fault::Confused)
}

/// The object in a slot.
#[inline(always)]
pub(super) fn object(slot: Slot) -> Result<Object, Fault> {
    reference(slot)?.ok_or(Fault::Null)
}

impl Vm<'_> {
    /// Throws what is wrong.
    #[cold]
    pub(super) fn fault(&mut self, fault: Fault) -> Trap {
        let name = |class| self.classes.get(class).name.replace('/', ".");
        match fault {
            Fault::Null => self.throw("java/lang/NullPointerException", ""),
            Fault::Index(index, length) => {
                let text = format!("Index {index} out of bounds for length {length}");
                self.throw("java/lang/ArrayIndexOutOfBoundsException", &text)
            }
            Fault::Store(class) => {
                let text = name(class);
                self.throw("java/lang/ArrayStoreException", &text)
            }
            Fault::Cast(is, wanted) => {
                let text = format!("{} cannot be cast to {}", name(is), name(wanted));
                self.throw("java/lang/ClassCastException", &text)
            }
            Fault::Confused => {
                let method = self
                    .frames
                    .last()
                    .map(|frame| self.classes.method(frame.method));
                let (class, name) = method.map_or((OBJECT, ""), |m| (m.class, &m.name));
                let what = format!("method {name} takes a value for what it is not");
                Refusal::damaged(&self.classes.get(class).name, &what).into()
            }
        }
    }

    /// Whether an array has such elements, and one with this index.
    #[inline(always)]
    pub(super) fn element(&self, array: Object, index: i32, shape: u8) -> Result<(), Fault> {
        let is = match &self.world.shapes[self.class_of(array) as usize] {
            Shape::Data(shift) => *shift,
            Shape::References => REFERENCES,
            Shape::Object(_) => u8::MAX,
        };
        if is != shape {
            return Err(Fault::Confused);
        }
        let length = self.length(array);
        if (index as u32) < length {
            Ok(())
        } else {
            Err(Fault::Index(index, length))
        }
    }

    /// An element of which 1 << `shift` share a word, in the lowest bits.
    #[inline(always)]
    pub(super) fn small(&self, array: Object, index: u32, shift: u32) -> u32 {
        let (word, bit) = (index >> shift, (index << (5 - shift)) & 31);
        self.heap.load(array, ARRAY_HEADER + word) >> bit
    }

    #[inline(always)]
    pub(super) fn store_small(&mut self, array: Object, index: u32, shift: u32, value: u32) {
        let (word, bit) = (ARRAY_HEADER + (index >> shift), (index << (5 - shift)) & 31);
        let mask = if shift == 2 { 0xFF } else { 0xFFFF };
        let others = self.heap.load(array, word) & !(mask << bit);
        self.heap
            .store_data(array, word, others | (value & mask) << bit);
    }

    pub(super) fn length_of(&self, array: Object) -> Result<u32, Fault> {
        match self.world.shapes[self.class_of(array) as usize] {
            Shape::Object(_) => Err(Fault::Confused),
            _ => Ok(self.length(array)),
        }
    }

    /// Whether an array of references can hold an object.
    #[inline]
    pub(super) fn may_hold(&self, array: Object, value: Option<Object>) -> Result<(), Fault> {
        let Some(value) = value else { return Ok(()) };
        let class = self.class_of(value);
        match self.classes.get(self.class_of(array)).element {
            Some(Element::Class(element)) if self.classes.is_a(class, element) => Ok(()),
            _ => Err(Fault::Store(class)),
        }
    }

    /// Whether an object has the words of a class.
    #[inline(always)]
    pub(super) fn of_class(&self, object: Object, class: u16) -> Result<(), Fault> {
        if self.classes.is_below(self.class_of(object), class.into()) {
            Ok(())
        } else {
            Err(Fault::Confused)
        }
    }

    pub(super) fn cast(&self, object: Object, wanted: ClassId) -> Result<(), Fault> {
        let class = self.class_of(object);
        if self.classes.is_a(class, wanted) {
            Ok(())
        } else {
            Err(Fault::Cast(class, wanted))
        }
    }

    pub(super) fn is_throwable(&self, object: Object) -> Result<(), Fault> {
        if self
            .classes
            .is_below(self.class_of(object), self.known.throwable)
        {
            Ok(())
        } else {
            Err(Fault::Confused)
        }
    }

    /// The method that an object runs where a method is called by the table.
    #[inline(always)]
    pub(super) fn overriding(&self, this: Object, method: MethodId) -> Result<MethodId, Fault> {
        let called = self.classes.method(method);
        let class = self.class_of(this);
        if !self.classes.is_below(class, called.class) {
            return Err(Fault::Confused);
        }
        let place = called.place.ok_or(Fault::Confused)? as usize;
        self.classes
            .get(class)
            .table
            .get(place)
            .copied()
            .ok_or(Fault::Confused)
    }

    /// Copies the upper `copied` slots under the `under` slots below them; returns the new end.
    pub(super) fn slide(&mut self, sp: usize, copied: usize, under: usize) -> usize {
        let stack = &mut self.world.stack;
        stack.copy_within(sp - copied - under..sp, sp - under);
        stack.copy_within(sp..sp + copied, sp - copied - under);
        sp + copied
    }
}
