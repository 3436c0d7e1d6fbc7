//! The functions of an image, from what `objdump -d` prints.

use std::collections::BTreeMap;

use anyhow::{Context, Result};

/// An instruction as it is printed.
#[derive(Clone, Debug)]
pub struct Line {
    /// Its address.
    pub address: u32,
    /// Its bytes.
    pub bytes: u32,
    /// Its name, with suffixes.
    pub mnemonic: String,
    /// Registers, numbers and targets.
    pub operands: String,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its demangled name.
    pub name: String,
    /// Its name without the arguments of types and functions: what annotations say.
    pub path: String,
    /// Its instructions, by address.
    pub lines: Vec<Line>,
    /// The bytes of tables between the instructions.
    pub data: BTreeMap<u32, u8>,
}

impl Function {
    /// The address of the first instruction.
    pub fn address(&self) -> u32 {
        self.lines.first().map_or(0, |line| line.address)
    }

    /// Whether that is its name: whole, without the arguments of types, or its last parts.
    pub fn is_named(&self, name: &str) -> bool {
        let before = self.path.strip_suffix(name);
        self.name == name || before.is_some_and(|it| it.is_empty() || it.ends_with("::"))
    }
}

/// Reads a listing.
///
/// # Errors
/// A line that looks like an instruction and is none.
pub fn read(text: &str) -> Result<Vec<Function>> {
    let mut functions: Vec<Function> = Vec::new();
    for line in text.lines() {
        if let Some((_, name)) = line
            .strip_suffix(">:")
            .and_then(|line| line.split_once(" <"))
        {
            let name = format!("{:#}", rustc_demangle::demangle(name));
            functions.push(Function {
                path: path(&name),
                name,
                lines: Vec::new(),
                data: BTreeMap::new(),
            });
            continue;
        }
        let (Some(function), Some((address, rest))) =
            (functions.last_mut(), line.split_once(":\t"))
        else {
            continue;
        };
        instruction(function, address.trim(), rest)
            .with_context(|| format!("a listing: {line}"))?;
    }
    functions.retain(|function| !function.lines.is_empty());
    Ok(functions)
}

/// A name without what stands between `<` and `>`, but for the type of a method.
fn path(name: &str) -> String {
    let mut path = String::new();
    let (mut depth, mut inside) = (0_u32, false);
    let mut before = ' ';
    for (at, letter) in name.char_indices() {
        match letter {
            '<' if at == 0 => inside = true,
            '<' => depth += 1,
            // Of the result of a function's type.
            '>' if before == '-' => {}
            '>' if depth > 0 => depth -= 1,
            '>' if inside => inside = false,
            _ if depth == 0 => path.push(letter),
            _ => {}
        }
        before = letter;
    }
    path.replace("::::", "::").trim_end_matches("::").to_owned()
}

fn instruction(function: &mut Function, address: &str, rest: &str) -> Result<()> {
    let address = u32::from_str_radix(address, 16).context("no address")?;
    let mut cells = rest.split('\t');
    // Behind the bytes of a data object stands what they are as text.
    let raw = cells.next().and_then(|raw| raw.split("  ").next());
    let raw = raw.context("no bytes")?;
    let mnemonic = cells.next().unwrap_or(".word").trim().to_owned();
    let operands = cells.next().unwrap_or_default();
    let operands = operands.split(" @ ").next().unwrap_or_default().trim();
    let digits: usize = raw.split_whitespace().map(str::len).sum();
    if mnemonic.starts_with('.') {
        // Printed as numbers of two or four bytes; the image has the low byte first.
        let mut at = address;
        for number in raw.split_whitespace() {
            for pair in (0..number.len() / 2).rev() {
                let byte = &number[2 * pair..2 * pair + 2];
                let byte = u8::from_str_radix(byte, 16).context("no byte")?;
                function.data.insert(at, byte);
                at += 1;
            }
        }
        return Ok(());
    }
    function.lines.push(Line {
        address,
        bytes: (digits / 2) as u32,
        mnemonic,
        operands: operands.trim_end_matches(';').trim().to_owned(),
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{path, read};

    #[test]
    fn a_path_has_no_arguments() {
        for (name, is) in [
            ("memcpy", "memcpy"),
            ("a::f::<b::C<1, 2>>", "a::f"),
            ("<a::Heap<b::Lists<c::D>>>::take", "a::Heap::take"),
            (
                "<a::Heap<'_, fn(u8) -> u8>>::take::<u8>::{closure#0}",
                "a::Heap::take::{closure#0}",
            ),
            ("<a::B<u8> as c::D<e::F>>::g", "a::B as c::D::g"),
        ] {
            assert_eq!(path(name), is);
        }
    }

    #[test]
    fn data_among_the_functions_of_a_c_program_is_no_code() {
        // A literal pool behind the code, and an object of the section `.text`.
        let text = "00000010 <f>:\n  10:\t4b00      \tldr\tr3, [pc, #0]\t@ (14 <f+0x4>)\n  \
                    12:\t4770      \tbx\tlr\n  14:\t20000010 \t.word\t0x20000010\n\n\
                    00000018 <strings>:\n  18:\t3784 0000 378e 0000 3798 0000 37a1 0000     .7...7...7...7..\n  \
                    28:\t6162 2020 0063                             ba  c.\n\n\
                    00000030 <g>:\n  30:\t4770      \tbx\tlr\n";
        let functions = read(text).expect("a listing");
        let names: Vec<&str> = functions.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["f", "g"]);
        assert_eq!(functions[0].data.get(&0x17), Some(&0x20));
    }

    #[test]
    fn functions_instructions_and_tables_are_told_apart() {
        let text = "00000010 <f>:\n  10:\te8df f000 \ttbb\t[pc, r0]\n  14:\t0302      \t.short\t0x0302\n  \
                    16:\t2a80      \tcmp\tr2, #128\t@ 0x80\n";
        let functions = read(text).expect("a listing");
        assert_eq!(functions.len(), 1);
        assert_eq!(functions[0].lines.len(), 2);
        assert_eq!(functions[0].lines[1].operands, "r2, #128");
        assert_eq!(functions[0].data.get(&0x14), Some(&2));
        assert_eq!(functions[0].data.get(&0x15), Some(&3));
    }
}
