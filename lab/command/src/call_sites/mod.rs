//! Call sites in words: which calls of a stack say who allocates, and what they are called.

mod short;

use surefit_measure::error::one_line;
use surefit_trace::{Frame, Sites, Stack};

/// The calls of a stack that are named; stacks that differ only farther out are one line.
const NAMED: usize = 3;

/// How names of functions begin that stand between a program and malloc: those of the standard
/// libraries. Who calls them allocates, not they.
const PLUMBING: [&str; 7] = [
    "operator new",
    "std::",
    "__gnu_cxx::",
    "core::",
    "alloc::",
    "__rust_",
    "__rdl_",
];

/// A call site by its innermost calls: `inner < middle < outer`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct CallSite {
    /// As the trace names the functions.
    pub(crate) full: String,
    /// With names of a few words.
    pub(crate) short: String,
}

impl CallSite {
    /// The call site of a stack, with short names of at most so many characters.
    pub(crate) fn of(sites: &Sites, stack: Stack, most_chars: usize) -> Self {
        let calls = named(sites, stack);
        if calls.is_empty() {
            let unknown = "(not known)".to_owned();
            return Self {
                full: unknown.clone(),
                short: unknown,
            };
        }
        let shortened = |call: &String| short::shortened(call, most_chars);
        let short: Vec<_> = calls.iter().map(shortened).collect();
        Self {
            full: calls.join(" < "),
            short: short.join(" < "),
        }
    }
}

/// The innermost calls that say something: what only passes an allocation on is left out, unless
/// there is nothing else, and what calls `main`.
fn named(sites: &Sites, stack: Stack) -> Vec<String> {
    let is_main = |frame: &Frame<'_>| frame.function == Some("main");
    let main = sites.frames(stack).position(|frame| is_main(&frame));
    let frames = || {
        sites
            .frames(stack)
            .take(main.map_or(usize::MAX, |at| at + 1))
    };
    let mut calls: Vec<_> = frames().filter_map(|frame| program_call(&frame)).collect();
    calls.dedup();
    if calls.is_empty() {
        calls.extend(frames().map(|frame| place(&frame)));
    }
    calls.truncate(NAMED);
    calls
}

/// What a call is named by: its function, or the program's lambda that a function of the standard
/// libraries calls. `None` if it only passes on.
fn program_call(frame: &Frame<'_>) -> Option<String> {
    let function = frame.function.unwrap_or_default();
    if !passes_on(function) {
        return Some(place(frame));
    }
    let lambda = short::lambdas(function).find(|lambda| !passes_on(lambda));
    lambda.map(one_line)
}

/// Whether a function only passes an allocation on.
fn passes_on(function: &str) -> bool {
    let name = short::bare(function);
    PLUMBING.iter().any(|word| name.starts_with(word))
}

/// The name of a function, or its place if it has none.
fn place(frame: &Frame<'_>) -> String {
    let file = frame.module.rsplit('/').next().unwrap_or_default();
    match frame.function {
        Some(function) => one_line(function),
        None if file.is_empty() => format!("{:#x}", frame.offset),
        None => format!("{}+{:#x}", one_line(file), frame.offset),
    }
}

#[cfg(test)]
mod tests {
    use surefit_trace::{Frame, SitesBuilder, Stack};

    use super::CallSite;

    fn site(functions: &[Option<&'static str>]) -> CallSite {
        let mut builder = SitesBuilder::default();
        let frame = |function: &Option<&'static str>| Frame {
            module: "/usr/lib/libx.so.1",
            offset: 0x1f,
            function: *function,
        };
        let frames: Vec<_> = functions.iter().map(frame).collect();
        let stack = builder.stack(&frames);
        CallSite::of(&builder.finish(), stack, 20)
    }

    #[test]
    fn who_allocates_is_named_and_not_what_passes_it_on() {
        let found = site(&[
            Some("operator new(unsigned long)"),
            Some("void std::vector<int, std::allocator<int> >::_M_grow<int>(int*)"),
            Some("Table<int, std::string>::grow(unsigned long)"),
            None,
            Some("main"),
            Some("_start"),
        ]);
        assert_eq!(found.short, "Table<…>::grow < libx.so.1+0x1f < main");
        assert_eq!(
            found.full,
            "Table<int, std::string>::grow(unsigned long) < libx.so.1+0x1f < main"
        );
        let first = site(&[Some("main"), Some("__libc_start_call_main")]);
        assert_eq!(first.short, "main");
        let only = site(&[Some("operator new[](unsigned long)")]);
        let lambda = site(&[
            Some("std::_Function_handler<void (int), ns::go::{lambda(int)#1}>::_M_invoke"),
            Some("std::thread::_State_impl<std::tuple<ns::go::{lambda(int)#1}> >::_M_run"),
            Some("ns::each(std::function<void (int)>)"),
            Some("main"),
        ]);
        assert_eq!(
            lambda.full,
            "ns::go::{lambda(int)#1} < ns::each(std::function<void (int)>) < main"
        );
        assert_eq!(lambda.short, "ns::go::{lambda#1} < ns::each < main");
        assert_eq!(only.short, "operator new[]");
        let unknown = CallSite::of(&SitesBuilder::default().finish(), Stack::UNKNOWN, 20);
        assert_eq!(unknown.short, "(not known)");
    }
}
