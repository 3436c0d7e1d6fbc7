//! The configuration of a shared heap: a [`Config`], the increment, the number of pins, and how
//! much each thread may buffer.
#![deny(
    unsafe_code,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use core::fmt;
use core::marker::PhantomData;
use core::num::NonZeroU32;

use surefit_classes::{Spacing, Tail};

use super::lock::{Granularity, PerClass, Stepwise};
use crate::config::Config;

/// ι: the most bytes that one atomic step of a move copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Increment {
    /// ι = ∞: a move is one step.
    Whole,
    /// A move is made in steps of at most this many bytes.
    Bytes(NonZeroU32),
}

impl Increment {
    /// The step in bytes.
    pub(crate) const fn bytes(self) -> u32 {
        match self {
            Self::Whole => u32::MAX,
            Self::Bytes(bytes) => bytes.get(),
        }
    }
}

impl fmt::Display for Increment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => f.write_str("whole moves"),
            Self::Bytes(bytes) => write!(f, "steps of {bytes} bytes"),
        }
    }
}

/// A valid configuration of a shared heap whose locks cover `G`.
///
/// Under page locks every move is whole: otherwise the lock of a page would be held over all steps
/// of a move.
/// ```compile_fail
/// use surefit_compact::{Config, shared::{PerPage, SharedConfig}};
/// SharedConfig::<PerPage>::new(Config::DEFAULT).with_increment(64);
/// ```
#[derive(Clone, Debug)]
pub struct SharedConfig<G: Granularity = PerClass> {
    pub(crate) config: Config,
    pub(crate) increment: Increment,
    pub(crate) pins: u32,
    pub(crate) locals: u16,
    pub(crate) page_buffer: u16,
    pub(crate) entry_buffer: u16,
    granularity: PhantomData<G>,
}

impl<G: Stepwise> SharedConfig<G> {
    /// Sets the increment: moves are made in steps of at most `bytes` bytes.
    ///
    /// # Errors
    /// [`SharedConfigError::Increment`] unless `bytes` is a positive multiple of 16, so that every
    /// step copies whole words.
    pub const fn with_increment(mut self, bytes: u32) -> Result<Self, SharedConfigError> {
        match NonZeroU32::new(bytes) {
            Some(bytes) if bytes.get() % 16 == 0 => {
                self.increment = Increment::Bytes(bytes);
                Ok(self)
            }
            _ => Err(SharedConfigError::Increment),
        }
    }
}

impl<G: Granularity> SharedConfig<G> {
    /// For boards, with interrupt handlers as threads: as [`Config::TINY`], with words of four
    /// bytes, 4 threads that buffer no page, and 8 buffered handles per size-class.
    pub const TINY: Self = {
        let config = Self::new(Config::of_small_pages(Spacing::Fraction(4), 4));
        let Ok(config) = config.with_locals(4, 0) else {
            panic!("there are threads")
        };
        let Ok(config) = config.with_handle_buffer(8) else {
            panic!("there are handles")
        };
        config
    };

    /// A configuration with whole moves, 8 pins, 16 threads that buffer 2 pages each, and 32
    /// buffered handles per size-class.
    ///
    /// # Panics
    /// If the back-references do not have four bytes, as those of [`Config::MICRO`]
    /// and [`Config::TINY`]. In a constant or a static this is an error of the compiler.
    /// ```compile_fail
    /// use surefit_compact::{Config, shared::SharedConfig};
    /// static CONFIG: SharedConfig = SharedConfig::new(Config::TINY);
    /// ```
    #[must_use]
    pub const fn new(config: Config) -> Self {
        assert!(
            matches!(config.geometry().tail(), Tail::BackReferences { bytes: 4 }),
            "a shared heap needs back-references of four bytes: take SharedConfig::TINY, or a geometry with them"
        );
        Self {
            config,
            increment: Increment::Whole,
            pins: 8,
            locals: 16,
            page_buffer: 2,
            entry_buffer: 32,
            granularity: PhantomData,
        }
    }

    /// Sets Π, the most pins that are held at once in one size-class. Each insertion in progress
    /// counts as a pin. A free looks at up to Π + 1 objects to find one that it can move.
    #[must_use]
    pub const fn with_pins(mut self, pins: u32) -> Self {
        self.pins = pins;
        self
    }

    /// Sets the most threads that are registered at once, and the most free pages that each of them
    /// buffers.
    ///
    /// # Errors
    /// [`SharedConfigError::NoLocal`] for zero threads.
    pub const fn with_locals(
        mut self,
        locals: u16,
        page_buffer: u16,
    ) -> Result<Self, SharedConfigError> {
        if locals == 0 {
            return Err(SharedConfigError::NoLocal);
        }
        self.locals = locals;
        self.page_buffer = page_buffer;
        Ok(self)
    }

    /// Sets the most free handles that each size-class buffers under its lock. Up to half of them
    /// may be parked with the page-blocks of their last objects.
    ///
    /// # Errors
    /// [`SharedConfigError::NoHandleBuffer`] for zero, because an allocation takes its handle from
    /// the buffer.
    pub const fn with_handle_buffer(mut self, handles: u16) -> Result<Self, SharedConfigError> {
        if handles == 0 {
            return Err(SharedConfigError::NoHandleBuffer);
        }
        self.entry_buffer = handles;
        Ok(self)
    }

    /// The geometry, the bound and the page order.
    #[must_use]
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// ι: the most bytes that one atomic step of a move copies.
    #[must_use]
    pub const fn increment(&self) -> Increment {
        self.increment
    }

    /// Π: the most pins that are held at once in one size-class. Each insertion in progress counts
    /// as a pin.
    #[must_use]
    pub const fn pins(&self) -> u32 {
        self.pins
    }

    /// The most threads registered at once.
    #[must_use]
    pub const fn locals(&self) -> u16 {
        self.locals
    }

    /// The most free pages that a registered thread buffers.
    #[must_use]
    pub const fn page_buffer(&self) -> u16 {
        self.page_buffer
    }

    /// The most of them that are parked with their page-blocks. The other half is for handles
    /// without one.
    pub(crate) const fn parked_max(&self) -> u16 {
        self.entry_buffer.div_ceil(2)
    }

    /// The most free handles that a size-class buffers.
    #[must_use]
    pub const fn handle_buffer(&self) -> u16 {
        self.entry_buffer
    }
}

/// Why a configuration of a shared heap is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SharedConfigError {
    /// The increment is not a positive multiple of 16.
    Increment,
    /// No thread could use the heap, because none may register.
    NoLocal,
    /// A size-class needs room for at least one free handle.
    NoHandleBuffer,
}

impl fmt::Display for SharedConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Increment => "the increment must be a multiple of 16 bytes above zero",
            Self::NoLocal => "a shared heap needs at least one registered thread",
            Self::NoHandleBuffer => "a size-class buffers at least one handle",
        })
    }
}

impl core::error::Error for SharedConfigError {}
