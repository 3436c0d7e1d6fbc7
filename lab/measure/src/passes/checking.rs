//! The checking pass: it writes a pattern to every byte, and verifies the pattern on free, around
//! resizes and at the end. The pattern of an object depends on the time of its allocation and on
//! the place of the byte. The pass therefore finds an object that overlaps another, was not moved
//! completely, or lost bytes in a resize. It also checks that zeroed memory is zero, that addresses
//! are aligned, and that the account of the region is exact at the peak. It verifies the heap's own
//! invariants several times.

use std::mem::MaybeUninit;
use std::ops::Range;

use surefit_core::Usage;

use super::locality::Places;
use super::replay::{Hooks, Stop, Stopped, Table, drain_left, replay, replay_part};
use super::residence::{Place, Residence};
use crate::any::Any;
use crate::feed::Feed;
use crate::results::{Locality, ResidentSample};
use crate::steps::{Action, InParts, Left, Step, Steps};
use crate::subject::{Moves, Pass, Subject};
use crate::subjects::null::Null;

/// How often in a replay the heap's invariants are verified.
const CHECKS: usize = 8;

/// One replay that verifies everything.
#[derive(Clone, Copy, Debug)]
pub struct Checking<'a> {
    /// The trace.
    pub steps: &'a Steps,
    /// The size of the region, which is the sum of the parts; `None` if there is no region.
    pub heap_bytes: Option<usize>,
    /// Whether the objects' bytes are written and verified.
    pub touch: bool,
    /// Where the objects are resident, for samples of that.
    pub place: Place,
}

/// The result of a checking pass.
#[derive(Clone, Debug, Default)]
pub struct Checked {
    /// The account of the region at the peak.
    pub usage_at_peak: Option<Usage>,
    /// Requested bytes of live objects in pieces at the peak.
    pub bytes_in_pieces_at_peak: u64,
    /// Everything that was moved.
    pub moves: Option<Moves>,
    /// Whether every object is one piece of memory that keeps its address.
    pub contiguous: bool,
    /// What was resident over time; empty if that was not sampled.
    pub resident: Vec<ResidentSample>,
    /// How near to each other the objects lie; `None` if too few live.
    pub locality: Option<Locality>,
}

impl Pass for Checking<'_> {
    type Output = Result<Checked, Stopped>;

    fn run<S: Subject>(self, subject: S) -> Self::Output {
        Streamed {
            feed: &mut Feed::of(self.steps),
            pass: self,
        }
        .run(subject)
    }
}

/// The same of steps that come in parts.
#[derive(Debug)]
pub(crate) struct Streamed<'f, 'a> {
    pub(crate) pass: Checking<'a>,
    pub(crate) feed: &'f mut Feed<'a>,
}

impl Pass for Streamed<'_, '_> {
    type Output = Result<Checked, Stopped>;

    fn run<S: Subject>(self, mut subject: S) -> Self::Output {
        let Self { pass, feed } = self;
        let mut table = Table::new(pass.steps.slots());
        let mut checker = Checker::new(pass, &subject);
        checker.residence.begin();
        let mut event = 0;
        while let Some(part) = feed.next_part() {
            replay_part(&mut subject, &mut table, part, event, &mut checker)?;
            event += part.len();
        }
        let at_end = |stop| Stopped { event, stop };
        feed.sound().map_err(at_end)?;
        let left = feed.left();
        checker
            .verify_left(&mut subject, &mut table, &left)
            .map_err(at_end)?;
        let checked = Checked {
            moves: subject.moves(),
            resident: checker.residence.samples(),
            locality: checker.places.locality(),
            ..checker.checked
        };
        drain_left(&mut subject, table, &left);
        verify_heap(&subject).map_err(at_end)?;
        Ok(checked)
    }
}

impl Checking<'_> {
    /// The same replay without an allocator: it uses the same tables of ours, and has no object.
    ///
    /// # Errors
    /// Never; the signature is that of the pass.
    pub fn run_empty(self) -> Result<(), Stopped> {
        let mut null = Null::default();
        let mut subject = Any::of(&mut null);
        let mut table = Table::new(self.steps.slots());
        let _checker = Checker::new(self, &subject);
        replay(&mut subject, &mut table, self.steps, &mut Nothing)
    }
}

