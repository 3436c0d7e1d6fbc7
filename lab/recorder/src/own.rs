//! Allocators that a program brings beside malloc, as far as the symbols of its file say. What they
//! serve does not come through malloc, so nothing can record it.

use object::read::elf::ElfFile64;
use object::{Endianness, Object as _, ObjectSymbol as _};

/// Functions by which such allocators serve. A program that has one under malloc's own name is
/// another case: [`super::Unrecordable::OwnMalloc`].
const FUNCTIONS: [&str; 18] = [
    // jemalloc, as Rust's crates prefix it, and as its own build does
    "_rjem_malloc",
    "_rjem_mallocx",
    "_rjem_calloc",
    "je_malloc",
    "je_mallocx",
    "je_calloc",
    "mi_malloc",
    "mi_malloc_aligned",
    "mi_zalloc_aligned",
    "mi_heap_malloc",
    "sn_malloc",
    "sn_rust_alloc",
    "rpmalloc",
    "rpaligned_alloc",
    "tc_malloc",
    "tc_memalign",
    "hoard_malloc",
    "scalloc_malloc",
];

/// What Rust's standard library calls the system's allocator, and what a program calls its own: the
/// last parts of their names. A program that has the first uses no other.
const RUST_SYSTEM: &[u8] = b"__rdl_alloc";
const RUST_OWN: &[u8] = b"__rust_alloc";

/// How a symbol ends that every Rust program has, even one whose allocator is inlined.
const RUST: &[u8] = b"rust_eh_personality";

/// How the functions of jemalloc begin in Rust's crates.
const RUST_JEMALLOC: &str = "_rjem_";

/// How names of our own library for Rust programs are written; its functions are inlined.
const OURS: &str = "14surefit_malloc";

/// A function of the allocator that a Rust program allocates by, beside malloc; `None` if there is
/// none, or if it cannot be seen, as in a file without symbols. Programs in other languages may
/// have such functions and allocate by malloc nevertheless: of them it is `None`, too.
pub(crate) fn allocator(file: &ElfFile64<'_, Endianness>) -> Option<String> {
    let (mut served, mut ours) = (None, None);
    let (mut is_own, mut is_rust) = (false, false);
    for symbol in file.symbols().chain(file.dynamic_symbols()) {
        let Ok(Ok(name)) = symbol.name_bytes().map(std::str::from_utf8) else {
            continue;
        };
        if name.as_bytes().ends_with(RUST_SYSTEM) {
            return None;
        }
        is_own |= name.as_bytes().ends_with(RUST_OWN);
        is_rust |= name.as_bytes().ends_with(RUST) || name.starts_with(RUST_JEMALLOC);
        // A version may follow the name of what a library has.
        let plain = name.split('@').next().unwrap_or_default();
        // A function that is only looked for, in case somebody brings it.
        let is_asked = symbol.is_weak() && symbol.is_undefined();
        if FUNCTIONS.contains(&plain) && !is_asked {
            served.get_or_insert_with(|| plain.to_owned());
        } else if name.contains(OURS) {
            ours.get_or_insert_with(|| "surefit_malloc".to_owned());
        }
    }
    let served = served.filter(|_| is_own || is_rust);
    served.or(ours.filter(|_| is_own))
}
