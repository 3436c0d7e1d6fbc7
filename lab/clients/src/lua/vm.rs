//! The virtual machine: all calls of Lua's C library, and all calls from it.
//!
//! ```text
//! run:    newstate(answer) -> stop the collector -> pcall(main) -> message -> close
//! main:   open the libraries -> buffers lose their finalizer -> restrain -> make the collecting
//!         thread -> start Lua's collector, if it is to collect by itself -> load the script
//!         -> call it
//! answer: the request of something that Lua does not collect for is refused: the collecting thread
//!         requests an object, which is refused, so that Lua collects
//! ```
//!
//! # Invariants
//! - F1: Lua throws by `longjmp`. Functions that can throw are called only by functions that Lua
//!   called inside `lua_pcall`: `main`, `traceback`, `write`, `print` and `garbage`. None of these
//!   has a local with a destructor when it calls Lua.
//! - F2: No panic reaches C. `answer` and `keep` are `extern "C"`: a panic in them ends the
//!   process. The five functions of F1 do nothing that panics.
//! - F3: While the machine lives, `Memory` and the kept output are accessed only through the
//!   pointers that the machine received.
//! - F4: The registry keeps the collecting thread as long as the machine lives. No script reaches
//!   it, and it runs nothing but `garbage`, whose request is always refused. So Lua 5.4 collects as
//!   it does for any refused request, without finalizers, and where it must not collect it does
//!   not. A coroutine that runs meanwhile is marked from the stack of the one that resumed it, and
//!   so on to the main thread; what is resized, and what Lua's libraries build, is on the stack of
//!   who requested it. A refusal to shrink an object makes it collect nothing.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::fmt;
use core::ptr::{self, NonNull};

use mlua_sys as lua;
use mlua_sys::lua_State;
use surefit_core::RawHeap;
use surefit_gc::Clock;

use super::collecting::Collecting;
use super::memory::{Counts, Memory};

/// The name of the metatable of buffers in the registry.
const BUFFERS: &CStr = c"_UBOX*";

/// The greatest tuning of Lua's collectors, in percent (its manual, §2.5).
const MOST_PERCENT: u16 = 1000;

/// The greatest minor multiplier of the generational one, in percent (its manual, §2.5.2).
const MOST_MINOR_PERCENT: u16 = 100;

/// Removes everything from the libraries that could break memory.
const RESTRAIN: &[u8] = include_bytes!("restrain.lua");

/// A script and its arguments.
#[derive(Clone, Copy, Debug)]
pub struct Script<'a> {
    /// Its name, as messages show it.
    pub name: &'a CStr,
    /// Its text, not compiled Lua. A first line that begins with `#` is skipped.
    pub source: &'a [u8],
    /// Its arguments, in `...` and in `arg`.
    pub arguments: &'a [&'a [u8]],
}

/// Where the output of a script goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Output {
    /// To the standard output.
    #[default]
    Standard,
    /// Output of `print` and `io.write` goes to [`Ran::output`].
    Kept,
}

/// How a script is run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Where its output goes.
    pub output: Output,
    /// When it collects.
    pub collecting: Collecting,
    /// For tests: every n-th request for a new object is refused once without need; 0 for none.
    pub refuse_every: u64,
}

/// Why a script failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// An error that the script did not catch, with its traceback; or the text is not a script.
    Error(String),
    /// The heap is too small: it refused this many bytes after a collection, or where no collection
    /// is possible.
    OutOfMemory(u64),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Error(message) => f.write_str(message),
            Self::OutOfMemory(0) => {
                f.write_str("the heap is too small to open Lua's libraries: make it larger")
            }
            Self::OutOfMemory(bytes) => write!(
                f,
                "out of memory: the heap has no room for {bytes} bytes: make it larger"
            ),
        }
    }
}

impl core::error::Error for Failure {}

/// The result of running a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// Whether it completed.
    pub result: Result<(), Failure>,
    /// What it requested from the heap, before the machine was closed.
    pub counts: Counts,
    /// What it printed, if the output was kept.
    pub output: Vec<u8>,
}

