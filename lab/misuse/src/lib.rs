//! Nothing: the tests of this package compile the programs in `tests/ui` of `surefit-compact` and
//! `surefit-gc`.
#![no_std]
