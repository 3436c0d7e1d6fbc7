//! The implementation that is generated.
//!
//! ```text
//! unsafe impl Trace for Type
//! where <each parameter of a visited field>: Trace, <each other>: 'static, <each>: 'gc {
//!     const TRACED: bool = <any visited field's>;
//!     fn trace(&self, tracer)   every variant, all of its fields: visited, or known to be 'static
//! }
//! unsafe impl Barriered for Type                the same bounds,
//! where <each visited field>: Barriered {}      and these if some part of the type can be a Gc
//! impl NoGc for Type where <each parameter>: NoGc {}      omitted if the type has a lifetime
//! trait MustNotImplementDrop {}                 omitted if no part of the type can be a Gc
//! impl<T: Drop> MustNotImplementDrop for T {}
//! impl MustNotImplementDrop for Type {}
//! fn type_exists() where <the same> { PhantomData::<Type>; }
//! ```
//!
//! # Departures
//! An attribute macro below the derive can change the type after the derive has read it. So
//! `Tracer::visit` compares the types that `TRACED` was computed from with those of the actual
//! fields. An implementation may assume whatever its type demands of lifetimes. A function without
//! arguments may not, so `type_exists` compiles only if all demands are written down (T4).
//!
//! The bounds of `Barriered` say `for<'never>`: else the compiler would reject a type with a field
//! that is not `Barriered` where it is declared, even if it is never put into an arena in steps.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{
    Data, DeriveInput, Error, GenericParam, Path, Result, TypeParam, WherePredicate, parse_quote,
};
use synstructure::{AddBounds, BindingInfo, Structure};

use crate::attributes::{OfType, is_skipped};

/// Generates the implementation for a type.
///
/// # Errors
/// The type is a union, has two lifetimes, or has an unknown attribute.
pub(crate) fn trace(input: &DeriveInput) -> Result<TokenStream> {
    if let Data::Union(union) = &input.data {
        let message = "a union cannot be traced: nothing says which of its fields is valid";
        return Err(Error::new(union.union_token.span(), message));
    }
    let OfType { skip, gc } = OfType::read(input)?;
    let mut structure = Structure::try_new(input)?;
    structure.add_bounds(AddBounds::None);
    if skip {
        return Ok(skipped(&structure, &gc));
    }
    one_lifetime(input)?;
    let (visited, skipped) = partition(&structure)?;
    let traced = traced(&visited, &gc);
    let body = structure.each(|field| match skipped.contains(field) {
        true => skip_field(field),
        false => visit_field(field),
    });
    let bounds = bounds_of_parameters(input, &visited, &gc);
    let exists = exists(input, &bounds);
    for bound in bounds {
        structure.add_where_predicate(bound);
    }
    let no_drop = no_drop(&structure);
    let barriered = barriered(&structure, &visited, &gc);
    let no_gc = no_gc(&structure, &gc);
    Ok(structure.gen_impl(quote! {
        #[automatically_derived]
        #[allow(single_use_lifetimes)]
        gen unsafe impl #gc::Trace for @Self {
            const TRACED: bool = #traced;
            #[inline]
            fn trace(&self, tracer: &mut #gc::Tracer<'_>) {
                let _ = &tracer;
                match *self { #body }
            }
        }
        #barriered
        #no_gc
        #no_drop
        #exists
    }))
}

/// Rejects a second lifetime: the compiler infers what one demands of the other, and this could not
/// be written down (T4).
fn one_lifetime(input: &DeriveInput) -> Result<()> {
    let message =
        "a traced type has one lifetime, that of its references: all else in it is `'static`";
    match input.generics.lifetimes().nth(1) {
        Some(second) => Err(Error::new(second.span(), message)),
        None => Ok(()),
    }
}

/// The implementation for a type of which no field is visited: all of it is `'static`.
fn skipped(structure: &Structure<'_>, gc: &Path) -> TokenStream {
    let name = &structure.ast().ident;
    let is_static = quote_spanned! { name.span()=> tracer.skip(self) };
    let exists = exists(structure.ast(), &[]);
    let no_gc = no_gc(structure, gc);
    structure.gen_impl(quote! {
        #[automatically_derived]
        #[allow(single_use_lifetimes)]
        gen unsafe impl #gc::Trace for @Self {
            const TRACED: bool = false;
            #[inline]
            fn trace(&self, tracer: &mut #gc::Tracer<'_>) {
                #is_static
            }
        }
        #[automatically_derived]
        #[allow(single_use_lifetimes)]
        gen unsafe impl #gc::Barriered for @Self {}
        #no_gc
        #exists
    })
}

