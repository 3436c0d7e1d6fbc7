//! Configurations, named and built.

use core::mem::{align_of, size_of};

use surefit_compact::geometry::MAX_CLASSES;
use surefit_compact::{Bound, Config, Fraction, Geometry, GeometrySpec, Spacing, Tail};

use crate::status::{Answer, status, surefit_status};

/// A configuration: pages, size-classes, words, the bound on fragmentation, pieces. It never
/// changes, and must stay where it is as long as a heap uses it.
#[derive(Debug)]
pub struct surefit_config(pub(crate) Config);

/// What a configuration is built from. Zero stands for the default of each member.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct surefit_options {
    /// Bytes of a page: a power of two from 1024 to 65536. Default 16384.
    pub page_bytes: u32,
    /// Bytes of a word: 2 for heaps of up to 1 MiB, 3 up to 128 MiB, 4 up to 32 GiB. Default 4.
    pub word_bytes: u32,
    /// Sizes of page-blocks in each power of two, from 1 to 64. Default 8.
    pub sizes_per_power_of_two: u32,
    /// The most not-full pages of a size-class (the papers' kappa). 0: the bound is in holes.
    pub not_full_pages: u32,
    /// Free page-blocks of a size-class that are always allowed. Default 4.
    pub holes: u32,
    /// One more is allowed for each so many live ones, at least 2. Default 16.
    pub live_per_hole: u32,
    /// Objects of more bytes lie in pieces of this size: a power of two from 64 to a page. Default
    /// a quarter of a page. UINT32_MAX: no object is in pieces; none is larger than a page.
    pub piece_bytes: u32,
    /// The first pieces of an object that is as long have this size, the rest the one above: a
    /// power of two up to a page. Default piece_bytes, or a page if that is 0.
    pub large_piece_bytes: u32,
    /// How many sizes of page-blocks block_bytes has. Default 0: sizes_per_power_of_two says them.
    pub block_sizes: u32,
    /// The sizes of page-blocks in bytes, ascending multiples of 8; a page is added if it is
    /// missing. At most 128, the page included, or 32 without the feature `many-classes`.
    pub block_bytes: *const u32,
}

static MICRO: surefit_config = surefit_config(Config::MICRO);
static TINY: surefit_config = surefit_config(Config::TINY);
#[cfg(all(feature = "holes", feature = "many-classes"))]
static STANDARD: surefit_config = surefit_config(Config::DEFAULT);

/// The bytes of memory that surefit_config_build needs at most, on any machine.
pub const SUREFIT_CONFIG_BYTES: usize = 4096;
const _: () =
    assert!(size_of::<surefit_config>() + align_of::<surefit_config>() - 1 <= SUREFIT_CONFIG_BYTES);

/// The bytes of memory that surefit_config_build needs at most, on any machine, of a library
/// without the feature `many-classes`.
pub const SUREFIT_SMALL_CONFIG_BYTES: usize = 1280;
#[cfg(not(feature = "many-classes"))]
const _: () = assert!(
    size_of::<surefit_config>() + align_of::<surefit_config>() - 1 <= SUREFIT_SMALL_CONFIG_BYTES
);

/// Does nothing. Only a library with the feature `pieces` has it: what was certified for objects in
/// pieces calls it, so that it does not link with a library in which they need more bytes.
#[cfg(feature = "pieces")]
#[unsafe(no_mangle)]
pub extern "C" fn surefit_has_pieces() {}

/// For regions of up to 32 KiB: pages of 1 KiB, six sizes of page-blocks, words of two bytes, one
/// move per free at most.
#[unsafe(no_mangle)]
pub extern "C" fn surefit_config_micro() -> *const surefit_config {
    &raw const MICRO
}

/// For regions of 32 KiB to 1 MiB: pages of 1 KiB, words of two bytes, one move per free at most.
#[unsafe(no_mangle)]
pub extern "C" fn surefit_config_tiny() -> *const surefit_config {
    &raw const TINY
}

/// For larger regions: pages of 16 KiB, words of four bytes, the bound in holes, two moves per free
/// at most. A library built without the features `holes` and `many-classes` does not have this
/// function.
#[cfg(all(feature = "holes", feature = "many-classes"))]
#[unsafe(no_mangle)]
pub extern "C" fn surefit_config_standard() -> *const surefit_config {
    &raw const STANDARD
}

