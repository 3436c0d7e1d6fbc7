//! A recorded program: its allocations, resizes and frees, in its order, by one thread.
//!
//! The parent writes the steps into a file, eight bytes a step. The child reads it in blocks of 64
//! KiB between the parts that it times, so that the steps are no part of its time and hardly any of
//! its memory.
//!
//! ```text
//! a step   bits 0..32 size   32..57 slot   57..62 logarithm of the alignment   62..64 what it does
//! ```
#![deny(unsafe_code)]

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use surefit_measure::steps::{Action, Step};

use super::super::objects::Object;
use super::super::watch::Watch;

/// Steps of a block.
const BLOCK: usize = 8192;

/// The first slot that a step cannot name.
const SLOTS: u32 = 1 << 25;

const ACTIONS: [Action; 4] = [
    Action::Allocate,
    Action::AllocateZeroed,
    Action::Resize,
    Action::Free,
];

fn packed(step: Step) -> Result<u64> {
    let Step { slot, size, .. } = step;
    ensure!(slot < SLOTS, "over {SLOTS} objects live at once");
    let action = ACTIONS.iter().position(|one| *one == step.action);
    let action = action.context("an unknown step")? as u64;
    let align = u64::from(step.align_log2);
    Ok(u64::from(size) | u64::from(slot) << 32 | align << 57 | action << 62)
}

fn unpacked(word: u64) -> Step {
    Step {
        size: word as u32,
        old: 0,
        slot: (word >> 32) as u32 & (SLOTS - 1),
        action: ACTIONS[(word >> 62) as usize],
        align_log2: (word >> 57) as u8 & 31,
    }
}

/// A recorded program as a child plays it.
#[derive(Clone, Debug)]
pub(in super::super) struct Recording {
    /// The file of steps.
    pub(in super::super) file: PathBuf,
    /// The most objects that live at once.
    pub(in super::super) slots: usize,
    /// How often it is played.
    pub(in super::super) times: u64,
}

/// Writes steps into a file.
///
/// # Errors
/// The file cannot be written; too many objects live at once.
pub(in super::super) fn write(steps: &[Step], file: &Path) -> Result<()> {
    let mut bytes = Vec::with_capacity(steps.len() * 8);
    for step in steps {
        bytes.extend(packed(*step)?.to_le_bytes());
    }
    let written = File::create(file).and_then(|mut out| out.write_all(&bytes));
    written.with_context(|| format!("cannot write {}", file.display()))
}

impl Recording {
    /// Plays it, and frees at the end what the program left.
    ///
    /// # Errors
    /// The file cannot be read, or does not hold sound steps.
    pub(super) fn replay(&self, watch: &mut Watch) -> Result<u64> {
        let mut player = Player {
            objects: (0..self.slots).map(|_| None).collect(),
            freed: 0,
        };
        let mut block = vec![0; BLOCK * 8];
        for _ in 0..self.times {
            let mut file = File::open(&self.file)
                .with_context(|| format!("cannot open {}", self.file.display()))?;
            loop {
                let bytes = fill(&mut file, &mut block)?;
                if bytes == 0 {
                    break;
                }
                watch.time(|| player.play(&block[..bytes]))?;
            }
            watch.time(|| player.end());
        }
        Ok(player.freed)
    }
}

/// Reads as much of a block as there is.
fn fill(file: &mut File, block: &mut [u8]) -> Result<usize> {
    let mut filled = 0;
    while filled < block.len() {
        match file.read(&mut block[filled..]) {
            Ok(0) => break,
            Ok(more) => filled += more,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error).context("cannot read the steps"),
        }
    }
    Ok(filled)
}

struct Player {
    objects: Vec<Option<Object>>,
    freed: u64,
}

impl Player {
    fn play(&mut self, block: &[u8]) -> Result<()> {
        let words = block.chunks_exact(8);
        ensure!(words.remainder().is_empty(), "the last step is not whole");
        for word in words {
            self.step(unpacked(u64::from_le_bytes(word.try_into()?)))?;
        }
        Ok(())
    }

    #[inline]
    fn step(&mut self, step: Step) -> Result<()> {
        let (size, align, tag) = (step.size, step.align_log2, step.slot as u8);
        let Some(place) = self.objects.get_mut(step.slot as usize) else {
            bail!("a step names a slot that is not there");
        };
        match (step.action, place.take()) {
            (Action::Allocate, None) => *place = Some(Object::aligned(size, align, tag)),
            (Action::AllocateZeroed, None) => *place = Some(Object::zeroed(size, align, tag)),
            (Action::Resize, Some(object)) => *place = Some(object.resized(size)),
            (Action::Free, Some(object)) => self.freed = self.freed.wrapping_add(object.free()),
            (_, object) => {
                *place = object;
                bail!("a step does not fit what lives");
            }
        }
        Ok(())
    }

    fn end(&mut self) {
        let left = self.objects.iter_mut().filter_map(Option::take);
        self.freed = left.map(Object::free).fold(self.freed, u64::wrapping_add);
    }
}

#[cfg(test)]
mod tests {
    use super::{ACTIONS, Recording, SLOTS, Step, Watch, packed, unpacked, write};

    fn step(action: usize, slot: u32, size: u32) -> Step {
        Step {
            size,
            old: 0,
            slot,
            action: ACTIONS[action],
            align_log2: 3,
        }
    }

    fn replayed(steps: &[Step], times: u64) -> anyhow::Result<u64> {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("steps");
        write(steps, &file).expect("written");
        let slots = 2;
        Recording { file, slots, times }.replay(&mut Watch::default())
    }

    #[test]
    fn a_step_is_read_as_it_was_written() {
        for action in 0..4 {
            let one = Step {
                align_log2: 31,
                ..step(action, SLOTS - 1, u32::MAX)
            };
            let again = unpacked(packed(one).expect("it fits"));
            assert_eq!(
                (again.action, again.slot, again.size, again.align_log2),
                (one.action, one.slot, one.size, 31)
            );
        }
        assert!(packed(step(0, SLOTS, 1)).is_err());
    }

    #[test]
    fn what_the_program_left_is_freed_before_it_is_played_again() {
        let steps = [
            step(0, 0, 100),
            step(1, 1, 7),
            step(2, 0, 9000),
            step(3, 1, 7),
        ];
        let once = replayed(&steps, 1).expect("sound");
        assert_eq!(replayed(&steps, 3).expect("sound"), once.wrapping_mul(3));
        assert_ne!(replayed(&steps[..2], 1).expect("sound"), once);
        assert_eq!(replayed(&[], 1).expect("sound"), 0);
    }

    #[test]
    fn steps_that_are_not_sound_are_refused() {
        for unsound in [step(3, 0, 1), step(2, 0, 1), step(0, 2, 1)] {
            assert!(replayed(&[unsound], 1).is_err(), "{unsound:?}");
        }
        assert!(replayed(&[step(0, 0, 1); 2], 1).is_err());
    }
}
