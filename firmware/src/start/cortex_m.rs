//! Cortex-M: `cortex-m-rt` sets up memory and the vectors.

use cortex_m_rt::{ExceptionFrame, entry, exception};

#[entry]
fn main() -> ! {
    super::board::run()
}

/// A fault: ends the program instead of hanging.
#[exception]
unsafe fn HardFault(frame: &ExceptionFrame) -> ! {
    super::board::fault(frame.pc() as usize)
}
