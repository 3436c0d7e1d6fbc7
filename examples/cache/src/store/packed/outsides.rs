//! What is outside of a bucket's records, in their order. Most buckets have nothing there, so a
//! bucket has the name of a vector, not a vector.

use std::mem;

use surefit_collections::{Release, Vec};
use surefit_compact::Handle;
use surefit_core::Refused;

use super::outside::{Heap, Outside};

#[derive(Default)]
pub(super) struct Outsides(Option<Handle<Vec<Outside>>>);

impl Release<Heap> for Outsides {
    fn release(self, heap: &mut Heap) {
        if let Some(all) = self.0 {
            heap.remove(all).free(heap);
        }
    }
}

impl Outsides {
    pub(super) fn len(&self, heap: &Heap) -> usize {
        self.0.as_ref().map_or(0, |all| heap.get(all).len())
    }

    pub(super) fn get<'a>(&'a self, heap: &'a Heap, number: usize) -> Option<&'a Outside> {
        heap.get(self.0.as_ref()?).get(heap, number)
    }

    pub(super) fn get_mut<'a>(
        &'a mut self,
        heap: &'a Heap,
        number: usize,
    ) -> Option<&'a mut Outside> {
        heap.get_mut(self.0.as_mut()?).get_mut(heap, number)
    }

    /// Makes room for so many more.
    ///
    /// # Errors
    /// If there is none.
    pub(super) fn reserve(&mut self, heap: &mut Heap, more: usize) -> Result<(), Refused> {
        if more == 0 {
            return Ok(());
        }
        if self.0.is_none() {
            self.0 = Some(heap.insert(Vec::new()).map_err(|full| full.refused)?);
        }
        self.change(heap, |all, heap| {
            if all.len() + more <= all.capacity(heap) {
                return Ok(());
            }
            all.reserve_exact(heap, more.next_multiple_of(2))
        })
    }

    /// Inserts one, for which room was made.
    pub(super) fn insert(&mut self, heap: &mut Heap, number: usize, outside: Outside) {
        self.change(heap, |all, heap| {
            let inserted = all.insert(heap, number, outside);
            inserted
                .map_err(|full| full.refused)
                .expect("room was made");
        });
    }

    pub(super) fn remove(&mut self, heap: &Heap, number: usize) -> Outside {
        let all = self.0.as_mut().expect("P2: it is outside");
        heap.get_mut(all).remove(heap, number)
    }

    /// Takes all of another, for which room was made.
    pub(super) fn append(&mut self, heap: &mut Heap, other: &mut Self) {
        let Some(others) = other.0.take() else {
            return;
        };
        let mut others = heap.remove(others);
        let end = self.len(heap);
        while let Some(last) = others.pop(heap) {
            self.insert(heap, end, last);
        }
        others.free(heap);
    }

    /// Takes all out. Needs no room.
    pub(super) fn take_all(&mut self, heap: &mut Heap) -> std::vec::Vec<Outside> {
        let Some(all) = self.0.take() else {
            return std::vec::Vec::new();
        };
        let mut all = heap.remove(all);
        let taken = std::iter::from_fn(|| all.pop(heap)).collect();
        all.free(heap);
        taken
    }

    /// Gives back room that is not needed, as far as that is not refused.
    pub(super) fn trim(&mut self, heap: &mut Heap) {
        let Some(all) = self.0.as_ref().map(|all| heap.get(all)) else {
            return;
        };
        if all.is_empty() {
            mem::take(self).release(heap);
        } else if all.capacity(heap) - all.len() >= 4 {
            let _ = self.change(heap, Vec::shrink_to_fit);
        }
    }

    /// Changes the vector, which is taken out for that time: what moves objects needs the heap
    /// alone.
    fn change<R>(
        &mut self,
        heap: &mut Heap,
        change: impl FnOnce(&mut Vec<Outside>, &mut Heap) -> R,
    ) -> R {
        let place = self.0.as_mut().expect("there is one");
        let mut all = mem::take(heap.get_mut(place));
        let result = change(&mut all, heap);
        *heap.get_mut(place) = all;
        result
    }
}
