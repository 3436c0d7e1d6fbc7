//! The calls by which a program begins other programs. Into some the system preloads nothing, and
//! some are given an environment without the recorder, so that nobody would hear of them: the name
//! of each that is begun is written into a file beside the logs, and the command looks which of
//! them it could not record.
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
use crate::seen;
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
        replacing(path, environment, || {
            transmute::<*mut c_void, ReplaceWith>(EXECVE.get())(path, arguments, environment)
        })
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn execv(path: *const c_char, arguments: Texts) -> c_int {
    // SAFETY: as above.
    unsafe {
        replacing(path, system::environ, || {
            transmute::<*mut c_void, Replace>(EXECV.get())(path, arguments)
        })
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn execvp(name: *const c_char, arguments: Texts) -> c_int {
    // SAFETY: as above.
    unsafe {
        replacing(name, system::environ, || {
            transmute::<*mut c_void, Replace>(EXECVP.get())(name, arguments)
        })
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn execvpe(name: *const c_char, arguments: Texts, environment: Texts) -> c_int {
    // SAFETY: as above.
    unsafe {
        replacing(name, environment, || {
            transmute::<*mut c_void, ReplaceWith>(EXECVPE.get())(name, arguments, environment)
        })
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
    let at = seen::now_ns();
    // SAFETY: the caller's promise; the C library's function has this type, and a place for the
    // number.
    let answer = unsafe {
        let next = transmute::<*mut c_void, Spawn>(next.get());
        next(to, name, rest.0, rest.1, rest.2, rest.3)
    };
    if answer == 0 && !name.is_null() {
        // SAFETY: it succeeded, so the number is there, the name is a text, and the environment one
        // of texts.
        unsafe { note((*to, at), how(rest.3), CStr::from_ptr(name)) };
    }
    answer
}

/// Notes what this process is about to become, and that it did not if `begin` returns.
///
/// # Safety
/// As the C library's functions.
unsafe fn replacing(name: *const c_char, environment: Texts, begin: impl Fn() -> c_int) -> c_int {
    if name.is_null() {
        return begin();
    }
    // SAFETY: the caller's promise: a text, and an environment.
    let (name, how) = unsafe { (CStr::from_ptr(name), how(environment)) };
    // SAFETY: it asks for a number.
    let pid = unsafe { system::getpid() };
    note((pid, seen::now_ns()), how, name);
    let answer = begin();
    note((pid, seen::now_ns()), log::begun::FAILED, name);
    answer
}

/// Whether a program that is begun with this environment is heard of.
///
/// # Safety
/// Null, or pointers to texts, and null behind the last.
unsafe fn how(environment: Texts) -> &'static str {
    let (mut is_preloaded, mut has_folder) = (false, false);
    let mut at = environment;
    // SAFETY: the caller's promise.
    while !at.is_null() && unsafe { !(*at).is_null() } {
        // SAFETY: as above.
        let text = unsafe { CStr::from_ptr(*at) }.to_bytes();
        // SAFETY: as above: null is behind the last.
        at = unsafe { at.add(1) };
        let value = |name: &[u8]| text.strip_prefix(name)?.strip_prefix(b"=");
        let name = log::LIBRARY_NAME.as_bytes();
        is_preloaded |= value(b"LD_PRELOAD")
            .is_some_and(|value| value.windows(name.len()).any(|part| part == name));
        has_folder |= value(log::FOLDER.to_bytes()).is_some();
    }
    if is_preloaded && has_folder {
        log::begun::HEARD
    } else {
        log::begun::UNHEARD
    }
}

fn note(of: (c_int, u64), how: &str, name: &CStr) {
    let before = system::errno();
    let _ = try_note(of, how, name.to_bytes());
    system::set_errno(before);
}

/// Bytes of the current folder's name that are looked at: a thread's stack may be small.
const FOLDER_BYTES: usize = 1024;

/// Writes a line, unless the recording has been ended.
fn try_note(of: (c_int, u64), how: &str, name: &[u8]) -> Option<()> {
    if let Some(file) = open(log::STOP, system::O_RDONLY) {
        // SAFETY: it was opened above.
        unsafe { system::close(file) };
        return None;
    }
    let file = open(
        log::BEGUN,
        system::O_WRONLY | system::O_CREAT | system::O_APPEND,
    )?;
    let line = line(of, how, name);
    if let Some(line) = &line {
        // SAFETY: a text with a zero at its end, which is written with it at once.
        unsafe { system::write(file, line.as_ptr().cast(), line.as_bytes().len() + 1) };
    }
    // SAFETY: it was opened above.
    unsafe { system::close(file) };
    line.map(drop)
}

/// Opens a file of the folder of logs, also for a program that has cleared its environment.
#[inline(never)]
fn open(name: &str, flags: c_int) -> Option<c_int> {
    let folder = crate::caller::environment(log::FOLDER);
    if folder.is_none() && !file::has_folder() {
        return None;
    }
    let mut path = Text::<PATH_BYTES>::new();
    file::name(&mut path, folder.unwrap_or_default(), name.as_bytes())?;
    let file = file::open(&path, flags | system::O_CLOEXEC);
    (file >= 0).then_some(file)
}

fn line((pid, at): (c_int, u64), how: &str, name: &[u8]) -> Option<Text<PATH_BYTES>> {
    let mut line = Text::new();
    line.push_number(pid.unsigned_abs().into())?;
    line.push(b" ")?;
    line.push_number(at)?;
    line.push(b" ")?;
    line.push(how.as_bytes())?;
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
