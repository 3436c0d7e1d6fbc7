//! Reads the attribute `#[trace(…)]`.

use syn::meta::ParseNestedMeta;
use syn::{Attribute, DeriveInput, Path, Result, parse_quote};

/// The attributes of a type.
pub(crate) struct OfType {
    /// No field of it is visited.
    pub(crate) skip: bool,
    /// The path of the collector's crate.
    pub(crate) gc: Path,
}

impl OfType {
    /// Reads the attributes of a type. Rejects attributes of its variants.
    pub(crate) fn read(input: &DeriveInput) -> Result<Self> {
        let (mut skip, mut gc) = (false, parse_quote!(::surefit_gc));
        each(&input.attrs, |meta| {
            if meta.path.is_ident("skip") {
                skip = true;
            } else if meta.path.is_ident("crate") {
                gc = meta.value()?.call(Path::parse_mod_style)?;
            } else {
                return Err(meta.error(
                    "unknown attribute: on a type, `trace` takes `skip` or `crate = path::of::surefit_gc`",
                ));
            }
            Ok(())
        })?;
        if let syn::Data::Enum(data) = &input.data {
            for variant in &data.variants {
                each(&variant.attrs, |meta| {
                    Err(meta.error("`trace` is not for variants: put it on each field"))
                })?;
            }
        }
        Ok(Self { skip, gc })
    }
}

/// Whether a field with these attributes is skipped.
pub(crate) fn is_skipped(attributes: &[Attribute]) -> Result<bool> {
    let mut skip = false;
    each(attributes, |meta| {
        skip = meta.path.is_ident("skip");
        let message = "unknown attribute: on a field, `trace` takes `skip`";
        if skip {
            Ok(())
        } else {
            Err(meta.error(message))
        }
    })?;
    Ok(skip)
}

/// Calls `read` for each argument of `#[trace(…)]`.
fn each(
    attributes: &[Attribute],
    mut read: impl FnMut(ParseNestedMeta<'_>) -> Result<()>,
) -> Result<()> {
    let mut ours = attributes.iter().filter(|it| it.path().is_ident("trace"));
    ours.try_for_each(|it| it.parse_nested_meta(&mut read))
}
