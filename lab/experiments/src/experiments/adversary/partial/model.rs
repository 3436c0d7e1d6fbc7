//! The heap of the upper bound, written down naively: it moves at most 1/c of the words that were
//! allocated, and needs (c + 1)M words at most.
#![deny(unsafe_code)]

use super::super::program::Program;
use super::super::words::{Watched, WordHeap};

/// A heap that allocates at its end, and slides all live objects to its beginning if there is no
/// room, as far as it may.
#[derive(Debug)]
pub(super) struct Model {
    words: u64,
    /// c: it moves at most one word for so many that were allocated.
    per_move: u64,
    end: u64,
    allocated: u64,
    moved: u64,
    /// Address and words of each object in the order of allocation; `None` once it is freed.
    objects: Vec<Option<(u64, u64)>>,
}

impl Model {
    pub(super) const fn new(words: u64, per_move: u64) -> Self {
        Self {
            words,
            per_move,
            end: 0,
            allocated: 0,
            moved: 0,
            objects: Vec::new(),
        }
    }

    /// Slides all live objects to the beginning, if what was allocated pays for it.
    fn slide(&mut self) -> Option<()> {
        let (mut end, mut moving) = (0, 0);
        for (at, words) in self.objects.iter().copied().flatten() {
            moving += if at == end { 0 } else { words };
            end += words;
        }
        if (self.moved + moving) * self.per_move > self.allocated {
            return None;
        }
        self.moved += moving;
        self.end = 0;
        for (at, words) in self.objects.iter_mut().flatten() {
            *at = self.end;
            self.end += *words;
        }
        Some(())
    }
}

impl WordHeap for Model {
    type Object = usize;

    fn allocate(&mut self, words: u64) -> Option<usize> {
        if self.end + words > self.words {
            self.slide()?;
        }
        if self.end + words > self.words {
            return None;
        }
        self.objects.push(Some((self.end, words)));
        self.end += words;
        self.allocated += words;
        Some(self.objects.len() - 1)
    }

    fn free(&mut self, object: usize, _words: u64) {
        self.objects[object] = None;
    }

    fn address(&mut self, object: &mut usize, _words: u64) -> u64 {
        self.objects[*object].map_or(0, |(at, _)| at)
    }
}

/// What the model makes of a program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Modelled {
    /// c.
    pub(super) per_move: u64,
    /// The words of the least heap that bisection finds.
    pub(super) words: u64,
    /// Words moved in it by each word allocated.
    pub(super) moved: f64,
    /// Whether the program ends in (c + 1)M words.
    pub(super) ends: bool,
}

/// Runs a program on the model: in (c + 1)M words, and by bisection in fewer.
pub(super) fn modelled(program: Program, per_move: u64) -> Modelled {
    let run = |words| {
        let mut heap = Watched::new(Model::new(words, per_move));
        let ends = program.run(&mut heap).is_ok();
        let model = heap.heap();
        (ends, model.moved as f64 / model.allocated.max(1) as f64)
    };
    let most = (per_move + 1) * program.live();
    let (ends, mut moved) = run(most);
    let (mut short, mut enough) = (program.live() - 1, most);
    while ends && short + 1 < enough {
        let middle = short.midpoint(enough);
        match run(middle) {
            (true, less) => (enough, moved) = (middle, less),
            (false, _) => short = middle,
        }
    }
    Modelled {
        per_move,
        words: enough,
        moved,
        ends,
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::{Model, modelled};
    use crate::experiments::adversary::program::{Program, Robson};
    use crate::experiments::adversary::words::WordHeap;

    /// Random programs with at most M words live never meet a refusal in (c + 1)M words, and the
    /// model never moves more than it may.
    #[test]
    fn the_model_serves_every_program_in_c_plus_one_times_m() {
        let mut random = ChaCha8Rng::seed_from_u64(14);
        let mut slides = 0;
        for run in 0..200 {
            let (most, c) = (random.random_range(1..40_u64), 1 + run % 7);
            let mut heap = Model::new((c + 1) * most, c);
            let mut live: Vec<(usize, u64)> = Vec::new();
            for _ in 0..400 {
                let words = random.random_range(1..=most);
                while live.iter().map(|(_, words)| words).sum::<u64>() + words > most {
                    let (object, words) = live.swap_remove(random.random_range(0..live.len()));
                    heap.free(object, words);
                }
                let object = heap.allocate(words).expect("the upper bound");
                live.push((object, words));
                assert!(heap.moved * c <= heap.allocated);
            }
            slides += u32::from(heap.moved > 0);
            disjoint(&heap);
        }
        assert!(slides > 100, "{slides}: most runs must have moved");
    }

    fn disjoint(heap: &Model) {
        let mut end = 0;
        for (at, words) in heap.objects.iter().copied().flatten() {
            assert!(at >= end && at + words <= heap.words);
            end = at + words;
        }
    }

    #[test]
    fn a_model_that_may_not_move_enough_refuses() {
        let mut heap = Model::new(8, 100);
        let objects: Vec<_> = (0..8).map(|_| heap.allocate(1).expect("room")).collect();
        heap.free(objects[0], 1);
        assert_eq!(
            heap.allocate(1),
            None,
            "7 words are too many for a credit of 8/100"
        );
        let mut heap = Model::new(8, 1);
        let objects: Vec<_> = (0..8).map(|_| heap.allocate(1).expect("room")).collect();
        heap.free(objects[0], 1);
        assert!(heap.allocate(1).is_some());
        assert_eq!(heap.moved, 7);
    }

    #[test]
    fn robsons_program_ends_within_the_upper_bound() {
        let robson = Program::Robson(Robson {
            live: 256,
            log2_largest: 5,
        });
        for c in [1, 2, 4, 8] {
            let found = modelled(robson, c);
            assert!(found.ends && found.words <= (c + 1) * 256, "{found:?}");
            assert!(found.moved * c as f64 <= 1.0, "{found:?}");
        }
    }
}
