//! The stack of the calls of any image for a Cortex-M.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::image::Image;
use crate::listing::Function;
use crate::stack::{Finder, Said, Stack};

/// What `--help` prints.
pub const HELP: &str = "\
The most bytes of stack that calls in an image for a Cortex-M can take.

usage: surefit-bound ELF [--entry FUNCTION]... [--leave-out FUNCTION]... [--once FUNCTION]...

  --entry FUNCTION      bound this one; without it: main, and each function of surefit that a
                        function of another crate calls
  --leave-out FUNCTION  do not count calls of this one: you know what it takes
  --once FUNCTION       this one does not come to call itself, though a way leads back to it

A FUNCTION is a name as the output has it, or its last parts: Heap::get, surefit_free.

The bound is of every way through a function and all that it calls, with what each of them has on
the stack then. A panic of Rust's core library is left out, and named: --entry rust_begin_unwind
bounds what it takes more. A call does not return if the code of its function ends there: so
compilers end them. Data among the functions is no code: a jump into it has no bound. An interrupt takes its own stack, at least 32 bytes (104 with floating
point), on top. Instructions are not counted: the loops of a program have no bound that its ELF says.

What has no bound (an indirect call or jump, recursion, a stack pointer set to what is not known) is
named with its function and address, and the exit status is 1. The ELF needs its symbols. $OBJDUMP is
the disassembler, else arm-none-eabi-objdump.
";

/// What was asked for.
#[derive(Debug, Default)]
struct Asked<'a> {
    entries: Vec<&'a str>,
    left_out: Vec<&'a str>,
    once: Vec<&'a str>,
}

