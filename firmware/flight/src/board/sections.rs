//! Critical sections that are counted: for how many instructions the longest keeps interrupts off.

use core::cell::Cell;

use critical_section::RawRestoreState;

use super::machine;

/// When the present section began, and the instructions of the longest.
static BEGAN: Guarded = Guarded(Cell::new(0));
static LONGEST: Guarded = Guarded(Cell::new(0));

/// A number that is read and written while interrupts are off.
struct Guarded(Cell<u32>);

// SAFETY: nothing interrupts whoever reads or writes it.
unsafe impl Sync for Guarded {}

/// The instructions of the longest section.
pub fn longest() -> u32 {
    critical_section::with(|_| LONGEST.0.get())
}

struct Counted;
critical_section::set_impl!(Counted);

// SAFETY: interrupts are off from `acquire` to the outermost `release`, on the only core.
unsafe impl critical_section::Impl for Counted {
    unsafe fn acquire() -> RawRestoreState {
        let were_on = machine::disable_interrupts();
        if were_on {
            BEGAN.0.set(machine::now());
        }
        were_on
    }

    unsafe fn release(were_on: RawRestoreState) {
        if !were_on {
            return;
        }
        let instructions = machine::instructions(BEGAN.0.get(), machine::now());
        LONGEST.0.set(instructions.max(LONGEST.0.get()));
        // SAFETY: they were on before the outermost section, which ends here.
        unsafe { machine::enable_interrupts() };
    }
}
