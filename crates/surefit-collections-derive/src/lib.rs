//! `#[derive(Release)]` for values in the containers of `surefit-collections`: gives back what each
//! field owns in a heap.
//!
//! The generated function takes the value apart without a rest pattern, and releases all fields, in
//! their order. A field that cannot be released does not compile where the value is released,
//! unless it is skipped. If the release of a field panics, the fields behind it are released all
//! the same.
//!
//! | attribute | on | says |
//! | --- | --- | --- |
//! | `#[release(skip)]` | a field | it owns nothing in a heap, and is dropped |
//! | `#[release(crate = path)]` | a type | the path of `surefit_collections`, if it is another: `surefit::collections` |
//!
//! The implementation is for every heap `H` in which all fields can be released:
//! ```text
//! impl<H: ?Sized> Release<H> for Type where <each field that is not skipped>: Release<H>
//! ```
//!
//! It says that the values own nothing (`OWNS_NOTHING`) if that is so for each field that is not
//! skipped, and if they need not be dropped: then a container discards them without a call for
//! each.
//!
//! # Drawbacks
//! A type that contains itself cannot be derived, in a `Vec` of itself for example, or two types
//! each of which contains the other: the compiler does not prove a demand that rests on itself. One
//! type of such a circle implements `Release` by hand.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

mod attributes;
mod expand;

use proc_macro::TokenStream;
use syn::{DeriveInput, Error, parse_macro_input};

/// Implements `Release`. See the documentation of this crate, and `Release` in
/// `surefit-collections`.
#[proc_macro_derive(Release, attributes(release))]
pub fn derive_release(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    let expanded = expand::release(&input);
    expanded.unwrap_or_else(Error::into_compile_error).into()
}

/// The example of README.md compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
