//! What a process may ask of the heap. Its budget of work is looked at before each call: a call
//! that the budget does not allow waits for the next release. What it may cost is known from the
//! certificate, so no call goes beyond the budget.

use surefit::Refused;

use crate::board::clock::timed;
use crate::load::Process;
use crate::memory::Memory;
use crate::plan::block_bytes;

/// An object of a process.
#[derive(Debug)]
pub struct Object<N> {
    name: N,
    len: usize,
}

impl<N> Object<N> {
    /// Its length in bytes.
    pub const fn len(&self) -> usize {
        self.len
    }
}

/// Why a process gets no object now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denied {
    /// Its budget of work is used up until its next release.
    Wait,
    /// The heap refuses.
    Refused(Refused),
}

/// Kinds of calls of the heap.
#[derive(Clone, Copy, Debug)]
pub enum Call {
    /// An allocation that is served.
    Allocation,
    /// An allocation that is refused.
    Refusal,
    /// A free.
    Free,
}

/// The sum of Fowler, Noll and Vo with one more word.
pub const fn sum(sum: u32, word: u32) -> u32 {
    (sum ^ word.wrapping_add(1)).wrapping_mul(0x0100_0193)
}

/// What a process has used.
#[derive(Clone, Debug, Default)]
pub struct Account {
    calls: u32,
    copied: u32,
    in_release: u32,
    aside: u32,
    /// Bytes that the heap has copied for its frees, and frees that copied more than they may.
    pub moved: u64,
    /// As above.
    pub beyond: u32,
    /// Bytes that the heap may have copied by all calls so far.
    pub charged: u64,
    /// Objects and their bytes that are live, and the most there were.
    pub live: (u32, u32),
    /// The most objects and the most bytes that were live.
    pub peak: (u32, u32),
    /// Bytes of the largest object.
    pub largest: u32,
    /// How often its budget denied a call.
    pub waits: u32,
    /// How often the heap refused one, and why the last time.
    pub refused: u32,
    /// Why, the last time.
    pub refusal: Option<Refused>,
    /// Instructions of the longest call of each kind.
    pub longest: [u32; 3],
    /// Bytes that were allocated or freed, and the instructions that it took.
    pub turnover: (u64, u64),
    /// A sum over all calls: their kinds, lengths and results, and where the objects lie in pages.
    pub digest: u32,
    /// Objects that did not hold what was written.
    pub damaged: u32,
}

impl Account {
    /// The process is released with its whole budget.
    pub const fn release(&mut self, budget: &Process) {
        self.calls = budget.calls;
        self.copied = budget.copied;
        (self.in_release, self.aside) = (0, 0);
    }

    /// The instructions of all calls of the heap in this release, and of what was looked at beside
    /// them for the log.
    pub const fn in_release(&self) -> (u32, u32) {
        (self.in_release, self.aside)
    }

    /// Takes a call that copies at most so many bytes from the budget, if that is enough.
    const fn take(&mut self, copied: usize) -> bool {
        if self.calls == 0 || (self.copied as usize) < copied {
            self.waits += 1;
            return false;
        }
        self.calls -= 1;
        self.copied -= copied as u32;
        self.charged += copied as u64;
        true
    }

    fn note(&mut self, call: Call, len: usize, place: usize, instructions: u32) {
        let longest = &mut self.longest[call as usize];
        *longest = instructions.max(*longest);
        if !matches!(call, Call::Refusal) {
            self.turnover.0 += len as u64;
        }
        self.turnover.1 += u64::from(instructions);
        for word in [call as u32, len as u32, place as u32] {
            self.digest = sum(self.digest, word);
        }
    }

    fn gained(&mut self, len: usize) {
        self.live.0 += 1;
        self.live.1 += len as u32;
        self.peak.0 = self.live.0.max(self.peak.0);
        self.peak.1 = self.live.1.max(self.peak.1);
        self.largest = self.largest.max(len as u32);
    }
}

/// The heap, as one process sees it.
#[derive(Debug)]
pub struct Port<'p, M> {
    /// The memory of all processes.
    pub memory: &'p mut M,
    /// What this process has used.
    pub account: &'p mut Account,
    /// Its number.
    pub process: usize,
}

