//! What `#[trace(…)]` says.

use syn::meta::ParseNestedMeta;
use syn::{Attribute, DeriveInput, Path, Result, parse_quote};

/// What is said of a type.
pub(crate) struct OfType {
    /// Nothing of it is visited.
    pub(crate) skip: bool,
    /// Where the collector's crate is.
    pub(crate) gc: Path,
}

impl OfType {
    /// Reads the attributes of a type, and refuses those of its variants.
    pub(crate) fn read(input: &DeriveInput) -> Result<Self> {
        let (mut skip, mut gc) = (false, parse_quote!(::surefit_gc));
        each(&input.attrs, |meta| {
            if meta.path.is_ident("skip") {
                skip = true;
            } else if meta.path.is_ident("crate") {
                gc = meta.value()?.call(Path::parse_mod_style)?;
            } else {
                return Err(meta.error(
                    "unknown: of a type, `trace` says `skip` or `crate = path::of::surefit_gc`",
                ));
            }
            Ok(())
        })?;
        if let syn::Data::Enum(data) = &input.data {
            for variant in &data.variants {
                each(&variant.attrs, |meta| {
                    Err(meta.error("`trace` says nothing of a variant: say it of each field"))
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
        let message = "unknown: of a field, `trace` says `skip`";
        if skip {
            Ok(())
        } else {
            Err(meta.error(message))
        }
    })?;
    Ok(skip)
}

/// Hands on whatever stands in `#[trace(…)]`.
fn each(
    attributes: &[Attribute],
    mut read: impl FnMut(ParseNestedMeta<'_>) -> Result<()>,
) -> Result<()> {
    let mut ours = attributes.iter().filter(|it| it.path().is_ident("trace"));
    ours.try_for_each(|it| it.parse_nested_meta(&mut read))
}
