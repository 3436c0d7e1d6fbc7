//! What all boards have in common: the log and the exit status go to the debugger.

use core::fmt;

use semihosting::experimental::env;
use semihosting::io::{self, Stdout, Write};
use semihosting::{eprintln, println, process};

use super::stack;

/// The log, to the debugger.
struct Log(Stdout);

impl fmt::Write for Log {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write_all(text.as_bytes()).map_err(|_| fmt::Error)
    }
}

/// Runs the tests, and ends the program: with 0 if all passed and the stack was large enough.
pub fn run() -> ! {
    let damaged = env::args::<64>().is_ok_and(|words| {
        let mut words = words.into_iter();
        words.any(|word| word == Ok("damage"))
    });
    let passed = io::stdout().is_ok_and(|log| crate::suite::tests(&mut Log(log), damaged));
    let (bytes, used) = stack::bytes();
    println!("stack: {used} of {bytes} B");
    process::exit(if passed && used < bytes { 0 } else { 1 })
}

/// Ends the program after a fault of the processor; `cause` is what it says.
pub fn fault(cause: usize) -> ! {
    eprintln!("FAILED  a fault of the processor: {cause:#x}");
    process::exit(2)
}
