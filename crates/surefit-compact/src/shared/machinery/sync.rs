//! The atomic word of shared heaps: that of `core`, or that of `portable-atomic` on targets without
//! compare-and-exchange. Under a permutation tester every access is preceded by a scheduling point.
//!
//! With `--cfg surefit_shuttle` the tester switches the threads of a test at these points. The word
//! still has four bytes, so the layout of the region is that of real programs.
#![deny(unsafe_code)]

#[cfg(target_has_atomic = "32")]
use core::sync::atomic::AtomicU32 as Word;
use core::sync::atomic::Ordering;
#[cfg(not(target_has_atomic = "32"))]
use portable_atomic::AtomicU32 as Word;

/// An atomic word of 32 bits.
#[derive(Debug)]
#[repr(transparent)]
pub(crate) struct AtomicU32(Word);

impl AtomicU32 {
    pub(crate) const fn new(value: u32) -> Self {
        Self(Word::new(value))
    }

    #[inline]
    pub(crate) fn load(&self, order: Ordering) -> u32 {
        surefit_core::point();
        self.0.load(order)
    }

    #[inline]
    pub(crate) fn store(&self, value: u32, order: Ordering) {
        surefit_core::point();
        self.0.store(value, order);
    }

    #[inline]
    pub(crate) fn swap(&self, value: u32, order: Ordering) -> u32 {
        surefit_core::point();
        self.0.swap(value, order)
    }

    #[inline]
    pub(crate) fn fetch_add(&self, value: u32, order: Ordering) -> u32 {
        surefit_core::point();
        self.0.fetch_add(value, order)
    }

    #[inline]
    pub(crate) fn fetch_sub(&self, value: u32, order: Ordering) -> u32 {
        surefit_core::point();
        self.0.fetch_sub(value, order)
    }

    #[inline]
    pub(crate) fn fetch_or(&self, bits: u32, order: Ordering) -> u32 {
        surefit_core::point();
        self.0.fetch_or(bits, order)
    }

    #[inline]
    pub(crate) fn fetch_and(&self, bits: u32, order: Ordering) -> u32 {
        surefit_core::point();
        self.0.fetch_and(bits, order)
    }

    #[inline]
    pub(crate) fn compare_exchange(
        &self,
        current: u32,
        new: u32,
        success: Ordering,
        failure: Ordering,
    ) -> Result<u32, u32> {
        surefit_core::point();
        self.0.compare_exchange(current, new, success, failure)
    }

    #[inline]
    pub(crate) fn compare_exchange_weak(
        &self,
        current: u32,
        new: u32,
        success: Ordering,
        failure: Ordering,
    ) -> Result<u32, u32> {
        surefit_core::point();
        self.0.compare_exchange_weak(current, new, success, failure)
    }
}
