//! Numbers in the bytes of a log, as this machine writes them.

pub(crate) fn word(bytes: &[u8], at: usize) -> u64 {
    u64::from_ne_bytes(bytes[at..at + 8].try_into().expect("8 bytes"))
}

pub(crate) fn half(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes(
        bytes[at..at + size_of::<u32>()]
            .try_into()
            .expect("4 bytes"),
    )
}
