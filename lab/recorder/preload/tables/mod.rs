//! How to come from a function to its caller, as the tables that compilers write for exceptions say
//! it (`.eh_frame`, described by the Linux Standard Base and, its instructions, by DWARF).
//!
//! | module | holds |
//! | --- | --- |
//! | [`bytes`] | reading numbers from a part of memory |
//! | [`header`] | the sorted table, searched for the function that holds an address |
//! | [`entry`] | what is said of one function |
//! | [`program`] | the instructions of that, run up to one address |
//! | [`rule`] | their result, in 31 bits |
//!
//! Nothing here is unsafe, and no table that is wrong makes it panic or run on: each read is
//! checked, and each step reads on. The crate's tests compile it as a module of the reader.

pub(crate) mod bytes;
pub(crate) mod entry;
pub(crate) mod header;
pub(crate) mod program;
pub(crate) mod rule;
#[cfg(test)]
mod tests;

use bytes::Part;
use rule::Rule;

/// The rule for the function call that returns to `pc`: `part` is the memory that holds the tables,
/// `header` where the sorted one begins. `None` if they say nothing of it.
pub(crate) fn rule(part: Part<'_>, header: usize, pc: usize) -> Option<Rule> {
    // The call is before the address that it returns to.
    let call = pc.checked_sub(1)?;
    let described = header::find(part, header, call)?;
    let entry = match entry::read(part, described) {
        Some(entry) => entry,
        None => return Some(Rule::Other),
    };
    entry
        .holds(call)
        .then(|| program::run(&entry, call).unwrap_or(Rule::Other))
}
