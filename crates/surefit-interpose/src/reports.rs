//! The calls beside malloc's family by which programs ask GNU's C library what its heap holds, and
//! the macro that makes a library export them. Without them these calls would reach the C library's
//! own heap, which nobody uses.

use core::ffi::{c_int, c_void};

/// What `mallinfo2` answers. The names are the C library's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Info {
    /// Bytes that the heap has from the system, large objects not counted.
    pub arena: usize,
    /// Free runs.
    pub ordblks: usize,
    /// Free small chunks.
    pub smblks: usize,
    /// Large objects.
    pub hblks: usize,
    /// Their bytes.
    pub hblkhd: usize,
    /// Always 0.
    pub usmblks: usize,
    /// Bytes of free small chunks.
    pub fsmblks: usize,
    /// Bytes in use, large objects not counted.
    pub uordblks: usize,
    /// Free bytes.
    pub fordblks: usize,
    /// Free bytes that `malloc_trim` would give back.
    pub keepcost: usize,
}

/// What `mallinfo` answers: the same in less.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct NarrowInfo([c_int; 10]);

impl From<Info> for NarrowInfo {
    /// What does not fit is the largest number.
    fn from(info: Info) -> Self {
        let all = [
            info.arena,
            info.ordblks,
            info.smblks,
            info.hblks,
            info.hblkhd,
            info.usmblks,
            info.fsmblks,
            info.uordblks,
            info.fordblks,
            info.keepcost,
        ];
        Self(all.map(|number| c_int::try_from(number).unwrap_or(c_int::MAX)))
    }
}

/// Who answers them.
pub trait Reports {
    /// `malloc_trim`: gives free memory back to the system. Whether any went back.
    fn trim(&self, keep: usize) -> bool;

    /// `mallinfo2`; `mallinfo` comes here too.
    fn info(&self) -> Info;

    /// `malloc_info`: a document of XML.
    ///
    /// # Safety
    /// A stream of the C library that is open for writing.
    unsafe fn write_info(&self, stream: *mut c_void);

    /// `malloc_stats`: lines on standard error.
    fn write_stats(&self);
}

/// Makes the library export these calls, answered by a static that is [`Reports`]. `mallopt`
/// answers that it did what it was asked, and does nothing.
#[macro_export]
macro_rules! export_reports {
    ($reports:expr) => {
        const _: () = {
            use core::ffi::{c_int, c_void};
            use $crate::reports::{Info, NarrowInfo, Reports};

            #[unsafe(no_mangle)]
            extern "C" fn malloc_trim(keep: usize) -> c_int {
                c_int::from($reports.trim(keep))
            }

            #[unsafe(no_mangle)]
            extern "C" fn mallinfo2() -> Info {
                $reports.info()
            }

            #[unsafe(no_mangle)]
            extern "C" fn mallinfo() -> NarrowInfo {
                $reports.info().into()
            }

            #[unsafe(no_mangle)]
            unsafe extern "C" fn malloc_info(options: c_int, stream: *mut c_void) -> c_int {
                if options != 0 {
                    return $crate::system::EINVAL;
                }
                // SAFETY: the C caller's promise.
                unsafe { $reports.write_info(stream) };
                0
            }

            #[unsafe(no_mangle)]
            extern "C" fn malloc_stats() {
                $reports.write_stats();
            }

            #[unsafe(no_mangle)]
            extern "C" fn mallopt(_what: c_int, _value: c_int) -> c_int {
                1
            }
        };
    };
}
