//! A clock that counts instructions, and how long a critical section keeps interrupts off. On an
//! operating system both say 0.

use super::machine;

/// Counts the instructions from its start on, with those of reading the clock once.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(u32);

impl Stopwatch {
    /// Starts it.
    pub fn start() -> Self {
        Self(machine::now())
    }

    /// The instructions since its start; fewer than a million.
    pub fn instructions(self) -> u32 {
        machine::instructions(self.0, machine::now())
    }
}

/// The instructions of the longest critical section since the program began.
pub fn longest_section() -> u32 {
    #[cfg(target_os = "none")]
    return super::sections::longest();
    #[cfg(not(target_os = "none"))]
    0
}
