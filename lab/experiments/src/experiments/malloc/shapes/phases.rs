//! Ten phases: each fills up to 16.8 MB of live objects, whose sizes are 1.7 times those of the
//! phase before, and then frees a random 80 %. What the malloc holds for what lives is looked at
//! when a phase is full.
//!
//! The table of objects exists, and is written, before the first object: it is no part of what is
//! held.
#![deny(unsafe_code)]

use anyhow::Result;
use surefit_os::resident;

use super::super::objects::Object;
use super::super::random::Random;
use super::super::watch::Watch;
use super::super::work::Work;

/// Live bytes of a full phase.
const LIVE: u64 = 16_800_000;

/// Sizes of the first phase, in bytes.
const LEAST: f64 = 24.0;
const MOST: f64 = 40.0;

/// The phases, and by how much the sizes of the next are greater.
const PHASES: i32 = 10;
const GREATER: f64 = 1.7;

/// The shape.
pub(super) fn phases(work: Work, watch: &mut Watch) -> Result<u64> {
    let full = work.of(LIVE);
    let mut table: Vec<Option<Object>> = Vec::new();
    table.resize_with((full as f64 / LEAST) as usize + 1, || None);
    let mut player = Player {
        random: Random::new(11),
        objects: table,
        count: 0,
        live: 0,
        freed: 0,
    };
    let idle = resident::bytes_now()?;
    for phase in 0..PHASES {
        let factor = GREATER.powi(phase);
        let sizes = ((LEAST * factor) as u32, (MOST * factor) as u32);
        watch.time(|| player.fill(sizes, full));
        watch.look(idle, player.live)?;
        watch.time(|| player.thin());
    }
    watch.time(|| player.end());
    Ok(player.freed)
}

/// The live objects: the first `count` of a table.
struct Player {
    random: Random,
    objects: Vec<Option<Object>>,
    count: usize,
    live: u64,
    freed: u64,
}

impl Player {
    /// Allocates until so many bytes live.
    fn fill(&mut self, (least, most): (u32, u32), full: u64) {
        while self.live < full && self.count < self.objects.len() {
            let bytes = self.random.between(least, most);
            let tag = self.random.bits() as u8;
            self.objects[self.count] = Some(Object::new(bytes, tag));
            self.count += 1;
            self.live += u64::from(bytes);
        }
    }

    /// Frees a random 80 %.
    fn thin(&mut self) {
        let mut kept = 0;
        for at in 0..self.count {
            let Some(object) = self.objects[at].take() else {
                continue;
            };
            if self.random.between(0, 4) == 0 {
                self.objects[kept] = Some(object);
                kept += 1;
            } else {
                self.live -= u64::from(object.bytes());
                self.freed = self.freed.wrapping_add(object.free());
            }
        }
        self.count = kept;
    }

    /// Frees what is left.
    fn end(&mut self) {
        let left = self.objects.drain(..).flatten().map(Object::free);
        self.freed = left.fold(self.freed, u64::wrapping_add);
    }
}
