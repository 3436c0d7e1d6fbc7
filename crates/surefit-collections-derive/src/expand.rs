//! The implementation that is generated.
//!
//! ```text
//! impl<H: ?Sized> Release<H> for Type where <each released field>: Release<H> {
//!     const OWNS_NOTHING: bool = !needs_drop::<Self>() && <each released field>::OWNS_NOTHING;
//!
//!     fn release(self, heap: &mut H) {
//!         match self {
//!             Type::Variant { a, b, c: _, d } => Release::release((a, (b, d)), heap),
//!         }
//!     }
//!
//!     fn belongs_to(&self, heap: &H) -> bool {
//!         match *self {
//!             Type::Variant { ref a, ref b, c: _, ref d } =>
//!                 Release::belongs_to(a, heap) && …,
//!         }
//!     }
//! }
//! ```
//! A pair releases its second part also if the release of the first one panics; the pairs are a
//! balanced tree, so that many fields nest a few deep. What is named here
//! has names that nobody else uses, and is not seen outside.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::{Data, DeriveInput, Error, Fields, GenericParam, Path, Result, Type, parse_quote};

use crate::attributes::{is_packed, is_skipped, path};

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
    let (mut arms, mut asked) = (TokenStream::new(), TokenStream::new());
    let mut types = Vec::new();
    for (name, fields) in variants {
        let taken = Taken::of(fields)?;
        arms.extend(taken.arm(&name, &path));
        asked.extend(taken.asked(&name, &path));
        types.extend(taken.types);
    }
    Ok(implementation(input, &path, [&arms, &asked], &types))
}

/// The fields of a variant: how they are taken apart, and which are released.
struct Taken<'a> {
    members: Vec<(TokenStream, Option<Ident>)>,
    released: Vec<Ident>,
    types: Vec<&'a Type>,
}

impl<'a> Taken<'a> {
    fn of(fields: &'a Fields) -> Result<Self> {
        let (mut members, mut released, mut types) = (Vec::new(), Vec::new(), Vec::new());
        for (number, field) in fields.iter().enumerate() {
            let binding = ours(&format!("field_{number}"));
            let member = match &field.ident {
                Some(name) => quote!(#name),
                None => {
                    let index = syn::Index::from(number);
                    quote!(#index)
                }
            };
            if is_skipped(&field.attrs)? {
                members.push((member, None));
            } else {
                members.push((member, Some(binding.clone())));
                released.push(binding);
                types.push(&field.ty);
            }
        }
        Ok(Self {
            members,
            released,
            types,
        })
    }

    /// The fields, as a pattern takes them apart: `how` each binding is written.
    fn patterns(&self, how: fn(&Ident) -> TokenStream) -> impl Iterator<Item = TokenStream> {
        self.members.iter().map(move |(member, binding)| {
            let binding = binding.as_ref().map_or_else(|| quote!(_), how);
            quote!(#member: #binding)
        })
    }

    /// The arm of a variant that releases it.
    fn arm(&self, name: &TokenStream, path: &Path) -> TokenStream {
        let (patterns, heap) = (self.patterns(|binding| quote!(#binding)), ours("heap"));
        let all = pairs(&self.released);
        quote! {
            #name { #(#patterns),* } => #path::Release::release(#all, #heap),
        }
    }

    /// The arm of a variant that asks whether it belongs to a heap.
    fn asked(&self, name: &TokenStream, path: &Path) -> TokenStream {
        let (patterns, heap) = (self.patterns(|binding| quote!(ref #binding)), ours("heap"));
        let all = self.released.iter();
        quote! {
            #name { #(#patterns),* } => true #(&& #path::Release::belongs_to(#all, #heap))*,
        }
    }
}

/// A balanced tree of pairs; the first bindings stand in the first part.
fn pairs(bindings: &[Ident]) -> TokenStream {
    match bindings {
        [] => quote!(()),
        [one] => quote!(#one),
        more => {
            let (first, second) = more.split_at(more.len() / 2);
            let (first, second) = (pairs(first), pairs(second));
            quote!((#first, #second))
        }
    }
}

/// A name of the generated code.
fn ours(name: &str) -> Ident {
    Ident::new(&format!("__surefit_{name}"), Span::mixed_site())
}

fn implementation(
    input: &DeriveInput,
    path: &Path,
    [arms, asked]: [&TokenStream; 2],
    types: &[&Type],
) -> TokenStream {
    let name = &input.ident;
    let mut generics = input.generics.clone();
    let (heap, value) = (ours("Heap"), ours("heap"));
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
    let belongs_to = quote! {
        fn belongs_to(&self, #value: &#heap) -> ::core::primitive::bool {
            let _ = #value;
            match *self { #asked }
        }
    };
    // Fields of a packed type have no references.
    let belongs_to = (!is_packed(&input.attrs)).then_some(belongs_to);
    quote! {
        #[automatically_derived]
        #[allow(non_camel_case_types, private_bounds, single_use_lifetimes)]
        impl #parameters #path::Release<#heap> for #name #arguments #demands {
            const OWNS_NOTHING: ::core::primitive::bool = !::core::mem::needs_drop::<Self>()
                #(&& <#types as #path::Release<#heap>>::OWNS_NOTHING)*;

            fn release(self, #value: &mut #heap) {
                let _ = &#value;
                match self { #arms }
            }

            #belongs_to
        }
    }
}
