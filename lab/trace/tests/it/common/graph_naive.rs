//! A decoder of object graphs that is slow and plain: the whole recording at once, lists and
//! searches, no positions.

use std::collections::BTreeSet;

use surefit_trace::graph::Step;

/// A step, and a walk, as plain values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    Class(u32, u32, String),
    /// `(letter, id, class, bytes, slots)`
    Object(char, u32, u32, u32, u32),
    Walk(Box<ToldWalk>),
}

/// One changed object: `(object, (slot, target)…, class-level targets)`.
pub(crate) type ToldChange = (u32, Vec<(u32, u32)>, Vec<u32>);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ToldWalk {
    pub(crate) clock: [u64; 3],
    pub(crate) changes: Vec<ToldChange>,
    pub(crate) gained: Vec<u32>,
    pub(crate) lost: Vec<u32>,
    pub(crate) dead: Vec<u32>,
    pub(crate) live: (u64, u64),
}

/// What the reader tells, in the same form.
pub(crate) fn told(step: &Step) -> Told {
    let (letter, object) = match step {
        Step::Class(class) => return Told::Class(class.id, class.fields, class.signature.clone()),
        Step::Walk(walk) => {
            let change = |change: surefit_trace::graph::Change<'_>| {
                let own = change
                    .references
                    .iter()
                    .map(|edge| (edge.slot, edge.target));
                (change.object, own.collect(), change.class_level.to_vec())
            };
            return Told::Walk(Box::new(ToldWalk {
                clock: [walk.number, walk.allocations, walk.bytes],
                changes: walk.changes().map(change).collect(),
                gained: sorted(&walk.roots_gained),
                lost: sorted(&walk.roots_lost),
                dead: walk.dead.clone(),
                live: (walk.live.objects, walk.live.bytes),
            }));
        }
        Step::Allocate(object) => ('A', object),
        Step::Find(object) => ('H', object),
        Step::Revive(object) => ('Z', object),
    };
    Told::Object(letter, object.id, object.class, object.bytes, object.slots)
}

fn sorted(ids: &[u32]) -> Vec<u32> {
    let mut ids = ids.to_vec();
    ids.sort_unstable();
    ids
}

#[derive(Clone)]
struct Thing {
    class: u64,
    bytes: u64,
    slots: u64,
    is_array: bool,
    is_live: bool,
    is_root: bool,
    is_class: bool,
}

struct Class {
    id: u64,
    fields: u64,
    signature: String,
}

#[derive(Default)]
struct Decoder<'b> {
    bytes: &'b [u8],
    things: Vec<Thing>,
    classes: Vec<Class>,
    /// `(is a class, id, recorded slots in the order of their numbers)`
    numbers: Vec<(bool, u64, Vec<u64>)>,
    allocations: u64,
    allocated: u64,
    walks: u64,
    /// All roots when the last walk ended.
    roots: BTreeSet<u32>,
    walk: Option<(ToldWalk, Vec<RawChange>)>,
    told: Vec<Told>,
}

/// `(object, (slot, target)…)` as recorded.
type RawChange = (u64, Vec<(u64, i128)>);

/// All steps; `None` if any rule is broken.
pub(crate) fn decode(bytes: &[u8]) -> Option<Vec<Told>> {
    let mut decoder = Decoder {
        bytes,
        ..Decoder::default()
    };
    if bytes.is_empty() {
        return None;
    }
    while let Some((&letter, rest)) = decoder.bytes.split_first() {
        decoder.bytes = rest;
        decoder.record(letter)?;
    }
    decoder.walk.is_none().then_some(decoder.told)
}

