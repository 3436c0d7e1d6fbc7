//! How pages are partitioned into size-classes, and when a size-class compacts.
//!
//! - [`Geometry`]: which page-block serves a request, and where everything lies in a page.
//! - [`Bound`]: how much fragmentation a size-class may have.
//! - [`automaton`]: which transition an allocation or a free causes in a size-class, and how many
//!   pages it then needs at most.
//!
//! ```text
//! geometry    tables: requests to size-classes, page-blocks in a page
//! automaton   decisions from a few numbers of one size-class
//!   bound       the compaction bound of every size-class, the order of its pages
//! ```
//! Nothing here has memory: what is not a table is a pure function of a few numbers. The heaps of
//! `surefit-compact` and `surefit-direct` are built on both, and so are the models that exhaust
//! them. The crate has no dependency and does not use `alloc`. The bounds are proved in the module
//! `bounds` of `surefit-compact`.
//!
//! # Features
//! - `many-classes` (default): geometries of up to 128 size-classes. Without it a geometry has at
//!   most 32, and tables for so many. There is no `Geometry::DEFAULT`.
//!
//! # Source
//! Craciunas, Kirsch, Payer, Sokolova, Stadler, Staudinger: "A Compacting Real-Time Memory
//! Management System" (2008). Craciunas, Kirsch, Payer, Röck, Sokolova: "Concurrency and
//! Scalability versus Fragmentation and Compaction with Compact-fit" (2009).
#![cfg_attr(docsrs, feature(doc_cfg))]
#![no_std]
#![deny(
    clippy::std_instead_of_core,
    clippy::std_instead_of_alloc,
    clippy::alloc_instead_of_core
)]

pub mod automaton;
mod bound;
pub mod geometry;

pub use bound::{Bound, Fraction, FractionError, PageOrder};
pub use geometry::{ClassLayout, Geometry, GeometryError, GeometrySpec, SizeClass, Spacing, Tail};

/// The example of README.md compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
