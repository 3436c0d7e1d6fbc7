//! The figures of the picture: what each heap needs by proof, for live bytes from 4 KiB to 16 MiB.
#![deny(unsafe_code)]

use anyhow::Result;
use surefit_compact::Bound;

use super::others::{self, UNIT_BYTES};
use super::search::{Best, LEAST_PIECE, best};
use surefit_measure::requests::{Requests, Sizes};

/// The live bytes, as logarithms: 4 KiB to 16 MiB.
pub(super) const LIVE_LOG2: std::ops::RangeInclusive<u32> = 12..=24;

/// The largest object of the first half of the picture.
const SMALL: u64 = 256;

/// Pieces that most programs would find large enough.
const LARGE_PIECE: usize = 1024;

/// How large objects may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Objects {
    /// Up to 256 bytes, each in one page-block.
    Small,
    /// Of any size, up to all that is live at once.
    AnySize,
}

impl Objects {
    pub(super) const ALL: [Self; 2] = [Self::Small, Self::AnySize];

    /// What they are called.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Small => "objects of up to 256 B",
            Self::AnySize => "objects of any size",
        }
    }

    /// Any order of such objects, of so many bytes in sum.
    pub(super) const fn requests(self, live: u64) -> Requests {
        Requests {
            sizes: Sizes::Any,
            smallest: UNIT_BYTES,
            largest: match self {
                Self::Small => SMALL,
                Self::AnySize => live,
            },
            live,
        }
    }
}

/// The points of each half of the picture.
pub(super) type Points = [Vec<Point>; 2];

/// What each heap needs for one sum of live bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    /// M.
    pub(super) live: u64,
    /// Compact-fit in its best configuration.
    pub(super) cf: Best,
    /// The same configuration under the default bound.
    pub(super) default_bytes: Option<u64>,
    /// Compact-fit without pieces of less than 1 KiB, where objects can be larger.
    pub(super) large_pieces: Option<Best>,
    /// o1heap's own figure.
    pub(super) o1heap: u64,
    /// TLSF's, which is best fit's.
    pub(super) tlsf: u64,
    /// What every heap needs that never moves an object.
    pub(super) floor: u64,
}

impl Point {
    /// Computes a point.
    ///
    /// # Errors
    /// No configuration is certified: never for the picture's.
    pub(super) fn of(objects: Objects, live: u64) -> Result<Self> {
        let requests = objects.requests(live);
        let cf = best(requests, LEAST_PIECE)?;
        let large_pieces = match objects {
            Objects::Small => None,
            Objects::AnySize => Some(best(requests, LARGE_PIECE)?),
        };
        let default = cf.choice.certified(Bound::DEFAULT, requests)?;
        Ok(Self {
            live,
            cf,
            default_bytes: default.map(|certificate| certificate.aligned_bytes as u64),
            large_pieces,
            o1heap: others::o1heap(live, requests.largest),
            tlsf: others::best_fit(live, requests.largest),
            floor: others::robson(live, requests.largest),
        })
    }

    /// Bytes for each live byte.
    pub(super) fn ratio(&self, bytes: u64) -> f64 {
        bytes as f64 / self.live as f64
    }

    /// Compact-fit's, for each live byte.
    pub(super) fn cf_ratio(&self) -> f64 {
        self.ratio(self.cf.bytes())
    }

    /// That of heaps that never move, for each live byte.
    pub(super) fn floor_ratio(&self) -> f64 {
        self.ratio(self.floor)
    }
}

/// All points for such objects.
///
/// # Errors
/// As [`Point::of`].
pub(super) fn points(objects: Objects) -> Result<Vec<Point>> {
    LIVE_LOG2
        .map(|log2| Point::of(objects, 1 << log2))
        .collect()
}
