//! Recordings of boards: the bytes that a hook sends as calls happen, however many got lost.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader};

use surefit_trace::Event;

use super::deframe::Deframer;
use super::error::ImportError;
use super::objects::Objects;
use super::order::{Order, Step};
use super::unpack::{Unpacked, failed};

/// So many pieces that are no frame to one that is make a file that is no recording.
const MOST_DAMAGED: u64 = 100;

/// Bytes without any frame after which no more are looked at.
const MOST_BYTES: u64 = 16 << 20;

/// What a recording of a board lost on the way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BoardNotes {
    /// Events that arrived.
    pub events: u64,
    /// Events that were sent and did not arrive, as the numbers of the others say.
    pub lost_events: u64,
    /// Events that came again; left out.
    pub repeated_events: u64,
    /// Pieces between two frames that are no sound frame: damaged ones, and other output; skipped.
    pub damaged_pieces: u64,
    /// Their bytes.
    pub damaged_bytes: u64,
    /// How often the board began anew; what lived then is freed there.
    pub restarts: u64,
    /// Reallocations of objects whose allocation was lost: they are allocations.
    pub found_objects: u64,
}

/// Reads the frames of a recording.
pub(super) struct Board {
    input: BufReader<Unpacked>,
    /// Bytes read so far.
    bytes: u64,
    deframer: Deframer,
    order: Order,
    steps: VecDeque<Step>,
    pub(super) objects: Objects,
    events: VecDeque<Event>,
    is_finished: bool,
}

impl Board {
    pub(super) fn new(input: BufReader<Unpacked>) -> Self {
        Self {
            input,
            bytes: 0,
            deframer: Deframer::default(),
            order: Order::default(),
            steps: VecDeque::new(),
            objects: Objects::default(),
            events: VecDeque::new(),
            is_finished: false,
        }
    }

    /// The next event; `None` at the end.
    pub(super) fn next_event(&mut self) -> Result<Option<Event>, ImportError> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Ok(Some(event));
            }
            match self.steps.pop_front() {
                Some(Step::Begin) => self.objects.clear(&mut self.events),
                Some(Step::Take(frame)) => self.objects.take(frame, &mut self.events)?,
                None if self.is_finished => return Ok(None),
                None => self.read()?,
            }
        }
    }

    /// What was lost so far.
    pub(super) fn notes(&self) -> BoardNotes {
        BoardNotes {
            events: self.order.taken,
            lost_events: self.order.lost,
            repeated_events: self.order.repeated,
            damaged_pieces: self.deframer.damaged + self.order.impossible,
            damaged_bytes: self.deframer.damaged_bytes,
            restarts: self.order.restarts,
            found_objects: self.objects.found,
        }
    }

    /// Whether the compressed file was cut short.
    pub(super) fn is_cut(&self) -> bool {
        self.input.get_ref().is_cut()
    }

    /// Reads some bytes, or ends.
    fn read(&mut self) -> Result<(), ImportError> {
        let bytes = self.input.fill_buf().map_err(failed)?;
        let count = bytes.len();
        if count == 0 {
            return self.finish();
        }
        for byte in bytes {
            if let Some(frame) = self.deframer.push(*byte) {
                self.order.push(frame, &mut self.steps);
            }
        }
        self.input.consume(count);
        self.bytes += count as u64;
        match self.bytes > MOST_BYTES {
            true => self.recognise(),
            false => Ok(()),
        }
    }

    fn finish(&mut self) -> Result<(), ImportError> {
        // What follows the last flag is a part of a frame: no frame ends without a flag.
        if self.deframer.end().is_some() {
            self.deframer.sound -= 1;
        }
        self.order.finish(&mut self.steps);
        self.is_finished = true;
        self.recognise()
    }

    /// Refuses what has hardly a frame: it is no recording.
    fn recognise(&self) -> Result<(), ImportError> {
        let Deframer { sound, damaged, .. } = self.deframer;
        if sound == 0 || damaged / MOST_DAMAGED > sound {
            return Err(ImportError::Unknown { sound, damaged });
        }
        Ok(())
    }
}
