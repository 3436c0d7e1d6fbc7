//! The configuration of a Compact-fit heap: its geometry, its compaction bound, its page order and
//! its piece size.
//!
//! A [`Config`] is validated once: at compile time if it is a constant.
#![deny(
    unsafe_code,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use core::fmt;

use surefit_classes::{Bound, Geometry, GeometrySpec, PageOrder, Spacing, Tail};

use crate::pieces::Division;

/// A valid configuration of a handle heap.
#[derive(Clone, Debug)]
pub struct Config {
    geometry: Geometry,
    bound: Bound,
    order: PageOrder,
    piece_bytes: Option<usize>,
    large_bytes: usize,
}

impl Config {
    /// For heaps of more than 1 MiB: 16 KiB pages, classes at 1/8 spacing, the default hole bound,
    /// byte objects over 4 KiB in pieces: of 16 KiB first, the rest of 4 KiB.
    #[cfg(all(feature = "holes", feature = "many-classes"))]
    #[cfg_attr(docsrs, doc(cfg(all(feature = "holes", feature = "many-classes"))))]
    pub const DEFAULT: Self = match Self::new(Geometry::DEFAULT, Bound::DEFAULT) {
        Ok(config) => config,
        Err(_) => panic!("the default configuration is valid"),
    };

    /// For heaps of 1 to 128 MiB in which bytes matter more than time, with words of three bytes
    /// ([`Medium`](crate::Medium)): 8 KiB pages, classes at 1/16 spacing, the default hole bound,
    /// byte objects over 1 KiB in pieces: of 8 KiB first, the rest of 1 KiB.
    ///
    /// On seven recorded programs the smallest heap is .6 to 3.5 % of live bytes smaller than with
    /// the pages, classes and pieces of [`Config::DEFAULT`], and a certificate 1.2 to 7.4 %. An
    /// allocation takes 24 to 27 instructions more, a free 3 to 10.
    ///
    /// # Examples
    /// ```
    /// use surefit_compact::certify::{Demand, certify};
    /// use surefit_compact::{Config, Heap, Medium};
    ///
    /// static CONFIG: Config = Config::LEAN;
    /// // At most 20,000 objects of up to 512 bytes at once, 1 MiB in all.
    /// let demand = Demand::of_mix::<Medium>(&CONFIG, 20_000, 512, 1 << 20);
    /// let certificate = certify::<Medium>(&CONFIG, &demand)?;
    /// let mut memory = vec![core::mem::MaybeUninit::uninit(); certificate.heap_bytes];
    /// let heap: Heap<Medium> = Heap::new(&mut memory, &CONFIG)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(all(feature = "holes", feature = "many-classes"))]
    #[cfg_attr(docsrs, doc(cfg(all(feature = "holes", feature = "many-classes"))))]
    pub const LEAN: Self = Self::with_default_bound(
        &GeometrySpec {
            page_bytes: 8 << 10,
            spacing: Spacing::Fraction(16),
            tail: Tail::BackReferences { bytes: 3 },
            ..GeometrySpec::DEFAULT
        },
        Some(1 << 10),
    );

    /// For heaps of containers (`surefit-collections`): 8 KiB pages, classes at 1/8 spacing, the
    /// default hole bound, byte objects over 8 KiB in pieces of 8 KiB.
    ///
    /// A container takes a page for each size-class that it uses: so smaller pages are less for few
    /// or small containers. And more objects are in one piece, or in pieces of one size, which are
    /// found faster.
    #[cfg(all(feature = "holes", feature = "many-classes"))]
    #[cfg_attr(docsrs, doc(cfg(all(feature = "holes", feature = "many-classes"))))]
    pub const CONTAINERS: Self = Self::with_default_bound(
        &GeometrySpec {
            page_bytes: 8 << 10,
            ..GeometrySpec::DEFAULT
        },
        None,
    );

