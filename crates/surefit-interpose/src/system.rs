//! What is used of the C library, as its header files declare it on Linux with 64 bits.
#![expect(
    missing_docs,
    reason = "the C library's manual describes each of these"
)]

use core::ffi::{c_char, c_int, c_long, c_uint, c_void};
use core::sync::atomic::{AtomicUsize, Ordering};

pub const PROT_NONE: c_int = 0;
pub const PROT_READ: c_int = 1;
pub const PROT_WRITE: c_int = 2;
pub const MAP_SHARED: c_int = 1;
pub const MAP_PRIVATE: c_int = 2;
pub const MAP_ANONYMOUS: c_int = 0x20;
pub const MAP_NORESERVE: c_int = 0x4000;
/// Since Linux 4.17; before that it is only where a mapping should be.
pub const MAP_FIXED_NOREPLACE: c_int = 0x10_0000;
pub const MADV_DONTNEED: c_int = 4;
pub const MADV_DONTFORK: c_int = 10;
pub const MADV_HUGEPAGE: c_int = 14;
pub const MADV_WIPEONFORK: c_int = 18;
/// Since Linux 5.14.
pub const MADV_POPULATE_WRITE: c_int = 23;
pub const O_RDONLY: c_int = 0;
pub const O_WRONLY: c_int = 1;
pub const O_RDWR: c_int = 2;
pub const O_CREAT: c_int = 0o100;
pub const O_EXCL: c_int = 0o200;
pub const O_APPEND: c_int = 0o2000;
pub const O_CLOEXEC: c_int = 0o2_000_000;
pub const RTLD_LAZY: c_int = 1;
pub const RTLD_NOLOAD: c_int = 4;
pub const RTLD_NODELETE: c_int = 0x1000;
pub const RTLD_DEFAULT: *mut c_void = core::ptr::null_mut();
/// The definition after that of the library that asks.
pub const RTLD_NEXT: *mut c_void = core::ptr::without_provenance_mut(usize::MAX);
pub const SC_PAGESIZE: c_int = 30;
pub const EINTR: c_int = 4;
pub const ENOMEM: c_int = 12;
pub const EEXIST: c_int = 17;
pub const EINVAL: c_int = 22;
pub const EFBIG: c_int = 27;
pub const ENAMETOOLONG: c_int = 36;
pub const RLIMIT_FSIZE: c_int = 1;
pub const RLIMIT_NOFILE: c_int = 7;
pub const RLIMIT_AS: c_int = 9;
pub const F_DUPFD_CLOEXEC: c_int = 1030;
pub const CLOCK_MONOTONIC: c_int = 1;
pub const CLOCK_PROCESS_CPUTIME_ID: c_int = 2;
pub const CLOCK_MONOTONIC_COARSE: c_int = 6;
pub const FUTEX_WAIT_PRIVATE: c_int = 128;
pub const FUTEX_WAKE_PRIVATE: c_int = 129;
#[cfg(target_arch = "x86_64")]
pub const SYS_FUTEX: c_long = 202;
#[cfg(target_arch = "x86_64")]
pub const SYS_GETTID: c_long = 186;
/// As all architectures with Linux's generic table have it: aarch64, riscv64, loongarch64.
#[cfg(not(target_arch = "x86_64"))]
pub const SYS_FUTEX: c_long = 98;
#[cfg(not(target_arch = "x86_64"))]
pub const SYS_GETTID: c_long = 178;

/// What `mmap` answers when it fails.
pub const MAP_FAILED: *mut c_void = core::ptr::without_provenance_mut(usize::MAX);

/// Where the C library has its record of this thread: for threads that the program begins, at the
/// upper end of their stack.
#[must_use]
pub fn thread_record() -> usize {
    // SAFETY: it reads a register.
    unsafe { pthread_self() }
}

/// What `dladdr` says of the library that holds an address.
#[derive(Debug)]
#[repr(C)]
pub struct Library {
    pub file: *const c_char,
    pub base: *mut c_void,
    pub symbol: *const c_char,
    pub address: *mut c_void,
}

/// For `dladdr1`: the answer's last part is the linker's record of the library.
pub const RTLD_DL_LINKMAP: c_int = 2;

/// How the dynamic linker describes a library that it loaded.
#[derive(Debug)]
#[repr(C)]
pub struct LinkMap {
    /// What was added to the file's addresses.
    pub bias: usize,
    /// Its file; empty for the program.
    pub name: *const c_char,
    /// Its dynamic section.
    pub section: *const c_void,
    /// What was loaded next; null behind the last.
    pub next: *const LinkMap,
}

