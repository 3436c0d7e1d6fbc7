//! The implementation that is generated.
//!
//! ```text
//! impl<H: ?Sized> Release<H> for Type where <each released field>: Release<H> {
//!     fn release(self, heap: &mut H) {
//!         match self {
//!             Type::Variant { a, b, c: _ } => Release::release((a, (b, ())), heap),
//!         }
//!     }
//! }
//! ```
//! A pair releases its second part also if the release of the first one panics.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::{Data, DeriveInput, Error, Fields, GenericParam, Path, Result, Type, parse_quote};

use crate::attributes::{is_skipped, path};

/// Generates the implementation for a type.
///
/// # Errors
/// The type is a union, or has an unknown attribute.
pub(crate) fn release(input: &DeriveInput) -> Result<TokenStream> {
    let path = path(input)?;
    let variants: Vec<(TokenStream, &Fields)> = match &input.data {
        Data::Struct(data) => vec![(quote!(Self), &data.fields)],
        Data::Enum(data) => {
            let variants = data.variants.iter().map(|variant| {
                let name = &variant.ident;
                (quote!(Self::#name), &variant.fields)
            });
            variants.collect()
        }
        Data::Union(union) => {
            let message = "a union cannot be released: nothing says which of its fields is valid";
            return Err(Error::new(union.union_token.span, message));
        }
    };
    let mut arms = TokenStream::new();
    let mut types = Vec::new();
    for (name, fields) in variants {
        let taken = Taken::of(fields)?;
        arms.extend(taken.arm(&name, &path));
        types.extend(taken.types);
    }
    Ok(implementation(input, &path, &arms, &types))
}

/// The fields of a variant: how they are taken apart, and which are released.
struct Taken<'a> {
    patterns: Vec<TokenStream>,
    released: Vec<Ident>,
    types: Vec<&'a Type>,
}

impl<'a> Taken<'a> {
    fn of(fields: &'a Fields) -> Result<Self> {
        let (mut patterns, mut released, mut types) = (Vec::new(), Vec::new(), Vec::new());
        for (number, field) in fields.iter().enumerate() {
            let binding = format_ident!("field_{number}");
            let member = match &field.ident {
                Some(name) => quote!(#name),
                None => {
                    let index = syn::Index::from(number);
                    quote!(#index)
                }
            };
            if is_skipped(&field.attrs)? {
                patterns.push(quote!(#member: _));
            } else {
                patterns.push(quote!(#member: #binding));
                released.push(binding);
                types.push(&field.ty);
            }
        }
        Ok(Self {
            patterns,
            released,
            types,
        })
    }

    /// The arm of a variant.
    fn arm(&self, name: &TokenStream, path: &Path) -> TokenStream {
        let patterns = &self.patterns;
        let mut rest = quote!(());
        for binding in self.released.iter().rev() {
            rest = quote!((#binding, #rest));
        }
        quote! {
            #name { #(#patterns),* } => #path::Release::release(#rest, heap),
        }
    }
}

fn implementation(
    input: &DeriveInput,
    path: &Path,
    arms: &TokenStream,
    types: &[&Type],
) -> TokenStream {
    let name = &input.ident;
    let mut generics = input.generics.clone();
    let heap = format_ident!("Heap_");
    let at = generics
        .params
        .iter()
        .take_while(|it| matches!(it, GenericParam::Lifetime(_)));
    let at = at.count();
    generics
        .params
        .insert(at, parse_quote!(#heap: ?::core::marker::Sized));
    let demands = generics.make_where_clause();
    for ty in types {
        demands
            .predicates
            .push(parse_quote!(#ty: #path::Release<#heap>));
    }
    let (parameters, _, demands) = generics.split_for_impl();
    let (_, arguments, _) = input.generics.split_for_impl();
    quote! {
        #[automatically_derived]
        #[allow(private_bounds, single_use_lifetimes)]
        impl #parameters #path::Release<#heap> for #name #arguments #demands {
            fn release(self, heap: &mut #heap) {
                let _ = &heap;
                match self { #arms }
            }
        }
    }
}
