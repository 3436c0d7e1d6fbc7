//! Heaps that are told their slack: bytes of pages that all size-classes share as holes.

use core::ffi::c_void;

use surefit_compact::Keyed;
use surefit_compact::certify::{Demand, slack_bytes_for_life};

use crate::certify::{given, of_width, surefit_demand};
use crate::config::surefit_config;
use crate::heap::{init, surefit_heap};
use crate::place::control_bytes;
use crate::status::{put, status, surefit_status};
use crate::words::{AnyHeap, for_width};

/// As surefit_heap_init, of a heap that may leave as many holes as `slack` bytes of pages hold,
/// wherever they are, in place of those that the configuration allows each size-class. A free
/// moves an object only if no slack is left, and then one page-block at most. So a region with more
/// bytes than its demand needs costs fewer moves: see surefit_slack_bytes.
///
/// Where the configuration bounds classes in not-full pages, slack means nothing. A library built
/// without the feature `slack` does not have this function.
///
/// Answers as surefit_heap_init, and takes as long.
///
/// # Safety
/// As surefit_heap_init.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn surefit_heap_init_with_slack(
    region: *mut c_void,
    bytes: usize,
    config: *const surefit_config,
    slack: usize,
    heap: *mut *mut surefit_heap,
) -> surefit_status {
    let make = |region, config| AnyHeap::with_slack(region, config, slack);
    // SAFETY: the caller's promise.
    status(unsafe { init(region.cast(), bytes, config, heap, make) })
}

/// Computes the slack of a heap for a demand, in a region of `bytes` bytes that begins at a
/// multiple of the page: the most with which surefit_alloc and surefit_resize still refuse nothing
/// within the demand. For a region at any address take a page less a byte from `bytes`. As
/// surefit_certify it needs no heap, and 8.5 KiB of stack. SIZE_MAX / 2: no free moves anything. A
/// library built without the feature `slack` does not have this function.
///
/// Answers as surefit_certify, and REGION if the demand needs more bytes even without any hole.
///
/// # Safety
/// As surefit_certify.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn surefit_slack_bytes(
    config: *const surefit_config,
    demand: *const surefit_demand,
    bytes: usize,
    slack: *mut usize,
) -> surefit_status {
    let computed = || {
        if slack.is_null() {
            return Err(surefit_status::Null);
        }
        // SAFETY: the caller's promise.
        let (config, demand) = unsafe { given(config, demand) }?;
        let pages = bytes.saturating_sub(control_bytes::<surefit_heap>());
        let found = for_width!(config, W => {
            let compute = |live: &Demand<'_>| {
                slack_bytes_for_life::<Keyed<W>>(config, live, demand.frees, pages)
            };
            // SAFETY: the caller's promise of the peaks.
            unsafe { of_width::<Keyed<W>, _>(config, &demand, compute) }
        }, else Err(surefit_status::Config))?;
        // SAFETY: not NULL.
        unsafe { put(slack, found) }
    };
    status(computed())
}
