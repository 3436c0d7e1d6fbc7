#![doc = include_str!("../docs/bounds.md")]
//!
//! ## 11. What is public of the code above
//!
//! - Section 2: [`automaton::pages_bound`], [`automaton::free`], [`automaton::settle`],
//!   [`Fraction`]
//! - Sections 3 and 4: [`certify()`], [`Demand`], [`DemandMeter`], [`BlockCount::of`],
//!   [`BlockCount::in_resize`], [`Pieces`], [`region_bytes`], [`layout::pages_in`]
//! - Section 5: [`moves_max`], [`CallWork::of_free`], [`DemandMeter::call`], [`Certificate`]
//! - Section 7: [`automaton::incremental`], [`certify_shared`], [`Sharing`]
//! - Section 9: [`certify_contiguous`], [`ContiguousCertificate`]

#[cfg(doc)]
use surefit_classes::{Fraction, automaton};

#[cfg(doc)]
use crate::{
    certify::{
        BlockCount, CallWork, Certificate, ContiguousCertificate, Demand, DemandMeter, Sharing,
        certify, certify_contiguous, certify_shared, moves_max, region_bytes,
    },
    layout,
    pieces::Pieces,
};
