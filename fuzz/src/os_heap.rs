//! Heaps over the operating system's memory beside a model: limits, delays, memory that is given
//! back and used again.
//!
//! The time is the input's; the system calls are real.

use std::alloc::Layout;
use std::time::Duration;

use surefit_compact::os::{Limits, OsHeap};
use surefit_compact::{Bytes, Handle, Medium, Narrow, Wide, Width};
use surefit_core::Refused;

use crate::config::config;
use crate::input::Input;

struct Run<'c, W: Width> {
    heap: OsHeap<'c, W>,
    limits: Limits,
    objects: Vec<(Bytes<u8>, Vec<u8>)>,
    values: Vec<(Handle<[u64; 20]>, u64)>,
    now: Duration,
    /// What may be resident: the hard limit, or what was resident when it became less than that.
    most: usize,
    steps: u64,
}

/// Runs all operations of an input.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    match input.byte() % 3 {
        0 => run_width::<Wide>(&mut input),
        1 => run_width::<Narrow>(&mut input),
        _ => run_width::<Medium>(&mut input),
    }
}

fn any_limits(input: &mut Input<'_>) -> Limits {
    let hard = input.number() * 4;
    Limits {
        delay: Duration::from_millis(u64::from(input.byte())),
        calls_per_tick: input.below(8) as u32,
        moves_per_tick: u64::from(input.byte()),
        ..Limits::new(hard / (1 + input.below(4)), hard)
    }
}

fn run_width<W: Width<Generation = ()>>(input: &mut Input<'_>) {
    let config = config(input, W::WORD_BYTES);
    let limits = any_limits(input);
    let Ok(heap) = OsHeap::<W>::new(&config, limits) else {
        return;
    };
    let mut run = Run {
        heap,
        limits,
        objects: Vec::new(),
        values: Vec::new(),
        now: Duration::ZERO,
        most: limits.hard,
        steps: 0,
    };
    while !input.is_empty() && run.steps < 600 {
        run.steps += 1;
        run.step(input);
        run.check();
    }
    run.verify_all();
    run.empty();
}