/// Hooks that do nothing.
struct Nothing;

impl<S: Subject> Hooks<S> for Nothing {}

struct Checker<'a> {
    pass: Checking<'a>,
    /// For each slot, the seed of its object's pattern.
    seeds: Vec<u64>,
    allocated: u64,
    piece_bytes: u64,
    live_in_pieces: u64,
    residence: Residence,
    places: Places,
    checked: Checked,
}

impl<'a> Checker<'a> {
    fn new<S: Subject>(pass: Checking<'a>, subject: &S) -> Self {
        let piece_bytes = subject.piece_bytes().map_or(u64::MAX, |bytes| bytes as u64);
        Self {
            pass,
            // written now, so that it is resident before the first object
            seeds: vec![u64::MAX; pass.steps.slots()],
            allocated: 0,
            piece_bytes,
            live_in_pieces: 0,
            residence: Residence::new(pass.place, pass.steps.events),
            places: Places::new(pass.steps.slots()),
            checked: Checked {
                contiguous: subject.is_contiguous() && piece_bytes == u64::MAX,
                ..Checked::default()
            },
        }
    }

    fn verify_left<S: Subject>(
        &self,
        subject: &mut S,
        table: &mut Table<S::Object>,
        left: &[Left],
    ) -> Result<(), Stop> {
        for left in left {
            let Ok(size) = u32::try_from(left.layout.size()) else {
                continue;
            };
            let step = Step {
                size,
                old: 0,
                slot: left.slot,
                action: Action::Free,
                align_log2: left.layout.align().trailing_zeros() as u8,
            };
            // SAFETY: I3 and T1: the slot holds an object after the last step.
            self.verify(subject, unsafe { table.get_mut(left.slot) }, step, size)?;
        }
        verify_heap(subject)
    }

    /// Verifies the pattern of the first `bytes` bytes, and the alignment.
    fn verify<S: Subject>(
        &self,
        subject: &mut S,
        object: &mut S::Object,
        step: Step,
        bytes: u32,
    ) -> Result<(), Stop> {
        if !self.pass.touch {
            return Ok(());
        }
        let seed = self.seeds[step.slot as usize];
        each_chunk(subject, object, step, 0, bytes, |chunk, offset| {
            // SAFETY: these bytes were written when the object was allocated or last resized.
            let at = unsafe { first_difference(chunk, seed, offset) };
            at.map_or(Ok(()), |at| {
                broken(&format!("byte {at} of an object of {bytes} bytes changed"))
            })
        })
    }

    /// Writes the pattern from byte `from` (rounded down to a word) to the end.
    fn fill<S: Subject>(&self, subject: &mut S, object: &mut S::Object, step: Step, from: u32) {
        if self.pass.touch && from < step.size {
            let seed = self.seeds[step.slot as usize];
            let filled = each_chunk(
                subject,
                object,
                step,
                from & !7,
                step.size,
                |chunk, offset| {
                    write_pattern(chunk, seed, offset);
                    Ok(())
                },
            );
            debug_assert!(filled.is_ok(), "writing a pattern cannot fail");
        }
    }

    fn count_pieces(&mut self, step: Step) {
        let in_pieces = |size: u32| {
            let size = u64::from(size);
            if size > self.piece_bytes { size } else { 0 }
        };
        match step.action {
            Action::Allocate | Action::AllocateZeroed => {
                self.live_in_pieces += in_pieces(step.size)
            }
            Action::Free => self.live_in_pieces -= in_pieces(step.size),
            Action::Resize => {
                self.live_in_pieces += in_pieces(step.size);
                self.live_in_pieces -= in_pieces(step.old);
            }
        }
    }

    fn account<S: Subject>(&mut self, subject: &S) -> Result<(), Stop> {
        self.checked.bytes_in_pieces_at_peak = self.live_in_pieces;
        self.checked.usage_at_peak = self.usage(subject)?;
        verify_heap(subject)
    }

