//! Where a permutation tester may switch threads.
#![deny(unsafe_code)]

/// A point at which a permutation tester may switch threads, before an access to what threads
/// share. Does nothing in other builds.
#[inline]
pub fn point() {
    // Not `yield_now`: the thread may go on at once, and keeps its priority.
    #[cfg(surefit_shuttle)]
    if !shuttle::thread::panicking() {
        shuttle::thread::sleep(core::time::Duration::ZERO);
    }
}

#[cfg(all(test, not(surefit_shuttle)))]
mod tests {
    #[test]
    fn a_point_may_be_anywhere() {
        super::point();
    }
}
