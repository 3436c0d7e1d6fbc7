//! What the recorder knows of the thread that calls.

use surefit_interpose::system;
use surefit_interpose::thread::ThreadWord;

/// The log that the thread has a number in, in the upper half; that number plus one in the lower
/// half; and [`UNRECORDED`].
pub(crate) const NUMBER: ThreadWord<0> = ThreadWord;

/// Where the thread's stack begins and ends, once that is known.
pub(crate) const LOW: ThreadWord<1> = ThreadWord;
pub(crate) const HIGH: ThreadWord<2> = ThreadWord;

/// How often that was looked for.
pub(crate) const SEARCHES: ThreadWord<3> = ThreadWord;

/// Set in `NUMBER` while the recorder calls what may allocate: that is not the program's.
pub(crate) const UNRECORDED: u64 = 1 << 63;

/// Does something that may allocate, and that may set the thread's error, which a program may look
/// at after a call that succeeded.
#[cold]
#[inline(never)]
pub(crate) fn unrecorded<T>(what: impl FnOnce() -> T) -> T {
    let word = NUMBER.get();
    let before = system::errno();
    NUMBER.set((word as u64 | UNRECORDED) as usize);
    let answer = what();
    NUMBER.set(word);
    system::set_errno(before);
    answer
}