impl<M: Memory> Port<'_, M> {
    /// Allocates an object.
    ///
    /// # Errors
    /// If the budget does not allow the call now, or the heap refuses.
    pub fn allocate(&mut self, len: usize) -> Result<Object<M::Name>, Denied> {
        if !self.account.take(0) {
            return Err(Denied::Wait);
        }
        let (result, instructions) = timed(|| self.memory.allocate(self.process, len));
        self.account.in_release += instructions;
        self.allocated(len, result, instructions)
    }

    /// An object that the handler of the radio's interrupt has allocated, if there is one.
    pub fn hear(&mut self, len: usize) -> Option<Object<M::Name>> {
        let account = &mut *self.account;
        let heard = self
            .memory
            .hear(self.process, len, &mut || account.take(0))?;
        let heard = self.allocated(heard.len, heard.result, heard.instructions);
        heard.ok()
    }

    /// Looks at something for the log, which counts for nobody.
    fn aside<R>(&mut self, look: impl FnOnce(&M, usize) -> R) -> R {
        let (seen, instructions) = timed(|| look(self.memory, self.process));
        self.account.aside += instructions;
        seen
    }

    fn allocated(
        &mut self,
        len: usize,
        result: Result<M::Name, Refused>,
        instructions: u32,
    ) -> Result<Object<M::Name>, Denied> {
        match result {
            Ok(name) => {
                let place = self.aside(|memory, _| memory.place(&name));
                self.account
                    .note(Call::Allocation, len, place, instructions);
                self.account.gained(len);
                Ok(Object { name, len })
            }
            Err(refused) => {
                self.account.note(Call::Refusal, len, 0, instructions);
                self.account.refused += 1;
                self.account.refusal = Some(refused);
                Err(Denied::Refused(refused))
            }
        }
    }

    /// Frees an object.
    ///
    /// # Errors
    /// The object, if the budget does not allow the call now.
    pub fn free(&mut self, object: Object<M::Name>) -> Result<(), Object<M::Name>> {
        // As many bytes as its page-block has: one move of another object of its size-class. Only
        // the main program frees, so no free pays for the move of another one.
        let most = block_bytes(object.len);
        if !self.account.take(most) {
            return Err(object);
        }
        let ((), instructions) = timed(|| self.memory.free(self.process, object.name));
        self.account.in_release += instructions;
        let moved = self.aside(M::copied);
        self.account.beyond += u32::from(moved - self.account.moved > most as u64);
        self.account.moved = moved;
        self.account.note(Call::Free, object.len, 0, instructions);
        self.account.live.0 -= 1;
        self.account.live.1 -= object.len as u32;
        Ok(())
    }

    /// Frees the object of a place, if there is one; false if the budget does not allow it now.
    pub fn clear(&mut self, place: &mut Option<Object<M::Name>>) -> bool {
        let Some(object) = place.take() else {
            return true;
        };
        *place = self.free(object).err();
        place.is_none()
    }

    /// Copies bytes from an object, from `at` on.
    pub fn read(&self, object: &Object<M::Name>, at: usize, target: &mut [u8]) {
        self.memory.read(&object.name, at, target);
    }

    /// Copies bytes to an object, from `at` on.
    pub fn write(&mut self, object: &mut Object<M::Name>, at: usize, source: &[u8]) {
        self.memory.write(&mut object.name, at, source);
    }

    /// Notes an object that does not hold what was written, if `holds` is false.
    pub const fn verify(&mut self, holds: bool) {
        if !holds {
            self.account.damaged += 1;
        }
    }
}

/// Objects in the order of their age, at most `K`.
#[derive(Debug)]
pub struct Ring<N, const K: usize> {
    objects: [Option<Object<N>>; K],
    next: usize,
}

impl<N, const K: usize> Ring<N, K> {
    /// None yet.
    pub const fn new() -> Self {
        Self {
            objects: [const { None }; K],
            next: 0,
        }
    }

    /// The place of the next object, that of the oldest.
    pub const fn oldest(&mut self) -> &mut Option<Object<N>> {
        &mut self.objects[self.next]
    }

    /// Allocates an object with these bytes in the place of the oldest, which is freed.
    ///
    /// # Errors
    /// As [`Port::allocate`].
    pub fn push<M: Memory<Name = N>>(
        &mut self,
        port: &mut Port<'_, M>,
        bytes: &[u8],
    ) -> Result<(), Denied> {
        if !port.clear(self.oldest()) {
            return Err(Denied::Wait);
        }
        let mut object = port.allocate(bytes.len())?;
        port.write(&mut object, 0, bytes);
        *self.oldest() = Some(object);
        self.next = (self.next + 1) % K;
        Ok(())
    }

    /// The newest object but `back`.
    pub const fn newest(&self, back: usize) -> Option<&Object<N>> {
        self.objects[(self.next + 2 * K - 1 - back) % K].as_ref()
    }
}

/// Numbers as bytes, and the other way around.
pub fn words_to_bytes<const W: usize, const B: usize>(words: [i32; W]) -> [u8; B] {
    let mut bytes = [0; B];
    for (target, word) in bytes.chunks_exact_mut(4).zip(words) {
        target.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

/// As above.
pub fn bytes_to_words<const W: usize>(bytes: &[u8]) -> [i32; W] {
    let mut words = [0; W];
    for (word, source) in words.iter_mut().zip(bytes.chunks_exact(4)) {
        *word = i32::from_le_bytes([source[0], source[1], source[2], source[3]]);
    }
    words
}
