//! The log of this process, and the one place that writes to it.
//!
//! # Invariants
//! - What `Process` holds besides its phase is written by the one thread that changed the phase
//!   from NOT_BEGUN to BEGINS, before the phase becomes ON.
//! - Of a log's slots those below `ready` lie in the file, so that writing them cannot fail; each
//!   is written by the one thread that took its number.

use core::cell::UnsafeCell;
use core::ffi::{CStr, c_void};
use core::mem::offset_of;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use surefit_interpose::fork;
use surefit_interpose::system;

use crate::caller::{called, environment};
use crate::file::{self, File, PATH_BYTES, name};
use crate::log::lost::NO_FOLDER;
use crate::log::{self, FULL, HEADER_BYTES, Header, NO_ADDRESSES, SLOT_BYTES, Slot};
use crate::lost;
use crate::seen;
use crate::serving;
use crate::stacks::{Stacks, Wanted};
use crate::text::Text;
use crate::thread::{NUMBER, UNRECORDED};
use crate::unwind;

/// Slots by which a log grows at least, and at most.
const LEAST_SLOTS: u64 = 8192;
const MOST_SLOTS: u64 = 1 << 20;

/// The most bytes of a log if the environment does not say.
const DEFAULT_BYTES: u64 = 64 << 30;

/// What this process knows of its log. A forked child finds it zero, and begins a log of its own.
#[repr(C)]
struct Process {
    phase: AtomicU32,
    header: UnsafeCell<*mut Header>,
    /// Slots that the mapping has addresses for, and why not more.
    slots: UnsafeCell<u64>,
    end: UnsafeCell<u32>,
    path: UnsafeCell<Text<PATH_BYTES>>,
    /// The stacks, if they are wanted, and their file.
    stacks: UnsafeCell<Stacks>,
    stacks_path: UnsafeCell<Text<PATH_BYTES>>,
}

const NOT_BEGUN: u32 = 0;
const BEGINS: u32 = 1;
const ON: u32 = 2;
const OFF: u32 = 3;

static PROCESS: AtomicPtr<Process> = AtomicPtr::new(null_mut());

/// Logs that this process and those it was copied from began: the number of a thread is that of one
/// log.
static LOGS: AtomicU32 = AtomicU32::new(0);

/// A log that is on.
#[derive(Clone, Copy)]
struct Log<'p> {
    process: &'p Process,
    header: &'p Header,
}

/// Writes an event with the next number.
#[inline]
pub(crate) fn stamp(kind: u8, object: *mut c_void, size: usize, align: usize) {
    if let Some((log, thread)) = log().and_then(Log::of_thread) {
        let tag = log::tag(kind, align, thread, 0);
        log.write(object.addr() as u64, size as u64, tag);
    }
}

/// The same, with the stack if stacks are wanted.
#[inline]
pub(crate) fn stamp_called(kind: u8, object: *mut c_void, size: usize, align: usize) {
    if let Some((log, thread)) = log().and_then(Log::of_thread) {
        let tag = log::tag(kind, align, thread, log.stack());
        log.write(object.addr() as u64, size as u64, tag);
    }
}

#[inline]
fn log() -> Option<Log<'static>> {
    // SAFETY: null, or a mapping that lives as long as the process.
    let process = unsafe { PROCESS.load(Ordering::Acquire).as_ref() };
    match process {
        Some(process) if process.phase.load(Ordering::Acquire) == ON => {
            // SAFETY: ON, so the header is that of a mapping that stays.
            let header = unsafe { &**process.header.get() };
            (header.stop.load(Ordering::Relaxed) == 0).then_some(Log { process, header })
        }
        Some(process) if process.phase.load(Ordering::Relaxed) == OFF => None,
        _ => begin(),
    }
}

