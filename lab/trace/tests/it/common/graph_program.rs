//! Makes sound recordings from arbitrary choices: a program that allocates, is walked, and loses
//! objects.

/// A recording in the making.
#[derive(Debug, Default)]
pub(crate) struct Program {
    pub(crate) bytes: Vec<u8>,
    things: Vec<Thing>,
    /// `(id, references of an instance)` of declared classes; arrays of references have `None`.
    classes: Vec<(u32, Option<u32>)>,
    /// A class object whose class is not declared yet though an instance was found: `(id, fields)`.
    early: Option<(u32, u32)>,
    roots: Vec<u32>,
    walks: u64,
    allocations: u64,
    allocated: u64,
}

#[derive(Clone, Copy, Debug)]
struct Thing {
    bytes: u32,
    /// Recorded slots are multiples of three of fields, plain of elements.
    stride: u32,
    slots: u32,
    is_live: bool,
}

fn vi(mut value: u64, bytes: &mut Vec<u8>) {
    while value >= 128 {
        bytes.push(value as u8 | 128);
        value >>= 7;
    }
    bytes.push(value as u8);
}

fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

impl Program {
    fn record(&mut self, letter: u8, values: &[u64]) {
        self.bytes.push(letter);
        values.iter().for_each(|&value| vi(value, &mut self.bytes));
    }

    fn add(&mut self, bytes: u32, stride: u32, slots: u32) -> u32 {
        self.things.push(Thing {
            bytes,
            stride,
            slots,
            is_live: true,
        });
        self.things.len() as u32
    }

    /// Finds a class object and declares its class, or finds an instance first and leaves the
    /// declaration for the next time.
    pub(crate) fn declare(&mut self, choice: u32) {
        let fields = choice / 4 % 5;
        if let Some((id, fields)) = self.early.take() {
            return self.class(id, fields, "LEarly;");
        }
        let id = self.find(0, 96, 0);
        if choice % 3 == 0 {
            self.early = Some((id, fields));
            let instance = self.find(id, 32, 0);
            self.things[instance as usize - 1].slots = fields;
            return;
        }
        self.class(
            id,
            fields,
            ["LA;", "[LA;", "[[I", "[B"][choice as usize % 4],
        );
    }

    fn class(&mut self, id: u32, fields: u32, signature: &str) {
        let values = [u64::from(id), u64::from(fields), signature.len() as u64];
        self.record(b'C', &values);
        self.bytes.extend(signature.bytes());
        let slots = match (signature.starts_with('['), signature == "[B") {
            (false, _) => Some(fields),
            (true, true) => Some(0),
            (true, false) => None,
        };
        self.classes.push((id, slots));
    }

    /// Finds an object of unknown class, or an array of `length - 1` elements.
    fn find(&mut self, class: u32, bytes: u32, length: u32) -> u32 {
        let (stride, slots) = match length.checked_sub(1) {
            Some(length) if (16 + 4 * length).next_multiple_of(8) == bytes => (1, length),
            Some(_) => (1, 0),
            None => (3, (bytes - 12) / 4),
        };
        let id = self.add(bytes, stride, slots);
        self.record(b'H', &[id, class, bytes, length].map(u64::from));
        id
    }

    pub(crate) fn allocate(&mut self, choice: u32) {
        let Some(&(class, fields)) = self
            .classes
            .get(choice as usize % self.classes.len().max(1))
        else {
            return self.declare(choice);
        };
        let slots = fields.unwrap_or(choice / 7 % 9 * 2);
        let stride = if fields.is_some() { 3 } else { 1 };
        let bytes = (16 + 4 * slots).next_multiple_of(8);
        let slots = if fields.is_some() {
            slots
        } else {
            (bytes - 16) / 4
        };
        self.add(bytes, stride, slots);
        self.record(b'A', &[u64::from(class), u64::from(bytes)]);
        self.allocations += 1;
        self.allocated += u64::from(bytes);
    }

    /// A whole walk, made from arbitrary choices.
    pub(crate) fn walk(&mut self, choices: &[u32]) {
        self.walks += 1;
        self.record(b'S', &[self.walks, self.allocations, self.allocated]);
        let (dying, rest) = choices.split_at(choices.len() / 3);
        for &choice in rest.iter().filter(|&&choice| choice % 5 == 0) {
            self.revive_or_find(choice / 5);
        }
        let dead = self.choose_dead(dying);
        for &choice in rest {
            self.edges(choice);
        }
        self.change_roots(rest);
        self.deaths(&dead);
    }

