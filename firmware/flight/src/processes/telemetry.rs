//! Telemetry: packets of 16 to 900 bytes over a slow link that loses some. A packet stays in the
//! heap until the other side has acknowledged it, in any order. The handler of the radio's
//! interrupt puts what it receives into the heap.

use super::Signals;
use crate::fixed::Random;
use crate::load::Process;
use crate::memory::Memory;
use crate::port::{Object, Port};
use crate::radio::{RECEIVED_MAX, packet};

/// Packets that are sent and not acknowledged.
const WINDOW: usize = 128;

/// The shortest and the longest packet; the load may allow less.
const PACKET_MIN: usize = 16;
const PACKET_MAX: usize = 900;

/// The longest of most packets: seven of eight.
const PACKET_SHORT: usize = 64;

/// Of 100 packets so many are acknowledged in one release.
const ACKNOWLEDGED: u32 = 6;

/// A packet, and how it began.
#[derive(Debug)]
struct Packet<N> {
    object: Object<N>,
    number: u32,
}

/// Its packets.
#[derive(Debug)]
pub struct Telemetry<N> {
    window: [Option<Packet<N>>; WINDOW],
    /// What the radio received last.
    received: Option<Object<N>>,
    /// The most bytes of all packets, and of the longest.
    most_bytes: usize,
    longest: usize,
    /// Packets that were sent.
    pub sent: u32,
    random: Random,
}

impl<N> Telemetry<N> {
    /// Nothing is sent yet.
    pub const fn new(seed: u32, demand: &Process) -> Self {
        Self {
            window: [const { None }; WINDOW],
            received: None,
            most_bytes: (demand.bytes as usize).saturating_sub(RECEIVED_MAX),
            longest: demand.longest as usize,
            sent: 0,
            random: Random::new(seed, 3),
        }
    }

    /// One release. What the budget denies is done in a later one.
    pub fn run<M: Memory<Name = N>>(&mut self, port: &mut Port<'_, M>, signals: &Signals) {
        self.hear(port);
        self.receive(port);
        for _ in 0..3 + self.random.below(7) {
            self.send(port, signals);
        }
    }

    /// The radio interrupts with a packet, which its handler puts into the heap. In the next
    /// release it is verified once more, and freed.
    fn hear<M: Memory<Name = N>>(&mut self, port: &mut Port<'_, M>) {
        verify_received(port, self.received.as_ref());
        if !port.clear(&mut self.received) || self.random.below(2) > 0 {
            return;
        }
        let more = self.random.below((RECEIVED_MAX - PACKET_MIN) as u32) as usize;
        self.received = port.hear(PACKET_MIN + more);
        verify_received(port, self.received.as_ref());
    }

    /// The other side acknowledges some of what it received.
    fn receive<M: Memory<Name = N>>(&mut self, port: &mut Port<'_, M>) {
        for place in &mut self.window {
            if place.is_none() || self.random.below(100) >= ACKNOWLEDGED {
                continue;
            }
            let Some(Packet { object, number }) = place.take() else {
                continue;
            };
            port.verify(is_whole(port, &object, number));
            *place = port
                .free(object)
                .err()
                .map(|object| Packet { object, number });
        }
    }

    /// Sends a packet, if there is room for it.
    fn send<M: Memory<Name = N>>(&mut self, port: &mut Port<'_, M>, signals: &Signals) {
        let longest = match self.random.below(8) {
            0 => self.longest.min(PACKET_MAX),
            _ => self.longest.min(PACKET_SHORT),
        };
        let more = longest.saturating_sub(PACKET_MIN) as u32;
        let len = PACKET_MIN + self.random.below(more + 1) as usize;
        let held = self.window.iter().flatten();
        let held: usize = held.map(|packet| packet.object.len()).sum();
        let place = self.window.iter().position(Option::is_none);
        let Some(place) = place.filter(|_| held + len <= self.most_bytes) else {
            return;
        };
        let Ok(mut object) = port.allocate(len) else {
            return;
        };
        let number = self.sent;
        let mut bytes = [0; PACKET_MAX];
        for (at, byte) in bytes[..len].iter_mut().enumerate() {
            *byte = byte_of(number, at);
        }
        for (place, word) in bytes.chunks_exact_mut(4).zip(&signals.known[..2]) {
            place.copy_from_slice(&word.0.to_le_bytes());
        }
        port.write(&mut object, 0, &bytes[..len]);
        self.window[place] = Some(Packet { object, number });
        self.sent += 1;
    }
}

/// Verifies what the radio received.
fn verify_received<M: Memory>(port: &mut Port<'_, M>, received: Option<&Object<M::Name>>) {
    if let Some(object) = received {
        let mut bytes = [0; RECEIVED_MAX];
        let bytes = &mut bytes[..object.len()];
        port.read(object, 0, bytes);
        port.verify(bytes == &packet(object.len())[..object.len()]);
    }
}

/// Bytes of the vehicle's state, before those that can be verified.
const STATE_BYTES: usize = 8;

fn byte_of(number: u32, at: usize) -> u8 {
    (number.wrapping_mul(167) as usize).wrapping_add(at * 13) as u8
}

/// Whether a packet holds what was written.
fn is_whole<M: Memory>(port: &Port<'_, M>, object: &Object<M::Name>, number: u32) -> bool {
    let mut at = STATE_BYTES;
    let mut is_whole = true;
    while at < object.len() {
        let mut part = [0; 64];
        let part = &mut part[..(object.len() - at).min(64)];
        port.read(object, at, part);
        let expected = (at..).map(|at| byte_of(number, at));
        is_whole &= part
            .iter()
            .zip(expected)
            .all(|(&byte, other)| byte == other);
        at += part.len();
    }
    is_whole
}