    /// The account of the region: it is exact, and page-blocks hold at least what is live.
    fn usage<S: Subject>(&self, subject: &S) -> Result<Option<Usage>, Stop> {
        let usage = subject.usage();
        match (usage, self.pass.heap_bytes) {
            (Some(usage), Some(bytes)) if usage.total() != bytes => broken(&format!(
                "the parts add up to {} of {bytes} bytes: {usage:?}",
                usage.total()
            ))?,
            (Some(usage), _) if (usage.block_bytes as u64) < self.residence.live_bytes() => {
                broken(&format!(
                    "{} bytes of page-blocks hold more than that",
                    usage.block_bytes
                ))?;
            }
            _ => (),
        }
        Ok(usage)
    }
}

impl<S: Subject> Hooks<S> for Checker<'_> {
    fn allocated(
        &mut self,
        subject: &mut S,
        object: &mut S::Object,
        step: Step,
    ) -> Result<(), Stop> {
        self.allocated += 1;
        self.seeds[step.slot as usize] = self.allocated.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        if step.action == Action::AllocateZeroed && self.pass.touch {
            each_chunk(subject, object, step, 0, step.size, |chunk, offset| {
                // SAFETY: the allocator promised initialised, zeroed bytes.
                let first = chunk
                    .iter()
                    .position(|byte| unsafe { byte.assume_init() } != 0);
                first.map_or(Ok(()), |at| {
                    broken(&format!("byte {} is not zero", offset + at))
                })
            })?;
        }
        self.fill(subject, object, step, 0);
        verify_address(subject, object, step)
    }

    fn resizing(
        &mut self,
        subject: &mut S,
        object: &mut S::Object,
        step: Step,
    ) -> Result<(), Stop> {
        let before = Step {
            size: step.old,
            ..step
        };
        self.verify(subject, object, before, step.old)
    }

    fn resized(&mut self, subject: &mut S, object: &mut S::Object, step: Step) -> Result<(), Stop> {
        self.verify(subject, object, step, step.old.min(step.size))?;
        self.fill(subject, object, step, step.old);
        verify_address(subject, object, step)
    }

    fn freeing(&mut self, subject: &mut S, object: &mut S::Object, step: Step) -> Result<(), Stop> {
        self.verify(subject, object, step, step.size)?;
        verify_address(subject, object, step)
    }

    fn done(
        &mut self,
        subject: &mut S,
        table: &mut Table<S::Object>,
        step: Step,
        event: usize,
    ) -> Result<(), Stop> {
        self.count_pieces(step);
        self.places.done(step, event);
        if self.residence.done(step, event) {
            let usage = self.usage(subject)?;
            self.residence.sample(event, usage);
        }
        if event == self.pass.steps.peak_event {
            self.places.at_peak(subject, table);
            return self.account(subject);
        }
        if event % (self.pass.steps.events / CHECKS).max(1) == 0 {
            return verify_heap(subject);
        }
        Ok(())
    }
}

/// Calls `each` with the pieces of memory that hold the bytes `from .. to` of a live object, and
/// their offsets in it.
fn each_chunk<S: Subject>(
    subject: &mut S,
    object: &mut S::Object,
    step: Step,
    from: u32,
    to: u32,
    mut each: impl FnMut(&mut [MaybeUninit<u8>], usize) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let (mut offset, to) = (from as usize, to as usize);
    while offset < to {
        // SAFETY: the object is live and has the step's size (`Hooks`).
        let chunk = unsafe { subject.chunk(object, step.layout(), offset) };
        let bytes = chunk.len().min(to - offset);
        if bytes == 0 {
            return broken("an object ends before its size");
        }
        each(&mut chunk[..bytes], offset)?;
        offset += bytes;
    }
    Ok(())
}

