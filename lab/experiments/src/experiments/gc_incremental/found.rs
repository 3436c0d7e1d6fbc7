//! Everything about one program.
#![deny(unsafe_code)]

use super::births::Births;
use super::collectors::Measured;
use super::promotions::Promotion;

/// Everything about one program.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) name: String,
    pub(super) measured: Vec<Measured>,
    pub(super) promotions: Vec<Promotion>,
    pub(super) births: Vec<Births>,
}
