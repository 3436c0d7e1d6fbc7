//! The log: where the vehicle was, as differences of few bytes each, in blocks. Every fourth block
//! is kept for long, the others for a short time: so frees leave holes.

use super::Signals;
use crate::memory::Memory;
use crate::port::{Denied, Port, Ring};

/// Releases until a block is full.
const RELEASES: u32 = 5;

/// The longest block: a check, and six differences of at most five bytes in each release.
const BLOCK_MAX: usize = 4 + 6 * 5 * RELEASES as usize;

/// Blocks of a short and of a long life.
const SHORT: usize = 12;
const LONG: usize = 32;

/// A block that is being filled, and those that are.
#[derive(Debug)]
pub struct Log<N> {
    block: [u8; BLOCK_MAX],
    len: usize,
    releases: u32,
    /// What the last release noted, without the last bits.
    last: [i32; 6],
    short: Ring<N, SHORT>,
    long: Ring<N, LONG>,
}

impl<N> Log<N> {
    /// Nothing is noted yet.
    pub const fn new() -> Self {
        Self {
            block: [0; BLOCK_MAX],
            len: 4,
            releases: 0,
            last: [0; 6],
            short: Ring::new(),
            long: Ring::new(),
        }
    }

    /// One release. A block that the budget denies is lost.
    pub fn run<M: Memory<Name = N>>(&mut self, port: &mut Port<'_, M>, signals: &Signals) {
        for (last, known) in self.last.iter_mut().zip(signals.known) {
            // A millimetre is 16,777.
            let known = known.0 >> 12;
            let difference = known.wrapping_sub(*last);
            *last = known;
            self.len += append(&mut self.block[self.len..], difference);
        }
        self.releases += 1;
        if self.releases % RELEASES != 0 {
            return;
        }
        let sum = check_of(&self.block[4..self.len]);
        self.block[..4].copy_from_slice(&sum.to_le_bytes());
        let number = self.releases / RELEASES;
        // A denied block is counted by the account.
        let _: Result<(), Denied> = if number % 4 == 0 {
            verify(port, &mut self.long);
            self.long.push(port, &self.block[..self.len])
        } else {
            verify(port, &mut self.short);
            self.short.push(port, &self.block[..self.len])
        };
        self.len = 4;
    }
}

/// Appends a difference: seven bits in each byte, the sign last. Returns how many bytes it takes.
fn append(target: &mut [u8], difference: i32) -> usize {
    let mut bits = ((difference << 1) ^ (difference >> 31)) as u32;
    let mut len = 0;
    while bits >= 0x80 {
        target[len] = bits as u8 | 0x80;
        bits >>= 7;
        len += 1;
    }
    target[len] = bits as u8;
    len + 1
}

fn check_of(bytes: &[u8]) -> u32 {
    let sum = |sum: u32, &byte: &u8| sum.rotate_left(5) ^ u32::from(byte);
    bytes.iter().fold(0x1505, sum)
}

/// Verifies the block that is freed next.
fn verify<M: Memory, const K: usize>(port: &mut Port<'_, M>, ring: &mut Ring<M::Name, K>) {
    if let Some(oldest) = ring.oldest() {
        let mut bytes = [0; BLOCK_MAX];
        let bytes = &mut bytes[..oldest.len()];
        port.read(oldest, 0, bytes);
        let (check, rest) = bytes.split_at(4);
        port.verify(check == check_of(rest).to_le_bytes());
    }
}
