//! The C interface of surefit: `include/surefit.h`.
//!
//! | file | holds |
//! | --- | --- |
//! | `status` | what a call answers |
//! | `config` | configurations, named and built |
//! | `certify` | the bytes that are enough for a demand |
//! | `heap` | a heap in the caller's region, its objects |
//! | `limit` | heaps with a limit that is raised and lowered |
//! | `lock` | heaps that threads share |
//! | `place` | control structures at the end of regions |
//! | `words` | the widths of words that were compiled in |
//! | `raw` | malloc and its family over a region |
//! | `pooled` | raw heaps whose bytes are known from a demand |
//! | `slack` | heaps that are told their demand, and move fewer objects |
//! | `stats` | what a heap reports |
//! | `panicked` | what a panic does without the standard library |
//!
//! # Features
//! - `std` (default): a panic of the library ends the process.
//! - `panic-handler`: for programs without it. A panic calls `surefit_panicked`, which the program
//!   defines and which does not return.
//! - `direct`, `tiny`, `tlsf`, `segregated` (default: all): the kinds of heaps of raw pointers.
//! - `pooled` (default): raw heaps whose bytes are known from a demand.
//! - `pieces`, `holes`, `slack`, `many-classes`, `strerror` (default): what a small image leaves
//!   out; see README.md.
//! - `words16`, `words24`, `words32` (default: all): the widths of words that heaps may have.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(not(any(test, feature = "std")), no_std)]
#![allow(non_camel_case_types, reason = "the names are those of the header")]

#[cfg(not(any(test, feature = "std", feature = "panic-handler")))]
compile_error!("surefit-c needs one of its features std, panic-handler");

mod certify;
mod config;
mod heap;
mod limit;
mod lock;
#[cfg(all(feature = "panic-handler", not(any(test, feature = "std"))))]
mod panicked;
mod place;
#[cfg(all(feature = "pooled", any(feature = "direct", feature = "tiny")))]
mod pooled;
#[cfg(any(
    feature = "direct",
    feature = "tiny",
    feature = "tlsf",
    feature = "segregated"
))]
mod raw;
#[cfg(feature = "slack")]
mod slack;
mod stats;
mod status;
mod words;

pub use certify::{surefit_certificate, surefit_certify, surefit_demand, surefit_peak};
#[cfg(all(feature = "holes", feature = "many-classes"))]
pub use config::surefit_config_standard;
#[cfg(feature = "pieces")]
pub use config::surefit_has_pieces;
pub use config::{
    SUREFIT_CONFIG_BYTES, SUREFIT_SMALL_CONFIG_BYTES, surefit_config, surefit_config_build,
    surefit_config_bytes, surefit_config_micro, surefit_config_tiny, surefit_options,
};
pub use heap::{
    SUREFIT_CONTROL_BYTES, surefit_acquire, surefit_alloc, surefit_alloc_zeroed, surefit_can_alloc,
    surefit_compact, surefit_destroy, surefit_free, surefit_get, surefit_heap, surefit_heap_init,
    surefit_is_live, surefit_key, surefit_largest_free, surefit_read, surefit_release,
    surefit_resize, surefit_share, surefit_write,
};
pub use limit::{
    surefit_heap_init_limited, surefit_limited_table_bytes, surefit_set_limit, surefit_untouched,
};
pub use lock::surefit_lock;
#[cfg(all(feature = "pooled", any(feature = "direct", feature = "tiny")))]
pub use pooled::{SUREFIT_RAW_PEAKS_MAX, surefit_raw_certify, surefit_raw_init_certified};
#[cfg(any(
    feature = "direct",
    feature = "tiny",
    feature = "tlsf",
    feature = "segregated"
))]
pub use raw::{
    SUREFIT_RAW_DIRECT, SUREFIT_RAW_SEGREGATED, SUREFIT_RAW_TINY, SUREFIT_RAW_TLSF, surefit_raw,
    surefit_raw_aligned_alloc, surefit_raw_calloc, surefit_raw_check, surefit_raw_destroy,
    surefit_raw_free, surefit_raw_init, surefit_raw_malloc, surefit_raw_realloc, surefit_raw_share,
    surefit_raw_stats, surefit_raw_stats_get, surefit_raw_usable_size,
};
#[cfg(feature = "slack")]
pub use slack::{surefit_heap_init_with_slack, surefit_slack_bytes};
pub use stats::{
    surefit_block, surefit_check, surefit_fault, surefit_stats, surefit_stats_get, surefit_walk,
};
pub use status::surefit_status;
#[cfg(feature = "strerror")]
pub use status::surefit_strerror;