impl Log<'_> {
    /// The number of the stack that calls; 0 if it is not wanted or not known.
    #[inline]
    fn stack(self) -> u32 {
        // SAFETY: ON, so it stays as it is.
        let stacks = unsafe { *self.process.stacks.get() };
        if stacks.are_wanted() {
            self.find_stack(stacks)
        } else {
            0
        }
    }

    #[inline(never)]
    fn find_stack(self, stacks: Stacks) -> u32 {
        stacks.current(|from, to| self.reserve_words(from, to))
    }

    #[cold]
    fn reserve_words(self, from: u64, to: u64) -> bool {
        let at = |word: u64| log::stacks::WORDS_AT as u64 + word * 8;
        // SAFETY: ON, so it stays as it is.
        let path = unsafe { &*self.process.stacks_path.get() };
        file::reserve(&file::STACKS, path, at(from), at(to)).is_ok()
    }

    #[inline]
    fn write(self, address: u64, size: u64, tag: u64) {
        let number = self.header.next.fetch_add(1, Ordering::Relaxed);
        if number >= self.header.ready.load(Ordering::Acquire) && !self.grow(number) {
            return;
        }
        // SAFETY: below `ready`, so inside the mapping.
        let slot = unsafe {
            let first = (&raw const *self.header).cast::<u8>().add(HEADER_BYTES);
            &*first.cast::<Slot>().add(number as usize)
        };
        slot.address.store(address, Ordering::Relaxed);
        slot.size.store(size, Ordering::Relaxed);
        slot.tag.store(tag, Ordering::Release);
    }

    /// The number of this thread; `None` while what it does is not the program's.
    #[inline]
    fn of_thread(self) -> Option<(Self, u32)> {
        let word = NUMBER.get() as u64;
        if (word >> 32) as u32 == LOGS.load(Ordering::Relaxed) && word as u32 != 0 {
            return Some((self, word as u32 - 1));
        }
        self.new_thread(word).map(|number| (self, number))
    }

    #[cold]
    fn new_thread(self, word: u64) -> Option<u32> {
        if word & UNRECORDED != 0 {
            return None;
        }
        let number = self.header.threads.fetch_add(1, Ordering::Relaxed);
        let logs = u64::from(LOGS.load(Ordering::Relaxed));
        NUMBER.set((logs << 32 | u64::from(number + 1)) as usize);
        Some(number)
    }

    /// Lets the file grow until it has a slot with this number; if it cannot, recording ends.
    #[cold]
    #[inline(never)]
    fn grow(self, number: u64) -> bool {
        let before = system::errno();
        let grown = self.grow_to(number);
        if let Err(error) = grown {
            let ended = &self.header.ended;
            let _ = ended.compare_exchange(0, error, Ordering::Relaxed, Ordering::Relaxed);
            self.process.phase.store(OFF, Ordering::Release);
        }
        system::set_errno(before);
        grown.is_ok()
    }

    fn grow_to(self, number: u64) -> Result<(), u32> {
        // SAFETY: ON, so it stays as it is.
        let slots = unsafe { *self.process.slots.get() };
        loop {
            let ready = self.header.ready.load(Ordering::Acquire);
            if number < ready {
                return Ok(());
            }
            let goal = (ready + (ready / 4).clamp(LEAST_SLOTS, MOST_SLOTS)).min(slots);
            // SAFETY: ON, so they stay as they are.
            let (path, end) = unsafe { (&*self.process.path.get(), *self.process.end.get()) };
            if goal <= ready {
                return Err(end);
            }
            file::reserve(&file::LOG, path, place_of(ready), place_of(goal))?;
            self.fetch(ready, goal);
            self.header.ready.fetch_max(goal, Ordering::AcqRel);
            seen::look(self.header);
        }
    }
}

impl Log<'_> {
    /// Has the kernel map the pages of some slots at once rather than one by one, where it can.
    fn fetch(self, start: u64, end: u64) {
        let page = surefit_interpose::calls::page_bytes();
        let place = |slot: u64| HEADER_BYTES + slot as usize * SLOT_BYTES;
        let (first, last) = (place(start) / page * page, place(end) / page * page);
        // SAFETY: both places are in the mapping; the bytes stay what they are.
        unsafe {
            let at = (&raw const *self.header).cast::<u8>().add(first);
            system::madvise(
                at.cast_mut().cast(),
                last - first,
                system::MADV_POPULATE_WRITE,
            );
        }
    }
}

