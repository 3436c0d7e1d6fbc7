//! What the class library leaves to the machine: its `native` methods, by their names.
//!
//! A function gets the place of its arguments on the stack, where they stay roots. It compares
//! their classes itself: whoever can name it can call it with anything.

mod arguments;
mod lang;
mod numbers;
mod text;

use crate::stop::Trap;
use crate::vm::Vm;

pub(crate) use arguments::Reply;

/// The number of the function with a name: `java/lang/Math.sqrt(D)D`.
pub(crate) fn find(name: &str) -> Option<usize> {
    let mut all = lang::FUNCTIONS.iter().chain(numbers::FUNCTIONS);
    all.position(|(known, _)| *known == name)
}

/// Calls the function with a number, with the arguments from a slot on.
pub(crate) fn call(vm: &mut Vm<'_>, function: usize, at: usize) -> Result<Reply, Trap> {
    let functions = match function.checked_sub(lang::FUNCTIONS.len()) {
        None => &lang::FUNCTIONS[function],
        Some(function) => &numbers::FUNCTIONS[function],
    };
    functions.1(vm, at)
}