/// The bytes that surefit_config_build needs, wherever they lie. O(1).
#[unsafe(no_mangle)]
pub extern "C" fn surefit_config_bytes() -> usize {
    size_of::<surefit_config>() + align_of::<surefit_config>() - 1
}

/// Builds a configuration in the caller's memory, of at least surefit_config_bytes() bytes. O(1):
/// some ten thousand instructions.
///
/// Answers NULL, also for sizes of page-blocks that are NULL, REGION for too little memory, CONFIG
/// for options that are not possible.
///
/// # Safety
/// The memory is the caller's, for as long as a heap uses the configuration. The sizes of
/// page-blocks are as many as said, at any address, until the call returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn surefit_config_build(
    memory: *mut core::ffi::c_void,
    bytes: usize,
    options: *const surefit_options,
    config: *mut *const surefit_config,
) -> surefit_status {
    // SAFETY: the caller's promise.
    status(unsafe { build(memory.cast(), bytes, options, config) })
}

unsafe fn build(
    memory: *mut u8,
    bytes: usize,
    options: *const surefit_options,
    config: *mut *const surefit_config,
) -> Answer {
    if memory.is_null() || options.is_null() || config.is_null() {
        return Err(surefit_status::Null);
    }
    let skipped = memory.align_offset(align_of::<surefit_config>());
    if bytes < skipped.saturating_add(size_of::<surefit_config>()) {
        return Err(surefit_status::Region);
    }
    // SAFETY: not NULL; the caller's.
    let options = unsafe { options.read_unaligned() };
    // SAFETY: the caller's promise.
    let sizes = unsafe { options.sizes() }?;
    let built = options.build(sizes.as_ref().map(Sizes::list));
    let built = built.ok_or(surefit_status::Config)?;
    // SAFETY: the bytes are the caller's, and enough.
    let place = unsafe { memory.add(skipped) }.cast::<surefit_config>();
    // SAFETY: as above, and aligned.
    unsafe { place.write(surefit_config(built)) };
    // SAFETY: not NULL.
    unsafe { config.write_unaligned(place) };
    Ok(())
}

/// The sizes of page-blocks, copied from the caller.
struct Sizes {
    sizes: [u32; MAX_CLASSES],
    count: usize,
}

impl Sizes {
    fn list(&self) -> &[u32] {
        self.sizes.get(..self.count).unwrap_or_default()
    }
}

impl surefit_options {
    /// Copies the sizes of page-blocks, if there are any.
    ///
    /// # Safety
    /// `block_bytes` is NULL or has `block_sizes` numbers.
    unsafe fn sizes(&self) -> Result<Option<Sizes>, surefit_status> {
        let count = self.block_sizes as usize;
        if count == 0 {
            return Ok(None);
        }
        if self.block_bytes.is_null() {
            return Err(surefit_status::Null);
        }
        if count > MAX_CLASSES {
            return Err(surefit_status::Config);
        }
        let mut sizes = [0; MAX_CLASSES];
        for (index, size) in sizes.iter_mut().take(count).enumerate() {
            // SAFETY: the caller's promise: below `count`.
            let place = unsafe { self.block_bytes.add(index) };
            // SAFETY: as above.
            *size = unsafe { place.read_unaligned() };
        }
        Ok(Some(Sizes { sizes, count }))
    }

    fn build(&self, sizes: Option<&[u32]>) -> Option<Config> {
        let or = |value: u32, default: u32| if value == 0 { default } else { value };
        let steps = Spacing::Fraction(or(self.sizes_per_power_of_two, 8));
        let geometry = Geometry::new(&GeometrySpec {
            page_bytes: or(self.page_bytes, 16 << 10) as usize,
            spacing: sizes.map_or(steps, Spacing::Explicit),
            tail: Tail::BackReferences {
                bytes: or(self.word_bytes, 4) as usize,
            },
            ..GeometrySpec::DEFAULT
        });
        let bound = match self.not_full_pages {
            0 => Bound::Holes {
                base: or(self.holes, 4),
                fraction: Fraction::new(1, or(self.live_per_hole, 16)).ok()?,
            },
            pages => Bound::Pages(pages),
        };
        let config = Config::new(geometry.ok()?, bound).ok()?;
        let config = match self.piece_bytes {
            0 => config,
            u32::MAX => config.with_pieces(None).ok()?,
            bytes => config.with_pieces(Some(bytes as usize)).ok()?,
        };
        match self.large_piece_bytes {
            0 => Some(config),
            bytes => config.with_large_pieces(bytes as usize).ok(),
        }
    }
}
