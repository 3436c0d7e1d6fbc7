//! Asks for memory ahead of its use.

/// Asks for the line of memory at an address, whatever it is, and does not wait.
#[inline]
pub fn fetch(address: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: it reads nothing, and no address is wrong.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address.cast());
    }
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    // SAFETY: as above.
    unsafe {
        core::arch::asm!(
            "prfm pldl1keep, [{}]",
            in(reg) address,
            options(nostack, preserves_flags, readonly)
        );
    }
    #[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
    let _ = address;
}

#[cfg(test)]
mod tests {
    use core::ptr::{from_ref, null, without_provenance};

    use super::fetch;

    #[test]
    fn an_address_may_be_anything() {
        let here = 7_u8;
        for address in [null(), without_provenance(usize::MAX), from_ref(&here)] {
            fetch(address);
        }
        assert_eq!(here, 7);
    }
}
