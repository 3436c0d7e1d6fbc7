//! The calls by which a program begins other programs. Into some the system preloads nothing, so
//! that nobody would hear of them: the name of each that is begun is written into a file beside the
//! logs, and the command looks which of them it could not record.
//!
//! These calls come from the children of `fork` and `vfork` too: nothing here allocates or takes a
//! lock but the first look for each function, which is made when the program begins.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::mem::transmute;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering};

use surefit_interpose::system;

use crate::file::{self, PATH_BYTES};
use crate::log;
use crate::text::Text;
use crate::thread::unrecorded;

type Texts = *const *const c_char;
type Replace = unsafe extern "C" fn(*const c_char, Texts) -> c_int;
type ReplaceWith = unsafe extern "C" fn(*const c_char, Texts, Texts) -> c_int;
type Spawn = unsafe extern "C" fn(
    *mut c_int,
    *const c_char,
    *const c_void,
    *const c_void,
    Texts,
    Texts,
) -> c_int;

/// A function of the C library.
struct Next {
    name: &'static CStr,
    found: AtomicPtr<c_void>,
}

impl Next {
    const fn new(name: &'static CStr) -> Self {
        let found = AtomicPtr::new(null_mut());
        Self { name, found }
    }

    fn get(&self) -> *mut c_void {
        let mut found = self.found.load(Ordering::Acquire);
        if found.is_null() {
            let name = self.name.as_ptr();
            // SAFETY: a name that ends with zero.
            found = unrecorded(|| unsafe { system::dlsym(system::RTLD_NEXT, name) });
            assert!(!found.is_null(), "the C library has this function");
            self.found.store(found, Ordering::Release);
        }
        found
    }
}

static EXECVE: Next = Next::new(c"execve");
static EXECV: Next = Next::new(c"execv");
static EXECVP: Next = Next::new(c"execvp");
static EXECVPE: Next = Next::new(c"execvpe");
static SPAWN: Next = Next::new(c"posix_spawn");
static SPAWNP: Next = Next::new(c"posix_spawnp");

/// Looks for all of them.
pub(crate) fn find() {
    for next in [&EXECVE, &EXECV, &EXECVP, &EXECVPE, &SPAWN, &SPAWNP] {
        next.get();
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn execve(path: *const c_char, arguments: Texts, environment: Texts) -> c_int {
    // SAFETY: the caller's promise; the C library's function has this type.
    unsafe {
        note_own(path);
        transmute::<*mut c_void, ReplaceWith>(EXECVE.get())(path, arguments, environment)
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn execv(path: *const c_char, arguments: Texts) -> c_int {
    // SAFETY: as above.
    unsafe {
        note_own(path);
        transmute::<*mut c_void, Replace>(EXECV.get())(path, arguments)
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn execvp(name: *const c_char, arguments: Texts) -> c_int {
    // SAFETY: as above.
    unsafe {
        note_own(name);
        transmute::<*mut c_void, Replace>(EXECVP.get())(name, arguments)
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn execvpe(name: *const c_char, arguments: Texts, environment: Texts) -> c_int {
    // SAFETY: as above.
    unsafe {
        note_own(name);
        transmute::<*mut c_void, ReplaceWith>(EXECVPE.get())(name, arguments, environment)
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn posix_spawn(
    pid: *mut c_int,
    path: *const c_char,
    actions: *const c_void,
    attributes: *const c_void,
    arguments: Texts,
    environment: Texts,
) -> c_int {
    let rest = (actions, attributes, arguments, environment);
    // SAFETY: as above.
    unsafe { spawn(&SPAWN, pid, path, rest) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn posix_spawnp(
    pid: *mut c_int,
    name: *const c_char,
    actions: *const c_void,
    attributes: *const c_void,
    arguments: Texts,
    environment: Texts,
) -> c_int {
    let rest = (actions, attributes, arguments, environment);
    // SAFETY: as above.
    unsafe { spawn(&SPAWNP, pid, name, rest) }
}

/// # Safety
/// As the C library's function.
unsafe fn spawn(
    next: &Next,
    pid: *mut c_int,
    name: *const c_char,
    rest: (*const c_void, *const c_void, Texts, Texts),
) -> c_int {
    let mut own = 0;
    let to = if pid.is_null() { &raw mut own } else { pid };
    // SAFETY: the caller's promise; the C library's function has this type, and a place for the
    // number.
    let answer = unsafe {
        let next = transmute::<*mut c_void, Spawn>(next.get());
        next(to, name, rest.0, rest.1, rest.2, rest.3)
    };
    if answer == 0 && !name.is_null() {
        // SAFETY: it succeeded, so the number is there, and the name is a text.
        unsafe { note(*to, CStr::from_ptr(name)) };
    }
    answer
}

/// Notes what this process is about to become.
///
/// # Safety
/// Null, or a text that ends with zero.
unsafe fn note_own(name: *const c_char) {
    if !name.is_null() {
        // SAFETY: the caller's promise.
        note(unsafe { system::getpid() }, unsafe { CStr::from_ptr(name) });
    }
}

fn note(pid: c_int, name: &CStr) {
    let before = system::errno();
    let _ = try_note(pid, name.to_bytes());
    system::set_errno(before);
}

/// Bytes of the current folder's name that are looked at: a thread's stack may be small.
const FOLDER_BYTES: usize = 1024;

/// Writes `PID NAME` and a zero.
fn try_note(pid: c_int, name: &[u8]) -> Option<()> {
    let file = open()?;
    let line = line(pid, name);
    if let Some(line) = &line {
        // SAFETY: a text with a zero at its end, which is written with it at once.
        unsafe { system::write(file, line.as_ptr().cast(), line.as_bytes().len() + 1) };
    }
    // SAFETY: it was opened above.
    unsafe { system::close(file) };
    line.map(drop)
}

#[inline(never)]
fn open() -> Option<c_int> {
    let mut path = Text::<PATH_BYTES>::new();
    path.push(crate::caller::environment(log::FOLDER)?.to_bytes())?;
    path.push(b"/")?;
    path.push(log::BEGUN.as_bytes())?;
    let flags = system::O_WRONLY | system::O_CREAT | system::O_APPEND | system::O_CLOEXEC;
    let file = file::open(&path, flags);
    (file >= 0).then_some(file)
}

fn line(pid: c_int, name: &[u8]) -> Option<Text<PATH_BYTES>> {
    let mut line = Text::new();
    line.push_number(pid.unsigned_abs())?;
    line.push(b" ")?;
    if name.contains(&b'/') && name.first() != Some(&b'/') {
        let mut folder = [0_u8; FOLDER_BYTES];
        let link = c"/proc/self/cwd".as_ptr();
        // SAFETY: a text that ends with zero, and a place of this length.
        let bytes = unsafe { system::readlink(link, folder.as_mut_ptr().cast(), folder.len()) };
        line.push(folder.get(..usize::try_from(bytes).ok()?)?)?;
        line.push(b"/")?;
    }
    line.push(name)?;
    Some(line)
}
