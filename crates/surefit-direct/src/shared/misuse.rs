//! What a shared direct heap finds wrong with a free.

use core::fmt;

/// Why an address cannot be freed: found where the partitioning shows it at no cost, or in a heap
/// that checks each free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misuse {
    /// The address is outside the heap's region.
    Foreign,
    /// No object begins at the address: it lies inside one, in free memory, or in a released page.
    NoObject,
    /// The page-block that begins at the address is free already. Its size in bytes.
    Double(usize),
}

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Foreign => f.write_str("the address is not in the heap"),
            Self::NoObject => f.write_str(
                "no object begins at the address: it was freed, or lies inside an object",
            ),
            Self::Double(bytes) => write!(f, "the object, of {bytes} bytes, is free already"),
        }
    }
}

impl core::error::Error for Misuse {}
