//! A deque and a cache, each beside its model.

use std::collections::VecDeque;
use std::hash::BuildHasherDefault;
use std::num::NonZeroUsize;

use surefit_collections::{LruCache, Release, String as Moving, VecDeque as MovingDeque};
use surefit_compact::{Full, Heap, Width};

use crate::input::Input;

type Cache = LruCache<u64, Moving, BuildHasherDefault<std::hash::DefaultHasher>>;

/// A deque and a cache.
pub(crate) struct Queues {
    deque: MovingDeque<(u32, u8)>,
    deque_model: VecDeque<(u32, u8)>,
    cache: Cache,
    /// Entries, the oldest first.
    cache_model: Vec<(u64, String)>,
}

impl Default for Queues {
    fn default() -> Self {
        Self {
            deque: MovingDeque::new(),
            deque_model: VecDeque::new(),
            cache: Cache::unbounded_with_hasher(BuildHasherDefault::default()),
            cache_model: Vec::new(),
        }
    }
}

impl Queues {
    pub(crate) fn change_deque<W: Width>(&mut self, heap: &mut Heap<'_, W>, input: &mut Input<'_>) {
        let (deque, model) = (&mut self.deque, &mut self.deque_model);
        let at = input.below(model.len() + 1);
        let value = (input.number() as u32, 7);
        match input.below(11) {
            0 | 1 => {
                for _ in 0..input.byte() {
                    if deque.push_back(heap, value).is_ok() {
                        model.push_back(value);
                    }
                }
            }
            2 | 3 => {
                for _ in 0..input.byte() {
                    if deque.push_front(heap, value).is_ok() {
                        model.push_front(value);
                    }
                }
            }
            4 => {
                for _ in 0..input.byte() {
                    assert_eq!(deque.pop_back(heap), model.pop_back());
                }
            }
            5 => {
                for _ in 0..input.byte() {
                    assert_eq!(deque.pop_front(heap), model.pop_front());
                }
            }
            6 => {
                let end = at + input.below(model.len() - at + 1);
                assert!(deque.drain(heap, at..end).eq(model.drain(at..end)));
            }
            7 => {
                let mask = value.0;
                deque.retain(heap, |(number, _)| *number & mask != 0);
                model.retain(|(number, _)| *number & mask != 0);
            }
            8 => {
                deque
                    .iter_mut(heap)
                    .for_each(|it| it.0 = it.0.rotate_left(1));
                model.iter_mut().for_each(|it| it.0 = it.0.rotate_left(1));
            }
            9 => {
                // A refusal changes nothing.
                let _ = deque.shrink_to_fit(heap);
            }
            _ if at < model.len() => {
                deque.swap(heap, at, 0);
                model.swap(at, 0);
            }
            _ => {}
        }
        deque.check(heap).expect("every invariant");
        assert!(deque.iter(heap).eq(model.iter()));
    }

    pub(crate) fn change_cache<W: Width>(&mut self, heap: &mut Heap<'_, W>, input: &mut Input<'_>) {
        let (cache, model) = (&mut self.cache, &mut self.cache_model);
        let key = u64::from(input.byte());
        let at = model.iter().position(|entry| entry.0 == key);
        match input.below(8) {
            0..=2 => {
                let text = "x".repeat(input.below(200));
                let Ok(value) = Moving::from_text(heap, &text) else {
                    return;
                };
                match cache.push(heap, key, value) {
                    Ok(out) => {
                        let oldest = || (model.len() == cache.cap().get()).then_some(0);
                        let gone = at.or_else(oldest).map(|at| model.remove(at));
                        model.push((key, text));
                        assert_eq!(out.is_some(), gone.is_some());
                        if let (Some((key, value)), Some(gone)) = (out, gone) {
                            assert!(key == gone.0 && value.equals(heap, &gone.1));
                            value.free(heap);
                        }
                    }
                    Err(Full { value, .. }) => value.1.free(heap),
                }
            }
            3 => {
                let found = cache.get(heap, &key);
                assert_eq!(found.is_some(), at.is_some());
                if let (Some(value), Some(at)) = (found, at) {
                    assert!(value.equals(heap, &model[at].1));
                    model[at..].rotate_left(1);
                }
            }
            4 => {
                let oldest = cache.pop_lru(heap);
                assert_eq!(oldest.as_ref().map(|it| it.0), model.first().map(|it| it.0));
                oldest.release(heap);
                model.drain(..model.len().min(1));
            }
            5 => {
                let value = cache.pop(heap, &key);
                assert_eq!(value.is_some(), at.is_some());
                value.release(heap);
                at.map(|at| model.remove(at));
            }
            6 => {
                let most = 1 + input.below(300);
                cache.resize(heap, NonZeroUsize::new(most).expect("not zero"));
                let more = model.len().saturating_sub(most);
                model.drain(..more);
            }
            _ => {
                let longest = input.below(200);
                cache.retain(heap, |_, value| value.len() <= longest);
                model.retain(|entry| entry.1.len() <= longest);
            }
        }
        cache.check(heap).expect("every invariant");
        let newest_first = model.iter().rev();
        assert_eq!(cache.len(), model.len());
        assert!(
            cache
                .iter(heap)
                .zip(newest_first)
                .all(|(ours, theirs)| *ours.0 == theirs.0 && ours.1.equals(heap, &theirs.1))
        );
    }

    /// Copies what there is if there is room, and frees all.
    pub(crate) fn finish<W: Width>(self, heap: &mut Heap<'_, W>) {
        if let Ok(copy) = self.deque.try_clone(heap) {
            assert!(copy.iter(heap).eq(self.deque_model.iter()));
            copy.free(heap);
        }
        if let Ok(copy) = self.cache.try_clone(heap) {
            assert_eq!(copy.len(), self.cache_model.len());
            copy.check(heap).expect("every invariant");
            copy.free(heap);
        }
        self.deque.free(heap);
        self.cache.free(heap);
    }
}
