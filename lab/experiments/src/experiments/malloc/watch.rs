//! What a child measures of itself: time while it works, and what is held for what lives.
#![deny(unsafe_code)]

use std::time::Instant;

use anyhow::Result;
use surefit_os::{clock, resident};

/// A stopwatch of the wall and of the processors, and the worst of some moments.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Watch {
    wall_ns: f64,
    cpu_ns: u64,
    worst_held: Option<f64>,
}

impl Watch {
    /// Adds the time that `work` takes.
    pub(super) fn time<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let (cpu, wall) = (clock::process_cpu_ns(), Instant::now());
        let done = work();
        self.wall_ns += wall.elapsed().as_secs_f64() * 1e9;
        self.cpu_ns += clock::process_cpu_ns() - cpu;
        done
    }

    /// Notes how many times the live bytes the process now holds beyond the `idle` bytes that it
    /// held before.
    ///
    /// # Errors
    /// The system does not say how much memory is resident.
    pub(super) fn look(&mut self, idle: usize, live: u64) -> Result<()> {
        let held = resident::bytes_now()?.saturating_sub(idle) as f64 / live as f64;
        self.worst_held = Some(self.worst_held.map_or(held, |worst| worst.max(held)));
        Ok(())
    }

    /// By the clock on the wall, in nanoseconds.
    pub(super) const fn wall_ns(&self) -> f64 {
        self.wall_ns
    }

    /// Of all threads on all processors, in nanoseconds.
    pub(super) const fn cpu_ns(&self) -> u64 {
        self.cpu_ns
    }

    /// Held ÷ live at the worst moment, if any was looked at.
    pub(super) const fn worst_held(&self) -> Option<f64> {
        self.worst_held
    }
}

#[cfg(test)]
mod tests {
    use super::Watch;

    #[test]
    fn the_worst_moment_stays_and_times_add_up() {
        let mut watch = Watch::default();
        assert_eq!(watch.worst_held(), None);
        watch.look(0, 1).expect("Linux says");
        let worst = watch.worst_held();
        watch.look(usize::MAX, 1).expect("Linux says");
        assert_eq!(watch.worst_held(), worst);
        assert_eq!(watch.time(|| 7), 7);
        let first = watch.wall_ns();
        watch.time(|| std::hint::black_box([0; 99]));
        assert!(watch.wall_ns() > first);
    }
}
