//! Threads: what each has, and what it waits for. One runs; the stacks of the others are parked in
//! the world, where they are roots.

use surefit_gc::Object;

use crate::classes::{ClassId, MethodId};
use crate::decode::SharedCode;
use crate::world::ThreadId;

/// The thread that begins; its number is given to no other one.
pub(crate) const MAIN: ThreadId = 0;

/// Threads that have not ended, at most: the main one, and others with smaller stacks. So the
/// slots of all stacks together stay below 70 MiB.
pub(crate) const MOST: usize = 256;

/// What a call of a method has.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) code: SharedCode,
    pub(crate) method: MethodId,
    /// Its first local.
    pub(crate) base: usize,
    /// The instruction that is next; 0 before the first one.
    pub(crate) pc: usize,
    /// The instruction before is to be run again: what it needed was not initialised.
    pub(crate) again: bool,
    /// The last of the classes that this call initialises: its own, and those below it that wait
    /// for it and have no `<clinit>`.
    pub(crate) initialises: Option<ClassId>,
    /// The monitor of a synchronized method.
    pub(crate) locked: Option<Object>,
}

/// What a thread does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// It runs, or can.
    Ready,
    /// It enters a monitor so many times at once, when no other thread has it.
    Entering {
        monitor: Object,
        times: u32,
    },
    /// It waits for a notification; then it enters the monitor again. Those that wait for longer
    /// have smaller numbers.
    Waiting {
        monitor: Object,
        times: u32,
        since: u64,
    },
    /// It waits until another thread has initialised a class.
    Initialising(ClassId),
    Ended,
}

/// A thread.
#[derive(Debug)]
pub(crate) struct Thread {
    /// Those of the running thread are the machine's.
    pub(crate) frames: Vec<Frame>,
    pub(crate) stage: Stage,
    /// The program does not wait for its end.
    pub(crate) is_daemon: bool,
}

/// All threads, by their numbers.
#[derive(Debug)]
pub(crate) struct Threads {
    pub(crate) all: Vec<Thread>,
    pub(crate) running: ThreadId,
    /// How often a thread waited for a notification.
    pub(crate) waits: u64,
}

impl Threads {
    /// The main thread alone.
    pub(crate) fn new() -> Self {
        Self {
            all: vec![Thread {
                frames: Vec::new(),
                stage: Stage::Ready,
                is_daemon: false,
            }],
            running: MAIN,
            waits: 0,
        }
    }

    /// Whether a thread has not ended for which the program waits.
    pub(crate) fn are_awaited(&self) -> bool {
        let mut all = self.all.iter();
        all.any(|thread| thread.stage != Stage::Ended && !thread.is_daemon)
    }

    /// A number for a new thread: that of one which ended, or the next.
    pub(crate) fn vacant(&self) -> Option<ThreadId> {
        let others = self.all.iter().skip(1);
        let ended = others
            .map(|thread| thread.stage)
            .position(|stage| stage == Stage::Ended);
        let number = ended.map_or(self.all.len(), |index| index + 1);
        (number < MOST).then_some(number as ThreadId)
    }
}
