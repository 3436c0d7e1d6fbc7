//! The functions of a program's or library's file, by address.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use object::read::elf::ElfFile64;
use object::{Endianness, Object as _, ObjectSymbol as _, SymbolKind};

/// Where debuggers look for the symbols that a distribution took out of its programs.
const SEPARATE: &str = "/usr/lib/debug/.build-id";

/// The largest file that is read, in bytes. Some files claim more than there is memory.
const MOST_FILE_BYTES: u64 = 4 << 30;

/// The longest name that is kept, in bytes: the names of templates can be longer than a page. What
/// a name ends with says most, so few names are cut.
const MOST_NAME_BYTES: usize = 2000;

/// The functions of programs and libraries; each file is read once.
#[derive(Debug, Default)]
pub struct Functions(HashMap<String, Symbols>);

impl Functions {
    /// The function of a file in which a call returns to an address of the file's own. `None` if
    /// the file cannot be read, is no program or library, or has no symbol there.
    pub fn calling(&mut self, file: &str, returns_to: u64) -> Option<String> {
        if !self.0.contains_key(file) {
            self.0.insert(file.to_owned(), Symbols::of(Path::new(file)));
        }
        // The call is before the address that it returns to.
        self.0.get(file)?.function(returns_to.saturating_sub(1))
    }
}

/// The functions of one file, by ascending address.
#[derive(Debug, Default)]
pub(crate) struct Symbols(Vec<Symbol>);

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Symbol {
    address: u64,
    bytes: u64,
    name: String,
}

impl Symbols {
    /// Reads a file, and the one with its separate symbols; none if it cannot be read.
    pub(crate) fn of(path: &Path) -> Self {
        let mut all = Vec::new();
        if let Some(bytes) = read(path) {
            let separate = add(&mut all, &bytes);
            if let Some(bytes) = separate.and_then(|path| read(&path)) {
                add(&mut all, &bytes);
            }
        }
        all.sort_unstable();
        all.dedup_by_key(|symbol| symbol.address);
        Self(all)
    }

    /// The function that holds an address.
    pub(crate) fn function(&self, address: u64) -> Option<String> {
        let after = self.0.partition_point(|symbol| symbol.address <= address);
        let symbol = self.0.get(after.checked_sub(1)?)?;
        let into = address - symbol.address;
        // Functions written in assembly have no size.
        (into < symbol.bytes || symbol.bytes == 0).then(|| demangled(&symbol.name))
    }
}

/// The bytes of a file that is one and of a size that files have.
fn read(path: &Path) -> Option<Vec<u8>> {
    let about = fs::metadata(path).ok()?;
    if !about.is_file() || about.len() > MOST_FILE_BYTES {
        return None;
    }
    fs::read(path).ok()
}

/// Adds the functions of a file; returns where the rest of its symbols would be.
fn add(all: &mut Vec<Symbol>, bytes: &[u8]) -> Option<PathBuf> {
    let file = ElfFile64::<Endianness>::parse(bytes).ok()?;
    for symbol in file.symbols().chain(file.dynamic_symbols()) {
        if symbol.kind() == SymbolKind::Text && symbol.is_definition() {
            if let Ok(name) = symbol.name() {
                all.push(Symbol {
                    address: symbol.address(),
                    bytes: symbol.size(),
                    name: name.to_owned(),
                });
            }
        }
    }
    let (first, rest) = file.build_id().ok()??.split_first()?;
    let mut name = format!("{SEPARATE}/{first:02x}/");
    for byte in rest {
        write!(name, "{byte:02x}").ok()?;
    }
    Some(PathBuf::from(name + ".debug"))
}

/// A name as it was written in the source, for Rust and C++.
fn demangled(name: &str) -> String {
    let mut text = if let Ok(rust) = rustc_demangle::try_demangle(name) {
        format!("{rust:#}")
    } else {
        cpp(name).unwrap_or_else(|| name.to_owned())
    };
    if text.len() > MOST_NAME_BYTES {
        let mut end = MOST_NAME_BYTES;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text.push('…');
    }
    text
}

/// A C++ name without its parameters.
fn cpp(name: &str) -> Option<String> {
    if !name.starts_with("_Z") {
        return None;
    }
    let symbol = cpp_demangle::Symbol::new(name).ok()?;
    let options = cpp_demangle::DemangleOptions::new()
        .no_params()
        .no_return_type();
    symbol.demangle_with_options(&options).ok()
}

#[cfg(test)]
mod tests {
    use super::{Functions, Symbols, demangled};
    use std::path::Path;

    #[test]
    fn names_are_those_of_the_source() {
        assert_eq!(demangled("_ZN3foo3barE"), "foo::bar");
        assert_eq!(
            demangled("_ZNSt6vectorIiSaIiEE9push_backERKi"),
            "std::vector<int, std::allocator<int> >::push_back"
        );
        assert_eq!(
            demangled("_ZN4core3fmt5write17h0123456789abcdefE"),
            "core::fmt::write"
        );
        assert_eq!(demangled("zmalloc"), "zmalloc");
        assert_eq!(demangled("_Zbroken"), "_Zbroken");
        let long = demangled(&"é".repeat(1500));
        assert!(long.len() <= 2003 && long.ends_with('…'));
    }

    /// A function that stays one, however the program is optimised.
    #[inline(never)]
    fn named_in_this_program() -> usize {
        std::hint::black_box(1)
    }

    #[test]
    fn the_functions_of_this_program_are_found() {
        let call: fn() -> usize = named_in_this_program;
        assert_eq!(std::hint::black_box(call)(), 1);
        let own = std::env::current_exe().expect("a file");
        let symbols = Symbols::of(&own);
        let at = symbols
            .0
            .iter()
            .find(|symbol| symbol.name.contains("named_in_this_program"))
            .expect("this function");
        let name = symbols.function(at.address + 1).expect("itself");
        assert!(name.contains("named_in_this_program"), "{name}");
        let mut functions = Functions::default();
        let path = own.to_str().expect("a plain path");
        // A call at the end of a function returns behind it.
        let returns_to = at.address + at.bytes;
        let called = functions.calling(path, returns_to);
        assert!(called.is_some_and(|called| called == name));
        for no_file in ["/nowhere", "/", "/dev/zero", "", "a\0b"] {
            assert_eq!(functions.calling(no_file, returns_to), None, "{no_file}");
        }
        assert_eq!(symbols.function(0), None);
        assert!(Symbols::of(Path::new("/nowhere")).0.is_empty());
        assert!(Symbols::of(Path::new("/dev/null")).0.is_empty());
    }
}
