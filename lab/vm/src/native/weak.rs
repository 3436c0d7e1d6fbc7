//! Weak references.

use surefit_gc::Object;

use super::arguments::{Reply, Run};
use crate::stop::Trap;
use crate::vm::Vm;
use crate::world::{HEADER, Slot};

pub(super) const FUNCTIONS: &[(&str, Run)] = &[
    ("java/lang/ref/Reference.set0(Ljava/lang/Object;)V", set),
    ("java/lang/ref/Reference.get()Ljava/lang/Object;", get),
    ("java/lang/ref/Reference.clear()V", clear),
];

/// The first field of a `Reference`, and its only one: the number of its entry, or 0.
const NUMBER: u32 = HEADER;

/// A reference, and the number of its entry.
fn reference_at(vm: &mut Vm<'_>, at: usize) -> Result<(Object, u32), Trap> {
    let class = vm.load("java/lang/ref/Reference")?;
    let this = vm.object_of(at, class)?;
    Ok((this, vm.heap.load(this, NUMBER)))
}

/// At most once for each object: so there are no more entries than objects.
fn set(vm: &mut Vm<'_>, at: usize) -> Result<Reply, Trap> {
    let (this, number) = reference_at(vm, at)?;
    let referent = vm.world.stack[at + 1].as_reference();
    match (number, referent) {
        (0, Some(referent)) => {
            let number = vm.new_weak(this, referent)?;
            vm.heap.store_data(this, NUMBER, number);
            Ok(Reply::Nothing)
        }
        _ => Err(vm.confused()),
    }
}

fn get(vm: &mut Vm<'_>, at: usize) -> Result<Reply, Trap> {
    let (this, number) = reference_at(vm, at)?;
    let entry = vm.world.weak.get((number as usize).wrapping_sub(1));
    let entry = entry.filter(|entry| entry.holder == Some(this));
    let referent = entry.and_then(|entry| entry.referent);
    let referent = referent.and_then(|object| vm.heap.upgrade(object));
    Ok(Reply::One(Slot::reference(referent)))
}

fn clear(vm: &mut Vm<'_>, at: usize) -> Result<Reply, Trap> {
    let (this, number) = reference_at(vm, at)?;
    let entry = vm.world.weak.get_mut((number as usize).wrapping_sub(1));
    if let Some(entry) = entry.filter(|entry| entry.holder == Some(this)) {
        entry.referent = None;
    }
    Ok(Reply::Nothing)
}

impl Vm<'_> {
    /// Makes the entry of an object that has none; its number. A class file that javac does not
    /// write can take the number away from a reference, or the text from an interned string: then
    /// there is no room for another entry.
    pub(crate) fn new_weak(&mut self, holder: Object, to: Option<Object>) -> Result<u32, Trap> {
        let totals = self.heap.totals();
        if self.world.weak_in_use() >= totals.allocations - totals.freed_objects {
            return Err(self.no_room());
        }
        Ok(self.world.add_weak(holder, to))
    }
}
