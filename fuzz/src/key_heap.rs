//! `KeyHeap` beside a model that remembers every key there ever was.

use surefit_compact::{Counted, Key, KeyHeap, Medium, Narrow, Wide, Width};
use surefit_core::Refused;

use crate::config::{config, slack};
use crate::input::Input;
use crate::region::Region;

/// Values of two types; a key of one type says nothing about the other's.
#[derive(Default)]
struct Keys<T> {
    live: Vec<(Key<T>, T)>,
    stale: Vec<Key<T>>,
}

struct Run<'m, W: Width<Generation = ()>, G: Counted> {
    heap: KeyHeap<'m, W, G>,
    numbers: Keys<u64>,
    texts: Keys<String>,
    foreign: Key<u64>,
    steps: u64,
}

/// Runs all operations of an input.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    match input.byte() % 6 {
        0 => run_width::<Wide, u8>(&mut input),
        1 => run_width::<Wide, u16>(&mut input),
        2 => run_width::<Wide, u32>(&mut input),
        3 => run_width::<Narrow, u8>(&mut input),
        4 => run_width::<Narrow, u16>(&mut input),
        _ => run_width::<Medium, u8>(&mut input),
    }
}

fn run_width<W: Width<Generation = ()>, G: Counted>(input: &mut Input<'_>) {
    let config = config(input, W::WORD_BYTES);
    let bytes = input.region_bytes().min(1 << 16);
    let mut region = Region::new(bytes, config.geometry().page_bytes(), 0);
    let mut other = Region::new(bytes, config.geometry().page_bytes(), 0);
    let heap = match slack(input) {
        Some(bytes) => KeyHeap::<W, G>::with_slack(region.memory(), &config, bytes),
        None => KeyHeap::<W, G>::new(region.memory(), &config),
    };
    let others = KeyHeap::<W, G>::new(other.memory(), &config);
    let (Ok(heap), Ok(others)) = (heap, others) else {
        return;
    };
    let Ok(foreign) = others.insert(0_u64) else {
        return;
    };
    let mut run = Run {
        heap,
        numbers: Keys {
            live: Vec::new(),
            stale: Vec::new(),
        },
        texts: Keys {
            live: Vec::new(),
            stale: Vec::new(),
        },
        foreign,
        steps: 0,
    };
    while !input.is_empty() && run.steps < 4000 {
        run.step(input);
    }
    run.verify_all();
    // A heap that is dropped forgets its values.
    while !run.texts.live.is_empty() {
        remove(&mut run.heap, &mut run.texts, 0);
    }
}