/// The program begins. If another library than ours has what it calls malloc, nothing comes to us.
pub(crate) fn program_begins() {
    unwind::first_thread_begins();
    let before = system::errno();
    if let Some(log) = log() {
        // SAFETY: a name that ends with zero.
        let called = unsafe { system::dlsym(system::RTLD_DEFAULT, c"malloc".as_ptr()) };
        let ours = system::library_of((&raw const PROCESS).addr());
        let own = u32::from(system::library_of(called.addr()) != ours);
        log.header.own_malloc.store(own, Ordering::Relaxed);
        log.header.forked.store(0, Ordering::Relaxed);
        seen::begins(log.header);
    }
    system::set_errno(before);
}

/// The program ends in an orderly way.
pub(crate) fn program_ends() {
    if let Some(log) = log() {
        seen::look(log.header);
        log.header.seen.is_last.store(1, Ordering::Relaxed);
    }
}

/// Begins this process's log, unless somebody did or does, or it is not to be recorded.
#[cold]
#[inline(never)]
fn begin() -> Option<Log<'static>> {
    let before = system::errno();
    let log = try_begin();
    system::set_errno(before);
    log
}

fn try_begin() -> Option<Log<'static>> {
    // SAFETY: the C library's own; null until it has begun, and when a program has cleared it.
    if unsafe { system::environ }.is_null() && !lost::is_mapped() {
        return None;
    }
    let process = process()?;
    let won =
        process
            .phase
            .compare_exchange(NOT_BEGUN, BEGINS, Ordering::AcqRel, Ordering::Acquire);
    if won.is_err() {
        return None;
    }
    // SAFETY: this thread changed the phase to BEGINS.
    let header = unsafe { open_log(process) }.unwrap_or_else(|error| {
        lost::note(error);
        None
    });
    process
        .phase
        .store(if header.is_some() { ON } else { OFF }, Ordering::Release);
    header.map(|header| Log { process, header })
}

/// The memory that a forked child finds zero.
fn process() -> Option<&'static Process> {
    let known = PROCESS.load(Ordering::Acquire);
    if known.is_null() {
        let fresh = fork::wiped(size_of::<Process>())?
            .as_ptr()
            .cast::<Process>();
        // Of two threads that come at once, the second leaves its own unused.
        let _ = PROCESS.compare_exchange(null_mut(), fresh, Ordering::AcqRel, Ordering::Acquire);
    }
    // SAFETY: not null now; zeros are a `Process` that has not begun, and it lives as long as the
    // process.
    unsafe { PROCESS.load(Ordering::Acquire).as_ref() }
}

/// Creates the log of this process; none if it is not to be recorded, and the error if it cannot
/// be.
///
/// # Safety
/// Only the thread that changed the phase to BEGINS calls this.
unsafe fn open_log(process: &Process) -> Result<Option<&'static Header>, u32> {
    let folder = environment(log::FOLDER).ok_or(NO_FOLDER)?;
    file::close_inherited();
    file::keep_folder(folder);
    // SAFETY: the caller's promise: nobody else reads or writes it.
    let path = unsafe { &mut *process.path.get() };
    lost::map(path, folder);
    let Some(file) = create(path, folder)? else {
        return Ok(None);
    };
    let (mut slots, mut end) = wanted_slots();
    file.reserve(0, place_of(LEAST_SLOTS.min(slots)))?;
    let at = loop {
        match file.map(place_of(slots)) {
            Some(at) => break at,
            // Nothing but the header, which says so.
            None if slots == 0 => return Err(NO_ADDRESSES),
            None => (slots, end) = (slots / 2 * u64::from(slots > LEAST_SLOTS), NO_ADDRESSES),
        }
    };
    file.keep_in(&file::LOG);
    // SAFETY: the mapping begins with the header's bytes, which lie in the file and are zeros; the
    // mapping stays.
    let header = unsafe { &mut *at.cast::<Header>() };
    describe(header);
    if let Some(wanted) = environment(log::STACKS).and_then(Wanted::parse) {
        // SAFETY: as the path.
        if let Some(stacks) = unsafe { open_stacks(process, wanted) } {
            // SAFETY: as the path.
            unsafe { *process.stacks.get() = stacks };
        }
    }
    *header.ready.get_mut() = LEAST_SLOTS.min(slots);
    seen::begins(header);
    *header.ended.get_mut() = if slots == 0 { end } else { 0 };
    // The last: what has it is a log.
    header.magic.store(log::MAGIC, Ordering::Release);
    LOGS.fetch_add(1, Ordering::Relaxed);
    // SAFETY: as the path.
    unsafe {
        *process.slots.get() = slots;
        *process.end.get() = end;
        *process.header.get() = header;
    }
    Ok((slots > 0).then_some(header))
}