fn verify_address<S: Subject>(
    subject: &mut S,
    object: &mut S::Object,
    step: Step,
) -> Result<(), Stop> {
    let align = step.align().min(subject.most_align());
    // SAFETY: the object is live and has the step's size (`Hooks`).
    let chunk = unsafe { subject.chunk(object, step.layout(), 0) };
    if step.size > 0 && chunk.as_ptr().addr() % align != 0 {
        return broken(&format!("an object is not aligned to {align} bytes"));
    }
    Ok(())
}

fn verify_heap<S: Subject>(subject: &S) -> Result<(), Stop> {
    subject
        .check()
        .or_else(|corruption| broken(&corruption.to_string()))
}

fn broken(what: &str) -> Result<(), Stop> {
    Err(Stop::Broken(what.into()))
}

/// The pattern's word number `index`.
#[inline]
fn pattern(seed: u64, index: usize) -> [u8; 8] {
    (seed ^ (index as u64).wrapping_mul(0xD6E8_FEB8_6659_FD93)).to_le_bytes()
}

/// Splits a piece of memory at the words of the pattern. The piece begins at byte `offset` of its
/// object. Each part has its place in the piece and its place in the object.
fn words(bytes: usize, offset: usize) -> impl Iterator<Item = (Range<usize>, usize)> {
    let lead = (offset.next_multiple_of(8) - offset).min(bytes);
    let first = (lead > 0).then_some(0..lead);
    let rest = (lead..bytes)
        .step_by(8)
        .map(move |at| at..bytes.min(at + 8));
    let parts = first.into_iter().chain(rest);
    parts.map(move |part| (part.clone(), offset + part.start))
}

/// Writes the pattern; the chunk begins at byte `offset` of its object.
fn write_pattern(chunk: &mut [MaybeUninit<u8>], seed: u64, offset: usize) {
    for (part, at) in words(chunk.len(), offset) {
        let value = pattern(seed, at / 8).map(MaybeUninit::new);
        let n = part.len();
        chunk[part].copy_from_slice(&value[at % 8..][..n]);
    }
}

/// The first byte of the object that differs from the pattern, or one of the seven bytes before it.
///
/// # Safety
/// S1: every byte of the chunk was written.
unsafe fn first_difference(chunk: &[MaybeUninit<u8>], seed: u64, offset: usize) -> Option<usize> {
    // SAFETY: S1; initialised bytes may be seen as such.
    let bytes = unsafe { std::slice::from_raw_parts(chunk.as_ptr().cast::<u8>(), chunk.len()) };
    let is_wrong = |(part, at): &(Range<usize>, usize)| {
        !pattern(seed, at / 8)[at % 8..].starts_with(&bytes[part.clone()])
    };
    words(bytes.len(), offset).find(is_wrong).map(|(_, at)| at)
}

#[cfg(test)]
mod tests {
    use super::{first_difference, write_pattern};
    use std::mem::MaybeUninit;

    #[test]
    fn a_pattern_is_the_same_whatever_pieces_hold_it() {
        let mut whole = [MaybeUninit::new(0_u8); 100];
        write_pattern(&mut whole, 5, 0);
        for cut in 0..whole.len() {
            // SAFETY: every byte is initialised.
            assert_eq!(unsafe { first_difference(&whole[cut..], 5, cut) }, None);
            // SAFETY: every byte is initialised.
            assert_eq!(unsafe { first_difference(&whole[..cut], 5, 0) }, None);
        }
    }

    #[test]
    fn a_changed_byte_is_found_near_its_place() {
        for length in [1, 7, 8, 9, 100] {
            let mut bytes = vec![MaybeUninit::new(0_u8); length];
            write_pattern(&mut bytes, 77, 16);
            // SAFETY: every byte is initialised.
            assert_eq!(unsafe { first_difference(&bytes, 77, 16) }, None);
            // SAFETY: every byte is initialised.
            let last = unsafe { bytes[length - 1].assume_init() };
            bytes[length - 1].write(!last);
            // SAFETY: every byte is initialised.
            let found = unsafe { first_difference(&bytes, 77, 16) };
            assert_eq!(found, Some(16 + (length - 1) / 8 * 8));
        }
    }
}
