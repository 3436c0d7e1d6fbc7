//! What the class library leaves to the machine: its `native` methods, by their names.
//!
//! A function gets the place of its arguments on the stack, where they stay roots. It compares
//! their classes itself: whoever can name it can call it with anything.

mod arguments;
mod lang;
mod numbers;
mod read;
mod text;
mod threads;
mod weak;

use crate::stop::Trap;
use crate::vm::Vm;

pub(crate) use arguments::Reply;

const TABLES: [&[(&str, arguments::Run)]; 4] = [
    lang::FUNCTIONS,
    numbers::FUNCTIONS,
    threads::FUNCTIONS,
    weak::FUNCTIONS,
];

/// The number of the function with a name: `java/lang/Math.sqrt(D)D`.
pub(crate) fn find(name: &str) -> Option<usize> {
    let mut all = TABLES.into_iter().flatten();
    all.position(|(known, _)| *known == name)
}

/// Calls the function with a number, with the arguments from a slot on.
pub(crate) fn call(vm: &mut Vm<'_>, function: usize, at: usize) -> Result<Reply, Trap> {
    let mut number = function;
    for table in TABLES {
        match table.get(number) {
            Some((_, run)) => return run(vm, at),
            None => number -= table.len(),
        }
    }
    Err(vm.confused())
}