impl<'a> Asked<'a> {
    fn of(options: &[&'a str]) -> Result<Self> {
        let mut asked = Self::default();
        let mut options = options.iter();
        while let Some(&option) = options.next() {
            let into = match option {
                "--entry" => &mut asked.entries,
                "--leave-out" => &mut asked.left_out,
                "--once" => &mut asked.once,
                _ => bail!("no option {option}: surefit-bound --help"),
            };
            into.push(
                options
                    .next()
                    .with_context(|| format!("{option} needs a FUNCTION"))?,
            );
        }
        Ok(asked)
    }
}

/// Prints the stack of the calls of an image.
///
/// # Errors
/// No image for an Arm processor; no such function; a call without a bound.
pub fn bound(elf: &str, options: &[&str]) -> Result<()> {
    let asked = Asked::of(options)?;
    let (text, without) =
        report(&Image::of(&disassembled(elf)?)?, &asked).with_context(|| elf.to_owned())?;
    print!("{text}");
    ensure!(without == 0, "{without} of these calls have no bound");
    Ok(())
}

/// What `objdump -d` prints of an image.
fn disassembled(elf: &str) -> Result<String> {
    let bytes = std::fs::read(elf).with_context(|| elf.to_owned())?;
    // The identification of 16 bytes, the kind of file, the machine: 40 is Arm.
    let is_arm = bytes.starts_with(b"\x7fELF\x01\x01") && bytes.get(18..20) == Some(&[40, 0]);
    ensure!(is_arm, "{elf}: not an ELF of a 32-bit Arm processor");
    let program = std::env::var("OBJDUMP").unwrap_or_else(|_| "arm-none-eabi-objdump".to_owned());
    let output = Command::new(&program).arg("-d").arg(elf).output();
    let output = output.with_context(|| {
        format!("{program}: install binutils-arm-none-eabi, or name one in $OBJDUMP")
    })?;
    ensure!(
        output.status.success(),
        "{program}: {}",
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The text, and how many calls have no bound.
fn report(image: &Image, asked: &Asked<'_>) -> Result<(String, usize)> {
    let (mut not_counted, mut once) = (BTreeSet::new(), BTreeSet::new());
    for &name in asked.left_out.iter().chain(&asked.once) {
        ensure!(image.named(name).next().is_some(), "no function {name}");
    }
    let is_left_out = |function: &Function| {
        let named = asked.left_out.iter().any(|name| function.is_named(name));
        named || is_panic(image, function)
    };
    let is_once = |function: &Function| asked.once.iter().any(|name| function.is_named(name));
    let said = Said {
        is_left_out: &is_left_out,
        is_once: &is_once,
    };
    let mut finder = Finder::new(image, &said);
    let (mut text, mut without) = (String::from("  stack  call\n"), 0);
    for function in entries(image, &asked.entries)? {
        let stack = finder.of(function.address());
        without += usize::from(!stack.unbounded.is_empty());
        line(&mut text, image, function, &stack);
        not_counted.extend(stack.left_out.iter().map(|&it| image.path(it)));
        once.extend(stack.once.iter().map(|&it| image.path(it)));
    }
    for name in not_counted {
        let _ = writeln!(text, "not counted: {name}");
    }
    for name in once {
        let _ = writeln!(text, "does not come to call itself: {name} (you say so)");
    }
    Ok((text, without))
}

/// A call, and its deepest way or what has no bound.
fn line(text: &mut String, image: &Image, function: &Function, stack: &Stack) {
    // Of several functions that differ in their types alone, the whole name.
    let path = match image
        .named(&function.path)
        .filter(|it| it.path == function.path)
        .count()
    {
        1 => &function.path,
        _ => &function.name,
    };
    if stack.unbounded.is_empty() {
        let _ = writeln!(text, "{:>5} B  {path}", stack.bytes);
        let way = stack.way.iter();
        let way: Vec<String> = way
            .map(|&(it, bytes)| format!("{} {bytes}", short(image.path(it))))
            .collect();
        if way.len() > 1 {
            let _ = writeln!(text, "         = {}", way.join(" + "));
        }
        return;
    }
    let _ = writeln!(text, "no bound {path}");
    for &(it, (at, why)) in &stack.unbounded {
        let _ = writeln!(text, "         {} at {at:#x}: {why}", image.path(it));
    }
}

/// The last two parts of a name.
fn short(path: &str) -> &str {
    let from = path.rmatch_indices("::").nth(1);
    from.map_or(path, |(at, _)| &path[at + 2..])
}

/// The functions that were asked for, or those of our own that others call.
fn entries<'a>(image: &'a Image, names: &[&str]) -> Result<Vec<&'a Function>> {
    let mut entries = Vec::new();
    for &name in names {
        let before = entries.len();
        entries.extend(image.named(name));
        ensure!(entries.len() > before, "no function {name}");
    }
    if !names.is_empty() {
        return Ok(entries);
    }
    let mut called = BTreeSet::new();
    for function in image.functions().filter(|it| !is_ours(it)) {
        called.extend(image.calls(function));
    }
    let is_entry = |it: &&Function| {
        let is_called = is_ours(it) && called.contains(&it.address());
        it.path == "main" || (is_called && !is_panic(image, it))
    };
    entries.extend(image.functions().filter(is_entry));
    ensure!(
        !entries.is_empty(),
        "no main, and no function of surefit: name those to bound with --entry (is it stripped?)"
    );
    Ok(entries)
}

/// Whether it is a function of surefit: of its crates, or of its C interface.
fn is_ours(function: &Function) -> bool {
    function.path.starts_with("surefit_")
}

/// Whether it only ends in a panic: it never returns, and has the name of such a function. A
/// program's main loop may be part of another function of core, as what calls a closure.
fn is_panic(image: &Image, function: &Function) -> bool {
    let path = function.path.as_str();
    let name = path.rsplit("::").next().unwrap_or(path);
    let of_core = path.starts_with("core::") || path.starts_with("alloc::");
    let is_named = [
        "panic",
        "fail",
        "capacity_overflow",
        "handle_error",
        "handle_alloc_error",
    ]
    .iter()
    .any(|part| name.contains(part));
    let ends = of_core && (is_named || path.starts_with("core::panicking::"));
    let handles = function.is_named("rust_begin_unwind") || path == "surefit_panicked";
    (ends || handles) && !image.returns(function.address())
}

#[cfg(test)]
mod tests {
    use super::{Asked, disassembled, report};
    use crate::image::Image;
    use crate::tests::listing;

