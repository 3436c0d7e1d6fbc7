//! The trace's numbers of threads, by first appearance.

use std::collections::HashMap;

/// Gives each thread of a recording the number that it has in the trace.
#[derive(Debug, Default)]
pub(super) struct Threads {
    numbers: HashMap<u64, u16>,
    /// Threads above the 65,536th.
    pub(super) more: u64,
}

impl Threads {
    /// The number of a thread. Those above the 65,536th share the last one.
    pub(super) fn number(&mut self, thread: u64) -> u16 {
        if let Some(number) = self.numbers.get(&thread) {
            return *number;
        }
        let number = u16::try_from(self.numbers.len()).unwrap_or_else(|_| {
            self.more += 1;
            u16::MAX
        });
        self.numbers.insert(thread, number);
        number
    }
}
