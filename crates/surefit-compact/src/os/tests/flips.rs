//! Every word of a heap over the operating system's memory, and of its supply, is changed: `check`
//! tells it, or a drive finds it harmless. What is given back is junk from then on.
#![allow(unsafe_code, reason = "changes words below their types")]

extern crate alloc;

use alloc::vec::Vec;
use core::ops::Range;
use core::ptr::NonNull;
use core::time::Duration;

use surefit_os::{OsError, Reservation};
use surefit_testkit::layout;

use super::{OsHeap, System, system};
use crate::check::tests::flips::{Changed, Images, LENS, Named, Subject, attack, config};
use crate::check::tests::{Duty, Field, Fields, bounds};
use crate::handle::{Bytes, Name};
use crate::os::{Floor, Limits};
use crate::supply::Supply;
use crate::width::Wide;

/// A heap, and the time.
struct Ticking<'c>(OsHeap<'c>, Duration);

impl Ticking<'_> {
    fn supply(&self) -> &Supply<Wide> {
        self.0.heap().engine.supply.expect("its supply")
    }

    fn bytes(&self, object: &Named) -> Bytes<u8> {
        Bytes::new(Name::new(object.entry, self.0.heap().id), object.len)
    }
}

impl Subject for Ticking<'_> {
    fn is_sound(&self) -> bool {
        self.0.check().is_ok()
    }

    fn alloc(&mut self, len: usize) -> Option<Named> {
        let bytes = self.0.alloc_zeroed(layout(len)).ok()?;
        Some(Named::new(bytes.name.index(), len))
    }

    fn free(&mut self, object: &Named) -> bool {
        self.0.free_bytes(self.bytes(object));
        true
    }

    fn resize(&mut self, object: &mut Named, len: usize) -> bool {
        let mut bytes = self.bytes(object);
        let resized = self.0.resize(&mut bytes, layout(len)).is_ok();
        (object.entry, object.len) = (bytes.name.index(), bytes.len());
        resized
    }

    fn write(&mut self, object: &Named, bytes: &[u8]) -> bool {
        self.0.heap().write_at(&mut self.bytes(object), 0, bytes);
        true
    }

    fn read(&self, object: &Named, bytes: &mut [u8]) -> bool {
        self.0.heap().read_at(&self.bytes(object), 0, bytes);
        true
    }

    fn other(&mut self, number: usize) {
        self.1 += Duration::from_secs(1);
        match number % 4 {
            3 => _ = self.0.give_all_back().expect("given back"),
            _ => _ = self.0.tick(self.1).expect("given back"),
        }
    }

    fn live(&self) -> u32 {
        self.0.heap().stats().live_blocks
    }

    fn words(&self) -> Vec<Field> {
        let mut words = Fields::of(self.0.heap());
        for (name, place, bytes) in self.supply().words() {
            words.push(Field::new(name.into(), place, bytes, Duty::All));
        }
        words
    }

    /// The region's last part is the supply.
    fn images(&mut self) -> Images {
        let memory = &self.0.heap().engine.pages.memory;
        // SAFETY: the region's first byte.
        let first = unsafe { memory.address(0) };
        let end = core::ptr::from_ref(self.supply()).addr() + size_of::<Supply<Wide>>();
        let region = (first, end - first.addr().get());
        Vec::from([(NonNull::from(self).cast(), size_of::<Self>()), region])
    }
}

/// Writes junk instead.
unsafe fn give_junk_back(region: &Reservation, range: Range<usize>) -> Result<(), OsError> {
    let start = region.start().as_ptr().wrapping_add(range.start);
    // SAFETY: the caller's: nobody reads these bytes before they are written again.
    unsafe { start.write_bytes(0xDB, range.len()) };
    Ok(())
}

/// What only says what was resident, or not needed, for a while.
fn leaves_out(changes: &[Changed<'_>]) -> bool {
    let said = ["least", "table_floor", "most"];
    changes.iter().any(|change| said.contains(&change.0))
}

#[test]
fn flips_of_a_supply_are_told_or_harmless() {
    let config = config::<Wide>(bounds()[3]);
    let limits = Limits {
        delay: Duration::from_secs(1),
        ..Limits::new(30_000, 90_000)
    };
    let floor = Floor {
        page_bytes: 4 * 2048,
        objects: 300,
    };
    for (name, page_bytes, floor) in [
        ("OsHeap", 2048, None),
        (
            "OsHeap with a floor, large pages of the system",
            4096,
            Some(floor),
        ),
    ] {
        let system = System {
            page_bytes,
            give_back: give_junk_back,
            lock: |_, _| Ok(()),
            ..system()
        };
        let heap = OsHeap::on(system, &config, limits, floor).expect("reserved");
        let mut heap = Ticking(heap, Duration::ZERO);
        attack(name, &mut heap, (&LENS, 150), 251, leaves_out);
    }
}