unsafe extern "C" {
    pub static environ: *const *const c_char;
    pub static program_invocation_name: *const c_char;

    pub fn getenv(name: *const c_char) -> *const c_char;
    pub fn secure_getenv(name: *const c_char) -> *const c_char;
    pub fn abort() -> !;
    pub fn syscall(number: c_long, ...) -> c_long;
    pub fn clock_gettime(clock: c_int, to: *mut [c_long; 2]) -> c_int;
    pub fn pthread_atfork(
        before: Option<unsafe extern "C" fn()>,
        in_parent: Option<unsafe extern "C" fn()>,
        in_child: Option<unsafe extern "C" fn()>,
    ) -> c_int;
    pub fn mmap(
        at: *mut c_void,
        bytes: usize,
        protection: c_int,
        flags: c_int,
        file: c_int,
        offset: c_long,
    ) -> *mut c_void;
    pub fn munmap(at: *mut c_void, bytes: usize) -> c_int;
    pub fn mprotect(at: *mut c_void, bytes: usize, protection: c_int) -> c_int;
    pub fn madvise(at: *mut c_void, bytes: usize, advice: c_int) -> c_int;
    pub fn mincore(at: *mut c_void, bytes: usize, there: *mut u8) -> c_int;
    pub fn open(path: *const c_char, flags: c_int, ...) -> c_int;
    pub fn openat(folder: c_int, path: *const c_char, flags: c_int, ...) -> c_int;
    pub fn close(file: c_int) -> c_int;
    pub fn fwrite(from: *const c_void, size: usize, count: usize, stream: *mut c_void) -> usize;
    pub fn write(file: c_int, from: *const c_void, bytes: usize) -> isize;
    pub fn fcntl(file: c_int, what: c_int, ...) -> c_int;
    fn fstat(file: c_int, about: *mut c_void) -> c_int;
    pub fn read(file: c_int, to: *mut c_void, bytes: usize) -> isize;
    pub fn posix_fallocate(file: c_int, offset: c_long, bytes: c_long) -> c_int;
    pub fn getrlimit(what: c_int, limits: *mut [u64; 2]) -> c_int;
    pub fn getpid() -> c_int;
    pub fn getppid() -> c_int;
    pub fn sysconf(name: c_int) -> c_long;
    pub fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void;
    pub fn dlerror() -> *const c_char;
    pub fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn pthread_self() -> usize;
    pub fn dladdr1(
        address: *const c_void,
        about: *mut Library,
        extra: *mut *mut c_void,
        flags: c_int,
    ) -> c_int;
    fn dl_iterate_phdr(
        each: unsafe extern "C" fn(*const Described, usize, *mut c_void) -> c_int,
        argument: *mut c_void,
    ) -> c_int;
    pub fn readlink(path: *const c_char, to: *mut c_char, bytes: usize) -> isize;
    pub fn dladdr(address: *const c_void, about: *mut Library) -> c_int;
    pub fn pthread_key_create(
        key: *mut c_uint,
        destructor: Option<unsafe extern "C" fn(*mut c_void)>,
    ) -> c_int;
    pub fn pthread_getspecific(key: c_uint) -> *mut c_void;
    pub fn pthread_setspecific(key: c_uint, value: *const c_void) -> c_int;
    pub fn __errno_location() -> *mut c_int;
}

/// The error of the last failed call of this thread.
#[must_use]
pub fn errno() -> c_int {
    // SAFETY: the C library's own word of this thread.
    unsafe { *__errno_location() }
}

/// Sets the error of this thread: a program may look at what was there before a call that
/// succeeded.
pub fn set_errno(error: c_int) {
    // SAFETY: as above.
    unsafe { *__errno_location() = error }
}

/// A limit of this process; the largest number if there is none.
fn limit(of: c_int) -> u64 {
    let mut limits = [u64::MAX; 2];
    // SAFETY: a place for two numbers: the limit, and the most that it may be raised to.
    match unsafe { getrlimit(of, &raw mut limits) } {
        0 => limits[0],
        _ => u64::MAX,
    }
}

/// The most bytes of a file that this process may write.
#[must_use]
pub fn file_limit() -> u64 {
    limit(RLIMIT_FSIZE)
}

/// How many files this process may have open.
#[must_use]
pub fn descriptor_limit() -> u64 {
    limit(RLIMIT_NOFILE)
}

/// The device and number of an open file.
#[must_use]
pub fn file_of(descriptor: c_int) -> Option<(u64, u64)> {
    // Its first two words are these; it has 144 bytes at most.
    let mut about = [0_u64; 32];
    // SAFETY: a place for the answer.
    let found = unsafe { fstat(descriptor, about.as_mut_ptr().cast()) } == 0;
    found.then_some((about[0], about[1]))
}

/// The most bytes of addresses that this process may have, in use or not.
#[must_use]
pub fn address_limit() -> u64 {
    limit(RLIMIT_AS)
}

/// What `_dl_find_object` says of an address, as GNU's C library has it since 2.35.
#[derive(Debug)]
#[repr(C)]
struct Found {
    flags: u64,
    start: *mut c_void,
    end: *mut c_void,
    map: *const LinkMap,
    functions: *mut c_void,
    more: [u64; 7],
}

type FindObject = unsafe extern "C" fn(*const c_void, *mut Found) -> c_int;

/// `_dl_find_object`, if the C library has it; 1 before somebody looked.
static FIND_OBJECT: AtomicUsize = AtomicUsize::new(1);