impl Decoder<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(first)
    }

    fn vi(&mut self) -> Option<u64> {
        let mut value = 0_u128;
        for place in 0..10 {
            let byte = self.byte()?;
            value |= u128::from(byte & 127) << (7 * place);
            if byte < 128 {
                return u64::try_from(value).ok();
            }
        }
        None
    }

    fn small(&mut self, most: u64) -> Option<u64> {
        self.vi().filter(|&value| value <= most)
    }

    fn id(&mut self) -> Option<u64> {
        self.small(u64::from(u32::MAX))
    }

    fn record(&mut self, letter: u8) -> Option<()> {
        let inside = self.walk.is_some();
        match letter {
            b'C' if !inside => self.class(),
            b'A' if !inside => self.allocation(),
            b'S' if !inside => self.begin(),
            b'H' => self.found(),
            b'Z' if inside => self.again(),
            b'E' if inside => self.edges(),
            b'R' if inside => self.roots(),
            b'D' if inside => self.end(),
            _ => None,
        }
    }

    fn class(&mut self) -> Option<()> {
        let id = self.id()?;
        let fields = self.small(65_535)?;
        let length = self.small(65_535)?;
        let (name, rest) = self.bytes.split_at_checked(length as usize)?;
        self.bytes = rest;
        let signature = String::from_utf8_lossy(name).into_owned();
        self.thing(id)?.is_class = true;
        let is_new = self.classes.iter().all(|class| class.id != id);
        let used = self
            .numbers
            .iter()
            .find(|(is_class, owner, _)| *is_class && *owner == id);
        let fits = signature.starts_with('[')
            || used.is_none_or(|(.., slots)| slots.len() as u64 <= fields);
        self.told
            .push(Told::Class(id as u32, fields as u32, signature.clone()));
        self.classes.push(Class {
            id,
            fields,
            signature,
        });
        (is_new && fits).then_some(())
    }

    fn thing(&mut self, id: u64) -> Option<&mut Thing> {
        self.things
            .get_mut(usize::try_from(id).ok()?.checked_sub(1)?)
    }

    fn place(&mut self, letter: char, class: u64, bytes: u64, length: Option<u64>) -> Option<()> {
        let declared = self.classes.iter().find(|known| known.id == class);
        let (slots, least, is_array) = match (declared, length) {
            (Some(known), _)
                if known.signature.starts_with("[L") || known.signature.starts_with("[[") =>
            {
                (bytes.saturating_sub(16) / 4, 16, true)
            }
            (Some(known), _) if known.signature.starts_with('[') => (0, 16, true),
            (Some(known), _) => (known.fields, 12 + 4 * known.fields, false),
            (None, Some(length)) if (16 + 4 * length).div_ceil(8) * 8 == bytes => (length, 0, true),
            (None, Some(_)) => (0, 0, true),
            (None, None) => (bytes.saturating_sub(12) / 4, 0, false),
        };
        self.things.push(Thing {
            class,
            bytes,
            slots,
            is_array,
            is_live: true,
            is_root: false,
            is_class: false,
        });
        let id = self.things.len() as u32;
        self.told.push(Told::Object(
            letter,
            id,
            class as u32,
            bytes as u32,
            slots as u32,
        ));
        (bytes >= least).then_some(())
    }

    fn allocation(&mut self) -> Option<()> {
        let class = self.id()?;
        let bytes = self.small(i32::MAX as u64)?;
        self.classes.iter().find(|known| known.id == class)?;
        self.allocations += 1;
        self.allocated += bytes;
        self.place('A', class, bytes, None)
    }

    fn found(&mut self) -> Option<()> {
        let id = self.id()?;
        let class = self.id()?;
        let bytes = self.small(i32::MAX as u64)?;
        let length = self.small(1 << 32)?.checked_sub(1);
        if id != self.things.len() as u64 + 1 {
            return None;
        }
        self.place('H', class, bytes, length)
    }

    fn again(&mut self) -> Option<()> {
        let id = self.id()?;
        let bytes = self.small(i32::MAX as u64)?;
        self.vi()?;
        let thing = self.thing(id)?;
        if thing.is_live || thing.bytes != bytes {
            return None;
        }
        thing.is_live = true;
        let (class, slots) = (thing.class as u32, thing.slots as u32);
        self.told
            .push(Told::Object('Z', id as u32, class, bytes as u32, slots));
        Some(())
    }

    fn begin(&mut self) -> Option<()> {
        let clock = [self.vi()?, self.vi()?, self.vi()?];
        self.walks += 1;
        let walk = ToldWalk {
            clock,
            ..ToldWalk::default()
        };
        self.walk = Some((walk, Vec::new()));
        (clock == [self.walks, self.allocations, self.allocated]).then_some(())
    }

    fn edges(&mut self) -> Option<()> {
        let object = self.id()?;
        let (mut slot, mut target) = (0_u64, i128::from(object));
        let mut edges = Vec::new();
        for _ in 0..self.vi()? {
            slot = (slot + self.vi()? % (1 << 32)) % (1 << 32);
            let difference = self.vi()?;
            let half = i128::from(difference / 2);
            target += if difference % 2 == 0 { half } else { -half - 1 };
            if !(0..1 << 32).contains(&target) {
                return None;
            }
            edges.push((slot, target));
        }
        let to_class = edges.iter().filter(|(slot, _)| *slot == 0x3000_0001);
        if to_class.count() > 1 {
            return None;
        }
        self.walk.as_mut()?.1.push((object, edges));
        Some(())
    }

    fn roots(&mut self) -> Option<()> {
        let mut id = 0_u64;
        let mut changes = Vec::new();
        loop {
            let gained = match self.byte()? {
                b'.' => break,
                b'+' => true,
                b'-' => false,
                _ => return None,
            };
            id = id.checked_add(self.vi()?).filter(|&id| id < 1 << 32)?;
            changes.push((id, gained));
        }
        for (id, gained) in changes {
            let thing = self.thing(id)?;
            if thing.is_root == gained || (gained && !thing.is_live) {
                return None;
            }
            thing.is_root = gained;
        }
        Some(())
    }

    fn end(&mut self) -> Option<()> {
        let (mut walk, edges) = self.walk.take()?;
        let before = std::mem::take(&mut self.roots);
        let mut id = 0_u64;
        loop {
            let difference = self.vi()?;
            if difference == 0 {
                break;
            }
            id = (id + difference % (1 << 32)) % (1 << 32);
            walk.dead.push(id as u32);
        }
        for &id in &walk.dead {
            let thing = self
                .thing(u64::from(id))
                .filter(|thing| thing.is_live && !thing.is_root)?;
            thing.is_live = false;
        }
        for (object, edges) in edges {
            let change = self.change(object, &edges)?;
            walk.changes.push(change);
        }
        let ids = 1..=self.things.len() as u32;
        let things = ids.zip(&self.things);
        let roots = things.filter(|(_, thing)| thing.is_live && (thing.is_root || thing.is_class));
        self.roots = roots.map(|(id, _)| id).collect();
        walk.gained = self.roots.difference(&before).copied().collect();
        walk.lost = before.difference(&self.roots).copied().collect();
        let live = self.things.iter().filter(|thing| thing.is_live);
        walk.live = (
            live.clone().count() as u64,
            live.map(|thing| thing.bytes).sum(),
        );
        self.told.push(Told::Walk(Box::new(walk)));
        Some(())
    }

    fn change(&mut self, object: u64, edges: &[(u64, i128)]) -> Option<ToldChange> {
        let thing = self.thing(object).filter(|thing| thing.is_live)?.clone();
        let declared = self.classes.iter().find(|class| class.id == thing.class);
        let fields = declared.filter(|class| !class.signature.starts_with('['));
        let room = fields.map_or(thing.slots, |class| class.fields.min(thing.slots));
        let mut own = Vec::new();
        let mut class_level = Vec::new();
        for &(slot, target) in edges {
            let to = self.thing(target as u64).filter(|to| to.is_live)?;
            if slot == 0x3000_0001 {
                to.is_class = true;
                continue;
            }
            if slot >= 0x1000_0000 {
                class_level.push(target as u32);
                continue;
            }
            let number = if thing.is_array {
                slot
            } else {
                self.number(object, thing.class, slot)
            };
            let is_taken = own.iter().any(|&(taken, _)| u64::from(taken) == number);
            if number >= room || is_taken {
                return None;
            }
            own.push((number as u32, target as u32));
        }
        Some((object as u32, own, class_level))
    }

    fn number(&mut self, object: u64, class: u64, slot: u64) -> u64 {
        let owner = if class == 0 {
            (false, object)
        } else {
            (true, class)
        };
        let known = self
            .numbers
            .iter()
            .position(|(is_class, id, _)| (*is_class, *id) == owner);
        let index = known.unwrap_or(self.numbers.len());
        if known.is_none() {
            self.numbers.push((owner.0, owner.1, Vec::new()));
        }
        let slots = &mut self.numbers[index].2;
        let place = slots.iter().position(|&given| given == slot);
        if place.is_none() {
            slots.push(slot);
        }
        place.unwrap_or(slots.len() - 1) as u64
    }
}
