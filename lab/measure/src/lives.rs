//! When the threads of a trace begin and end: with their first and their last event.

use surefit_trace::Trace;

/// For each thread of a trace, its first and its last event.
#[derive(Debug)]
pub(crate) struct Lives(Vec<Option<(usize, usize)>>);

impl Lives {
    /// Those of a trace. Linear in its events.
    pub(crate) fn of(trace: &Trace) -> Self {
        let mut lives: Vec<Option<(usize, usize)>> = Vec::new();
        for (number, event) in trace.events().iter().enumerate() {
            let thread = usize::from(event.thread());
            if lives.len() <= thread {
                lives.resize(thread + 1, None);
            }
            let (first, _) = lives[thread].unwrap_or((number, number));
            lives[thread] = Some((first, number));
        }
        Self(lives)
    }

    /// How many threads there are, those without events among them.
    pub(crate) fn threads(&self) -> usize {
        self.0.len()
    }

    /// The first event of a thread.
    pub(crate) fn first(&self, thread: usize) -> Option<usize> {
        self.0[thread].map(|(first, _)| first)
    }

    /// The last event of a thread.
    pub(crate) fn last(&self, thread: usize) -> Option<usize> {
        self.0[thread].map(|(_, last)| last)
    }

    /// The most threads that live at once.
    pub(crate) fn most_at_once(&self) -> u64 {
        let lives = self.0.iter().flatten();
        let mut changes: Vec<_> = lives
            .flat_map(|(first, last)| [(*first, 1_i64), (last + 1, -1)])
            .collect();
        // at one event an end comes before a beginning
        changes.sort_unstable();
        let mut alive = 0;
        let most = changes.iter().map(|(_, change)| {
            alive += change;
            alive
        });
        most.max().map_or(0, i64::unsigned_abs)
    }
}

#[cfg(test)]
mod tests {
    use surefit_trace::{Call, Event, Op, Trace};

    use super::Lives;

    #[test]
    fn threads_that_follow_each_other_never_live_at_once() {
        let at_once = |threads: &[u16]| {
            let event = |(id, thread): (u32, &u16)| {
                let (size, call) = (8, Call::Malloc);
                Event::new(*thread, Op::Alloc { id, size, call })
            };
            let events = (0..).zip(threads).map(event).collect();
            Lives::of(&Trace::new("lives", events).expect("sound")).most_at_once()
        };
        assert_eq!(at_once(&[]), 0);
        assert_eq!(at_once(&[0, 0]), 1);
        assert_eq!(at_once(&[0, 1, 2, 3]), 1);
        assert_eq!(at_once(&[0, 1, 0, 2, 3, 2, 0]), 3);
        assert_eq!(at_once(&[0, 1, 1, 2, 2, 0]), 2);
    }
}
