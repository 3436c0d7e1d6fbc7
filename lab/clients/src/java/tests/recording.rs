//! Small recordings, written byte by byte.

use std::collections::{BTreeMap, BTreeSet};

use surefit_trace::graph::Reader;

use crate::java::Program;

/// One class, with id 1, whose instances take 24 bytes and have one slot.
pub(super) struct Recording {
    bytes: Vec<u8>,
    last_id: u32,
    allocations: u64,
    walks: u64,
}

impl Recording {
    pub(super) fn new() -> Self {
        Self {
            bytes: b"H\x01\x00\x60\x00C\x01\x01\x03LA;".to_vec(),
            last_id: 1,
            allocations: 0,
            walks: 0,
        }
    }

    /// Allocates an instance and returns its id.
    pub(super) fn allocate(&mut self) -> u32 {
        self.bytes.extend(b"A\x01\x18");
        self.allocations += 1;
        self.last_id += 1;
        self.last_id
    }

    pub(super) fn allocate_many(&mut self, count: u32) {
        for _ in 0..count {
            self.allocate();
        }
    }

    /// A program that keeps a few roots, each the head of a chain that is extended, cut or dropped
    /// at random.
    pub(super) fn random(mut seed: u64, walks: u32) -> Self {
        let mut recording = Self::new();
        let mut roots: BTreeSet<u32> = BTreeSet::new();
        let mut next: BTreeMap<u32, u32> = BTreeMap::new();
        let mut random = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) as usize % below
        };
        for _ in 0..walks {
            let given: Vec<_> = (0..20).map(|_| recording.allocate()).collect();
            let (mut changed, mut roots_changed) = (BTreeMap::new(), BTreeMap::new());
            for &new in given.iter().step_by(3) {
                let mut at = roots.iter().nth(random(roots.len().max(1))).copied();
                for _ in 0..random(6) {
                    at = at.and_then(|id| next.get(&id).copied()).or(at);
                }
                match at {
                    Some(from) if roots.len() > 3 => {
                        next.insert(from, new);
                        changed.insert(from, new);
                    }
                    _ => {
                        roots.insert(new);
                        roots_changed.insert(new, true);
                    }
                }
            }
            if random(4) == 0 {
                let lost = *roots.first().expect("some root");
                roots.remove(&lost);
                if roots_changed.remove(&lost).is_none() {
                    roots_changed.insert(lost, false);
                }
            }
            let references: Vec<_> = changed.into_iter().collect();
            let root_changes: Vec<_> = roots_changed.into_iter().collect();
            recording.walk(&references, &root_changes, &[]);
        }
        recording
    }

    /// A walk: references, root changes and deaths, each in ascending order of ids.
    pub(super) fn walk(&mut self, references: &[(u32, u32)], roots: &[(u32, bool)], dead: &[u32]) {
        self.begin();
        for &(from, to) in references {
            self.bytes.push(b'E');
            self.number(from.into());
            self.bytes.extend([1, 7]);
            let difference = i64::from(to) - i64::from(from);
            self.number(((difference << 1) ^ (difference >> 63)) as u64);
        }
        self.end(roots, dead);
    }

    /// A walk that finds an object again.
    pub(super) fn revive(&mut self, id: u32) {
        self.begin();
        self.bytes.push(b'Z');
        self.number(id.into());
        self.bytes.extend([24, 1]);
        self.end(&[(id, true)], &[]);
    }

    pub(super) fn program(&self) -> Program {
        Program::read(|| Reader::new(&self.bytes[..])).expect("a sound recording")
    }

    fn begin(&mut self) {
        self.walks += 1;
        self.bytes.push(b'S');
        for number in [self.walks, self.allocations, self.allocations * 24] {
            self.number(number);
        }
    }

    fn end(&mut self, roots: &[(u32, bool)], dead: &[u32]) {
        self.bytes.push(b'R');
        let mut last = 0;
        for &(id, gained) in roots {
            self.bytes.push(if gained { b'+' } else { b'-' });
            self.number((id - last).into());
            last = id;
        }
        self.bytes.extend(b".D");
        let mut last = 0;
        for &id in dead {
            self.number((id - last).into());
            last = id;
        }
        self.bytes.push(0);
    }

    fn number(&mut self, mut number: u64) {
        while number >= 128 {
            self.bytes.push(number as u8 | 128);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }
}
