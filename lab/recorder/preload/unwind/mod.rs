//! Who called: the return addresses on the stack of this thread that are not this library's, the
//! innermost first.
//!
//! | module | holds |
//! | --- | --- |
//! | [`addresses`] | a list of return addresses |
//! | [`entry`] | the call of this library, and where its code is |
//! | [`stack`] | where the thread's stack is |
//! | [`pointers`] | following frame pointers |
//! | [`platform`] | the platform's unwinder, of libgcc |
//! | [`objects`] | where the tables are of what is loaded |
//! | [`rules`] | the rules that were found, by address |
//! | [`calls`] | one step by a rule, and the calls of the walk before |
//! | [`walk`] | the walk by our own tables |
//!
//! Nothing here allocates but the platform's: its unwinder when it is first used, and who asks
//! where the stack is. That is not recorded.

mod addresses;
#[cfg(target_arch = "x86_64")]
mod calls;
mod entry;
#[cfg_attr(
    not(target_arch = "x86_64"),
    expect(dead_code, reason = "tables are read on x86-64 alone")
)]
mod objects;
mod platform;
mod pointers;
#[cfg(target_arch = "x86_64")]
mod rules;
mod stack;
#[cfg(target_arch = "x86_64")]
mod walk;

pub(crate) use addresses::Addresses;
pub(crate) use platform::found as by_platform;
pub(crate) use pointers::found as by_pointers;
#[cfg(target_arch = "x86_64")]
pub(crate) use rules::{begin_generation, forget, generation};
pub(crate) use stack::first_thread_begins;
#[cfg(target_arch = "x86_64")]
pub(crate) use walk::{Callers, numbered};

#[cfg(not(target_arch = "x86_64"))]
pub(crate) use elsewhere::{Callers, begin_generation, forget, generation, numbered};

/// There is no walk by our own tables for other processors: the platform's unwinder does it.
#[cfg(not(target_arch = "x86_64"))]
mod elsewhere {
    use core::sync::atomic::{AtomicU32, Ordering};

    pub(crate) type Callers<'a> = core::iter::Copied<core::slice::Iter<'a, usize>>;

    static GENERATION: AtomicU32 = AtomicU32::new(0);

    pub(crate) fn numbered(_: usize, _: impl FnOnce(Callers<'_>) -> u32) -> Option<u32> {
        None
    }

    pub(crate) fn generation() -> u32 {
        GENERATION.load(Ordering::Acquire)
    }

    pub(crate) fn begin_generation() {
        forget();
    }

    pub(crate) fn forget() {
        GENERATION.fetch_add(1, Ordering::AcqRel);
    }
}
