//! Texts that are written without allocating.

use core::ffi::{CStr, c_int, c_void};
use core::fmt::{self, Write};
use core::ptr::null_mut;

use surefit_interpose::system;

/// How many bytes are written at once.
const BUFFER_BYTES: usize = 512;

/// Where a text goes.
pub(crate) trait Sink {
    /// Writes all bytes, or what can be written.
    fn put(&self, bytes: &[u8]);
}

/// An open file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Descriptor(pub(crate) c_int);

impl Descriptor {
    pub(crate) const ERRORS: Self = Self(2);
}

impl Sink for Descriptor {
    fn put(&self, bytes: &[u8]) {
        let mut left = bytes;
        while !left.is_empty() {
            // SAFETY: so many bytes that can be read.
            let done = unsafe { system::write(self.0, left.as_ptr().cast::<c_void>(), left.len()) };
            match usize::try_from(done) {
                Ok(done) if done > 0 => left = &left[done.min(left.len())..],
                Err(_) if system::errno() == system::EINTR => {}
                _ => return,
            }
        }
    }
}

/// A buffered text on its way to a sink.
#[derive(Debug)]
pub(crate) struct Text<S: Sink> {
    sink: S,
    used: usize,
    bytes: [u8; BUFFER_BYTES],
}

impl<S: Sink> Text<S> {
    fn flush(&mut self) {
        self.sink.put(&self.bytes[..self.used]);
        self.used = 0;
    }
}

impl<S: Sink> Write for Text<S> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut left = text.as_bytes();
        while !left.is_empty() {
            if self.used == BUFFER_BYTES {
                self.flush();
            }
            let count = left.len().min(BUFFER_BYTES - self.used);
            let (now, later) = left.split_at(count);
            self.bytes[self.used..self.used + count].copy_from_slice(now);
            self.used += count;
            left = later;
        }
        Ok(())
    }
}

/// Writes a text to a sink. One of at most 512 bytes is one call of the kernel, so that lines of
/// several threads do not mix.
pub(crate) fn write<S: Sink>(sink: S, text: fmt::Arguments<'_>) {
    let mut to = Text {
        sink,
        used: 0,
        bytes: [0; BUFFER_BYTES],
    };
    // The sink is never the reason to stop.
    let _always = to.write_fmt(text);
    to.flush();
}

/// A copy of a text, up to a zero, that stays as long as the process. `None` without memory.
pub(crate) fn copied(text: &[u8]) -> Option<&'static CStr> {
    let (protection, flags) = (
        system::PROT_READ | system::PROT_WRITE,
        system::MAP_PRIVATE | system::MAP_ANONYMOUS,
    );
    let bytes = text.len() + 1;
    // SAFETY: a new private mapping at an address of the kernel's choice.
    let at = unsafe { system::mmap(null_mut(), bytes, protection, flags, -1, 0) };
    if at == system::MAP_FAILED {
        return None;
    }
    // SAFETY: mapped above, zero, never unmapped, and nobody else knows it.
    let copy = unsafe { core::slice::from_raw_parts_mut(at.cast::<u8>(), bytes) };
    copy[..text.len()].copy_from_slice(text);
    CStr::from_bytes_until_nul(copy).ok()
}

/// Writes a line to standard error, after the library's name.
macro_rules! say {
    ($($text:tt)*) => {
        $crate::text::write(
            $crate::text::Descriptor::ERRORS,
            format_args!("surefit-malloc: {}\n", format_args!($($text)*)),
        )
    };
}
pub(crate) use say;
