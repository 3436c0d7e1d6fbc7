//! Keys of values of many sizes, as one type.

use surefit_compact::Key;
use surefit_core::Refused;

use crate::heaps::Guard;

/// A heap of keys, used by one of its registrations.
pub(crate) trait KeyStore {
    fn put<const WORDS: usize>(&self, by: usize) -> Result<Key<[u64; WORDS]>, Refused>;
    fn free<const WORDS: usize>(&self, by: usize, key: Key<[u64; WORDS]>) -> Result<(), Refused>;
    /// Pins an object; nothing in a heap that has no pins.
    fn pin<const WORDS: usize>(&self, key: Key<[u64; WORDS]>) -> Option<Box<dyn Guard + '_>>;
}

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
            pub(crate) fn put(store: &impl KeyStore, by: usize, len: usize) -> Result<Self, Refused> {
                match round_up(len) {
                    $(Some(bytes) if bytes == 8 * $words => store.put(by).map(Self::$variant),)*
                    _ => panic!("no value has {len} bytes"),
                }
            }

            pub(crate) fn free(self, store: &impl KeyStore, by: usize) -> Result<(), Refused> {
                match self {
                    $(Self::$variant(key) => store.free(by, key),)*
                }
            }

            pub(crate) fn pin<'a>(self, store: &'a impl KeyStore) -> Option<Box<dyn Guard + 'a>> {
                match self {
                    $(Self::$variant(key) => store.pin(key),)*
                }
            }
        }
    };
}

sizes! {
    Bytes8 1, Bytes16 2, Bytes24 3, Bytes32 4, Bytes48 6, Bytes64 8, Bytes96 12, Bytes128 16, Bytes192 24, Bytes256 32,
    Bytes384 48, Bytes512 64, Bytes768 96, Bytes1024 128, Bytes2048 256, Bytes4096 512,
}
