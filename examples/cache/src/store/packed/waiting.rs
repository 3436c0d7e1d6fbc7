//! What was dropped and has too many objects to be freed at once. Ticks free it, and writes that
//! need its room.

use std::mem;

use surefit_collections::{Release, Vec};

use super::bucket::Bucket;
use super::outside::{Body, Heap, Outside, PIECE};

/// Objects of a value that are freed when it is dropped; more of them wait.
const AT_ONCE: usize = 512;

enum Part {
    Body(Body),
    Buckets(Vec<Bucket>),
}

/// What waits to be freed. The list itself lies outside the heap: 64 bytes for each value of more
/// than [`AT_ONCE`] objects.
#[derive(Default)]
pub(super) struct Waiting(std::vec::Vec<Part>);

impl Waiting {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Frees what was outside of a bucket: a text whole, about `most` objects of a hash or a list,
    /// but no more than [`AT_ONCE`]; the others wait. Returns how many objects were freed.
    pub(super) fn free(&mut self, heap: &mut Heap, outside: Outside, most: usize) -> usize {
        let many = match outside {
            Outside::Many(many) => many,
            text => {
                let objects = objects_of(text.text_len(heap));
                text.release(heap);
                return objects;
            }
        };
        let many = heap.remove(many);
        many.key.free(heap);
        let (freed, left) = free_some_of(many.body, heap, most.min(AT_ONCE));
        self.0.extend(left.map(Part::Body));
        freed + 1
    }

    /// As [`Waiting::free`], of what several records had outside.
    pub(super) fn free_all(
        &mut self,
        heap: &mut Heap,
        outside: std::vec::Vec<Outside>,
        most: usize,
    ) -> usize {
        outside.into_iter().fold(0, |freed, outside| {
            freed + self.free(heap, outside, most.saturating_sub(freed))
        })
    }

    /// Lets all records of a table wait.
    pub(super) fn push(&mut self, buckets: Vec<Bucket>) {
        self.0.push(Part::Buckets(buckets));
    }

    /// Frees until nothing is left, or `most` objects were freed, or more by one bucket or string;
    /// returns how many.
    pub(super) fn free_some(&mut self, heap: &mut Heap, most: usize) -> usize {
        let mut freed = 0;
        while freed < most {
            freed += match self.0.pop() {
                None => break,
                Some(Part::Buckets(buckets)) => self.free_bucket_of(heap, buckets, most - freed),
                Some(Part::Body(body)) => {
                    let (objects, left) = free_some_of(body, heap, most - freed);
                    self.0.extend(left.map(Part::Body));
                    objects
                }
            };
        }
        freed
    }

    fn free_bucket_of(&mut self, heap: &mut Heap, mut buckets: Vec<Bucket>, most: usize) -> usize {
        let Some(bucket) = buckets.pop(heap) else {
            buckets.free(heap);
            return 1;
        };
        self.push(buckets);
        let outside = bucket.dissolve(heap);
        1 + self.free_all(heap, outside, most)
    }
}

/// Frees values of a hash or a list until nothing is left or `most` objects were freed; returns how
/// many were, and what is left.
fn free_some_of(mut body: Body, heap: &mut Heap, most: usize) -> (usize, Option<Body>) {
    let mut freed = 0;
    while freed < most {
        let (key, value) = match &mut body {
            Body::List(values) => (None, values.pop_back(heap)),
            Body::Hash(fields) => {
                let mut all = fields.drain(heap);
                let next = all.next();
                // The others stay.
                mem::forget(all);
                next.map_or((None, None), |(key, value)| (Some(key), Some(value)))
            }
        };
        if value.is_none() {
            body.release(heap);
            return (freed + 1, None);
        }
        for string in key.into_iter().chain(value) {
            freed += objects_of(string.len());
            string.free(heap);
        }
    }
    (freed, Some(body))
}

/// The objects of a string, at most.
const fn objects_of(len: usize) -> usize {
    1 + len / PIECE
}
