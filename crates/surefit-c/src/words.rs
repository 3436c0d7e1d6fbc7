//! The widths of words that were compiled in.

use core::mem::MaybeUninit;

#[cfg(feature = "words24")]
use surefit_compact::Medium;
#[cfg(any(
    feature = "words16",
    not(any(feature = "words24", feature = "words32"))
))]
use surefit_compact::Narrow;
#[cfg(feature = "words32")]
use surefit_compact::Wide;
use surefit_compact::{Config, KeyHeap, Tail};

use crate::status::surefit_status;

#[cfg(not(any(feature = "words16", feature = "words24", feature = "words32")))]
compile_error!(
    "surefit-c needs one of its features words16, words24, words32: words16, if heaps of raw pointers are all"
);

/// Bytes of a configuration's words; 0 if it has none.
pub(crate) const fn word_bytes(config: &Config) -> usize {
    match config.geometry().tail() {
        Tail::BackReferences { bytes } => bytes,
        Tail::None => 0,
    }
}

/// An expression for the width of words that a configuration names.
macro_rules! for_width {
    ($config:expr, $width:ident => $then:expr, else $other:expr) => {
        match $crate::words::word_bytes($config) {
            #[cfg(any(
                feature = "words16",
                not(any(feature = "words24", feature = "words32"))
            ))]
            2 => {
                type $width = surefit_compact::Narrow;
                $then
            }
            #[cfg(feature = "words24")]
            3 => {
                type $width = surefit_compact::Medium;
                $then
            }
            #[cfg(feature = "words32")]
            4 => {
                type $width = surefit_compact::Wide;
                $then
            }
            _ => $other,
        }
    };
}
pub(crate) use for_width;

/// A heap of keys with words of any width that was compiled in.
#[derive(Debug)]
pub(crate) enum AnyHeap {
    #[cfg(any(
        feature = "words16",
        not(any(feature = "words24", feature = "words32"))
    ))]
    Narrow(KeyHeap<'static, Narrow>),
    #[cfg(feature = "words24")]
    Medium(KeyHeap<'static, Medium>),
    #[cfg(feature = "words32")]
    Wide(KeyHeap<'static, Wide>),
}

/// An expression of the heap itself.
macro_rules! with_heap {
    ($any:expr, $heap:ident => $then:expr) => {
        match $any {
            #[cfg(any(
                feature = "words16",
                not(any(feature = "words24", feature = "words32"))
            ))]
            $crate::words::AnyHeap::Narrow($heap) => $then,
            #[cfg(feature = "words24")]
            $crate::words::AnyHeap::Medium($heap) => $then,
            #[cfg(feature = "words32")]
            $crate::words::AnyHeap::Wide($heap) => $then,
        }
    };
}
pub(crate) use with_heap;

/// A heap by the constructor of the width that a configuration names.
macro_rules! any_heap {
    ($config:expr, $new:ident($($argument:expr),*)) => {{
        let heap = match word_bytes($config) {
            #[cfg(any(
                feature = "words16",
                not(any(feature = "words24", feature = "words32"))
            ))]
            2 => KeyHeap::$new($($argument),*).map(AnyHeap::Narrow),
            #[cfg(feature = "words24")]
            3 => KeyHeap::$new($($argument),*).map(AnyHeap::Medium),
            #[cfg(feature = "words32")]
            4 => KeyHeap::$new($($argument),*).map(AnyHeap::Wide),
            _ => return Err(surefit_status::Config),
        };
        heap.map_err(surefit_status::of)
    }};
}

impl AnyHeap {
    /// A heap over a region.
    pub(crate) fn new(
        region: &'static mut [MaybeUninit<u8>],
        config: &'static Config,
    ) -> Result<Self, surefit_status> {
        any_heap!(config, new(region, config))
    }

    /// A heap that may use the pages in the first `bytes` bytes of a region, and has entries for
    /// `objects` objects.
    pub(crate) fn with_limit(
        region: &'static mut [MaybeUninit<u8>],
        config: &'static Config,
        bytes: usize,
        objects: usize,
    ) -> Result<Self, surefit_status> {
        any_heap!(config, with_limit(region, config, bytes, objects))
    }

    /// A heap whose size-classes share so many bytes of holes.
    #[cfg(feature = "slack")]
    pub(crate) fn with_slack(
        region: &'static mut [MaybeUninit<u8>],
        config: &'static Config,
        slack: usize,
    ) -> Result<Self, surefit_status> {
        any_heap!(config, with_slack(region, config, slack))
    }
}