    #[cfg(all(feature = "holes", feature = "many-classes"))]
    const fn with_default_bound(spec: &GeometrySpec<'_>, pieces_of: Option<usize>) -> Self {
        let Ok(geometry) = Geometry::new(spec) else {
            panic!("the partitioning is valid")
        };
        let Ok(config) = Self::new(geometry, Bound::DEFAULT) else {
            panic!("the bound is valid")
        };
        Self {
            piece_bytes: match pieces_of {
                _ if !cfg!(feature = "pieces") => None,
                Some(bytes) => Some(bytes),
                None => Some(config.large_bytes),
            },
            ..config
        }
    }

    /// For heaps of up to 32 KiB, with words of two bytes ([`Narrow`](crate::Narrow)): as
    /// [`Config::TINY`], with page-blocks of 32, 64, 128, 256, 512 and 1024 bytes. Few size-classes
    /// have few pages that are nearly empty.
    ///
    /// 16 KiB are enough for 5,343 bytes of live requests of 16 to 256 bytes, in any mix and in any
    /// order.
    pub const MICRO: Self = Self::of_small_pages(Spacing::Explicit(&[32, 64, 128, 256, 512]), 2);

    /// For heaps of 32 KiB to 1 MiB, with words of two bytes ([`Narrow`](crate::Narrow)): 1 KiB
    /// pages, classes at 1/4 spacing, at most one not-full page per class, pieces of 1 KiB and 256
    /// bytes.
    ///
    /// For 64 KiB of live requests of up to 256 bytes, certificates are within 5 % of the least
    /// over pages, spacings, bounds and pieces (`surefit certify --propose`).
    ///
    /// # Examples
    /// ```
    /// use surefit_compact::certify::{Demand, region_bytes};
    /// use surefit_compact::{Config, Heap, Narrow};
    /// use surefit_core::{Page1K, Region};
    ///
    /// static CONFIG: Config = Config::TINY;
    /// // At most 600 objects of up to 48 bytes, in any mix and in any order.
    /// const DEMAND: Demand<'static> = Demand::of_requests::<Narrow>(&CONFIG, 600, 48);
    /// static MEMORY: Region<{ region_bytes::<Narrow>(&CONFIG, &DEMAND) }, Page1K> = Region::new();
    /// let mut heap: Heap<Narrow> = Heap::new(MEMORY.take().expect("taken once"), &CONFIG)?;
    /// let sample = heap.insert([1_u16; 12])?;
    /// assert_eq!(heap.remove(sample), [1; 12]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub const TINY: Self = Self::of_small_pages(Spacing::Fraction(4), 2);

    pub(crate) const fn of_small_pages(spacing: Spacing<'_>, bytes: usize) -> Self {
        let geometry = Geometry::new(&GeometrySpec {
            page_bytes: 1 << 10,
            spacing,
            tail: Tail::BackReferences { bytes },
            ..GeometrySpec::DEFAULT
        });
        let Ok(geometry) = geometry else {
            panic!("the partitioning is valid")
        };
        let Ok(config) = Self::new(geometry, Bound::Pages(1)) else {
            panic!("the bound is valid")
        };
        config
    }

    /// A configuration with large pieces of a page, small ones of a quarter of a page, and the
    /// newest-first order.
    ///
    /// # Errors
    /// [`ConfigError`] names the value that is not possible.
    pub const fn new(geometry: Geometry, bound: Bound) -> Result<Self, ConfigError> {
        if matches!(geometry.tail(), Tail::None) {
            return Err(ConfigError::NoBackReferences);
        }
        if matches!(bound, Bound::Pages(0)) {
            return Err(ConfigError::NoNotFullPage);
        }
        if !cfg!(feature = "holes") && !matches!(bound, Bound::Pages(_)) {
            return Err(ConfigError::Bound);
        }
        let page_bytes = geometry.page_bytes();
        Ok(Self {
            geometry,
            bound,
            order: PageOrder::Newest,
            piece_bytes: if cfg!(feature = "pieces") {
                Some(page_bytes / 4)
            } else {
                None
            },
            large_bytes: page_bytes,
        })
    }

    /// The same configuration with another page order.
    ///
    /// # Errors
    /// [`ConfigError::OrderNeedsPages`]: the hole bound and the unbounded heap have their own
    /// order.
    pub const fn with_order(self, order: PageOrder) -> Result<Self, ConfigError> {
        if matches!(order, PageOrder::Original) && !matches!(self.bound, Bound::Pages(_)) {
            return Err(ConfigError::OrderNeedsPages);
        }
        Ok(Self { order, ..self })
    }