    /// A program that calls two functions of ours: one may panic, one calls what a register says.
    fn image() -> Image {
        let main: &[&str] = &["push\t{lr}", "bl\t18 <get>", "bl\t20 <put>", "pop\t{pc}"];
        let get: &[&str] = &[
            "sub\tsp, #32",
            "cbz\tr0, 1e <get>",
            "bx\tlr",
            "bl\t26 <panic>",
        ];
        let put: &[&str] = &["push\t{r4, lr}", "blx\tr3", "pop\t{r4, pc}"];
        let functions: &[(&str, &[&str])] = &[
            ("main", main),
            ("surefit_c::heap::get", get),
            ("surefit_c::heap::put", put),
            (
                "core::panicking::panic",
                &["sub\tsp, #8", "b.n\t28 <panic>"],
            ),
        ];
        Image::of(&listing(functions)).expect("a listing")
    }

    fn of(options: &[&str]) -> (String, usize) {
        let asked = Asked::of(options).expect("options");
        report(&image(), &asked).expect("a report")
    }

    #[test]
    fn main_and_the_calls_of_surefit_are_bounded() {
        let indirect = "         surefit_c::heap::put at 0x22: an indirect call\n";
        let text = format!(
            "  stack  call\nno bound main\n{indirect}   32 B  surefit_c::heap::get\n\
             no bound surefit_c::heap::put\n{indirect}not counted: core::panicking::panic\n"
        );
        assert_eq!(of(&[]), (text, 2));
    }

    #[test]
    fn what_is_left_out_does_not_count_and_is_named() {
        let (text, without) = of(&["--entry", "main", "--leave-out", "put"]);
        assert_eq!(without, 0);
        assert!(
            text.contains("   36 B  main\n         = main 4 + heap::get 32\n"),
            "{text}"
        );
        assert!(
            text.contains("not counted: surefit_c::heap::put\n"),
            "{text}"
        );
        // A panic can be asked for.
        assert!(
            of(&["--entry", "panicking::panic"])
                .0
                .contains("    8 B  core::panicking::panic")
        );
    }

    #[test]
    fn a_main_loop_in_a_function_of_core_counts() {
        let main: &[&str] = &["push\t{lr}", "bl\t14 <call_once>"];
        let forever: &[&str] = &[
            "sub\tsp, #64",
            "cbz\tr0, 1a <call_once>",
            "b.n\t16 <call_once>",
            "bl\t1c <fail>",
        ];
        let fail: &[&str] = &["sub\tsp, #128", "b.n\t1e <fail>"];
        let functions: &[(&str, &[&str])] = &[
            ("main", main),
            ("core::ops::function::FnOnce::call_once", forever),
            ("core::slice::index::slice_end_index_len_fail", fail),
        ];
        let image = Image::of(&listing(functions)).expect("a listing");
        let (text, _) = report(&image, &Asked::default()).expect("a report");
        assert_eq!(
            text,
            "  stack  call\n   68 B  main\n         = main 4 + FnOnce::call_once 64\n\
             not counted: core::slice::index::slice_end_index_len_fail\n"
        );
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        for (options, says) in [
            (&["--entry", "get_mut"][..], "no function get_mut"),
            (&["--leave-out", "et"], "no function et"),
        ] {
            let asked = Asked::of(options).expect("options");
            let error = report(&image(), &asked).expect_err("no function");
            assert_eq!(error.to_string(), says);
        }
        for (options, says) in [
            (&["--stack"][..], "no option --stack: surefit-bound --help"),
            (&["--entry"], "--entry needs a FUNCTION"),
        ] {
            assert_eq!(Asked::of(options).expect_err("refused").to_string(), says);
        }
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        let error = disassembled(file).expect_err("no ELF").to_string();
        assert!(
            error.ends_with("not an ELF of a 32-bit Arm processor"),
            "{error}"
        );
    }
}
