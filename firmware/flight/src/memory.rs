//! One interface for all heaps that a flight runs on, and the heap with an instance for each
//! process.

use core::alloc::Layout;

use surefit::compact::Bytes;
use surefit::compact::shared::{Local, ShardedHeap};
use surefit::{Corruption, Refused};

use crate::load::{Load, PAGE, PROCESSES, TELEMETRY};
use crate::plan::{Covers, Lock};

/// The memory of all processes.
pub trait Memory {
    /// An owning name of an object.
    type Name;

    /// Allocates an object of a process.
    ///
    /// # Errors
    /// What is exhausted, or why it never could be served; nothing has changed.
    fn allocate(&mut self, process: usize, len: usize) -> Result<Self::Name, Refused>;

    /// Allocates an object of a process in the handler of an interrupt.
    ///
    /// # Errors
    /// As [`Memory::allocate`].
    fn allocate_in_handler(&mut self, process: usize, len: usize) -> Result<Self::Name, Refused> {
        self.allocate(process, len)
    }

    /// Frees an object of a process.
    fn free(&mut self, process: usize, name: Self::Name);

    /// Copies bytes from an object, from `at` on.
    fn read(&self, name: &Self::Name, at: usize, target: &mut [u8]);

    /// Copies bytes to an object, from `at` on.
    fn write(&mut self, name: &mut Self::Name, at: usize, source: &[u8]);

    /// Frees all objects of a process at once, whoever has their names.
    fn destroy(&mut self, process: usize);

    /// Bytes that a process holds.
    fn held(&self, process: usize) -> usize;

    /// Bytes that the heap has copied to move objects of a process.
    fn copied(&self, _: usize) -> u64 {
        0
    }

    /// Removes the quota of a process.
    #[cfg(not(target_os = "none"))]
    fn unlimit(&mut self, process: usize);

    /// Where in its page an object lies; the page itself is any free one.
    fn place(&self, name: &Self::Name) -> usize;

    /// Verifies every numbered invariant of the heap.
    ///
    /// # Errors
    /// The first invariant that does not hold.
    fn check(&self) -> Result<(), Corruption>;
}

/// A layout of bytes.
pub fn layout(len: usize) -> Result<Layout, Refused> {
    let limit = isize::MAX as usize;
    Layout::from_size_align(len, 8).map_err(|_| Refused::TooLarge { limit })
}

/// Memory that begins at the start of a page.
#[cfg(not(target_os = "none"))]
pub fn with_region<R>(bytes: usize, f: impl FnOnce(&mut [core::mem::MaybeUninit<u8>]) -> R) -> R {
    let page = PAGE as usize;
    let mut memory = vec![core::mem::MaybeUninit::new(0xa5); bytes + page];
    let first = memory.as_ptr().align_offset(page);
    f(&mut memory[first..first + bytes])
}

/// A heap with an instance for each process.
#[derive(Debug)]
pub struct Instances<'h, 'm> {
    heap: &'h ShardedHeap<'m, Lock, Covers>,
    /// Each process allocates from its own instance.
    locals: [Option<Local<'h, 'm, Lock, Covers>>; PROCESSES],
    /// The handler of the radio's interrupt, in the instance of the telemetry.
    handler: Local<'h, 'm, Lock, Covers>,
}

impl<'h, 'm> Instances<'h, 'm> {
    /// Registers each process, and limits it.
    ///
    /// # Errors
    /// If the heap has not as many instances, or they are registered already.
    pub fn new(heap: &'h ShardedHeap<'m, Lock, Covers>, load: &Load) -> Result<Self, Refused> {
        let mut locals = [const { None }; PROCESSES];
        for (process, (local, number)) in load.processes.iter().zip(locals.iter_mut().zip(0..)) {
            heap.set_quota(number, process.quota as usize);
            *local = Some(heap.register_in(number)?);
        }
        let handler = heap.register_in(TELEMETRY as u32)?;
        Ok(Self {
            heap,
            locals,
            handler,
        })
    }

    fn local(&self, process: usize) -> Result<&Local<'h, 'm, Lock, Covers>, Refused> {
        self.locals[process].as_ref().ok_or(Refused::NoLocal)
    }
}

/// Why a call cannot fail: it names one.
const LIVE: &str = "a live object of this heap";

impl Memory for Instances<'_, '_> {
    type Name = Bytes;

    fn allocate(&mut self, process: usize, len: usize) -> Result<Bytes, Refused> {
        self.local(process)?.alloc_zeroed(layout(len)?)
    }

    fn allocate_in_handler(&mut self, _: usize, len: usize) -> Result<Bytes, Refused> {
        self.handler.alloc_zeroed(layout(len)?)
    }

    fn free(&mut self, process: usize, name: Bytes) {
        let freed = self.local(process).and_then(|local| local.free_bytes(name));
        freed.expect(LIVE);
    }

    fn read(&self, name: &Bytes, at: usize, target: &mut [u8]) {
        self.heap.read_at(name, at, target).expect(LIVE);
    }

    fn write(&mut self, name: &mut Bytes, at: usize, source: &[u8]) {
        self.heap.write_at(name, at, source).expect(LIVE);
    }

    fn destroy(&mut self, process: usize) {
        let number = process as u32;
        // An instance with a thread is not destroyed.
        self.locals[process] = None;
        self.heap.destroy(number).expect("nobody is registered");
        self.locals[process] = Some(self.heap.register_in(number).expect("as before"));
    }

    fn held(&self, process: usize) -> usize {
        self.heap.instance_stats(process as u32).bytes
    }

    fn copied(&self, process: usize) -> u64 {
        let stats = self.heap.instance_stats(process as u32);
        stats.counters.moved_bytes_total
    }

    #[cfg(not(target_os = "none"))]
    fn unlimit(&mut self, process: usize) {
        self.heap.set_quota(process as u32, usize::MAX);
    }

    fn place(&self, name: &Bytes) -> usize {
        let bytes = self.heap.pin_bytes(name).expect(LIVE);
        bytes.as_ptr().addr() % PAGE as usize
    }

    fn check(&self) -> Result<(), Corruption> {
        self.heap.check(false)
    }
}
