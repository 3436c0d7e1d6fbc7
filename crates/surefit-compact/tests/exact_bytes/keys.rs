//! Keys of values of many sizes, as one type.

use surefit_compact::{Counted, Key, KeyHeap, Width};
use surefit_core::Refused;

macro_rules! sizes {
    ($($variant:ident $words:literal,)*) => {
        /// A key of a value of one of the sizes.
        #[derive(Clone, Copy, Debug)]
        pub(crate) enum AnyKey {
            $($variant(Key<[u64; $words]>),)*
        }

        /// The bytes of the least value that holds `len` bytes.
        pub(crate) fn round_up(len: usize) -> Option<usize> {
            [$(8 * $words),*].into_iter().find(|&bytes| bytes >= len)
        }

        impl AnyKey {
            pub(crate) fn insert<W, G>(heap: &mut KeyHeap<'_, W, G>, len: usize) -> Result<Self, Refused>
            where
                W: Width<Generation = ()>,
                G: Counted,
            {
                match round_up(len) {
                    $(Some(bytes) if bytes == 8 * $words => {
                        let inserted = heap.insert([0; $words]).map(Self::$variant);
                        inserted.map_err(|full| full.refused)
                    })*
                    _ => panic!("no value has {len} bytes"),
                }
            }

            pub(crate) fn remove<W, G>(self, heap: &mut KeyHeap<'_, W, G>) -> Result<(), Refused>
            where
                W: Width<Generation = ()>,
                G: Counted,
            {
                match self {
                    $(Self::$variant(key) => heap.remove(key).map(drop),)*
                }
            }
        }
    };
}

sizes! {
    Bytes8 1, Bytes16 2, Bytes24 3, Bytes32 4, Bytes48 6, Bytes64 8, Bytes96 12, Bytes128 16, Bytes192 24, Bytes256 32,
    Bytes384 48, Bytes512 64, Bytes768 96, Bytes1024 128, Bytes2048 256, Bytes4096 512,
}
