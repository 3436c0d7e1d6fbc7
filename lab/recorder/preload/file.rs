//! The files of this process's log. Each is kept open, so that it can grow when the program may not
//! open it again: after a change of root or user, or with no descriptor left. Their folder is, too,
//! for the logs of the processes that this one forks.

use core::ffi::{CStr, c_int, c_long, c_void};
use core::mem::ManuallyDrop;
use core::ptr::null_mut;

use surefit_interpose::kept::Kept;
use surefit_interpose::system;

use crate::text::Text;

pub(crate) const PATH_BYTES: usize = 4000;

/// Writes `folder/name`.
pub(crate) fn name(path: &mut Text<PATH_BYTES>, folder: &CStr, name: &[u8]) -> Option<()> {
    path.clear();
    path.push(folder.to_bytes())?;
    path.push(b"/")?;
    path.push(name)
}

/// A file while it is open.
pub(crate) struct File(c_int);

impl File {
    pub(crate) fn open(path: &Text<PATH_BYTES>) -> Result<Self, u32> {
        Self::with(path, system::O_RDWR | system::O_CLOEXEC)
    }

    pub(crate) fn create(path: &Text<PATH_BYTES>) -> Result<Self, u32> {
        let flags = system::O_RDWR | system::O_CLOEXEC | system::O_CREAT | system::O_EXCL;
        Self::with(path, flags)
    }

    fn with(path: &Text<PATH_BYTES>, flags: c_int) -> Result<Self, u32> {
        match open(path, flags) {
            -1 => Err(system::errno() as u32),
            file => Ok(Self(file)),
        }
    }

    /// Reserves the disk's place for the bytes from `start` to `end`.
    pub(crate) fn reserve(&self, start: u64, end: u64) -> Result<(), u32> {
        if end > system::file_limit() {
            // Beyond it the kernel would send a signal that ends the program.
            return Err(system::EFBIG as u32);
        }
        // SAFETY: it changes the file alone.
        match unsafe { system::posix_fallocate(self.0, start as c_long, (end - start) as c_long) } {
            0 => Ok(()),
            error => Err(error as u32),
        }
    }

    /// Keeps it open out of the way, and closes this one.
    pub(crate) fn keep_in(self, kept: &Kept) {
        kept.keep(self.0);
    }

    /// Maps so many bytes of the file, of which it may have fewer; a forked child has no such
    /// mapping.
    pub(crate) fn map(&self, bytes: u64) -> Option<*mut c_void> {
        let at = self.map_for_all(bytes)?;
        // SAFETY: the mapping above, of which a `usize` holds the bytes.
        unsafe { system::madvise(at, bytes as usize, system::MADV_DONTFORK) };
        Some(at)
    }

    /// As [`File::map`], but forked children have the mapping, too.
    pub(crate) fn map_for_all(&self, bytes: u64) -> Option<*mut c_void> {
        let bytes = usize::try_from(bytes).ok()?;
        let protection = system::PROT_READ | system::PROT_WRITE;
        let flags = system::MAP_SHARED | system::MAP_NORESERVE;
        // SAFETY: a new mapping at an address of the kernel's choice.
        let at = unsafe { system::mmap(null_mut(), bytes, protection, flags, self.0, 0) };
        (at != system::MAP_FAILED).then_some(at)
    }
}

/// Opens a file in the folder of the logs: in the folder itself as long as that is open, for its
/// name may mean nothing any more, or by its name. What it answers is what the system answers.
pub(crate) fn open(path: &Text<PATH_BYTES>, flags: c_int) -> c_int {
    match (FOLDER.number(), path.name()) {
        // SAFETY: a text that ends with zero; the last argument is the mode of a new file.
        (Some(folder), Some(name)) => unsafe {
            system::openat(folder, name.as_ptr(), flags, 0o600 as c_int)
        },
        // SAFETY: as above.
        _ => unsafe { system::open(path.as_ptr(), flags, 0o600 as c_int) },
    }
}

/// Whether the folder of the logs is open.
pub(crate) fn has_folder() -> bool {
    FOLDER.number().is_some()
}

/// Opens the folder of the logs, unless it is.
pub(crate) fn keep_folder(name: &CStr) {
    if FOLDER.number().is_some() {
        return;
    }
    let flags = system::O_RDONLY | system::O_CLOEXEC;
    // SAFETY: a text that ends with zero.
    let file = unsafe { system::open(name.as_ptr(), flags) };
    if file >= 0 {
        File(file).keep_in(&FOLDER);
    }
}

impl Drop for File {
    fn drop(&mut self) {
        // SAFETY: this call opened it.
        unsafe { system::close(self.0) };
    }
}

/// The log.
pub(crate) static LOG: Kept = Kept::none();
/// The stacks beside it.
pub(crate) static STACKS: Kept = Kept::none();
/// The folder of both. A forked child needs it for its own.
static FOLDER: Kept = Kept::none();

/// Reserves the disk's place for the bytes from `start` to `end` of a kept file; `path` is where it
/// was made.
pub(crate) fn reserve(
    kept: &Kept,
    path: &Text<PATH_BYTES>,
    start: u64,
    end: u64,
) -> Result<(), u32> {
    match kept.number() {
        Some(number) => ManuallyDrop::new(File(number)).reserve(start, end),
        None => File::open(path)?.reserve(start, end),
    }
}

/// Closes what a forked child has of its parent's.
pub(crate) fn close_inherited() {
    LOG.close();
    STACKS.close();
}
