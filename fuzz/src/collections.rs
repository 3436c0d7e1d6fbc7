//! Vectors, strings, maps, deques and caches in one heap, beside those of the standard library:
//! contents, refusals, what lives at the end.

use std::collections::{HashMap as StdMap, HashSet};
use std::hash::{BuildHasher, Hasher};
use std::mem::MaybeUninit;

use surefit_collections::{HashMap, String as Moving, Vec as MovingVec};
use surefit_compact::{Heap, Narrow, Wide, Width};

use crate::config;
use crate::input::Input;
use crate::ordered::Ordered;
use crate::queues::Queues;

/// Bits that a hasher keeps of the last number that it saw: none of them, or so many.
#[derive(Clone, Copy)]
struct Bits(u32);

struct Kept {
    bits: Bits,
    last: u64,
}

impl BuildHasher for Bits {
    type Hasher = Kept;

    fn build_hasher(&self) -> Kept {
        Kept {
            bits: *self,
            last: 0,
        }
    }
}

impl Hasher for Kept {
    fn finish(&self) -> u64 {
        self.last & ((1 << self.bits.0) - 1)
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.last = self.last.wrapping_mul(31) + u64::from(*byte);
        }
    }
}

/// Containers, each beside its model.
struct Containers<'m, W: Width> {
    heap: Heap<'m, W>,
    vec: MovingVec<(u32, u8)>,
    vec_model: Vec<(u32, u8)>,
    map: HashMap<Moving, MovingVec<u8>, Bits>,
    map_model: StdMap<String, Vec<u8>>,
    walk: Walk,
    queues: Queues,
    ordered: Ordered,
}

/// A walk through the map, one step after each change of it.
#[derive(Default)]
struct Walk {
    /// From where it goes on.
    place: Option<u64>,
    /// Keys that were there when it began, are there still, and were not shown.
    unseen: HashSet<String>,
}

/// Runs one input.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    if input.below(2) == 0 {
        play::<Wide>(&mut input);
    } else {
        play::<Narrow>(&mut input);
    }
}

fn play<W: Width>(input: &mut Input<'_>) {
    let config = config::config(input, W::WORD_BYTES);
    let slack = config::slack(input);
    let mut memory = vec![MaybeUninit::uninit(); input.region_bytes().min(128 << 10)];
    let Ok(heap) = config::heap::<W>(&mut memory, &config, slack) else {
        return;
    };
    let bits = Bits([0, 3, 32][input.below(3)]);
    let mut all = Containers {
        heap,
        vec: MovingVec::new(),
        vec_model: Vec::new(),
        map: HashMap::with_hasher(bits),
        map_model: StdMap::new(),
        walk: Walk::default(),
        queues: Queues::default(),
        ordered: Ordered::default(),
    };
    let mut steps = 0;
    while !input.is_empty() && steps < 500 {
        steps += 1;
        match input.below(5) {
            0 => all.change_vector(input),
            1 => all.change_map(input),
            2 => all.queues.change_deque(&mut all.heap, input),
            3 => all.ordered.change(&mut all.heap, input),
            _ => all.queues.change_cache(&mut all.heap, input),
        }
        all.heap.check().expect("every invariant");
    }
    all.finish();
}

