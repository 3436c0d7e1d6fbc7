//! The mappings of this process, as /proc/self/maps lists them. Reading them takes no lock and no
//! memory.

use core::ffi::c_int;

use surefit_interpose::system;

/// One mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mapping {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Whether it is the stack with which the program began.
    pub(crate) is_first_stack: bool,
}

impl Mapping {
    pub(crate) fn holds(&self, address: usize) -> bool {
        (self.start..self.end).contains(&address)
    }
}

/// Gives each mapping to `each`; whether all could be read.
pub(crate) fn for_each(mut each: impl FnMut(Mapping)) -> bool {
    let flags = system::O_RDONLY | system::O_CLOEXEC;
    // SAFETY: a text that ends with zero.
    let file = unsafe { system::open(c"/proc/self/maps".as_ptr(), flags) };
    if file < 0 {
        return false;
    }
    let mut line = Line::new();
    let mut bytes = [0; 1024];
    let all = loop {
        match read(file, &mut bytes) {
            Some(0) => break true,
            Some(count) => bytes[..count].iter().for_each(|byte| {
                if let Some(mapping) = line.next(*byte) {
                    each(mapping);
                }
            }),
            None => break false,
        }
    };
    // SAFETY: it was opened above.
    unsafe { system::close(file) };
    all
}

fn read(file: c_int, bytes: &mut [u8]) -> Option<usize> {
    loop {
        // SAFETY: so many bytes can be written.
        let count = unsafe { system::read(file, bytes.as_mut_ptr().cast(), bytes.len()) };
        match usize::try_from(count) {
            Ok(count) => return Some(count),
            Err(_) if system::errno() == system::EINTR => {}
            Err(_) => return None,
        }
    }
}

/// A line that is being read: `START-END PERMISSIONS … NAME`.
struct Line {
    /// The two addresses, and which of them is read; 2 after both.
    addresses: [usize; 2],
    at: usize,
    last: [u8; STACK.len()],
}

const STACK: [u8; 7] = *b"[stack]";

impl Line {
    fn new() -> Self {
        Self {
            addresses: [0; 2],
            at: 0,
            last: [0; STACK.len()],
        }
    }

    /// Takes a byte; the mapping if the line ends.
    fn next(&mut self, byte: u8) -> Option<Mapping> {
        if byte == b'\n' {
            let line = core::mem::replace(self, Self::new());
            let [start, end] = line.addresses;
            return (line.at == 2).then_some(Mapping {
                start,
                end,
                is_first_stack: line.last == STACK,
            });
        }
        self.last.rotate_left(1);
        self.last[STACK.len() - 1] = byte;
        if let Some(address) = self.addresses.get_mut(self.at) {
            match char::from(byte).to_digit(16) {
                Some(digit) => *address = address.wrapping_mul(16) + digit as usize,
                None => self.at += 1,
            }
        }
        None
    }
}
