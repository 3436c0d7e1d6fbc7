//! What the reader remembers of every object, dead or alive: objects that were logged dead may be
//! revived.
#![deny(clippy::arithmetic_side_effects, clippy::cast_possible_truncation)]

use crate::Problem;
use crate::graph::record::push;
use crate::graph::step::Object;
use crate::graph::walk::{Live, Walk};

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
    /// Whether R records make it a root.
    is_recorded_root: bool,
    /// Whether it is the class object of a class.
    is_class: bool,
    /// Whether the walks told so far make it a root.
    is_root: bool,
}

const _: () = assert!(size_of::<Entry>() == 20, "the bound that the module tells");

/// All objects by id.
#[derive(Debug, Default)]
pub(super) struct Objects {
    entries: Vec<Entry>,
    live: Live,
    /// The objects that may have become roots, or be roots no longer, since the last walk ended.
    touched: Vec<u32>,
}

impl Objects {
    /// The id of the object that is added next.
    #[expect(clippy::arithmetic_side_effects, reason = "at most MOST objects")]
    pub(super) fn next_id(&self) -> u64 {
        self.entries.len() as u64 + 1
    }

    /// What lives.
    pub(super) fn live(&self) -> Live {
        self.live
    }

    /// Adds a live object under the next id, which it returns.
    #[expect(clippy::cast_possible_truncation, reason = "at most MOST objects")]
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
            is_recorded_root: false,
            is_class: false,
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
        self.touch_class(id);
        self.count_live(bytes);
        Ok(object)
    }

    /// A live object that no record makes a root dies.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "the object was live, so that it was counted"
    )]
    pub(super) fn kill(&mut self, id: u32) -> Result<(), Problem> {
        let entry = self.entry(id)?;
        if !entry.is_live {
            return Err(Problem::NotLive { id });
        }
        if entry.is_recorded_root {
            return Err(Problem::DeadRoot { id });
        }
        entry.is_live = false;
        let bytes = entry.bytes;
        self.live.objects -= 1;
        self.live.bytes -= u64::from(bytes);
        self.touch_class(id);
        Ok(())
    }

    /// An R record makes an object a root, or no longer does.
    pub(super) fn record_root(&mut self, id: u32, gained: bool) -> Result<(), Problem> {
        let entry = self.entry(id)?;
        if gained && !entry.is_live {
            return Err(Problem::NotLive { id });
        }
        if entry.is_recorded_root == gained {
            return Err(Problem::Root { id, gained });
        }
        entry.is_recorded_root = gained;
        push(&mut self.touched, id)
    }

    /// An object turns out to be the class object of a class.
    pub(super) fn mark_class(&mut self, id: u32) -> Result<(), Problem> {
        let entry = self.entry(id)?;
        if !entry.is_class {
            entry.is_class = true;
            self.touch_class(id);
        }
        Ok(())
    }

    /// Tells a walk which objects are roots when it ends that were none before, and the other way
    /// round.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "only ids of objects are touched, from one on"
    )]
    pub(super) fn settle_roots(&mut self, walk: &mut Walk) {
        for id in std::mem::take(&mut self.touched) {
            let entry = &mut self.entries[id as usize - 1];
            let is_root = entry.is_live && (entry.is_recorded_root || entry.is_class);
            if is_root != entry.is_root {
                entry.is_root = is_root;
                let list = if is_root {
                    &mut walk.roots_gained
                } else {
                    &mut walk.roots_lost
                };
                list.push(id);
            }
        }
    }

    #[expect(
        clippy::arithmetic_side_effects,
        reason = "only ids of objects are touched, from one on"
    )]
    fn touch_class(&mut self, id: u32) {
        if self.entries[id as usize - 1].is_class {
            self.touched.push(id);
        }
    }

    #[expect(
        clippy::arithmetic_side_effects,
        reason = "at most MOST objects of 32 bits of bytes"
    )]
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