/// The argument of `main`.
struct Call<'a> {
    script: &'a Script<'a>,
    /// Where the output goes; null for the standard output.
    kept: *mut Vec<u8>,
    /// Tells the memory that the machine is complete.
    complete: unsafe extern "C" fn(*mut c_void, u64, *mut lua_State),
    /// Tells the memory that the script is loaded.
    loaded: unsafe extern "C" fn(*mut c_void),
    memory: *mut c_void,
    options: Options,
}

/// Runs a script in a new machine whose memory is the heap. At the end all of it is freed.
///
/// A script has the libraries of Lua, except what could break memory: it cannot load compiled
/// functions, which Lua does not verify, or C libraries; of `debug` it has only `traceback` and
/// `getinfo` without `func`. It can still read and write files and run programs: run only scripts
/// that you trust with these.
///
/// # Examples
/// ```
/// use core::mem::MaybeUninit;
/// use surefit_clients::lua::{Options, Output, Script, run};
/// use surefit_freelist::Tlsf;
/// use surefit_gc::NoClock;
///
/// let mut memory = vec![MaybeUninit::uninit(); 1 << 20];
/// let mut heap = Tlsf::new(&mut memory)?;
/// let source = b"local s = 0 for i = 1, ... do s = s + #{i} end print(s)";
/// let script = Script { name: c"=sum", source, arguments: &[b"20000"] };
/// let options = Options { output: Output::Kept, ..Options::default() };
/// let ran = run(&mut heap, NoClock, &script, options);
/// assert_eq!(ran.result, Ok(()));
/// assert_eq!(ran.output, b"20000\n");
/// assert!(ran.counts.collections > 0, "20,000 tables need more than a mebibyte");
/// # Ok::<(), surefit_core::Refused>(())
/// ```
pub fn run<H: RawHeap, K: Clock>(
    heap: &mut H,
    clock: K,
    script: &Script<'_>,
    options: Options,
) -> Ran {
    run_and_look(heap, clock, script, options, |_| ()).0
}

/// As [`run`]. `look` is called with the heap after the script has ended and before the machine is
/// closed.
pub fn run_and_look<H: RawHeap, K: Clock, T>(
    heap: &mut H,
    clock: K,
    script: &Script<'_>,
    options: Options,
    look: impl FnOnce(&H) -> T,
) -> (Ran, T) {
    let mut memory = Memory::new(heap, clock);
    let mut output = Vec::new();
    let memory_pointer = &raw mut memory;
    let call = Call {
        script,
        kept: match options.output {
            Output::Standard => ptr::null_mut(),
            Output::Kept => &raw mut output,
        },
        complete: complete::<H, K>,
        loaded: loaded::<H, K>,
        memory: memory_pointer.cast(),
        options,
    };
    // SAFETY: `answer` takes this pointer for what it is, and the memory outlives the machine (F3).
    let state = unsafe { lua::lua_newstate(answer::<H, K>, memory_pointer.cast()) };
    let ended = match state.is_null() {
        true => Err(None),
        // SAFETY: a new machine, closed here and nowhere else.
        false => unsafe { play(state, &call) },
    };
    let (counts, seen) = (memory.counts(), look(memory.heap()));
    if !state.is_null() {
        // SAFETY: the machine is open, and nothing of it is used afterwards. It throws nothing.
        unsafe { lua::lua_close(state) };
    }
    memory.close();
    let result = ended.map_err(|message| match message {
        Some(message) => Failure::Error(message),
        None => Failure::OutOfMemory(counts.exhausted_bytes),
    });
    let ran = Ran {
        result,
        counts,
        output,
    };
    (ran, seen)
}

