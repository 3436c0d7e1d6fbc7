//! What a panic does without the standard library: it calls a function of the program.
//!
//! No argument from C leads to a panic; one means that memory was overwritten, or a defect of the
//! library.

unsafe extern "C" {
    /// Defined by the program. Does not return.
    fn surefit_panicked() -> !;
}

#[panic_handler]
fn panicked(_: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: the program defines the function as declared.
    unsafe { surefit_panicked() }
}