    /// The same configuration with byte objects over `piece_bytes` in pieces of this one size.
    /// `None` keeps all of them contiguous, up to a page.
    ///
    /// # Errors
    /// [`ConfigError::Pieces`] unless the size is a power of two from 64 bytes up to a page, or
    /// without the feature `pieces`.
    pub const fn with_pieces(self, piece_bytes: Option<usize>) -> Result<Self, ConfigError> {
        let Some(bytes) = piece_bytes else {
            return Ok(Self {
                piece_bytes,
                ..self
            });
        };
        if !cfg!(feature = "pieces") || !bytes.is_power_of_two() || bytes < 64 {
            return Err(ConfigError::Pieces);
        }
        let divided = Self {
            piece_bytes,
            ..self
        };
        divided.with_large_pieces(bytes)
    }

    /// The same configuration with pieces of `large_bytes` at the beginning of byte objects that
    /// are as long, and pieces of [`Config::piece_bytes`] for the rest. It means nothing where no
    /// object is in pieces.
    ///
    /// Fewer pieces are faster to allocate, to free and to walk, and pieces of a page leave no
    /// holes. An object that grows past a multiple of `large_bytes` copies what its small pieces
    /// held. So a program whose long objects grow by little each time may want pieces of one size.
    ///
    /// # Errors
    /// [`ConfigError::Pieces`] unless the size is a power of two from the small pieces' up to a
    /// page.
    pub const fn with_large_pieces(self, large_bytes: usize) -> Result<Self, ConfigError> {
        let least = match self.piece_bytes {
            Some(bytes) => bytes,
            None => 64,
        };
        let most = self.geometry.page_bytes();
        if !large_bytes.is_power_of_two() || large_bytes < least || large_bytes > most {
            return Err(ConfigError::Pieces);
        }
        Ok(Self {
            large_bytes,
            ..self
        })
    }

    /// The partitioning of pages.
    #[inline]
    #[must_use]
    pub const fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// The compaction bound of every class.
    #[inline]
    #[must_use]
    pub const fn bound(&self) -> Bound {
        self.bound
    }

    /// The page order of [`Bound::Pages`].
    #[inline]
    #[must_use]
    pub const fn order(&self) -> PageOrder {
        self.order
    }

    /// The largest contiguous byte object, in bytes. `None`: all byte objects are contiguous, up to
    /// a page.
    #[inline]
    #[must_use]
    pub const fn piece_bytes(&self) -> Option<usize> {
        self.piece_bytes
    }

    /// How byte objects are divided into pieces.
    #[inline]
    #[must_use]
    pub const fn division(&self) -> Division {
        if cfg!(feature = "pieces") {
            Division::new(self.piece_bytes, self.large_bytes)
        } else {
            Division::NONE
        }
    }
}

#[cfg(all(feature = "holes", feature = "many-classes"))]
#[cfg_attr(docsrs, doc(cfg(all(feature = "holes", feature = "many-classes"))))]
impl Default for Config {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Why a configuration is not possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// The bound allows zero not-full pages.
    NoNotFullPage,
    /// A handle heap needs a geometry with back-references.
    NoBackReferences,
    /// The original page order is possible only with a bound in pages.
    OrderNeedsPages,
    /// The piece size is not a power of two from 64 bytes to a page, or the crate was built without
    /// its feature `pieces`.
    Pieces,
    /// The crate was built without its feature `holes`, and the bound is not in pages.
    Bound,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoNotFullPage => {
                "a class needs at least one not-full page: use k=1 for full compaction"
            }
            Self::NoBackReferences => {
                "a handle heap needs a geometry with back-references of 2, 3 or 4 bytes"
            }
            Self::OrderNeedsPages => "the original page order needs a bound in pages (k=N)",
            Self::Pieces => {
                "the piece size must be a power of two from 64 bytes up to the page size"
            }
            Self::Bound => "this bound needs the feature `holes` of surefit-compact",
        })
    }
}

impl core::error::Error for ConfigError {}
