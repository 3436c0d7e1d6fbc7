//! The width of the words of a `cf`, as a type.

use anyhow::{Result, bail};
use surefit_measure::registry::Kind;
use surefit_measure::spec::{Choice, Spec};
use surefit_measure::subjects::compact::Options;

/// The options of `cf`.
///
/// # Errors
/// The spec names another allocator.
pub(super) fn options(spec: &Spec) -> Result<&Options> {
    match &spec.choice {
        Choice::InProcess(Kind::Cf(options)) => Ok(options),
        _ => bail!("{spec}: is not cf"),
    }
}

/// An expression in which `$width` is the width that the options name.
macro_rules! with_width {
    ($options:expr, $width:ident => $then:expr) => {
        match $options.words {
            surefit_measure::subjects::compact::Words::Narrow => {
                type $width = surefit_compact::Narrow;
                $then
            }
            surefit_measure::subjects::compact::Words::Medium => {
                type $width = surefit_compact::Medium;
                $then
            }
            surefit_measure::subjects::compact::Words::Wide if $options.has_keys => {
                type $width = surefit_compact::Keyed<surefit_compact::Wide>;
                $then
            }
            surefit_measure::subjects::compact::Words::Wide => {
                type $width = surefit_compact::Wide;
                $then
            }
        }
    };
}

pub(super) use with_width;
