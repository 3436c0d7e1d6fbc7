//! The instructions that the search ran: what annotations exclude is not among them.

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail};

use crate::annotation::{Known, NotCalled};
use crate::image::Image;
use crate::instruction::Flow;

/// The addresses of all instructions of the emulator's log.
///
/// # Errors
/// It has none.
pub fn addresses(log: &str) -> Result<BTreeSet<u32>> {
    let mut all = BTreeSet::new();
    for line in log.lines() {
        if let Some((address, _)) = line
            .strip_prefix("0x")
            .and_then(|line| line.split_once(':'))
        {
            all.insert(u32::from_str_radix(address, 16).with_context(|| line.to_owned())?);
        }
    }
    if all.is_empty() {
        bail!("the emulator logged no instruction");
    }
    Ok(all)
}

/// Whether the search never called what no call of a heap calls.
///
/// # Errors
/// It did.
pub fn obeys(image: &Image, ran: &BTreeSet<u32>, known: &Known) -> Result<()> {
    for not in known.not_called.iter().filter(|not| not.events.is_empty()) {
        for address in calls(image, not)? {
            if ran.contains(&address) {
                bail!(
                    "{}: the search called {} at {address:#x}",
                    known.heap,
                    not.function
                );
            }
        }
    }
    Ok(())
}

/// The first instructions of the function, or the calls of it.
fn calls(image: &Image, not: &NotCalled) -> Result<Vec<u32>> {
    let mut calls = Vec::new();
    for function in image.functions() {
        if not.from.is_empty() {
            if function.name.ends_with(not.function) {
                calls.push(function.address());
            }
            continue;
        }
        for line in function
            .lines
            .iter()
            .filter(|_| function.name.ends_with(not.from))
        {
            let (Ok(Flow::Call(target)) | Ok(Flow::Jump(target))) =
                Flow::of(&line.mnemonic, &line.operands)
            else {
                continue;
            };
            if image.name(target).ends_with(not.function) {
                calls.push(line.address);
            }
        }
    }
    if calls.is_empty() {
        bail!("no function {:?}, or no call of it", not.function);
    }
    Ok(calls)
}

#[cfg(test)]
mod tests {
    use super::{addresses, obeys};
    use crate::annotation::{Known, NotCalled};
    use crate::image::Image;

    #[test]
    fn a_call_that_the_search_made_contradicts_the_annotation() {
        let image = Image::of("00000010 <a::f>:\n  10:\t4770 \tbx\tlr\n").expect("a listing");
        let known = Known {
            not_called: &[NotCalled {
                events: &[],
                function: "::f",
                from: "",
                because: "a test",
            }],
            ..Known::NOTHING
        };
        let other = addresses("IN: a\n0x00000020:  4770  bx lr\n").expect("a log");
        assert!(obeys(&image, &other, &known).is_ok());
        let ran = addresses("IN: a\n0x00000010:  4770  bx lr\n").expect("a log");
        let error = obeys(&image, &ran, &known).expect_err("it ran");
        assert!(
            error.to_string().contains("the search called ::f"),
            "{error}"
        );
        assert!(addresses("").is_err());
    }
}
