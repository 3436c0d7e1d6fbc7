//! `cf-cooperating`: cf-direct in a program that moves objects out of pages worth emptying.
//!
//! At each free the program asks [`DirectHeap::defrag_hint`] about the next few of its objects,
//! round and round, and gives a new place to those for which the hint says so: Compact-fit's bound
//! without handles, by a program that knows all its pointers. Servers do it in their idle time.
//!
//! The table of objects is the program's own, so its bytes do not count, and looking up an object's
//! place is in the times.

use std::alloc::Layout;
use std::mem::{self, MaybeUninit};
use std::ptr::NonNull;

use anyhow::{Result, bail};
use surefit_core::{Corruption, RawHeap, Refused, Usage};
use surefit_direct::DirectHeap;

use crate::keys::Keys;
use crate::subject::{Allocator, Moves, Pass, Subject, less_control};

/// cf-direct in a cooperating program.
#[derive(Debug)]
pub struct Cooperating;

/// How the program cooperates: in recorded runs, 16 objects a free leave no more to gain.
#[derive(Clone, Copy, Debug)]
pub struct Cooperation {
    /// Objects asked about at each free.
    asked: u32,
    /// The not-full pages of a class that the hint leaves alone.
    pages: u32,
}

impl Allocator for Cooperating {
    type Options = Cooperation;

    const KEYS: &'static [&'static str] = &["ask=N", "k=N"];

    const HAS_POINTERS: bool = false;

    fn options(keys: &Keys) -> Result<Cooperation> {
        Ok(Cooperation {
            asked: count(keys, "ask", 16)?,
            pages: count(keys, "k", 1)?,
        })
    }

    fn run<P: Pass>(
        options: &Cooperation,
        memory: &mut [MaybeUninit<u8>],
        pass: P,
    ) -> Result<P::Output, Refused> {
        let heap = DirectHeap::new(less_control::<DirectHeap<'_>>(memory)?)?;
        Ok(pass.run(Program {
            heap,
            objects: Vec::new(),
            free: Vec::new(),
            next: 0,
            moved: Moves::default(),
            options: *options,
        }))
    }
}

/// The value of a key that is a number from 1 to 1024.
fn count(keys: &Keys, key: &str, default: u32) -> Result<u32> {
    match keys.number(key)? {
        None => Ok(default),
        Some(number @ 1..=1024) => Ok(number),
        Some(number) => bail!("{key}={number}: write a number from 1 to 1024"),
    }
}

/// A live object.
#[derive(Clone, Copy, Debug)]
struct Object {
    place: NonNull<u8>,
    layout: Layout,
}

/// The subject: a program with a table of its objects.
#[derive(Debug)]
struct Program<'m> {
    heap: DirectHeap<'m>,
    /// The live objects by number; `None` for numbers that are free.
    objects: Vec<Option<Object>>,
    free: Vec<u32>,
    /// The number that is asked about next.
    next: usize,
    moved: Moves,
    options: Cooperation,
}

impl Program<'_> {
    /// Asks about the next objects, and moves those that lie in a page worth emptying.
    fn cooperate(&mut self) {
        let mut bytes = 0;
        for _ in 0..self.options.asked {
            self.next = if self.next < self.objects.len() {
                self.next
            } else {
                0
            };
            if let Some(Some(object)) = self.objects.get(self.next).copied() {
                bytes += self.move_if_worthwhile(object);
            }
            self.next += 1;
        }
        let most = self.moved.bytes_max_per_op.unwrap_or(0);
        self.moved.bytes_max_per_op = Some(most.max(bytes));
    }

    /// Moves the object that is next, if the heap says so. Returns the bytes copied.
    fn move_if_worthwhile(&mut self, Object { place, layout }: Object) -> u64 {
        if !self.heap.defrag_hint(place, self.options.pages) {
            return 0;
        }
        let Ok(new) = self.heap.allocate(layout) else {
            return 0;
        };
        // SAFETY: both are live, different objects of at least so many bytes.
        unsafe { place.copy_to_nonoverlapping(new, layout.size()) };
        // SAFETY: S1 and S2: the table has the layout of each of its objects, which are this
        // heap's.
        unsafe { self.heap.free(place, layout) };
        self.objects[self.next] = Some(Object { place: new, layout });
        let bytes = layout.size() as u64;
        self.moved.total += 1;
        self.moved.bytes_total += bytes;
        bytes
    }

    fn enter(&mut self, object: Object) -> u32 {
        if let Some(number) = self.free.pop() {
            self.objects[number as usize] = Some(object);
            return number;
        }
        self.objects.push(Some(object));
        u32::try_from(self.objects.len() - 1).expect("a trace has at most 2^32 objects")
    }

    fn place(&self, number: u32) -> NonNull<u8> {
        self.objects[number as usize]
            .expect("S2: a live object")
            .place
    }
}

impl Subject for Program<'_> {
    type Object = u32;

    #[inline(always)]
    fn allocate(&mut self, layout: Layout, zeroed: bool) -> Result<u32, Refused> {
        let place = self.heap.allocate(layout)?;
        if zeroed {
            // SAFETY: the object is fresh and as long as asked.
            unsafe { place.write_bytes(0, layout.size()) };
        }
        Ok(self.enter(Object { place, layout }))
    }

    #[inline(always)]
    unsafe fn free(&mut self, number: u32, layout: Layout) {
        let object = mem::take(&mut self.objects[number as usize]).expect("S2: a live object");
        // SAFETY: S1 and S2 are the caller's.
        unsafe { self.heap.free(object.place, layout) };
        self.free.push(number);
        self.cooperate();
    }

    #[inline(always)]
    unsafe fn resize(
        &mut self,
        number: &mut u32,
        layout: Layout,
        new_size: usize,
    ) -> Result<(), Refused> {
        // SAFETY: S1 and S2 are the caller's; the sizes of steps do not overflow.
        let place = unsafe { self.heap.resize(self.place(*number), layout, new_size) }?;
        // SAFETY: the sizes of steps are below 2^32 and their alignments at most 2^30.
        let layout = unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
        self.objects[*number as usize] = Some(Object { place, layout });
        Ok(())
    }

    #[inline(always)]
    unsafe fn chunk<'a>(
        &'a mut self,
        number: &'a mut u32,
        layout: Layout,
        offset: usize,
    ) -> &'a mut [MaybeUninit<u8>] {
        let place = self.place(*number).cast::<MaybeUninit<u8>>();
        // SAFETY: a live object has `layout.size()` bytes of its own (S1 and S2); the heap is
        // borrowed exclusively.
        let bytes = unsafe { std::slice::from_raw_parts_mut(place.as_ptr(), layout.size()) };
        &mut bytes[offset..]
    }

    fn usage(&self) -> Option<Usage> {
        let mut usage = self.heap.usage();
        usage.administrative_bytes += size_of::<DirectHeap<'_>>().next_multiple_of(8);
        Some(usage)
    }

    fn check(&self) -> Result<(), Corruption> {
        self.heap.check()
    }

    fn moves(&self) -> Option<Moves> {
        Some(self.moved)
    }
}
