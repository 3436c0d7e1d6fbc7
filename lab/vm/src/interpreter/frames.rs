//! Runs of the loop, and where it is in the last frame.

use crate::decode::SharedCode;
use crate::stop::Trap;
use crate::vm::Vm;

/// Where the loop is.
pub(super) struct Registers {
    pub(super) code: SharedCode,
    pub(super) pc: usize,
    pub(super) base: usize,
    pub(super) sp: usize,
}

impl Vm<'_> {
    /// Runs until the main thread has no frame; if it has ended, until no thread is awaited.
    pub(crate) fn run(&mut self) -> Result<(), Trap> {
        loop {
            match self.execute() {
                Err(Trap::Thrown) if self.unwind()? => {}
                // `Thread` has said what was thrown, if there was room.
                Ok(()) | Err(Trap::Thrown) if !self.is_main() => {
                    if !self.end_thread()? {
                        return Ok(());
                    }
                }
                ended => return ended,
            }
        }
    }

    /// The last frame's registers.
    pub(super) fn registers(&mut self) -> Registers {
        let frame = self.frames.last_mut().expect("a frame runs");
        if frame.again {
            frame.again = false;
            frame.pc -= 1;
        }
        Registers {
            code: frame.code.clone(),
            pc: frame.pc,
            base: frame.base,
            sp: self.world.top,
        }
    }

    #[inline(always)]
    pub(super) fn save(&mut self, pc: usize, sp: usize) {
        if let Some(frame) = self.frames.last_mut() {
            frame.pc = pc;
        }
        self.world.top = sp;
    }
}
