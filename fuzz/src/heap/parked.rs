//! Operations that lead through the states of parked pairs: alternation, frees in a row,
//! exhaustion, forged names.

use std::alloc::Layout;
use std::collections::BTreeMap;

use surefit_compact::{SizeClass, Width};

use super::Run;
use crate::input::Input;

/// The most objects that one operation frees or allocates.
const MOST: usize = 48;

impl<W: Width<Generation = ()>> Run<'_, W> {
    fn check(&self) {
        self.heap.check().expect("every invariant holds");
    }

    /// Allocates an object of one size-class, and leaves its bytes to the model.
    fn allocate_of(&mut self, layout: Layout) -> bool {
        let Ok(bytes) = self.heap.alloc_zeroed(layout) else {
            return false;
        };
        let content = vec![0; layout.size()];
        self.objects.push(super::Object {
            bytes,
            content,
            align: layout.align(),
        });
        self.fill(self.objects.len() - 1, 0, layout.size().min(32));
        true
    }

    /// A layout that is in no more than a few pieces.
    fn layout(input: &mut Input<'_>) -> Layout {
        let size = input.size() % 1100;
        Layout::from_size_align(size, 8).expect("a valid layout")
    }

    /// Frees and allocates objects of one size in turn: what was parked last is taken next.
    pub(super) fn alternate(&mut self, input: &mut Input<'_>) {
        let layout = Self::layout(input);
        for _ in 0..input.below(MOST) {
            if input.byte() % 2 == 0 {
                self.allocate_of(layout);
            } else {
                self.free(input);
            }
            self.check();
        }
    }

    /// Objects of one size-class, then frees of neighbours in a row, until no more may be parked.
    pub(super) fn free_in_a_row(&mut self, input: &mut Input<'_>) {
        let layout = Self::layout(input);
        let first = self.objects.len();
        let count = input.below(MOST);
        for _ in 0..count {
            if !self.allocate_of(layout) {
                break;
            }
        }
        self.check();
        let frees = input.below(MOST + 16);
        for _ in 0..frees.min(self.objects.len() - first) {
            let which = first + input.number() % (self.objects.len() - first);
            let object = self.objects.swap_remove(which);
            self.verify(&object);
            self.heap.free_bytes(object.bytes);
            self.check();
        }
    }

    /// The pairs that all classes have parked.
    fn parked(&self) -> usize {
        let geometry = self.heap.config().geometry();
        let parked = |class| self.heap.details().parked_pages(class).count();
        geometry.classes().map(parked).sum()
    }

    /// Allocates until the heap refuses, which gives back everything that is parked; what is parked
    /// keeps no room from anybody. A request above a page, where no object is in pieces, exhausts
    /// nothing: it gives nothing back.
    pub(super) fn exhaust(&mut self, input: &mut Input<'_>) {
        let layout = Self::layout(input);
        let config = self.heap.config();
        let class = config.geometry().class_for(layout.size(), layout.align());
        let is_possible = class.is_some() || config.piece_bytes().is_some();
        let before = self.parked();
        let served = (0..MOST).take_while(|_| self.allocate_of(layout)).count();
        self.check();
        if served == MOST {
            return;
        }
        assert!(!self.heap.can_allocate_bytes(layout.size(), layout.align()));
        let left = if is_possible { 0 } else { before };
        assert_eq!(self.parked(), left, "what a refusal leaves parked");
    }

    /// Names no object was given: only those of live page-blocks, of the right size-class, are
    /// accepted.
    pub(super) fn forge(&mut self, input: &mut Input<'_>) {
        let live: BTreeMap<u32, SizeClass> = self
            .heap
            .live_blocks()
            .map(|block| (block.index, block.class))
            .collect();
        assert_eq!(live.len(), self.heap.stats().live_blocks as usize);
        let len = Self::layout(input).size();
        if self.heap.is_split(len) {
            return;
        }
        let class = self.heap.config().geometry().class_for(len, 8);
        let first = input.number() as u32;
        let names = (0..256).map(|number| first / 2 + number).chain([u32::MAX]);
        for name in names {
            let mut told = Vec::new();
            let mut tell = |entry| {
                told.push(entry);
                true
            };
            // SAFETY: S1, S2: an object that is not in pieces has no spine, so nothing is read.
            let is_whole = unsafe { self.heap.entries_of(name, len, &mut tell) };
            let is_live = class.is_some() && live.get(&name).copied() == class;
            assert_eq!(is_whole, is_live, "entry {name}");
            assert_eq!(told, if is_live { vec![name] } else { Vec::new() });
        }
    }
}
