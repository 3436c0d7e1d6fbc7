//! The processor time of a thread, for about the cost of a wall clock.
//!
//! ```text
//! wall     a  b  c                    d  e     between c and d much passed: did the thread stand still?
//! thread   a  b  c  d  e                       so the system is asked at d, and nowhere else
//! ```
//! To ask is a system call, several times as long as an allocation. What the question takes is no
//! part of the time. Two readings that are less than 10 µs apart are not asked about: what the
//! thread stood still between them, less than that, counts.
#![deny(unsafe_code)]

use std::cell::Cell;
use std::time::Instant;

use surefit_os::clock::thread_cpu_ns;

/// Readings that are this far apart are asked about, in nanoseconds.
const APART_NS: u64 = 10_000;

/// The cost of a question is the least of so many.
const QUESTIONS: u32 = 16;

/// The clock. It is of the thread that made it.
#[derive(Debug)]
pub(super) struct Stopwatch {
    began: Instant,
    thread_began_ns: u64,
    /// The last reading.
    read: Cell<u64>,
    /// Of the wall clock, what is no part of the time.
    left_out: Cell<u64>,
    /// What a question takes of the thread's time, and what all of them took.
    question: u64,
    asking: Cell<u64>,
    stood: Cell<u64>,
}

impl Stopwatch {
    pub(super) fn new() -> Self {
        let passed = || {
            let before = thread_cpu_ns();
            thread_cpu_ns() - before
        };
        let question = (0..QUESTIONS).map(|_| passed()).min();
        Self::begun(question.unwrap_or_default())
    }

    fn begun(question: u64) -> Self {
        Self {
            began: Instant::now(),
            thread_began_ns: thread_cpu_ns(),
            question,
            read: Cell::new(0),
            left_out: Cell::new(0),
            asking: Cell::new(0),
            stood: Cell::new(0),
        }
    }

    /// Nanoseconds since it was made. They never go back.
    #[inline]
    pub(super) fn now(&self) -> u64 {
        let wall = self.wall();
        let before = self.read.get();
        let passed = wall.saturating_sub(self.left_out.get());
        let now = match passed < before + APART_NS {
            true => passed,
            false => self.asked(wall, thread_cpu_ns() - self.thread_began_ns, || self.wall()),
        };
        self.read.set(now.max(before));
        now.max(before)
    }

    /// Nanoseconds in which the thread stood still, as far as they were noticed.
    pub(super) fn stood_ns(&self) -> u64 {
        self.stood.get()
    }

    fn wall(&self) -> u64 {
        self.began.elapsed().as_nanos() as u64
    }

    /// The system was asked when the wall clock said `wall`, and answered `thread`.
    #[cold]
    fn asked(&self, wall: u64, thread: u64, wall_now: impl FnOnce() -> u64) -> u64 {
        let now = thread.saturating_sub(self.asking.get());
        self.asking.set(self.asking.get() + self.question);
        // The thread may have stood still while it asked.
        self.left_out.set(wall_now().saturating_sub(now));
        self.stood.set(wall.saturating_sub(thread));
        now
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{APART_NS, Stopwatch};

    #[test]
    fn what_a_thread_stood_still_and_what_questions_took_is_left_out() {
        let watch = Stopwatch::begun(300);
        // 50,000 passed, of which the thread had 20,000; it stood still for 700 while it asked.
        assert_eq!(watch.asked(50_000, 20_000, || 51_000), 20_000);
        assert_eq!((watch.left_out.get(), watch.stood_ns()), (31_000, 30_000));
        // The thread had all of the next 40,000.
        assert_eq!(watch.asked(91_000, 60_300, || 91_300), 60_000);
        assert_eq!((watch.left_out.get(), watch.stood_ns()), (31_300, 30_700));
    }

    #[test]
    fn sleep_is_no_time_of_the_thread() {
        let watch = Stopwatch::new();
        let mut last = watch.now();
        for _ in 0..1000 {
            let now = watch.now();
            assert!(now >= last);
            last = now;
        }
        // The machine itself may stand still, which some count as time of the thread.
        let slept = (0..10).map(|_| {
            let before = watch.now();
            std::thread::sleep(Duration::from_nanos(100 * APART_NS));
            watch.now() - before
        });
        assert!(slept.min() < Some(50 * APART_NS));
        assert!(watch.stood_ns() > 50 * APART_NS);
    }
}