/// Runs the script. The error is its message, or `None` for Lua's own memory error.
///
/// # Safety
/// S1: `state` is a new machine.
unsafe fn play(state: *mut lua_State, call: &Call<'_>) -> Result<(), Option<String>> {
    // SAFETY: S1. It throws nothing.
    unsafe { lua::lua_gc(state, lua::LUA_GCSTOP) };
    // SAFETY: S1; a function without upvalues takes no memory, so that nothing is thrown. A new
    // stack has 20 places.
    unsafe { lua::lua_pushcclosure(state, traceback, 0) };
    // SAFETY: as before.
    unsafe { lua::lua_pushcclosure(state, main, 0) };
    // SAFETY: as before; `main` takes the pointer for what it is, and the call outlives it.
    unsafe { lua::lua_pushlightuserdata(state, ptr::from_ref(call).cast_mut().cast()) };
    // SAFETY: the stack holds the handler, `main` and its argument.
    let status = unsafe { lua::lua_pcall(state, 1, 1, 1) };
    // SAFETY: one result or one message is on the stack.
    let message = unsafe { text(state) };
    match (status, message) {
        (lua::LUA_OK, None) => Ok(()),
        (lua::LUA_ERRMEM, _) => Err(None),
        (_, message) => Err(Some(message.unwrap_or_default())),
    }
}

/// The string on top of the stack, if there is one.
///
/// # Safety
/// S1: the stack is not empty.
unsafe fn text(state: *mut lua_State) -> Option<String> {
    // SAFETY: S1.
    if unsafe { lua::lua_type(state, -1) } != lua::LUA_TSTRING {
        return None;
    }
    let mut bytes = 0;
    // SAFETY: S1; it is a string, so that nothing is converted and nothing thrown.
    let text = unsafe { lua::lua_tolstring(state, -1, &raw mut bytes) };
    // SAFETY: the string has `bytes` bytes and stays on the stack while they are copied.
    let text = unsafe { core::slice::from_raw_parts(text.cast(), bytes) };
    Some(String::from_utf8_lossy(text).into_owned())
}

/// The function that Lua calls for memory.
unsafe extern "C" fn answer<H: RawHeap, K: Clock>(
    memory: *mut c_void,
    object: *mut c_void,
    old: usize,
    bytes: usize,
) -> *mut c_void {
    let (pointer, object) = (
        memory.cast::<Memory<'_, H, K>>(),
        NonNull::new(object.cast()),
    );
    // SAFETY: F3: the pointer that the machine was made with; Lua is not called while it is
    // borrowed.
    let memory = unsafe { &mut *pointer };
    // SAFETY: Lua passes back what it received, with the size that it requested (its manual,
    // `lua_Alloc`).
    let mut answer = unsafe { memory.answer(object, old, bytes) };
    if answer.is_none() && bytes > 0 {
        if let Some(collector) = memory.begin_collection() {
            // SAFETY: S1 by F4; `memory` is not used until it returns (F3).
            unsafe { collect(collector) };
            // SAFETY: F3, as before.
            let memory = unsafe { &mut *pointer };
            // SAFETY: as before; it was refused, so that nothing changed.
            answer = unsafe { memory.end_collection(object, old, bytes) };
        }
    }
    answer.map_or(ptr::null_mut(), |object| object.as_ptr().cast())
}

/// Makes Lua collect: the thread requests an object, which `Memory` refuses.
///
/// # Safety
/// S1: it is the collecting thread, and runs nothing.
unsafe fn collect(thread: NonNull<lua_State>) {
    let thread = thread.as_ptr();
    // SAFETY: S1; a function without upvalues takes no memory, so that nothing is thrown.
    unsafe { lua::lua_pushcclosure(thread, garbage, 0) };
    // SAFETY: S1; the refusal is thrown, and caught here.
    unsafe { lua::lua_pcall(thread, 0, 0, 0) };
    // SAFETY: S1; the message is on the stack.
    unsafe { lua::lua_settop(thread, 0) };
}

/// Requests an object that nobody needs.
unsafe extern "C-unwind" fn garbage(state: *mut lua_State) -> c_int {
    // SAFETY: F1.
    unsafe { lua::lua_newuserdatauv(state, 0, 0) };
    0
}