    fn live(&self) -> Vec<u32> {
        let ids = 1..=self.things.len() as u32;
        ids.filter(|&id| self.things[id as usize - 1].is_live)
            .collect()
    }

    fn revive_or_find(&mut self, choice: u32) {
        let ids = 1..=self.things.len() as u32;
        let dead: Vec<_> = ids
            .filter(|&id| !self.things[id as usize - 1].is_live)
            .collect();
        if choice % 2 == 0 && !dead.is_empty() {
            let id = dead[choice as usize % dead.len()];
            let thing = &mut self.things[id as usize - 1];
            thing.is_live = true;
            let bytes = thing.bytes;
            return self.record(b'Z', &[u64::from(id), u64::from(bytes), 9]);
        }
        // classes far above every id are never declared
        let (class, length) = (choice % 3 * 1_000_000, choice / 3 % 4);
        let step = if class == 0 || length > 0 {
            choice % 4
        } else {
            class / 1_000_000
        };
        self.find(class, 16 + step * 8, length);
    }

    fn choose_dead(&mut self, choices: &[u32]) -> Vec<u32> {
        let mut dead = Vec::new();
        for &choice in choices {
            let live = self.live();
            let is_class = |id| self.classes.iter().any(|&(class, _)| class == id);
            let Some(&id) = live.get(choice as usize % live.len().max(1)) else {
                continue;
            };
            if !self.roots.contains(&id) && !is_class(id) {
                self.things[id as usize - 1].is_live = false;
                dead.push(id);
            }
        }
        dead
    }

    /// All references of one live object, some of them in falling order, some of its class.
    fn edges(&mut self, choice: u32) {
        let live = self.live();
        let Some(&object) = live.get(choice as usize % live.len().max(1)) else {
            return;
        };
        let thing = self.things[object as usize - 1];
        let mut slots: Vec<u32> = (0..thing.slots)
            .filter(|slot| choice >> (slot % 16) & 1 == 1)
            .map(|slot| slot * thing.stride)
            .collect();
        slots.extend([0x3000_0001, 0x1000_0000 + choice % 9]);
        let middle = choice as usize % slots.len();
        slots.rotate_left(middle);
        self.record(b'E', &[u64::from(object), slots.len() as u64]);
        let (mut slot, mut target) = (0_u32, object);
        for (number, next) in slots.into_iter().enumerate() {
            let to = live[(choice as usize).wrapping_mul(number + 1) % live.len()];
            vi(u64::from(next.wrapping_sub(slot)), &mut self.bytes);
            vi(zigzag(i64::from(to) - i64::from(target)), &mut self.bytes);
            (slot, target) = (next, to);
        }
    }

    fn change_roots(&mut self, choices: &[u32]) {
        let live = self.live();
        let mut ids: Vec<u32> = choices
            .iter()
            .filter_map(|&choice| live.get(choice as usize % live.len().max(1)))
            .copied()
            .collect();
        ids.sort_unstable();
        ids.dedup();
        self.bytes.push(b'R');
        let mut before = 0;
        for id in ids {
            let place = self.roots.iter().position(|&root| root == id);
            if let Some(place) = place {
                self.roots.swap_remove(place);
            } else {
                self.roots.push(id);
            }
            self.bytes.push(if place.is_some() { b'-' } else { b'+' });
            vi(u64::from(id - before), &mut self.bytes);
            before = id;
        }
        self.bytes.push(b'.');
    }

    fn deaths(&mut self, dead: &[u32]) {
        self.bytes.push(b'D');
        let mut before = 0_u32;
        for &id in dead {
            vi(u64::from(id.wrapping_sub(before)), &mut self.bytes);
            before = id;
        }
        self.bytes.push(0);
    }
}

/// A recording made of arbitrary choices.
pub(crate) fn arbitrary(choices: &[(u8, u32)]) -> Vec<u8> {
    let mut program = Program::default();
    program.declare(1);
    for (place, &(kind, choice)) in choices.iter().enumerate() {
        match kind % 8 {
            0 => program.declare(choice),
            1 => {
                let more = choices[place..].iter().take(8 + usize::from(kind));
                program.walk(&more.map(|&(_, choice)| choice).collect::<Vec<_>>());
            }
            _ => program.allocate(choice),
        }
    }
    program.bytes
}
