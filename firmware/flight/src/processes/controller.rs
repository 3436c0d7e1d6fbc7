//! The controller, in each period: two frames of the sensors, an estimate from them, a command to
//! the motors; in each eighth period a record of changing length of how well it follows.

use super::Signals;
use crate::control::{Cascade, Estimate};
use crate::fixed::Fixed;
use crate::memory::Memory;
use crate::port::{Denied, Port, Ring, bytes_to_words, words_to_bytes};
use crate::vehicle::{Frame, STEPS};

/// Frames, commands and records that are kept.
const FRAMES: usize = 16;
const COMMANDS: usize = 4;
const RECORDS: usize = 6;

/// The longest record.
const RECORD_MAX: usize = 320;

/// Its objects and what it knows.
#[derive(Debug)]
pub struct Controller<N> {
    frames: Ring<N, FRAMES>,
    commands: Ring<N, COMMANDS>,
    records: Ring<N, RECORDS>,
    estimate: Estimate,
    cascade: Cascade,
    releases: u32,
}

impl<N> Controller<N> {
    /// Nothing is known yet.
    pub fn new() -> Self {
        Self {
            frames: Ring::new(),
            commands: Ring::new(),
            records: Ring::new(),
            estimate: Estimate::default(),
            cascade: Cascade::default(),
            releases: 0,
        }
    }

    /// One release.
    ///
    /// # Errors
    /// If the heap or the budget denied it an object: it must not.
    pub fn run<M: Memory<Name = N>>(
        &mut self,
        port: &mut Port<'_, M>,
        signals: &mut Signals,
    ) -> Result<(), Denied> {
        for frame in signals.frames {
            self.frames.push(port, &encoded(&frame))?;
        }
        for back in (0..STEPS).rev() {
            let mut bytes = [0; FRAME_BYTES];
            if let Some(frame) = self.frames.newest(back) {
                port.read(frame, 0, &mut bytes);
            }
            let frame = decoded(&bytes);
            port.verify(frame == signals.frames[STEPS - 1 - back]);
            self.estimate.take(&frame);
        }
        signals.pulls = self.cascade.pulls(&self.estimate, signals.target);
        let command: [u8; 16] = words_to_bytes(signals.pulls.map(|pull| pull.0));
        self.commands.push(port, &command)?;
        let [x, y, z] = self.estimate.position;
        let [roll, pitch, yaw] = self.estimate.angles;
        signals.known = [x, y, z, roll, pitch, yaw];
        self.releases += 1;
        if self.releases % 8 == 0 {
            self.record(port, signals)?;
        }
        Ok(())
    }

    /// The farther it is from the target, the longer the record.
    fn record<M: Memory<Name = N>>(
        &mut self,
        port: &mut Port<'_, M>,
        signals: &Signals,
    ) -> Result<(), Denied> {
        let ways = signals.target.iter().zip(self.estimate.position);
        let way = ways.fold(Fixed::ZERO, |sum, (&to, from)| sum + (to - from).abs());
        let eighths = (way.0 >> 21) as usize;
        let len = (48 + 8 * eighths).min(RECORD_MAX);
        let mut bytes = [0; RECORD_MAX];
        for (place, word) in bytes.chunks_exact_mut(24).zip(signals.known) {
            place[..4].copy_from_slice(&word.0.to_le_bytes());
        }
        self.records.push(port, &bytes[..len])
    }
}

/// Bytes of a frame in the heap.
const FRAME_BYTES: usize = 36;

fn encoded(frame: &Frame) -> [u8; FRAME_BYTES] {
    let Frame {
        rates: [p, q, r],
        angles: [roll, pitch, yaw],
        position: [x, y, z],
    } = *frame;
    words_to_bytes([p, q, r, roll, pitch, yaw, x, y, z].map(|value| value.0))
}

fn decoded(bytes: &[u8; FRAME_BYTES]) -> Frame {
    let words: [i32; 9] = bytes_to_words(bytes);
    let [p, q, r, roll, pitch, yaw, x, y, z] = words.map(Fixed);
    Frame {
        rates: [p, q, r],
        angles: [roll, pitch, yaw],
        position: [x, y, z],
    }
}
