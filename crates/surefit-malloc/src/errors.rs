//! Where statistics go if no file is named: standard error, also after the program closed it.
//!
//! GNU's programs close it before they end, to see whether all was written; this library writes
//! later.
#![deny(unsafe_code)]

use surefit_interpose::kept::Kept;
use surefit_interpose::system::file_of;

use crate::os::keeping_errno;
use crate::text::Descriptor;

static COPY: Kept = Kept::none();

/// Copies standard error, if there is one and there is no copy.
pub(crate) fn keep() {
    keeping_errno(|| {
        if COPY.number().is_none() {
            COPY.keep(Descriptor::ERRORS.0);
        }
    });
}

/// Standard error, or its copy if the program closed it.
pub(crate) fn kept() -> Descriptor {
    let errors = Descriptor::ERRORS;
    match file_of(errors.0) {
        Some(_) => errors,
        None => COPY.number().map_or(errors, Descriptor),
    }
}
