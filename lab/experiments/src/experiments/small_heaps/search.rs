//! The configuration whose certificate is the least, for each demand.
//!
//! ```text
//! pages          1, 2, 4, … 64 KiB
//! words          2 bytes (heaps up to 1 MiB), 4 bytes
//! classes        2, 4, 8, 16 sizes in each power of two
//! bound          κ = 1: each class has at most one page that is not full, and no bound certifies fewer bytes
//! pieces         objects of more than q bytes are in pieces, q = 64, 128, … a page; none where all fit a page-block
//! ```
#![deny(unsafe_code)]

use anyhow::{Context, Result};
use surefit_compact::certify::{Certificate, Demand, Uncertifiable, certify};
use surefit_compact::{Bound, Config, Geometry, GeometrySpec, Narrow, Spacing, Tail, Wide, Width};

use surefit_measure::requests::Requests;

/// Full compaction.
pub(super) const FULL: Bound = Bound::Pages(1);

/// Sizes in each power of two that are tried.
const SPACINGS: [u32; 4] = [2, 4, 8, 16];

/// Objects up to so many bytes are not divided where no request is larger.
const CONTIGUOUS: u64 = 1024;

/// The least size of a piece.
pub(super) const LEAST_PIECE: usize = 64;

/// What is left to choose, all but the bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    /// P.
    pub(super) page_bytes: usize,
    /// w: 2 or 4.
    pub(super) word_bytes: usize,
    /// Sizes in each power of two.
    pub(super) spacing: u32,
    /// q: objects of more bytes are in pieces; `None` if none is.
    pub(super) piece_bytes: Option<usize>,
}

/// A choice and what it needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Best {
    pub(super) choice: Choice,
    pub(super) certificate: Certificate,
}

impl Best {
    /// Bytes of a region that begins at a multiple of the page.
    pub(super) fn bytes(&self) -> u64 {
        self.certificate.aligned_bytes as u64
    }
}

impl Choice {
    /// The heap, with a bound.
    ///
    /// # Errors
    /// Never for the choices that are tried.
    pub(super) fn config(self, bound: Bound) -> Result<Config> {
        let geometry = Geometry::new(&GeometrySpec {
            page_bytes: self.page_bytes,
            spacing: Spacing::Fraction(self.spacing),
            tail: Tail::BackReferences {
                bytes: self.word_bytes,
            },
            ..GeometrySpec::DEFAULT
        })?;
        Ok(Config::new(geometry, bound)?.with_pieces(self.piece_bytes)?)
    }

    /// The certificate under a bound; `None` if the words are too short for so many objects or
    /// pages.
    ///
    /// # Errors
    /// Never for the choices that are tried.
    pub(super) fn certified(self, bound: Bound, requests: Requests) -> Result<Option<Certificate>> {
        let config = self.config(bound)?;
        match self.word_bytes {
            2 => certified::<Narrow>(&config, requests),
            _ => certified::<Wide>(&config, requests),
        }
    }
}

/// The certificate for such requests; `None` if the words are too short for so many objects or
/// pages.
///
/// # Errors
/// A request for which there is no page-block.
pub(super) fn certified<W: Width>(
    config: &Config,
    requests: Requests,
) -> Result<Option<Certificate>> {
    let budget = requests.budget::<W>(config)?;
    match certify::<W>(config, &Demand::Joint(budget)) {
        Ok(certificate) => Ok(Some(certificate)),
        Err(Uncertifiable::TooManyPages { .. } | Uncertifiable::TooManyEntries { .. }) => Ok(None),
        Err(error) => Err(error).context("the demand of the experiment"),
    }
}

/// The choice with the least certificate among those with pieces of at least so many bytes, or
/// none; the first of several.
///
/// # Errors
/// No choice is certified.
pub(super) fn best(requests: Requests, least_piece: usize) -> Result<Best> {
    let mut best: Option<Best> = None;
    for choice in choices(requests, least_piece) {
        let found = choice.certified(FULL, requests)?;
        let found = found.map(|certificate| Best {
            choice,
            certificate,
        });
        best = match (best, found) {
            (Some(best), Some(found)) if found.bytes() < best.bytes() => Some(found),
            (best, found) => best.or(found),
        };
    }
    best.with_context(|| format!("{requests:?}"))
}

/// All that is tried.
fn choices(requests: Requests, least_piece: usize) -> impl Iterator<Item = Choice> {
    let pages = (10..=16).map(|log2| 1_usize << log2);
    let with_pieces =
        pages.flat_map(move |page| pieces(page, requests, least_piece).map(move |q| (page, q)));
    with_pieces.flat_map(|(page_bytes, piece_bytes)| {
        [2, 4].into_iter().flat_map(move |word_bytes| {
            SPACINGS.map(|spacing| Choice {
                page_bytes,
                word_bytes,
                spacing,
                piece_bytes,
            })
        })
    })
}

/// The pieces that a page may have: objects of a few hundred bytes stay contiguous.
fn pieces(
    page: usize,
    requests: Requests,
    least_piece: usize,
) -> impl Iterator<Item = Option<usize>> {
    let largest = requests.largest;
    let contiguous = (largest <= page as u64).then_some(None);
    let sizes = std::iter::successors(Some(least_piece), |piece| Some(piece * 2));
    let sizes = sizes.take_while(move |piece| *piece <= page && (*piece as u64) < largest);
    let in_pieces = sizes.filter(move |_| largest > CONTIGUOUS).map(Some);
    in_pieces.chain(contiguous)
}