impl<W: Width<Generation = ()>, G: Counted> Run<'_, W, G> {
    fn step(&mut self, input: &mut Input<'_>) {
        self.steps += 1;
        let number = self.steps;
        match input.byte() % 10 {
            0 | 1 => insert(&self.heap, &mut self.numbers, number),
            2 => insert(&self.heap, &mut self.texts, format!("{number}")),
            3 | 4 => remove(&mut self.heap, &mut self.numbers, input.number()),
            5 => remove(&mut self.heap, &mut self.texts, input.number()),
            6 => self.churn(input),
            7 => self.remove_in_a_row(input),
            8 => self.alternate(input),
            _ => self.attack(input),
        }
        self.heap.check().expect("every invariant holds");
    }

    /// Inserts and removes at once, so that generations run out.
    fn churn(&mut self, input: &mut Input<'_>) {
        for _ in 0..=input.byte() {
            let live = self.numbers.live.len();
            insert(&self.heap, &mut self.numbers, self.steps);
            remove(&mut self.heap, &mut self.numbers, live);
        }
        if input.byte() < 16 {
            self.heap.compact(u64::from(input.byte()));
        }
    }

    /// Fills the heap or a part of it, and removes objects in a row: their pairs are parked, and
    /// their keys stale at once.
    fn remove_in_a_row(&mut self, input: &mut Input<'_>) {
        let live = self.numbers.live.len();
        for _ in 0..input.byte() {
            insert(&self.heap, &mut self.numbers, self.steps);
        }
        let inserted = self.numbers.live.len() - live;
        for _ in 0..input.below(64).min(inserted) {
            remove(
                &mut self.heap,
                &mut self.numbers,
                live + input.number() % inserted,
            );
            self.check_last();
        }
    }

    /// Inserts and removes in turn: what was parked last is taken next, under a key of its own.
    fn alternate(&mut self, input: &mut Input<'_>) {
        for _ in 0..input.below(64) {
            if input.byte() % 2 == 0 {
                insert(&self.heap, &mut self.numbers, self.steps);
            } else {
                remove(&mut self.heap, &mut self.numbers, input.number());
            }
            self.check_last();
        }
    }

    /// The key that became stale last names nothing, whatever lies there now.
    fn check_last(&mut self) {
        self.heap.check().expect("every invariant holds");
        if let Some(&key) = self.numbers.stale.last() {
            assert_eq!(self.heap.get(key), Err(Refused::StaleHandle));
            assert_eq!(self.heap.remove(key), Err(Refused::StaleHandle));
        }
        if let Some((key, value)) = self.numbers.live.last() {
            assert_eq!(self.heap.get(*key), Ok(value));
        }
    }

    fn attack(&mut self, input: &mut Input<'_>) {
        let which = input.number();
        if let Some(place) = which.checked_rem(self.numbers.stale.len()) {
            let key = self.numbers.stale[place];
            assert!(!self.heap.contains(key));
            assert_eq!(self.heap.get(key), Err(Refused::StaleHandle));
            assert_eq!(self.heap.get_mut(key), Err(Refused::StaleHandle));
            assert_eq!(self.heap.remove(key), Err(Refused::StaleHandle));
        }
        assert_eq!(self.heap.get(self.foreign), Err(Refused::ForeignHandle));
        assert_eq!(self.heap.remove(self.foreign), Err(Refused::ForeignHandle));
        if let Some(place) = which.checked_rem(self.texts.live.len()) {
            let (key, held) = &mut self.texts.live[place];
            held.push('!');
            self.heap.get_mut(*key).expect("live").push('!');
        }
        self.verify_all();
    }

    fn verify_all(&self) {
        verify(&self.heap, &self.numbers);
        verify(&self.heap, &self.texts);
        let live = self.numbers.live.len() + self.texts.live.len();
        assert_eq!(self.heap.stats().live_blocks as usize, live);
    }
}

fn insert<W: Width<Generation = ()>, G: Counted, T: Send + Clone>(
    heap: &KeyHeap<'_, W, G>,
    keys: &mut Keys<T>,
    value: T,
) {
    // What is parked goes back before the heap refuses.
    let before = heap.usage().block_bytes;
    match heap.insert(value.clone()) {
        Ok(key) => keys.live.push((key, value)),
        Err(_) => assert_eq!(
            heap.usage().block_bytes,
            before,
            "a refusal changes no object"
        ),
    }
}

fn remove<W: Width<Generation = ()>, G: Counted, T: PartialEq + std::fmt::Debug>(
    heap: &mut KeyHeap<'_, W, G>,
    keys: &mut Keys<T>,
    nth: usize,
) {
    if let Some(place) = nth.checked_rem(keys.live.len()) {
        let (key, value) = keys.live.swap_remove(place);
        assert_eq!(heap.remove(key), Ok(value));
        keys.stale.push(key);
    }
}

fn verify<W: Width<Generation = ()>, G: Counted, T: PartialEq + std::fmt::Debug>(
    heap: &KeyHeap<'_, W, G>,
    keys: &Keys<T>,
) {
    for (key, value) in &keys.live {
        assert_eq!(heap.get(*key), Ok(value));
    }
    assert!(keys.stale.iter().all(|&key| !heap.contains(key)));
}
