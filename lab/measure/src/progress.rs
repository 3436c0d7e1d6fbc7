//! A progress bar on stderr, if that is a terminal.

use std::fmt::{Display, Write};

use indicatif::{HumanDuration, ProgressBar, ProgressState, ProgressStyle};

/// A bar that counts replays.
#[derive(Debug)]
pub struct Progress(ProgressBar);

/// The time that is left, which nothing says before the first step is done.
fn left(state: &ProgressState, text: &mut dyn Write) {
    if state.pos() > 1 {
        // a bar is redrawn if this fails
        let _ = write!(text, ", {:#} left", HumanDuration(state.eta()));
    }
}

impl Progress {
    /// A bar of `steps` steps; it is drawn only if stderr is a terminal.
    #[must_use]
    pub fn new(steps: u64) -> Self {
        let bar = ProgressBar::new(steps);
        let style = ProgressStyle::with_template("{bar:30} {percent:>3} %{left}  {wide_msg}");
        let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
        Self(bar.with_style(style.with_key("left", left)))
    }

    /// A bar that is never drawn.
    #[must_use]
    pub fn hidden() -> Self {
        Self(ProgressBar::hidden())
    }

    /// Counts one finished step, and shows its trace, its pass and its allocator.
    pub fn step(&self, trace: &str, what: &str, allocator: &dyn Display) {
        let message = crate::error::one_line(&format!("{trace}: {what}: {allocator}"));
        self.0.set_message(message);
        self.0.inc(1);
    }

    /// Counts steps that turned out not to be needed.
    pub fn skip(&self, steps: u64) {
        self.0.inc(steps);
    }

    /// Hides the bar while `act` runs, which may print to the same terminal.
    pub fn suspend<T>(&self, act: impl FnOnce() -> T) -> T {
        self.0.suspend(act)
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.0.finish_and_clear();
    }
}
