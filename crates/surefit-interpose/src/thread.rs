//! Words for each thread.
//!
//! They are no thread-local variables of Rust: those of a preloaded library may be allocated at
//! first use, by the very malloc that is called. On x86-64 they lie in the memory that each thread
//! has from its beginning to its end (the initial-exec model of thread-local storage, which serves
//! libraries that are loaded with the program). Elsewhere they are keys of the threads' library.

/// Words that there are.
pub const WORDS: usize = 8;

/// A word of each thread, at first 0, by its number below [`WORDS`]: who uses one takes a number
/// that nobody else has.
///
/// # Complexity
/// O(1). Nothing is allocated: of the first keys of a process the C library keeps the words in each
/// thread's own record, and a library that is loaded first gets one of those.
#[derive(Clone, Copy, Debug, Default)]
pub struct ThreadWord<const N: usize>;

/// Bytes of each thread that are zero when it begins and that it has until its end: defines a
/// function that returns where they are, aligned to 64 bytes. The symbol is any name that nobody
/// else has.
#[cfg(target_arch = "x86_64")]
#[macro_export]
macro_rules! thread_bytes {
    ($(#[$about:meta])* $visible:vis fn $name:ident() -> $bytes:literal, $symbol:literal) => {
        core::arch::global_asm!(
            ".pushsection .tbss,\"awT\",@nobits",
            concat!(".globl ", $symbol),
            concat!(".hidden ", $symbol),
            concat!(".type ", $symbol, ", @object"),
            ".balign 64",
            concat!($symbol, ":"),
            concat!(".zero ", $bytes),
            concat!(".size ", $symbol, ", ", $bytes),
            ".popsection",
        );

        $(#[$about])*
        #[inline]
        $visible fn $name() -> *mut u8 {
            let at: *mut u8;
            // SAFETY: it adds two numbers that stay the same while the thread lives.
            unsafe {
                core::arch::asm!(
                    concat!("mov {0}, qword ptr [rip + ", $symbol, "@GOTTPOFF]"),
                    "add {0}, qword ptr fs:0",
                    out(reg) at,
                    options(pure, nomem, nostack)
                );
            }
            at
        }
    };
}

/// A word of each thread that holds the address of a static when the thread begins: defines a
/// module with `get`, two instructions, and `set`. The symbol is any name that nobody else has.
#[cfg(target_arch = "x86_64")]
#[macro_export]
macro_rules! thread_word {
    (mod $name:ident at first $first:path, $symbol:literal) => {
        // The linker leaves the static's address to the loader, which writes it into what each
        // thread's memory begins as.
        core::arch::global_asm!(
            ".pushsection .tdata,\"awT\",@progbits",
            concat!(".globl ", $symbol),
            concat!(".hidden ", $symbol),
            concat!(".type ", $symbol, ", @object"),
            ".balign 8",
            concat!($symbol, ":"),
            ".quad {first}",
            concat!(".size ", $symbol, ", 8"),
            ".popsection",
            first = sym $first,
        );

        mod $name {
            #[inline]
            pub(super) fn get() -> usize {
                let word;
                // SAFETY: it reads a word of the thread's own.
                unsafe {
                    core::arch::asm!(
                        concat!("mov {0}, qword ptr [rip + ", $symbol, "@GOTTPOFF]"),
                        "mov {0}, qword ptr fs:[{0}]",
                        out(reg) word,
                        options(pure, readonly, nostack, preserves_flags)
                    );
                }
                word
            }

            pub(super) fn set(word: usize) {
                // SAFETY: it writes a word of the thread's own.
                unsafe {
                    core::arch::asm!(
                        concat!("mov {0}, qword ptr [rip + ", $symbol, "@GOTTPOFF]"),
                        "mov qword ptr fs:[{0}], {1}",
                        out(reg) _,
                        in(reg) word,
                        options(nostack, preserves_flags)
                    );
                }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
mod kept {
    use super::WORDS;

    crate::thread_bytes!(fn bytes() -> 64, "surefit_interpose_words");

    const _: () = assert!(WORDS * size_of::<usize>() == 64);

    /// Two instructions: the malloc of a library pays for no more.
    #[inline]
    pub(super) fn get<const N: usize>() -> usize {
        const { assert!(N < WORDS) };
        let word;
        // SAFETY: it reads a word of the thread's own bytes, at first zero.
        unsafe {
            core::arch::asm!(
                "mov {0}, qword ptr [rip + surefit_interpose_words@GOTTPOFF]",
                "mov {0}, qword ptr fs:[{0} + {1}]",
                out(reg) word,
                const N * size_of::<usize>(),
                options(pure, readonly, nostack, preserves_flags)
            );
        }
        word
    }

    #[inline]
    pub(super) fn set<const N: usize>(word: usize) {
        const { assert!(N < WORDS) };
        // SAFETY: as above.
        unsafe { bytes().cast::<usize>().add(N).write(word) };
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod kept {
    use core::ffi::{c_uint, c_void};
    use core::sync::atomic::{AtomicU32, Ordering};

    use super::WORDS;
    use crate::system;

    /// The keys plus one; 0 before there is one.
    static KEYS: [AtomicU32; WORDS] = [const { AtomicU32::new(0) }; WORDS];

    #[inline]
    pub(super) fn get<const N: usize>() -> usize {
        match KEYS[N].load(Ordering::Acquire) {
            0 => 0,
            // SAFETY: the key was made, and is never deleted.
            key => unsafe { system::pthread_getspecific(key - 1) }.addr(),
        }
    }

    pub(super) fn set<const N: usize>(word: usize) {
        if let Some(key) = key::<N>() {
            // SAFETY: the key was made; its destructor does not follow the word.
            unsafe { system::pthread_setspecific(key, core::ptr::without_provenance(word)) };
        }
    }

    /// The C library clears the words of a thread that ends, while destructors of other keys still
    /// run, and calls this right after: it puts the word back.
    unsafe extern "C" fn put_back<const N: usize>(word: *mut c_void) {
        set::<N>(word.addr());
    }

    fn key<const N: usize>() -> Option<c_uint> {
        if let Some(key) = KEYS[N].load(Ordering::Acquire).checked_sub(1) {
            return Some(key);
        }
        let mut key = 0;
        // SAFETY: a place for the key; the destructor takes any word.
        if unsafe { system::pthread_key_create(&raw mut key, Some(put_back::<N>)) } != 0 {
            return None;
        }
        // Of two threads that make one at once, the second leaves its own unused.
        let first = KEYS[N].compare_exchange(0, key + 1, Ordering::AcqRel, Ordering::Acquire);
        Some(first.map_or_else(|other| other - 1, |_| key))
    }
}

impl<const N: usize> ThreadWord<N> {
    /// The word of this thread; 0 if it was never set, or could not be.
    #[inline]
    #[must_use]
    pub fn get(self) -> usize {
        kept::get::<N>()
    }

    /// Sets the word of this thread.
    #[inline]
    pub fn set(self, word: usize) {
        kept::set::<N>(word);
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::ThreadWord;

    #[test]
    fn each_thread_has_words_of_its_own() {
        let (first, last) = (ThreadWord::<0>, ThreadWord::<7>);
        first.set(1);
        last.set(usize::MAX);
        let others = std::thread::spawn(move || {
            let before = (first.get(), last.get());
            first.set(2);
            (before, first.get(), last.get())
        });
        assert_eq!(others.join().expect("it ends"), ((0, 0), 2, 0));
        assert_eq!((first.get(), last.get()), (1, usize::MAX));
    }
}
