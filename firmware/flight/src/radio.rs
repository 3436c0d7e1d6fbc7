//! The radio: the handler of its interrupt allocates what it receives, in the telemetry's instance.
//! The interrupt comes between two calls of the heap, or at any instruction; then the two talk
//! through a mailbox.
//!
//! ```text
//! Idle ──telemetry──▶ Asked(length) ──handler──▶ Heard(object) ──telemetry──▶ Idle
//! ```
//! So at most one object of the handler's is live, wherever it is.

use core::cell::Cell;

use critical_section::Mutex;
use surefit::Refused;
use surefit::compact::Bytes;
use surefit::compact::shared::{Local, ShardedHeap};

use crate::board::clock::timed;
use crate::load::TELEMETRY;
use crate::plan::{Covers, Lock, layout};

/// The longest packet that the radio receives.
pub const RECEIVED_MAX: usize = 64;

/// What the radio receives: a packet of so many bytes.
pub fn packet(len: usize) -> [u8; RECEIVED_MAX] {
    core::array::from_fn(|at| (len * 31 + at * 7) as u8)
}

/// What the handler allocated: an object of so many bytes, in so many instructions.
#[derive(Debug)]
pub struct Heard<N> {
    /// Bytes of the packet.
    pub len: usize,
    /// The object.
    pub result: Result<N, Refused>,
    /// Instructions of the allocation.
    pub instructions: u32,
}

impl<N> Heard<N> {
    /// What an allocation gives.
    pub fn by(len: usize, allocate: impl FnOnce() -> Result<N, Refused>) -> Self {
        let (result, instructions) = timed(allocate);
        Self {
            len,
            result,
            instructions,
        }
    }
}

/// What is in the mailbox.
#[derive(Debug, Default)]
enum Mail {
    #[default]
    Idle,
    Asked(usize),
    /// The handler is at work. On one core nobody else sees this.
    Serving,
    Heard(Heard<Bytes>),
}

/// Between the telemetry and the handler of an interrupt that comes at any instruction.
pub struct Mailbox {
    mail: Mutex<Cell<Mail>>,
    /// Whether a call of the main program is in progress, and how many packets came meanwhile.
    is_busy: Mutex<Cell<bool>>,
    inside: Mutex<Cell<u32>>,
}

impl Mailbox {
    /// An empty one.
    pub const fn new() -> Self {
        Self {
            mail: Mutex::new(Cell::new(Mail::Idle)),
            is_busy: Mutex::new(Cell::new(false)),
            inside: Mutex::new(Cell::new(0)),
        }
    }

    /// Changes what is in it, and returns what the change says.
    fn change<R>(&self, change: impl FnOnce(Mail) -> (Mail, R)) -> R {
        critical_section::with(|section| {
            let cell = self.mail.borrow(section);
            let (mail, result) = change(cell.take());
            cell.set(mail);
            result
        })
    }

    /// What was heard; otherwise asks for a packet if `pays` says so, and nothing is asked yet.
    pub fn hear(&self, len: usize, pays: &mut dyn FnMut() -> bool) -> Option<Heard<Bytes>> {
        self.change(|mail| match mail {
            Mail::Heard(heard) => (Mail::Idle, Some(heard)),
            Mail::Idle if pays() => (Mail::Asked(len), None),
            other => (other, None),
        })
    }

    /// The handler: allocates what was asked for.
    pub fn serve(&self, radio: &Radio<'_, '_>) {
        let asked = self.change(|mail| match mail {
            Mail::Asked(len) => (Mail::Serving, Some(len)),
            other => (other, None),
        });
        let Some(len) = asked else { return };
        let heard = radio.receive(len);
        self.change(|_| (Mail::Heard(heard), ()));
        critical_section::with(|section| {
            let inside = self.inside.borrow(section);
            inside.set(inside.get() + u32::from(self.is_busy.borrow(section).get()));
        });
    }

    /// Asks for nothing any more, and waits until the handler has ended.
    pub fn close(&self) {
        while self.change(|mail| match mail {
            Mail::Asked(_) => (Mail::Idle, false),
            Mail::Serving => (Mail::Serving, true),
            other => (other, false),
        }) {
            core::hint::spin_loop();
        }
    }

    /// A call of the main program, during which packets are counted.
    pub fn during<R>(&self, call: impl FnOnce() -> R) -> R {
        let set = |is| critical_section::with(|section| self.is_busy.borrow(section).set(is));
        set(true);
        let result = call();
        set(false);
        result
    }

    /// Packets that came during a call.
    pub fn inside(&self) -> u32 {
        critical_section::with(|section| self.inside.borrow(section).get())
    }
}

/// The handler's registration, in the telemetry's instance.
#[derive(Debug)]
pub struct Radio<'h, 'm> {
    heap: &'h ShardedHeap<'m, Lock, Covers>,
    local: Local<'h, 'm, Lock, Covers>,
}

impl<'h, 'm> Radio<'h, 'm> {
    /// Registers it.
    ///
    /// # Errors
    /// If too many are registered.
    pub fn new(heap: &'h ShardedHeap<'m, Lock, Covers>) -> Result<Self, Refused> {
        let local = heap.register_in(TELEMETRY as u32)?;
        Ok(Self { heap, local })
    }

    /// Allocates what it receives.
    fn receive(&self, len: usize) -> Heard<Bytes> {
        let mut heard = Heard::by(len, || self.local.alloc_zeroed(layout(len)?));
        if let Ok(object) = &mut heard.result {
            let written = self.heap.write_at(object, 0, &packet(len)[..len]);
            written.expect("a live object");
        }
        heard
    }
}
