//! A text of bounded length that ends with zero, for the C library.

use core::ffi::{CStr, c_char};

/// At most `N` − 1 bytes, and a zero.
#[repr(C)]
pub(crate) struct Text<const N: usize> {
    len: usize,
    bytes: [u8; N],
}

impl<const N: usize> Text<N> {
    pub(crate) const fn new() -> Self {
        Self {
            len: 0,
            bytes: [0; N],
        }
    }

    pub(crate) fn clear(&mut self) {
        self.len = 0;
        self.bytes[0] = 0;
    }

    /// Appends; `None` if it does not fit.
    pub(crate) fn push(&mut self, text: &[u8]) -> Option<()> {
        let end = self.len.checked_add(text.len()).filter(|end| *end < N)?;
        self.bytes[self.len..end].copy_from_slice(text);
        self.bytes[end] = 0;
        self.len = end;
        Some(())
    }

    pub(crate) fn push_number(&mut self, number: u64) -> Option<()> {
        let mut digits = [0; 20];
        let mut left = number;
        let mut first = digits.len();
        while left > 0 || first == digits.len() {
            first -= 1;
            digits[first] = b'0' + (left % 10) as u8;
            left /= 10;
        }
        self.push(&digits[first..])
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// What follows the last slash.
    pub(crate) fn name(&self) -> Option<&CStr> {
        let text = &self.bytes[..=self.len];
        let at = text.iter().rposition(|byte| *byte == b'/')? + 1;
        CStr::from_bytes_with_nul(&text[at..]).ok()
    }

    pub(crate) fn as_ptr(&self) -> *const c_char {
        self.bytes.as_ptr().cast()
    }
}
