//! `#[derive(Trace)]` for the objects of `surefit-gc`: the safe way to say where a type keeps its references.
//!
//! `Trace` is an unsafe trait, since the collector believes it. The derive proves what its implementer must promise:
//!
//! - T1, every `Gc` is reported: the generated function takes the type apart without a rest pattern and reports each field.
//!   What is skipped must be `'static`, and no `Gc` is.
//! - T2, no `drop` reads a `Gc`: a type that might hold one may not implement `Drop`. That is told by an implementation which
//!   conflicts with every one of a type that does. Fields are types of the same kind, all the way down.
//! - T4, nothing is demanded of lifetimes in silence: a type has at most one, and every type parameter outlasts it, and is
//!   `Trace` or `'static`.
//!
//! | attribute | on | says |
//! | --- | --- | --- |
//! | `#[trace(skip)]` | a field | holds no reference: it is `'static`, and need not be `Trace` |
//! | `#[trace(skip)]` | a type | the same of all of it |
//! | `#[trace(crate = path)]` | a type | where `surefit_gc` is, if not there: `surefit::gc` |
//!
//! A type parameter must be `Trace` if a field that is not skipped names it, else `'static`. A type without lifetimes and type parameters
//! holds no `Gc`, whatever its fields are, and so may implement `Drop`.
//!
//! # Drawbacks
//! The generated code names `::core` and the collector's crate. A crate that puts a module of its own in the place of `core`, or
//! of the collector by `crate = path`, promises T1 to T4 itself: that takes intent, as `unsafe impl Trace` does.
//!
//! A type that is generic over what it holds may not implement `Drop` even where no `Gc` is in it; put what needs `Drop` into a
//! type of its own, and skip that.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(unsafe_code)]

mod attributes;
mod expand;

use proc_macro::TokenStream;
use syn::{DeriveInput, Error, parse_macro_input};

/// Implements `Trace`: see the crate, and `Trace` in `surefit-gc`.
#[proc_macro_derive(Trace, attributes(trace))]
pub fn derive_trace(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    let expanded = expand::trace(&input);
    expanded.unwrap_or_else(Error::into_compile_error).into()
}

/// The example of README.md compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