/// See [`Memory::complete`].
unsafe extern "C" fn complete<H: RawHeap, K: Clock>(
    memory: *mut c_void,
    refuse_every: u64,
    collector: *mut lua_State,
) {
    // SAFETY: F3: the pointer that the machine was made with; Lua is not called while it is
    // borrowed.
    let memory = unsafe { &mut *memory.cast::<Memory<'_, H, K>>() };
    memory.complete(refuse_every, NonNull::new(collector));
}

/// See [`Memory::start_reserve`].
unsafe extern "C" fn loaded<H: RawHeap, K: Clock>(memory: *mut c_void) {
    // SAFETY: F3: the pointer that the machine was made with; Lua is not called while it is
    // borrowed.
    let memory = unsafe { &mut *memory.cast::<Memory<'_, H, K>>() };
    memory.start_reserve();
}

/// Opens the libraries, loads the script and calls it. Returns the message if it cannot be loaded.
unsafe extern "C-unwind" fn main(state: *mut lua_State) -> c_int {
    // SAFETY: the argument is the call that `play` pushed.
    let call = unsafe { &*lua::lua_touserdata(state, 1).cast::<Call<'_>>() };
    // SAFETY: as all below: inside `lua_pcall`, without a local that has a destructor (F1).
    unsafe { lua::luaL_openlibs(state) };
    // SAFETY: F1.
    unsafe { unfinalize_buffers(state) };
    // SAFETY: F1.
    unsafe { restrain(state) };
    // SAFETY: F1.
    unsafe { keep_output(state, call.kept) };
    // SAFETY: F1.
    unsafe { push_arguments(state, call.script) };
    // SAFETY: F1.
    let collector = unsafe { lua::lua_newthread(state) };
    // SAFETY: F1; the registry keeps it until the machine is closed, and no script reaches it.
    unsafe { lua::luaL_ref(state, lua::LUA_REGISTRYINDEX) };
    if let Some(thread) = NonNull::new(collector) {
        // SAFETY: S1: it runs nothing. Now, while there is memory, it gets what its calls need.
        unsafe { collect(thread) };
    }
    // SAFETY: F3: the pointer that the machine was made with.
    unsafe { (call.complete)(call.memory, call.options.refuse_every, collector) };
    // SAFETY: F1.
    unsafe { start_collector(state, call.options.collecting) };
    // SAFETY: F1; the text and the name live as long as the call.
    let status = unsafe { load(state, call.script) };
    match status {
        lua::LUA_OK => {}
        // SAFETY: F1; Lua recognises its own memory message.
        lua::LUA_ERRMEM => unsafe { lua::lua_error(state) },
        _ => return 1,
    }
    // SAFETY: F3: the pointer that the machine was made with.
    unsafe { (call.loaded)(call.memory) };
    for argument in call.script.arguments {
        // SAFETY: F1. The stack was made large enough.
        unsafe { push_bytes(state, argument) };
    }
    // SAFETY: F1: the stack holds the script and its arguments.
    unsafe { lua::lua_call(state, call.script.arguments.len() as c_int, 0) };
    0
}

/// Lets the first buffer make the metatable of all buffers, and removes its finalizer: a buffer is
/// closed when its use ends.
///
/// # Safety
/// S1: F1, and three places on the stack.
unsafe fn unfinalize_buffers(state: *mut lua_State) {
    // SAFETY: S1; a string of this length needs a buffer outside the stack.
    let status = unsafe { lua::luaL_loadstring(state, c"return ('x'):rep(4096)".as_ptr()) };
    if status != lua::LUA_OK {
        // SAFETY: S1; the message is on the stack.
        unsafe { lua::lua_error(state) };
    }
    // SAFETY: S1.
    unsafe { lua::lua_call(state, 0, 0) };
    // SAFETY: S1.
    let kind = unsafe { lua::lua_getfield(state, lua::LUA_REGISTRYINDEX, BUFFERS.as_ptr()) };
    if kind == lua::LUA_TTABLE {
        // SAFETY: S1.
        unsafe { lua::lua_pushnil(state) };
        // SAFETY: S1; the table is below.
        unsafe { lua::lua_setfield(state, -2, c"__gc".as_ptr()) };
    }
    // SAFETY: S1.
    unsafe { lua::lua_settop(state, -2) };
}

/// Removes unsafe functions from the libraries; see `restrain.lua`.
///
/// # Safety
/// S1: F1, and three places on the stack.
unsafe fn restrain(state: *mut lua_State) {
    let (text, name) = (RESTRAIN.as_ptr().cast::<c_char>(), c"=restrain".as_ptr());
    // SAFETY: S1; the text is so long.
    let status = unsafe { lua::luaL_loadbufferx(state, text, RESTRAIN.len(), name, c"t".as_ptr()) };
    if status != lua::LUA_OK {
        // SAFETY: S1; the message is on the stack.
        unsafe { lua::lua_error(state) };
    }
    // SAFETY: S1.
    unsafe { lua::lua_call(state, 0, 0) };
}

/// Lets `print` and `io.write` keep their output, if there is a place for it.
///
/// # Safety
/// S1: F1, and three places on the stack.
unsafe fn keep_output(state: *mut lua_State, kept: *mut Vec<u8>) {
    if kept.is_null() {
        return;
    }
    // SAFETY: S1.
    unsafe { lua::lua_getglobal(state, c"io".as_ptr()) };
    for (function, name, table) in [
        (write as lua::lua_CFunction, c"write", true),
        (print, c"print", false),
    ] {
        // SAFETY: S1.
        unsafe { lua::lua_pushlightuserdata(state, kept.cast()) };
        // SAFETY: S1; the upvalue is on the stack.
        unsafe { lua::lua_pushcclosure(state, function, 1) };
        match table {
            // SAFETY: S1; the table lies below.
            true => unsafe { lua::lua_setfield(state, -2, name.as_ptr()) },
            // SAFETY: S1.
            false => unsafe { lua::lua_setglobal(state, name.as_ptr()) },
        }
    }
    // SAFETY: S1.
    unsafe { lua::lua_settop(state, -2) };
}

/// Starts Lua's own collector, unless it stays stopped.
///
/// # Safety
/// S1: F1: a change of its mode collects.
unsafe fn start_collector(state: *mut lua_State, collecting: Collecting) {
    let tuning = |tuning: u16, most: u16| c_int::from(tuning.min(most));
    let (mode, first, second) = match collecting {
        Collecting::WhenRefused => return,
        Collecting::Incremental {
            pause,
            step_multiplier,
        } => (
            lua::LUA_GCINC,
            tuning(pause, MOST_PERCENT),
            tuning(step_multiplier, MOST_PERCENT),
        ),
        Collecting::Generational { minor, major } => (
            lua::LUA_GCGEN,
            tuning(minor, MOST_MINOR_PERCENT),
            tuning(major, MOST_PERCENT),
        ),
    };
    // SAFETY: S1.
    unsafe { lua::lua_gc(state, lua::LUA_GCRESTART) };
    // The third is the step's size of the incremental mode; 0 leaves it. The other mode reads two.
    // SAFETY: S1; both modes read `int`s.
    unsafe { lua::lua_gc(state, mode, first, second, 0 as c_int) };
}

/// Makes `arg`, and room on the stack for the arguments.
///
/// # Safety
/// S1: F1.
unsafe fn push_arguments(state: *mut lua_State, script: &Script<'_>) {
    // More arguments than an `int` can count do not fit on the stack either.
    let places = c_int::try_from(script.arguments.len()).unwrap_or(c_int::MAX);
    // SAFETY: S1.
    unsafe {
        lua::luaL_checkstack(
            state,
            places.saturating_add(8),
            c"too many arguments".as_ptr(),
        )
    };
    // SAFETY: S1, as all below.
    unsafe { lua::lua_createtable(state, places, 1) };
    let name = script.name.to_bytes();
    let name = name.strip_prefix(b"@").unwrap_or(name);
    for (argument, place) in core::iter::once(&name).chain(script.arguments).zip(0..) {
        // SAFETY: S1.
        unsafe { push_bytes(state, argument) };
        // SAFETY: S1; the table lies below.
        unsafe { lua::lua_rawseti(state, -2, place) };
    }
    // SAFETY: S1.
    unsafe { lua::lua_setglobal(state, c"arg".as_ptr()) };
}

/// # Safety
/// S1: F1, and a place on the stack.
unsafe fn push_bytes(state: *mut lua_State, bytes: &[u8]) {
    // SAFETY: S1; Lua copies the bytes.
    unsafe { lua::lua_pushlstring(state, bytes.as_ptr().cast::<c_char>(), bytes.len()) };
}

/// Loads a script's text, without a first line that begins with `#`.
///
/// # Safety
/// S1: F1, and a place on the stack.
unsafe fn load(state: *mut lua_State, script: &Script<'_>) -> c_int {
    let source = match script.source {
        [b'#', ..] => script.source.iter().position(|byte| *byte == b'\n'),
        _ => Some(0),
    };
    // The end of the line stays, so that lines keep their numbers.
    let source = script.source.get(source.unwrap_or(script.source.len())..);
    let source = source.unwrap_or_default();
    let (text, name) = (source.as_ptr().cast::<c_char>(), script.name.as_ptr());
    let only_text = c"t".as_ptr();
    // SAFETY: S1; the text is so long.
    unsafe { lua::luaL_loadbufferx(state, text, source.len(), name, only_text) }
}

/// Makes a message from an error, with the calls that led to it.
unsafe extern "C-unwind" fn traceback(state: *mut lua_State) -> c_int {
    // SAFETY: F1; the error is the argument.
    let message = unsafe { lua::luaL_tolstring(state, 1, ptr::null_mut()) };
    // SAFETY: F1; the message is on the stack.
    unsafe { lua::luaL_traceback(state, state, message, 1) };
    1
}

/// `io.write`, kept.
unsafe extern "C-unwind" fn write(state: *mut lua_State) -> c_int {
    // SAFETY: F1, as all below.
    let arguments = unsafe { lua::lua_gettop(state) };
    for argument in 1..=arguments {
        let mut bytes = 0;
        // SAFETY: F1.
        let text = unsafe { lua::luaL_checklstring(state, argument, &raw mut bytes) };
        // SAFETY: the string has `bytes` bytes and is an argument.
        unsafe { keep(state, text, bytes) };
    }
    0
}

/// `print`, kept.
unsafe extern "C-unwind" fn print(state: *mut lua_State) -> c_int {
    // SAFETY: F1, as all below.
    let arguments = unsafe { lua::lua_gettop(state) };
    for argument in 1..=arguments {
        let mut bytes = 0;
        // SAFETY: F1.
        let text = unsafe { lua::luaL_tolstring(state, argument, &raw mut bytes) };
        if argument > 1 {
            // SAFETY: a string of one byte.
            unsafe { keep(state, c"\t".as_ptr(), 1) };
        }
        // SAFETY: the string has `bytes` bytes and is on the stack.
        unsafe { keep(state, text, bytes) };
        // SAFETY: F1.
        unsafe { lua::lua_settop(state, -2) };
    }
    // SAFETY: a string of one byte.
    unsafe { keep(state, c"\n".as_ptr(), 1) };
    0
}

/// Keeps bytes of a string.
///
/// # Safety
/// S1: `text` has `bytes` bytes. S2: the running function's upvalue is the pointer that
/// `keep_output` was given.
unsafe extern "C" fn keep(state: *mut lua_State, text: *const c_char, bytes: usize) {
    // SAFETY: S2. It throws nothing.
    let kept = unsafe { lua::lua_touserdata(state, lua::lua_upvalueindex(1)) };
    // SAFETY: S2, F3: the vector outlives the machine, and nobody else reaches it.
    let kept = unsafe { &mut *kept.cast::<Vec<u8>>() };
    // SAFETY: S1.
    let text = unsafe { core::slice::from_raw_parts(text.cast(), bytes) };
    kept.extend_from_slice(text);
}