impl<W: Width> Containers<'_, W> {
    fn change_vector(&mut self, input: &mut Input<'_>) {
        let (heap, vec, model) = (&mut self.heap, &mut self.vec, &mut self.vec_model);
        let at = input.below(model.len() + 1);
        let value = (input.number() as u32, 7);
        match input.below(9) {
            0 | 1 => {
                if vec.push(heap, value).is_ok() {
                    model.push(value);
                }
            }
            2 => assert_eq!(vec.pop(heap), model.pop()),
            3 => {
                if vec.insert(heap, at, value).is_ok() {
                    model.insert(at, value);
                }
            }
            4 if at < model.len() => assert_eq!(vec.remove(heap, at), model.remove(at)),
            5 => {
                let end = at + input.below(model.len() - at + 1);
                assert!(vec.drain(heap, at..end).eq(model.drain(at..end)));
            }
            6 => {
                let more = vec![value; input.number() % 600];
                if vec.extend_from_slice(heap, &more).is_ok() {
                    model.extend(more);
                }
            }
            7 => {
                // Refusals change nothing.
                let _ = vec.reserve(heap, input.size());
                let _ = vec.shrink_to(heap, input.size());
            }
            _ => {
                let mask = value.0;
                vec.retain(heap, |(number, _)| *number & mask != 0);
                model.retain(|(number, _)| *number & mask != 0);
            }
        }
        vec.check(heap).expect("every invariant");
        assert!(vec.iter(heap).eq(model.iter()));
    }

    fn change_map(&mut self, input: &mut Input<'_>) {
        let (heap, map, model) = (&mut self.heap, &mut self.map, &mut self.map_model);
        let key = format!("{:01$}", input.byte(), input.below(200));
        match input.below(8) {
            0..=3 => {
                let Ok(text) = Moving::from_text(heap, &key) else {
                    return;
                };
                match map.insert(heap, text, MovingVec::new()) {
                    Ok(Some(former)) => {
                        let bytes = model.insert(key, Vec::new()).expect("in both");
                        assert!(former.iter(heap).eq(&bytes));
                        former.free(heap);
                    }
                    Ok(None) => assert!(model.insert(key, Vec::new()).is_none()),
                    Err(full) => full.value.0.free(heap),
                }
            }
            4 | 5 => match map.remove(heap, key.as_str()) {
                Some(value) => {
                    assert!(value.iter(heap).eq(&model.remove(&key).expect("in both")));
                    value.free(heap);
                }
                None => assert!(!model.contains_key(&key)),
            },
            6 => {
                let longest = input.below(200);
                map.retain(heap, |key, _| key.len() <= longest);
                model.retain(|key, _| key.len() <= longest);
            }
            _ => {
                // The value is taken out of the map, because it needs the heap to grow.
                if let Some(value) = map.get_mut(heap, key.as_str()) {
                    let mut grown = std::mem::take(value);
                    let bytes = vec![input.byte(); input.number() % 900];
                    if grown.extend_from_slice(heap, &bytes).is_ok() {
                        model.get_mut(&key).expect("in both").extend(bytes);
                    }
                    *map.get_mut(heap, key.as_str()).expect("as before") = grown;
                }
            }
        }
        map.check(heap).expect("every invariant");
        assert_eq!(map.len(), model.len());
        for (key, bytes) in model.iter() {
            let value = map.get(heap, key.as_str()).expect("in both");
            value.check(heap).expect("every invariant");
            assert!(value.iter(heap).eq(bytes));
        }
        for key in map.keys(heap) {
            key.check(heap).expect("every invariant");
        }
        self.step();
    }

    /// Shows the entries of one bucket.
    fn step(&mut self) {
        let (heap, map, unseen) = (&self.heap, &self.map, &mut self.walk.unseen);
        match self.walk.place {
            Some(_) => unseen.retain(|key| self.map_model.contains_key(key)),
            None => unseen.extend(self.map_model.keys().cloned()),
        }
        self.walk.place = map.scan(heap, self.walk.place.unwrap_or(0), |key, value| {
            let key = key.display(heap).to_string();
            assert!(value.iter(heap).eq(&self.map_model[&key]));
            unseen.remove(&key);
        });
        assert!(self.walk.place.is_some() || unseen.is_empty());
    }

    /// Copies what there is if there is room, frees all, and sees that nothing is left.
    fn finish(mut self) {
        if let Ok(copy) = self.map.try_clone(&mut self.heap) {
            copy.check(&self.heap).expect("every invariant");
            assert_eq!(copy.iter(&self.heap).count(), self.map_model.len());
            copy.free(&mut self.heap);
        }
        self.queues.finish(&mut self.heap);
        self.ordered.finish(&mut self.heap);
        self.vec.free(&mut self.heap);
        self.map.free(&mut self.heap);
        assert_eq!(self.heap.live_blocks().count(), 0);
        self.heap.check().expect("every invariant");
    }
}
