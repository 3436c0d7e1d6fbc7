//! Reads the attribute `#[release(…)]`.

use syn::meta::ParseNestedMeta;
use syn::{Attribute, DeriveInput, Path, Result, parse_quote};

/// The path of the containers' crate, from the attributes of a type. Rejects attributes of its
/// variants.
pub(crate) fn path(input: &DeriveInput) -> Result<Path> {
    let mut path = parse_quote!(::surefit_collections);
    each(&input.attrs, |meta| {
        if !meta.path.is_ident("crate") {
            let message = "unknown attribute: on a type, `release` takes `crate = path::of::surefit_collections`";
            return Err(meta.error(message));
        }
        path = meta.value()?.call(Path::parse_mod_style)?;
        Ok(())
    })?;
    if let syn::Data::Enum(data) = &input.data {
        for variant in &data.variants {
            each(&variant.attrs, |meta| {
                Err(meta.error("`release` is not for variants: put it on each field"))
            })?;
        }
    }
    Ok(path)
}

/// Whether a field with these attributes is skipped.
pub(crate) fn is_skipped(attributes: &[Attribute]) -> Result<bool> {
    let mut skip = false;
    each(attributes, |meta| {
        skip = meta.path.is_ident("skip");
        match skip {
            true => Ok(()),
            false => Err(meta.error("unknown attribute: on a field, `release` takes `skip`")),
        }
    })?;
    Ok(skip)
}

/// Whether a type with these attributes is packed.
pub(crate) fn is_packed(attributes: &[Attribute]) -> bool {
    let mut packed = false;
    for repr in attributes.iter().filter(|it| it.path().is_ident("repr")) {
        // What is no list of words is the compiler's to refuse.
        let _ = repr.parse_nested_meta(|meta| {
            packed |= meta.path.is_ident("packed");
            // `packed(2)`, `align(8)`
            if meta.input.peek(syn::token::Paren) {
                let in_brackets;
                syn::parenthesized!(in_brackets in meta.input);
                in_brackets.parse::<syn::LitInt>()?;
            }
            Ok(())
        });
    }
    packed
}

/// Calls `read` for each argument of `#[release(…)]`.
fn each(
    attributes: &[Attribute],
    mut read: impl FnMut(ParseNestedMeta<'_>) -> Result<()>,
) -> Result<()> {
    let mut ours = attributes.iter().filter(|it| it.path().is_ident("release"));
    ours.try_for_each(|it| it.parse_nested_meta(&mut read))
}
