//! A program that needs more words the less its heap moves: it thins its objects out until no hole
//! holds the next larger ones.
//!
//! ```text
//! allocate M objects of one word; s = 1
//! for each phase (k, d, m):
//!     look where the objects are; divide the addresses into chunks of k words
//!     free each object that all its chunks can spare: min(d, what it held) words stay in each chunk
//!     allocate objects of m words while M allows; s = m
//! ```
//! Phases obey s ≤ d ≤ k + 1 − s and 2k ≤ m. Every length divides the next: s | k, k | m. The share
//! d/k never grows.
//!
//! # Theorem
//! Derived here; no paper is quoted. Let W be the words that the heap moves after the first look,
//! in any way and at any time. Then its addresses span at least V − W·k/d − 2k + 2 words, with k
//! and d of the last phase. V begins as M, and each phase adds (1 − k/m)·(M − m + 1 − V·(d + s −
//! 1)/k), if that is positive.
//!
//! # Proof
//! Let w(C) be the live words in chunk C at the look of a phase. Let U = Σ min(w(C), d)·k/d: the
//! words of the chunks, each in proportion to what it holds of d words. A chunk counts for k at
//! most.
//!
//! *First look.* U ≥ M, since min(w, d)·k/d ≥ w for w ≤ k.
//!
//! *What stays.* An object stays only if one of its chunks would fall below d. At most s − 1 words
//! more than d stay in such a chunk. In any other chunk at most two objects stay, which reach over
//! its ends with at most 2(s − 1) ≤ d + s − 1 words. A chunk that held less than d keeps all. So at
//! most Σ min(w, d) + (s − 1)·(number of chunks with w ≥ d) ≤ U·(d + s − 1)/k words stay, since
//! each of those chunks counts k in U. So the phase allocates more than A = M − m − U·(d + s − 1)/k
//! words.
//!
//! *What a phase adds.* Take the objects that stay and that the heap does not move in this phase:
//! in the chunks, Σ min(w, d)·k/d loses at most k/d for each moved word. Take the new objects that
//! it does not move either: each has m words, and so covers m/k − 1 whole chunks at least, in which
//! nothing else lies. A chunk with words of the first kind is not among them. So there are disjoint
//! chunks that count U + A·(1 − k/m) − (moved words)·k/d or more, those of new objects counting k.
//!
//! *Next look.* With chunks of k' words and d'/k' ≤ d/k: what chunks inside C' count is at most
//! w(C')·k'/d', and at most k'. So the next U is no less. The moves of all phases together cost at
//! most W·k/d with the last, smallest d/k, and the step from U to the next U is monotone, since
//! d + s − 1 ≤ k. Chunks that count V in sum lie in a span of at least V − 2k + 2 words. ∎
#![deny(unsafe_code)]

use std::collections::HashMap;

use super::super::words::{Full, Live, Watched, WordHeap};

/// The most phases of a program.
pub(in super::super) const MOST_PHASES: usize = 4;

/// One phase of thinning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Phase {
    /// k: the words of a chunk.
    pub(in super::super) chunk: u64,
    /// d: the words that stay in each chunk.
    pub(in super::super) keep: u64,
    /// m: the words of the objects that are allocated then.
    pub(in super::super) size: u64,
}

impl Phase {
    /// Whether the phase may follow objects of `largest` words and a phase like `before`.
    fn may_follow(self, largest: u64, before: Option<Self>) -> bool {
        let Self { chunk, keep, size } = self;
        let falls = before.is_none_or(|before| keep * before.chunk <= before.keep * chunk);
        let divides = chunk % largest == 0 && size % chunk.max(1) == 0;
        falls && divides && 2 * chunk <= size && largest <= keep && keep + largest <= chunk + 1
    }

    /// Frees what the chunks can spare; returns what stays.
    fn thin<H: WordHeap>(
        self,
        heap: &mut Watched<H>,
        mut live: Vec<Live<H::Object>>,
    ) -> Vec<Live<H::Object>> {
        live.iter_mut().for_each(|object| heap.look(object));
        let mut held: HashMap<u64, u64> = HashMap::new();
        for object in &live {
            for (chunk, words) in self.parts(object) {
                *held.entry(chunk).or_default() += words;
            }
        }
        let mut staying = Vec::new();
        for object in live {
            let mut parts = self.parts(&object);
            if parts.all(|(chunk, words)| held[&chunk] >= self.keep + words) {
                for (chunk, words) in self.parts(&object) {
                    *held.entry(chunk).or_default() -= words;
                }
                heap.free(object);
            } else {
                staying.push(object);
            }
        }
        staying
    }

    /// The chunks in which an object lies, and its words in each.
    fn parts<O>(self, object: &Live<O>) -> impl Iterator<Item = (u64, u64)> + use<O> {
        let (from, to) = (object.at, object.at + object.words);
        let size = self.chunk;
        (from / size..=(to - 1) / size).map(move |chunk| {
            let end = to.min((chunk + 1) * size);
            (chunk, end - from.max(chunk * size))
        })
    }
}

/// The program with its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Thinning {
    live: u64,
    phases: [Option<Phase>; MOST_PHASES],
}

