//! `#[derive(Trace)]` for objects of `surefit-gc`: the safe way to declare where a type holds
//! references.
//!
//! `Trace` is an unsafe trait, because the collector relies on it. The derive proves what an
//! implementer must promise:
//!
//! - T1, every `Gc` is reported: the generated function destructures the type without a rest
//!   pattern and reports each field. A skipped field must be `'static`, and no `Gc` is `'static`.
//! - T2, no `drop` reads a `Gc`: a type that might hold one may not implement `Drop`. A generated
//!   implementation conflicts with `Drop`, so that the compiler rejects such a type. The same holds
//!   for the types of its fields, all the way down.
//! - T4, there are no hidden demands on lifetimes: a type has at most one lifetime, every type
//!   parameter outlives it, and each is `Trace` or `'static`.
//!
//! It implements `Barriered` too, if every field that is not skipped does: then objects of the type
//! can be in an arena that collects in steps. A field that has another type than the derive has
//! seen is found as for T1.
//!
//! For a type without a lifetime it implements `NoGc` as well: the type may be in a `Cell` there.
//!
//! | attribute | on | says |
//! | --- | --- | --- |
//! | `#[trace(skip)]` | a field | it holds no reference: it is `'static`, and need not be `Trace` |
//! | `#[trace(skip)]` | a type | the same for all of its fields |
//! | `#[trace(crate = path)]` | a type | the path of `surefit_gc`, if it is another: `surefit::gc` |
//!
//! A type parameter must be `Trace` if a field that is not skipped names it, and `'static`
//! otherwise. A type without lifetimes and type parameters holds no `Gc`, whatever its fields are,
//! so it may implement `Drop`.
//!
//! # Drawbacks
//! The generated code names `::core` and the collector's crate. A crate that replaces `core` by a
//! module of its own, or the collector by `crate = path`, makes the promises T1 to T4 itself. This
//! happens only on purpose, like `unsafe impl Trace`.
//!
//! A type that is generic over what it holds may not implement `Drop`, even if it holds no `Gc`.
//! Put the part that needs `Drop` into a type of its own, and skip that field.
//!
//! A type that contains itself, through a `Box` for example, is `Barriered` only by hand: the
//! compiler does not prove a demand that rests on itself.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(unsafe_code)]

mod attributes;
mod expand;

use proc_macro::TokenStream;
use syn::{DeriveInput, Error, parse_macro_input};

/// Implements `Trace`. See the documentation of this crate, and `Trace` in `surefit-gc`.
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
