//! How an ordered map finds a key, which may lie in the heap itself.
#![deny(unsafe_code)]

use core::borrow::Borrow;
use core::cmp::Ordering;

use crate::heap::ByteHeap;
use crate::names::Names;
use crate::text::{ByteString, String};

/// A key of a [`BTreeMap`](crate::BTreeMap) in a heap `H` that can be compared with a `Q`: what
/// `Ord` and `Borrow` are for keys that need the heap to be read.
///
/// Every type with `Ord` is such a key, as in a map of the standard library. A [`String`] is
/// compared with a `str`, a [`ByteString`] with bytes. A map inserts keys that can be compared with
/// themselves.
///
/// All comparisons must follow one order. A map whose keys break this finds some of them not, and
/// does no other harm.
pub trait Compare<H: ?Sized, Q: ?Sized> {
    /// How this key is to the query.
    fn compare(&self, query: &Q, heap: &H) -> Ordering;
}

impl<H: ?Sized, K: Borrow<Q>, Q: Ord + ?Sized> Compare<H, Q> for K {
    #[inline]
    fn compare(&self, query: &Q, _: &H) -> Ordering {
        self.borrow().cmp(query)
    }
}

impl<N: Names, H: ByteHeap<Names = N>> Compare<H, [u8]> for ByteString<N> {
    fn compare(&self, query: &[u8], heap: &H) -> Ordering {
        let mut rest = query;
        for slice in self.slices(heap) {
            let (now, later) = rest.split_at(slice.len().min(rest.len()));
            match slice.cmp(now) {
                Ordering::Equal => rest = later,
                other => return other,
            }
        }
        match rest {
            [] => Ordering::Equal,
            _ => Ordering::Less,
        }
    }
}

impl<N: Names, H: ByteHeap<Names = N>> Compare<H, Self> for ByteString<N> {
    fn compare(&self, query: &Self, heap: &H) -> Ordering {
        match query.as_slice(heap) {
            Some(query) => self.compare(query, heap),
            None => self
                .slices(heap)
                .flatten()
                .cmp(query.slices(heap).flatten()),
        }
    }
}

impl<N: Names, H: ByteHeap<Names = N>> Compare<H, str> for String<N> {
    #[inline]
    fn compare(&self, query: &str, heap: &H) -> Ordering {
        self.as_bytes().compare(query.as_bytes(), heap)
    }
}

impl<N: Names, H: ByteHeap<Names = N>> Compare<H, Self> for String<N> {
    #[inline]
    fn compare(&self, query: &Self, heap: &H) -> Ordering {
        self.as_bytes().compare(query.as_bytes(), heap)
    }
}
