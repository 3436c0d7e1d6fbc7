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
        let joined = |names: Vec<String>| names.join(" < ");
        Self {
            full: joined(calls.iter().map(place).collect()),
            short: joined(
                calls
                    .iter()
                    .map(|call| short::shortened(&place(call), most_chars))
                    .collect(),
            ),
        }
    }
}

/// The innermost calls that say something: what only passes an allocation on is left out, unless
/// there is nothing else, and what calls `main`.
fn named(sites: &Sites, stack: Stack) -> Vec<Frame<'_>> {
    let passes_on = |frame: &Frame<'_>| {
        let name = short::bare(frame.function.unwrap_or_default());
        PLUMBING.iter().any(|word| name.starts_with(word))
    };
    let is_main = |frame: &Frame<'_>| frame.function == Some("main");
    let main = sites.frames(stack).position(|frame| is_main(&frame));
    let frames = || {
        sites
            .frames(stack)
            .take(main.map_or(usize::MAX, |at| at + 1))
    };
    let calls: Vec<_> = frames().skip_while(passes_on).take(NAMED).collect();
    match calls.is_empty() {
        true => frames().take(NAMED).collect(),
        false => calls,
    }
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
        assert_eq!(only.short, "operator new[]");
        let unknown = CallSite::of(&SitesBuilder::default().finish(), Stack::UNKNOWN, 20);
        assert_eq!(unknown.short, "(not known)");
    }
}