/// The implementation of `Barriered`. A type without a lifetime and without type parameters holds
/// no reference. Other types demand it of every field that is visited; the implementation of
/// `Trace` compiles only if these are the types of the actual fields.
fn barriered(structure: &Structure<'_>, visited: &[BindingInfo<'_>], gc: &Path) -> TokenStream {
    let types = visited.iter().map(|field| &field.ast().ty);
    let bounds = match holds_none(structure) {
        true => TokenStream::new(),
        false => quote! { where #(for<'never_used> #types: #gc::Barriered,)* },
    };
    quote! {
        #[automatically_derived]
        #[allow(single_use_lifetimes, unused_lifetimes)]
        gen unsafe impl #gc::Barriered for @Self #bounds {}
    }
}

/// The implementation of `NoGc`, for a type without a lifetime whose parameters implement it.
fn no_gc(structure: &Structure<'_>, gc: &Path) -> TokenStream {
    let generics = &structure.ast().generics;
    if generics.lifetimes().next().is_some() {
        return TokenStream::new();
    }
    let parameters = generics.type_params().map(|parameter| &parameter.ident);
    quote! {
        #[automatically_derived]
        gen impl #gc::NoGc for @Self where #(#parameters: #gc::NoGc,)* {}
    }
}

/// Whether no part of a type can be a reference: it has neither a lifetime nor a type parameter.
fn holds_none(structure: &Structure<'_>) -> bool {
    let parameters = &structure.ast().generics.params;
    let is_constant = |parameter| matches!(parameter, &GenericParam::Const(_));
    parameters.iter().all(is_constant)
}

/// The fields of all variants: those that are visited, and those that are not.
fn partition<'a>(
    structure: &Structure<'a>,
) -> Result<(Vec<BindingInfo<'a>>, Vec<BindingInfo<'a>>)> {
    let (mut visited, mut skipped) = (Vec::new(), Vec::new());
    for field in structure.variants().iter().flat_map(|it| it.bindings()) {
        match is_skipped(&field.ast().attrs)? {
            true => skipped.push(field.clone()),
            false => visited.push(field.clone()),
        }
    }
    Ok((visited, skipped))
}

/// Whether any of the fields is traced.
fn traced(fields: &[BindingInfo<'_>], gc: &Path) -> TokenStream {
    let types = fields.iter().map(|field| &field.ast().ty);
    quote! { false #(|| <#types as #gc::Trace>::TRACED)* }
}

/// Visits a field. Errors are reported at its type.
fn visit_field(field: &BindingInfo<'_>) -> TokenStream {
    let ty = &field.ast().ty;
    quote_spanned! { ty.span()=> tracer.visit(#field, ::core::marker::PhantomData::<#ty>); }
}

/// Asserts that a field is `'static`. Errors are reported at its type.
fn skip_field(field: &BindingInfo<'_>) -> TokenStream {
    quote_spanned! { field.ast().ty.span()=> tracer.skip(#field); }
}

/// Demands `Trace` for every type parameter that a visited field names. (Not for the types of the
/// fields, which may be recursive.) Demands `'static` for every other parameter, because the type
/// of a field may hide its parts. Demands that each parameter outlives the references (T4).
fn bounds_of_parameters(
    input: &DeriveInput,
    visited: &[BindingInfo<'_>],
    gc: &Path,
) -> Vec<WherePredicate> {
    let lifetimes: Vec<_> = input.generics.lifetimes().map(|it| &it.lifetime).collect();
    let bounds = |parameter: &TypeParam| -> Vec<WherePredicate> {
        let name = &parameter.ident;
        let names_it = |field: &BindingInfo<'_>| field.referenced_ty_params().contains(&name);
        let mut bounds = vec![match visited.iter().any(names_it) {
            true => parse_quote! { #name: #gc::Trace },
            false => parse_quote! { #name: 'static },
        }];
        bounds.extend(
            lifetimes
                .iter()
                .map(|lifetime| parse_quote! { #name: #lifetime }),
        );
        bounds
    };
    input.generics.type_params().flat_map(bounds).collect()
}

/// A function in which the compiler knows nothing about the type except its bounds.
fn exists(input: &DeriveInput, bounds: &[WherePredicate]) -> TokenStream {
    let (name, mut generics) = (&input.ident, input.generics.clone());
    generics
        .make_where_clause()
        .predicates
        .extend(bounds.iter().cloned());
    let (parameters, arguments, bounds) = generics.split_for_impl();
    quote! {
        #[allow(
            dead_code,
            single_use_lifetimes,
            clippy::extra_unused_lifetimes,
            clippy::extra_unused_type_parameters,
            clippy::multiple_bound_locations
        )]
        fn type_exists #parameters () #bounds {
            let _ = ::core::marker::PhantomData::<#name #arguments>;
        }
    }
}

/// The implementation that conflicts with `Drop`. It is generated if the type may hold a reference:
/// it has a lifetime or a type parameter.
fn no_drop(structure: &Structure<'_>) -> TokenStream {
    match holds_none(structure) {
        true => TokenStream::new(),
        false => quote! {
            trait MustNotImplementDrop {}
            #[allow(drop_bounds)]
            impl<T: ::core::ops::Drop + ?::core::marker::Sized> MustNotImplementDrop for T {}
            #[automatically_derived]
            #[allow(single_use_lifetimes)]
            gen impl MustNotImplementDrop for @Self {}
        },
    }
}