impl<W: Width> Run<'_, W> {
    fn step(&mut self, input: &mut Input<'_>) {
        match input.byte() % 16 {
            0..4 => self.allocate(input),
            4 | 5 => self.free(input),
            6 => self.resize(input),
            7 => self.insert(input),
            8 => self.remove(input),
            9..12 => self.tick(input),
            12 => self.give_all_back(),
            13 => self.set_limits(input),
            14 => {
                self.heap.compact(u64::from(input.byte()));
            }
            _ => self.verify_all(),
        }
    }

    fn check(&mut self) {
        self.heap.check().expect("every invariant holds");
        let stats = self.heap.stats();
        assert!(stats.resident_bytes <= self.most, "{stats:?}");
        assert_eq!(stats.failures, 0);
        self.most = self.most.min(stats.resident_bytes.max(self.limits.hard));
        if self.steps % 8 == 0 {
            let measured = self.heap.measure_resident().expect("Linux reports it");
            assert!(measured <= stats.resident_bytes, "{measured}: {stats:?}");
        }
    }

    fn verify_all(&self) {
        for (bytes, content) in &self.objects {
            let chunks = self.heap.heap().chunks(bytes);
            assert!(chunks.flatten().eq(content));
        }
        for (handle, number) in &self.values {
            assert_eq!(self.heap.get(handle), &[*number; 20]);
        }
    }

    /// What is left of an empty heap can be given back, but for the tables' ends.
    fn empty(mut self) {
        for (bytes, _) in std::mem::take(&mut self.objects) {
            self.heap.free_bytes(bytes);
        }
        for (handle, number) in std::mem::take(&mut self.values) {
            assert_eq!(self.heap.remove(handle), [number; 20]);
        }
        self.heap.compact(u64::MAX);
        self.heap.give_all_back().expect("Linux takes it back");
        self.check();
        assert_eq!(self.heap.heap().stats().live_blocks, 0);
    }

    fn fresh(&self, len: usize) -> Vec<u8> {
        let seed = self.steps as usize;
        (0..len)
            .map(|at| (seed.wrapping_mul(37) ^ (at * 11) ^ at >> 8) as u8)
            .collect()
    }

    /// A refusal because of the limit names it, and leaves what was there.
    fn refused(&self, refused: Refused) {
        if let Refused::Limit { limit } = refused {
            assert_eq!(limit, self.limits.hard);
        }
    }

    // ---- objects --------------------------------------------------------------------------------

    fn allocate(&mut self, input: &mut Input<'_>) {
        let len = input.size();
        for _ in 0..1 + input.below(32) {
            let Ok(layout) = Layout::from_size_align(len, 8) else {
                return;
            };
            match self.heap.alloc_zeroed(layout) {
                Ok(mut bytes) => {
                    let heap = self.heap.heap();
                    assert!(heap.chunks(&bytes).flatten().all(|&byte| byte == 0));
                    let content = self.fresh(len);
                    heap.write_at(&mut bytes, 0, &content);
                    self.objects.push((bytes, content));
                }
                Err(refused) => return self.refused(refused),
            }
        }
    }

    fn free(&mut self, input: &mut Input<'_>) {
        for _ in 0..1 + input.below(64) {
            if let Some(which) = input.number().checked_rem(self.objects.len()) {
                let (bytes, _) = self.objects.swap_remove(which);
                self.heap.free_bytes(bytes);
            }
        }
    }

    fn resize(&mut self, input: &mut Input<'_>) {
        let Some(which) = input.number().checked_rem(self.objects.len()) else {
            return;
        };
        let Ok(layout) = Layout::from_size_align(input.size(), 8) else {
            return;
        };
        let (bytes, content) = &mut self.objects[which];
        match self.heap.resize(bytes, layout) {
            Ok(()) => content.resize(layout.size(), 0),
            Err(refused) => self.refused(refused),
        }
    }

    fn insert(&mut self, input: &mut Input<'_>) {
        for _ in 0..1 + input.below(64) {
            match self.heap.insert([self.steps; 20]) {
                Ok(handle) => self.values.push((handle, self.steps)),
                Err(full) => return self.refused(full.refused),
            }
        }
    }

    fn remove(&mut self, input: &mut Input<'_>) {
        for _ in 0..1 + input.below(64) {
            if let Some(which) = input.number().checked_rem(self.values.len()) {
                let (handle, number) = self.values.swap_remove(which);
                assert_eq!(self.heap.remove(handle), [number; 20]);
            }
        }
    }

    // ---- memory ---------------------------------------------------------------------------------

    fn tick(&mut self, input: &mut Input<'_>) {
        self.now += Duration::from_millis(u64::from(input.byte()));
        let before = self.heap.stats();
        let given = self.heap.tick(self.now).expect("Linux takes it back");
        let after = self.heap.stats();
        // The end of the address table is given back beside the budget.
        assert!(given.calls <= self.limits.calls_per_tick + 1);
        assert!(given.moves <= self.limits.moves_per_tick);
        assert!(after.resident_bytes <= before.resident_bytes);
        let bytes = after.given_back_bytes - before.given_back_bytes;
        assert_eq!(bytes, given.bytes as u64);
        assert_eq!(after.calls - before.calls, u64::from(given.calls));
    }

    fn give_all_back(&mut self) {
        self.heap.give_all_back().expect("Linux takes it back");
        self.verify_all();
    }

    fn set_limits(&mut self, input: &mut Input<'_>) {
        let limits = any_limits(input);
        let resident = self.heap.stats().resident_bytes;
        if self.heap.set_limits(limits.soft, limits.hard).is_ok() {
            (self.limits.soft, self.limits.hard) = (limits.soft, limits.hard);
            self.most = limits.hard.max(resident);
        }
        assert_eq!(self.heap.limits(), self.limits);
    }
}
