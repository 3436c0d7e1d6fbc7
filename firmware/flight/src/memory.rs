//! One interface for all heaps that a flight runs on, and the heap with an instance for each
//! process.

use core::fmt::{self, Write};

use surefit::Refused;
use surefit::compact::Bytes;
use surefit::compact::shared::{Local, ShardedHeap};

use crate::board::clock::handle;
use crate::board::machine::in_handler;
use crate::load::{Load, PAGE, PROCESSES};
use crate::plan::{Covers, Lock, layout};
use crate::radio::{Heard, Mailbox, packet};

/// The memory of all processes.
pub trait Memory {
    /// An owning name of an object.
    type Name;

    /// Allocates an object of a process.
    ///
    /// # Errors
    /// What is exhausted, or why it never could be served; nothing has changed.
    fn allocate(&mut self, process: usize, len: usize) -> Result<Self::Name, Refused>;

    /// What the handler of the radio's interrupt has allocated for a process: a packet of `len`
    /// bytes, if `pays` says that the budget has a call for it.
    fn hear(
        &mut self,
        process: usize,
        len: usize,
        pays: &mut dyn FnMut() -> bool,
    ) -> Option<Heard<Self::Name>> {
        interrupted(self, process, len, pays)
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

    /// The flight is over: nothing interrupts any more.
    fn land(&mut self) {}

    /// What is not as it must be: every numbered invariant of the heap is verified.
    fn fault(&self) -> Option<&'static str>;

    /// What is to be said of it.
    ///
    /// # Errors
    /// If `out` cannot be written.
    fn describe(&self, _out: &mut dyn Write) -> fmt::Result {
        Ok(())
    }
}

/// Lets the radio interrupt here, between two calls.
fn interrupted<M: Memory + ?Sized>(
    memory: &mut M,
    process: usize,
    len: usize,
    pays: &mut dyn FnMut() -> bool,
) -> Option<Heard<M::Name>> {
    let mut heard = None;
    if pays() {
        let mut hear = || {
            let mut it = Heard::by(len, || memory.allocate(process, len));
            if let Ok(name) = &mut it.result {
                memory.write(name, 0, &packet(len)[..len]);
            }
            heard = Some(it);
        };
        in_handler(&mut || handle(&mut hear));
    }
    heard
}

/// A heap with an instance for each process.
pub struct Instances<'h, 'm> {
    heap: &'h ShardedHeap<'m, Lock, Covers>,
    /// Each process allocates from its own instance.
    locals: [Option<Local<'h, 'm, Lock, Covers>>; PROCESSES],
    /// What the radio serves, if it interrupts at any instruction.
    mailbox: Option<&'h Mailbox>,
}

impl<'h, 'm> Instances<'h, 'm> {
    /// Registers each process, and limits it.
    ///
    /// # Errors
    /// If the heap has not as many instances, or they are registered already.
    pub fn new(
        heap: &'h ShardedHeap<'m, Lock, Covers>,
        load: &Load,
        mailbox: Option<&'h Mailbox>,
    ) -> Result<Self, Refused> {
        let mut locals = [const { None }; PROCESSES];
        for (process, (local, number)) in load.processes.iter().zip(locals.iter_mut().zip(0..)) {
            heap.set_quota(number, process.quota as usize);
            *local = Some(heap.register_in(number)?);
        }
        Ok(Self {
            heap,
            locals,
            mailbox,
        })
    }

    /// A call of the main program.
    fn call<R>(&self, call: impl FnOnce() -> R) -> R {
        match self.mailbox {
            Some(mailbox) => mailbox.during(call),
            None => call(),
        }
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
        let (local, layout) = (self.local(process)?, layout(len)?);
        self.call(|| local.alloc_zeroed(layout))
    }

    fn hear(
        &mut self,
        process: usize,
        len: usize,
        pays: &mut dyn FnMut() -> bool,
    ) -> Option<Heard<Bytes>> {
        match self.mailbox {
            Some(mailbox) => mailbox.hear(len, pays),
            None => interrupted(self, process, len, pays),
        }
    }

    fn free(&mut self, process: usize, name: Bytes) {
        let local = self.local(process).expect("registered");
        self.call(|| local.free_bytes(name)).expect(LIVE);
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

    fn land(&mut self) {
        self.mailbox.iter().for_each(|mailbox| mailbox.close());
    }

    fn fault(&self) -> Option<&'static str> {
        // A handler that interrupts a free may leave a move unpaid.
        let broken = self.heap.check(self.mailbox.is_none()).is_err();
        broken.then_some("an invariant of the heap does not hold")
    }

    fn describe(&self, out: &mut dyn Write) -> fmt::Result {
        let Some(mailbox) = self.mailbox else {
            return Ok(());
        };
        let inside = mailbox.inside();
        writeln!(
            out,
            "radio: {inside} packets were allocated in the middle of another call"
        )
    }
}
