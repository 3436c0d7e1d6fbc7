//! What the reader remembers of every object, dead or alive: objects that were logged dead may be revived.

use crate::Problem;
use crate::graph::step::Object;
use crate::graph::walk::Live;

/// The most objects of a recording.
const MOST: usize = 1 << 27;

/// What a recorded slot of an object stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slots {
    /// The elements of an array: recorded slots are numbers already.
    Elements,
    /// Fields: recorded slots are numbered as they appear.
    Fields,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    class: u32,
    bytes: u32,
    slots: u32,
    kind: Slots,
    is_live: bool,
    is_root: bool,
}

/// All objects by id.
#[derive(Debug, Default)]
pub(super) struct Objects {
    entries: Vec<Entry>,
    live: Live,
}

impl Objects {
    /// The id of the object that is added next.
    pub(super) fn next_id(&self) -> u64 {
        self.entries.len() as u64 + 1
    }

    /// What lives.
    pub(super) fn live(&self) -> Live {
        self.live
    }

    /// Adds a live object under the next id, which it returns.
    pub(super) fn add(
        &mut self,
        class: u32,
        bytes: u32,
        slots: u32,
        kind: Slots,
    ) -> Result<Object, Problem> {
        if self.entries.len() == MOST {
            return Err(Problem::TooMany {
                what: "objects",
                limit: MOST as u64,
            });
        }
        let more = self.entries.try_reserve(1);
        more.map_err(|_| Problem::OutOfMemory)?;
        self.entries.push(Entry {
            class,
            bytes,
            slots,
            kind,
            is_live: true,
            is_root: false,
        });
        self.count_live(bytes);
        let id = self.entries.len() as u32;
        self.get(id)
    }

    /// Any object that was ever added.
    pub(super) fn get(&self, id: u32) -> Result<Object, Problem> {
        let entry = self.entries[self.index(id)?];
        Ok(Object {
            id,
            class: entry.class,
            bytes: entry.bytes,
            slots: entry.slots,
        })
    }

    /// A live object, and what its slots stand for.
    pub(super) fn live_object(&self, id: u32) -> Result<(Object, Slots), Problem> {
        let entry = &self.entries[self.index(id)?];
        if !entry.is_live {
            return Err(Problem::NotLive { id });
        }
        Ok((self.get(id)?, entry.kind))
    }

    /// A dead object lives again.
    pub(super) fn revive(&mut self, id: u32, bytes: u32) -> Result<Object, Problem> {
        let object = self.get(id)?;
        let entry = self.entry(id)?;
        if entry.is_live {
            return Err(Problem::NotDead { id });
        }
        if entry.bytes != bytes {
            let before = entry.bytes;
            return Err(Problem::SizeChanged { id, bytes, before });
        }
        entry.is_live = true;
        self.count_live(bytes);
        Ok(object)
    }

    /// A live object that is no root dies.
    pub(super) fn kill(&mut self, id: u32) -> Result<(), Problem> {
        let entry = self.entry(id)?;
        if !entry.is_live {
            return Err(Problem::NotLive { id });
        }
        if entry.is_root {
            return Err(Problem::DeadRoot { id });
        }
        entry.is_live = false;
        let bytes = entry.bytes;
        self.live.objects -= 1;
        self.live.bytes -= u64::from(bytes);
        Ok(())
    }

    /// An object becomes a root, or is one no longer.
    pub(super) fn set_root(&mut self, id: u32, gained: bool) -> Result<(), Problem> {
        let entry = self.entry(id)?;
        if gained && !entry.is_live {
            return Err(Problem::NotLive { id });
        }
        if entry.is_root == gained {
            return Err(Problem::Root { id, gained });
        }
        entry.is_root = gained;
        Ok(())
    }

    fn count_live(&mut self, bytes: u32) {
        self.live.objects += 1;
        self.live.bytes += u64::from(bytes);
    }

    fn entry(&mut self, id: u32) -> Result<&mut Entry, Problem> {
        let index = self.index(id)?;
        Ok(&mut self.entries[index])
    }

    fn index(&self, id: u32) -> Result<usize, Problem> {
        match (id as usize).checked_sub(1) {
            Some(index) if index < self.entries.len() => Ok(index),
            _ => Err(Problem::UnknownObject(i64::from(id))),
        }
    }
}