impl Thinning {
    /// A program with at most `live` words live; `None` if its phases may not follow each other, or
    /// are none or too many.
    pub(in super::super) fn new(live: u64, phases: &[Phase]) -> Option<Self> {
        let mut all = [None; MOST_PHASES];
        let (mut largest, mut before) = (1, None);
        for (number, &phase) in phases.iter().enumerate() {
            let may = phase.may_follow(largest, before) && phase.size <= live;
            *all.get_mut(number).filter(|_| may)? = Some(phase);
            (largest, before) = (phase.size, Some(phase));
        }
        let program = Self { live, phases: all };
        before.map(|_| program)
    }

    /// M: the most words live at once.
    pub(in super::super) const fn live(&self) -> u64 {
        self.live
    }

    /// Its phases, one after the other.
    pub(in super::super) fn phases(&self) -> impl Iterator<Item = Phase> + '_ {
        self.phases.iter().copied().flatten()
    }

    /// The sizes of its objects, in words.
    pub(in super::super) fn sizes(&self) -> Vec<u64> {
        let later = self.phases().map(|phase| phase.size);
        std::iter::once(1).chain(later).collect()
    }

    /// The most words that it allocates in all: M for each phase, and M at first.
    pub(in super::super) fn most_allocated(&self) -> u64 {
        self.live * (1 + self.phases().count() as u64)
    }

    /// The words that a heap spans at least if it moves so many words: the theorem, or M.
    pub(in super::super) fn bound(&self, moved: f64) -> f64 {
        let (live, mut spanned, mut largest, mut lost) = (self.live as f64, 0.0, 1, 0.0);
        spanned += live;
        for Phase { chunk, keep, size } in self.phases() {
            let [k, d, m] = [chunk, keep, size].map(|words| words as f64);
            let stays = spanned * (keep + largest - 1) as f64 / k;
            spanned += (1.0 - k / m) * (live - m + 1.0 - stays).max(0.0);
            lost = moved * k / d + 2.0 * k - 2.0;
            largest = size;
        }
        (spanned - lost).max(live)
    }

    pub(in super::super) fn run<H: WordHeap>(self, heap: &mut Watched<H>) -> Result<(), Full> {
        let mut live = Vec::new();
        for _ in 0..self.live {
            live.push(heap.allocate(1)?);
        }
        for phase in self.phases() {
            live = phase.thin(heap, live);
            while heap.live() + phase.size <= self.live {
                live.push(heap.allocate(phase.size)?);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Phase, Thinning};
    use crate::experiments::adversary::naive::{Holes, Sliding};
    use crate::experiments::adversary::program::Program;
    use crate::experiments::adversary::words::{Watched, WordHeap};

    const fn phase(chunk: u64, keep: u64, size: u64) -> Phase {
        Phase { chunk, keep, size }
    }

    fn programs() -> Vec<Thinning> {
        let phases: [&[Phase]; 5] = [
            &[phase(4, 1, 16)],
            &[phase(8, 4, 64)],
            &[phase(4, 2, 8), phase(16, 8, 64)],
            &[phase(8, 2, 16), phase(64, 16, 256)],
            &[phase(4, 2, 8), phase(32, 8, 64), phase(256, 64, 512)],
        ];
        let program = |phases| Thinning::new(4096, phases).expect("a program");
        phases.into_iter().map(program).collect()
    }

    fn span<H: WordHeap>(heap: H, program: Thinning) -> Option<u64> {
        let mut heap = Watched::new(heap);
        let ends = Program::Thinning(program).run(&mut heap).is_ok();
        assert!(heap.account().most_live <= program.live());
        ends.then(|| heap.account().span())
    }

    #[test]
    fn heaps_that_never_move_span_what_the_theorem_says() {
        for program in programs() {
            let bound = program.bound(0.0);
            assert!(bound > program.live() as f64, "{program:?}");
            for heap in [Holes::first_fit, Holes::best_fit] {
                let span = span(heap(1 << 20), program).expect("ample");
                assert!(span as f64 >= bound, "{program:?}: {span} and {bound}");
            }
        }
    }

    #[test]
    fn who_slides_all_the_time_ends_in_fewer_words() {
        let program = programs()[0];
        let span = span(Sliding::new(program.live()), program).expect("no holes");
        assert!((span as f64) < program.bound(0.0));
        assert_eq!(program.bound(1e9), program.live() as f64, "it moved enough");
    }

    #[test]
    fn phases_that_the_theorem_does_not_know_are_no_program() {
        let wrong: [&[Phase]; 7] = [
            &[],
            &[phase(4, 0, 16)],
            &[phase(4, 5, 16)],
            &[phase(4, 1, 4)],
            &[phase(4, 1, 18)],
            &[phase(4, 1, 8), phase(16, 8, 64)],
            &[phase(4, 1, 8192)],
        ];
        for phases in wrong {
            assert_eq!(Thinning::new(4096, phases), None, "{phases:?}");
        }
    }

    #[test]
    fn the_bound_of_one_phase_is_that_of_its_formula() {
        // 1024 + (1 - 4/16)(1024 - 16 + 1 - 1024/4) - 6
        let program = Thinning::new(1024, &[phase(4, 1, 16)]).expect("a program");
        assert_eq!(program.bound(0.0), 1024.0 + 0.75 * 753.0 - 6.0);
        assert_eq!(program.bound(10.0), 1024.0 + 0.75 * 753.0 - 6.0 - 40.0);
        assert_eq!(program.most_allocated(), 2048);
        assert_eq!(program.sizes(), [1, 16]);
    }
}
