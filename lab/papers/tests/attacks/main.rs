//! Attacks on the block table: numbers of any size, what is kept, and what drops do.

mod demands;
mod drops;
mod kept;
mod numbers;