/// The slots of a log, and why it may not have more. Under a limit of addresses it takes an eighth
/// of them: the rest is the program's.
fn wanted_slots() -> (u64, u32) {
    let most = environment(log::MAX_BYTES).and_then(|text| text.to_str().ok()?.parse().ok());
    let most: u64 = most.unwrap_or(DEFAULT_BYTES);
    let addresses = system::address_limit() / 8;
    let (bytes, end) = if addresses < most {
        (addresses, NO_ADDRESSES)
    } else {
        (most, FULL)
    };
    (
        bytes.saturating_sub(HEADER_BYTES as u64) / SLOT_BYTES as u64,
        end,
    )
}

/// Where a slot begins in the file.
fn place_of(slot: u64) -> u64 {
    HEADER_BYTES as u64 + slot * SLOT_BYTES as u64
}

/// Creates the file of the stacks beside the log; `None` if there is no room for it.
///
/// # Safety
/// As [`open_log`], which created the log.
unsafe fn open_stacks(process: &Process, wanted: Wanted) -> Option<Stacks> {
    // SAFETY: the caller's promise: nobody else reads or writes them.
    let (log, path) = unsafe { (&*process.path.get(), &mut *process.stacks_path.get()) };
    path.clear();
    path.push(log.as_bytes().strip_suffix(b".log")?)?;
    path.push(b".stacks")?;
    let file = File::create(path).ok()?;
    let first = log::stacks::WORDS_AT as u64;
    file.reserve(0, first).ok()?;
    // Under a limit of addresses a sixteenth of them.
    let words = (system::address_limit() / 16 / 8).min(log::stacks::WORDS as u64);
    let at = file.map(first + words * 8)?;
    file.keep_in(&file::STACKS);
    // SAFETY: so many bytes are mapped, and stay so.
    Some(unsafe { Stacks::new(at.cast(), wanted, words) })
}

/// Creates `folder/PID-N.log` with the first N that there is not, unless the folder has a file
/// `stop`.
fn create(path: &mut Text<PATH_BYTES>, folder: &CStr) -> Result<Option<File>, u32> {
    let too_long = system::ENAMETOOLONG as u32;
    name(path, folder, log::STOP.as_bytes()).ok_or(too_long)?;
    if File::open(path).is_ok() {
        return Ok(None);
    }
    // SAFETY: it asks for a number.
    let pid = unsafe { system::getpid() }.unsigned_abs();
    for number in 1_u32.. {
        log_name(path, folder, (pid, number)).ok_or(too_long)?;
        match File::create(path) {
            Ok(file) => return Ok(Some(file)),
            Err(error) if error == system::EEXIST as u32 => {}
            Err(error) => return Err(error),
        }
    }
    Err(system::EEXIST as u32)
}

/// Writes `folder/PID-N.log`.
fn log_name(path: &mut Text<PATH_BYTES>, folder: &CStr, (pid, number): (u32, u32)) -> Option<()> {
    name(path, folder, b"")?;
    path.push_number(pid.into())?;
    path.push(b"-")?;
    path.push_number(number.into())?;
    path.push(b".log")
}

/// Writes what is known of the process. It counts as forked until a program begins in it.
fn describe(header: &mut Header) {
    // SAFETY: both ask for a number.
    let (pid, parent) = unsafe { (system::getpid(), system::getppid()) };
    *header.pid.get_mut() = pid.unsigned_abs();
    *header.parent.get_mut() = parent.unsigned_abs();
    *header.forked.get_mut() = 1;
    let name = called();
    let len = name.len().min(log::PROGRAM_BYTES - 1);
    header.program[..len].copy_from_slice(&name[..len]);
    // A longer name is of no use in parts.
    let library = serving::library().map(CStr::to_bytes);
    if let Some(name) = library.filter(|name| name.len() < log::LIBRARY_BYTES) {
        header.library[..name.len()].copy_from_slice(name);
    }
}

const _: () = assert!(offset_of!(Header, library) + log::LIBRARY_BYTES <= HEADER_BYTES);