fn find_object() -> Option<FindObject> {
    let mut known = FIND_OBJECT.load(Ordering::Relaxed);
    if known == 1 {
        // SAFETY: a name that ends with zero.
        known = unsafe { dlsym(RTLD_DEFAULT, c"_dl_find_object".as_ptr()) }.expose_provenance();
        if known == 0 {
            // SAFETY: it forgets the error, which is none of the program's.
            unsafe { dlerror() };
        }
        FIND_OBJECT.store(known, Ordering::Relaxed);
    }
    let function: *mut c_void = core::ptr::with_exposed_provenance_mut(known);
    // SAFETY: null is `None`; else it is the C library's function of that name.
    unsafe { core::mem::transmute::<*mut c_void, Option<FindObject>>(function) }
}

/// A program or library that the linker loaded.
#[derive(Clone, Copy, Debug)]
pub struct Loaded {
    /// Where it begins, or the part of it that holds the address if there are gaps between its
    /// parts.
    pub start: usize,
    /// Where that ends; 0 if the C library does not say.
    pub end: usize,
    /// Where its sorted table of functions is (`.eh_frame_hdr`); 0 if the C library does not say.
    pub functions: usize,
    /// The linker's record of it.
    pub map: *const LinkMap,
}

/// Whether a library was there before the program began, because it was preloaded or the program is
/// linked with it: such a library is never unloaded. `false` if the C library, before 2.35, does
/// not say where the linker is.
///
/// # Safety
/// The library stays, and none comes or goes meanwhile: a function that the linker calls when it
/// has loaded the library is called so.
#[must_use]
pub unsafe fn began_with(library: *const LinkMap) -> bool {
    let Some(find) = find_object() else {
        return false;
    };
    // The linker's own record is behind those, in front of what is loaded later.
    let Some(linker) = loaded_at((find as *const ()).addr()) else {
        return false;
    };
    let mut at = library;
    while !at.is_null() {
        if at == linker.map {
            return true;
        }
        // SAFETY: the caller's; null is behind the last.
        at = unsafe { (*at).next };
    }
    false
}

/// The program or library that holds an address; `None` if none does.
///
/// # Complexity
/// No lock and O(log n) of n libraries since GNU's C library 2.35; before that a lock, and O(n) of
/// the library's symbols.
#[must_use]
pub fn loaded_at(address: usize) -> Option<Loaded> {
    let at = core::ptr::without_provenance(address);
    if let Some(find) = find_object() {
        let mut found = Found {
            flags: 0,
            start: core::ptr::null_mut(),
            end: core::ptr::null_mut(),
            map: core::ptr::null(),
            functions: core::ptr::null_mut(),
            more: [0; 7],
        };
        // SAFETY: any address; a place for the answer, of 96 bytes.
        return (unsafe { find(at, &raw mut found) } == 0).then(|| Loaded {
            start: found.start.addr(),
            end: found.end.addr(),
            functions: found.functions.addr(),
            map: found.map,
        });
    }
    let mut about = Library {
        file: core::ptr::null(),
        base: core::ptr::null_mut(),
        symbol: core::ptr::null(),
        address: core::ptr::null_mut(),
    };
    let mut map: *mut c_void = core::ptr::null_mut();
    // SAFETY: any address; places for the answers.
    let found = unsafe { dladdr1(at, &raw mut about, &raw mut map, RTLD_DL_LINKMAP) };
    (found != 0 && !map.is_null()).then(|| Loaded {
        start: about.base.addr(),
        end: 0,
        functions: 0,
        map: map.cast_const().cast(),
    })
}

/// Where the library begins that holds an address; 0 if none does.
#[must_use]
pub fn library_of(address: usize) -> usize {
    let mut about = Library {
        file: core::ptr::null(),
        base: core::ptr::null_mut(),
        symbol: core::ptr::null(),
        address: core::ptr::null_mut(),
    };
    // SAFETY: any address; a place for the answer.
    match unsafe { dladdr(core::ptr::without_provenance(address), &raw mut about) } {
        0 => 0,
        _ => about.base.addr(),
    }
}

/// What `dl_iterate_phdr` says of a library, as far as it is used.
#[derive(Debug)]
#[repr(C)]
struct Described {
    address: usize,
    name: *const c_char,
    headers: *const c_void,
    header_count: u16,
    loads: u64,
    unloads: u64,
}

/// How many libraries were unloaded so far; 0 if the C library does not say.
#[must_use]
pub fn unloaded() -> u64 {
    unsafe extern "C" fn first(of: *const Described, bytes: usize, to: *mut c_void) -> c_int {
        if bytes >= size_of::<Described>() {
            // SAFETY: a description with so many bytes, and the place that was given.
            unsafe { *to.cast::<u64>() = (*of).unloads };
        }
        1
    }
    let mut count = 0_u64;
    // SAFETY: a function of this type, and a place for what it writes.
    unsafe { dl_iterate_phdr(first, (&raw mut count).cast()) };
    count
}
