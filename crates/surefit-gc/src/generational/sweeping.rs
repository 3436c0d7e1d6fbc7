//! Frees what marking has not reached: one object after another, or by a sweep of the space.

use crate::bits::BITS;
use crate::generational::{Generational, Round, WORD};
use crate::object::Object;
use crate::statistics::Clock;
use crate::stepwise::OneByOne;

impl<S: OneByOne, K: Clock> Generational<'_, S, K> {
    /// Frees what is not marked, in the way that touches fewer objects.
    pub(super) fn sweep(&mut self, round: &mut Round) {
        let dead = self.young.objects;
        round.one_by_one = dead < self.live.objects - dead;
        match round.one_by_one {
            true => self.free_one_by_one(round),
            false => self.sweep_space(round),
        }
    }

    /// Frees the dead objects that each word of bits tells. Costs the words, and what it frees.
    fn free_one_by_one(&mut self, round: &mut Round) {
        self.gc.space.sweep_begins();
        let (unused, words) = (self.gc.space.unused(), self.gc.live.words().len());
        let mut nth = self.gc.live.beyond(0, unused.clone());
        while nth < words {
            round.bit_words += 1;
            while let Some(object) = self.next_dead(nth) {
                self.free(object);
            }
            nth = self.gc.live.beyond(nth + 1, unused.clone());
        }
        let live = self.live;
        self.gc.space.cycle_ended(live.objects, live.bytes);
    }

    /// The lowest dead object in a word of bits. It has no live bit any more.
    fn next_dead(&mut self, nth: usize) -> Option<Object> {
        let dead = self.gc.live.word(nth) & !self.gc.marks.bits().word(nth);
        if dead == 0 {
            return None;
        }
        let object = Object::of(nth as u32 * BITS + dead.trailing_zeros())?;
        let bytes = u64::from(self.gc.words(object)) * WORD;
        self.gc.live.reset(object.number());
        self.live.remove(bytes);
        self.young.remove(bytes);
        Some(object)
    }

    /// Frees an object that has no live bit any more.
    fn free(&mut self, object: Object) {
        loop {
            // SAFETY: S1: it had a live bit until now, and each call but the last leaves a part.
            // S2: no other object is freed before it is done. S3: access to objects, and what
            // clients report, is compared with the live bits, and it has none.
            let freed = unsafe { self.gc.space.free(object) };
            if freed.done {
                return;
            }
        }
    }

    /// Has the space free all that is not marked. Costs what it keeps, or all chunks.
    fn sweep_space(&mut self, round: &mut Round) {
        let unused = self.gc.space.unused();
        // SAFETY: S1: access to objects, and what clients report, is compared with the live bits,
        // which are those of the marks from here on. S2: only live objects are marked (Y1), and
        // marking left none of them grey.
        let swept = unsafe { self.gc.space.sweep(&self.gc.marks) };
        self.gc.live.copy_from(self.gc.marks.bits(), unused);
        round.bit_words += self.gc.live.words().len() as u64;
        round.visited = swept.visited;
        debug_assert_eq!(swept.live_objects, self.live.objects - self.young.objects);
        self.live.objects = swept.live_objects;
        self.live.bytes = swept.live_bytes as u64;
        self.young.objects = 0;
    }
}
