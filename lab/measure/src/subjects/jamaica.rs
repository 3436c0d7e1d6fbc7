//! surefit's heap of fixed-size blocks: `jamaica`. Objects are lists of blocks, arrays are trees of
//! blocks. A trace does not say which requests are objects with fields and which are arrays. Small
//! requests count as objects and large ones as arrays, as is mostly true in Java. A resize across
//! the limit makes the other kind and copies the bytes.

use std::alloc::Layout;
use std::mem::MaybeUninit;

use anyhow::{Result, anyhow, bail};
use surefit_core::{Corruption, Refused, Usage};
use surefit_freelist::jamaica::{Array, Bytes, Jamaica, Object};

use crate::keys::Keys;
use crate::sizes::{self, Size};
use crate::steps::Steps;
use crate::subject::{Allocator, HandleCost, Pass, Subject, less_control};

/// The longest list that is replayed. Every access starts at the first block, so visiting all bytes
/// takes time quadratic in the length: hours for a longer list.
const LONGEST_LIST: usize = 256 << 10;

/// Requests larger than this many bytes are arrays.
const ARRAYS_OVER: usize = 256;

/// Fixed-size blocks.
#[derive(Debug)]
pub struct OurJamaica;

/// The size of blocks, and which requests are arrays.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    block: usize,
    arrays_over: usize,
}

impl Allocator for OurJamaica {
    type Options = Options;

    const HAS_POINTERS: bool = false;

    const KEYS: &'static [&'static str] = &["block=16|32|64|128", "arrays=BYTES|off"];

    fn options(keys: &Keys) -> Result<Options> {
        let block = match keys.number("block")? {
            None => 32,
            Some(block @ (16 | 32 | 64 | 128)) => block as usize,
            Some(other) => bail!("block={other}: write 16, 32, 64 or 128"),
        };
        let arrays_over = match keys.get("arrays") {
            None => ARRAYS_OVER,
            Some("off") => usize::MAX,
            Some(bytes) => sizes::bytes(bytes)
                .map_err(|_| anyhow!("arrays={bytes}: write bytes, such as 256 or 4K, or off"))?,
        };
        Ok(Options { block, arrays_over })
    }

    fn run<P: Pass>(
        options: &Options,
        memory: &mut [MaybeUninit<u8>],
        pass: P,
    ) -> Result<P::Output, Refused> {
        match options.block {
            16 => run::<16, P>(memory, options.arrays_over, pass),
            64 => run::<64, P>(memory, options.arrays_over, pass),
            128 => run::<128, P>(memory, options.arrays_over, pass),
            _ => run::<32, P>(memory, options.arrays_over, pass),
        }
    }

    fn bearable(options: &Options, steps: &Steps) -> Result<()> {
        let sizes = steps.steps().iter().map(|step| step.size as usize);
        let lists = sizes.filter(|size| *size <= options.arrays_over);
        match lists.max() {
            Some(longest) if longest > LONGEST_LIST => bail!(
                "an object of {} as a list of blocks takes hours to visit; give a lower arrays=BYTES, or leave it out \
                 with --largest 256K",
                Size(longest as u64)
            ),
            _ => Ok(()),
        }
    }

    /// A handle is the number of a block. The administration of an object, links and inner nodes,
    /// is inside its blocks.
    fn handles(options: &Options) -> Option<HandleCost> {
        Some(HandleCost {
            bytes_per_object: 0,
            piece_bytes: Some(options.block),
            in_short_regions: None,
        })
    }
}

fn run<const B: usize, P: Pass>(
    memory: &mut [MaybeUninit<u8>],
    arrays_over: usize,
    pass: P,
) -> Result<P::Output, Refused> {
    let memory = less_control::<Jamaica<'_, B>>(memory)?;
    Ok(pass.run(Blocks::<B> {
        heap: Jamaica::new(memory)?,
        arrays_over,
    }))
}

/// A heap of blocks as the subject of a replay. Every access follows the links.
#[derive(Debug)]
struct Blocks<'m, const B: usize> {
    heap: Jamaica<'m, B>,
    arrays_over: usize,
}

/// The name of an object in blocks.
#[derive(Debug)]
enum Named {
    Object(Bytes<Object>),
    Array(Bytes<Array>),
}

impl<const B: usize> Blocks<'_, B> {
    #[inline(always)]
    fn make(&mut self, bytes: usize) -> Result<Named, Refused> {
        Ok(if bytes > self.arrays_over {
            Named::Array(self.heap.alloc(bytes)?)
        } else {
            Named::Object(self.heap.alloc(bytes)?)
        })
    }

    #[inline(always)]
    fn free(&mut self, object: Named) {
        match object {
            Named::Object(object) => self.heap.free(object),
            Named::Array(array) => self.heap.free(array),
        }
    }

    #[inline(always)]
    fn bytes<'a>(&'a mut self, object: &'a mut Named, offset: usize) -> &'a mut [u8] {
        match object {
            Named::Object(object) => self.heap.chunk_mut(object, offset),
            Named::Array(array) => self.heap.chunk_mut(array, offset),
        }
    }

    /// Makes an object of the other kind and the new size, with the same bytes.
    fn change(&mut self, object: &mut Named, old: usize, new: usize) -> Result<(), Refused> {
        let mut made = self.make(new)?;
        let mut done = 0;
        let mut buffer = [0; 128];
        while done < old.min(new) {
            let bytes = self.bytes(object, done);
            let n = bytes.len().min(new - done).min(buffer.len());
            buffer[..n].copy_from_slice(&bytes[..n]);
            done += self.write(&mut made, done, &buffer[..n]);
        }
        self.free(std::mem::replace(object, made));
        Ok(())
    }

    /// Writes as much of `source` as fits into the block that holds `offset`, and returns how many
    /// bytes that is.
    fn write(&mut self, object: &mut Named, offset: usize, source: &[u8]) -> usize {
        let bytes = self.bytes(object, offset);
        let n = bytes.len().min(source.len());
        bytes[..n].copy_from_slice(&source[..n]);
        n
    }
}

impl<const B: usize> Subject for Blocks<'_, B> {
    type Object = Named;

    /// The heap zeroes every object.
    #[inline(always)]
    fn allocate(&mut self, layout: Layout, _zeroed: bool) -> Result<Named, Refused> {
        self.make(layout.size())
    }

    #[inline(always)]
    unsafe fn free(&mut self, object: Named, _layout: Layout) {
        Blocks::free(self, object);
    }

    #[inline(always)]
    unsafe fn resize(
        &mut self,
        object: &mut Named,
        layout: Layout,
        new_size: usize,
    ) -> Result<(), Refused> {
        match object {
            Named::Object(object) if new_size <= self.arrays_over => {
                self.heap.resize(object, new_size)
            }
            Named::Array(array) if new_size > self.arrays_over => self.heap.resize(array, new_size),
            _ => self.change(object, layout.size(), new_size),
        }
    }

    #[inline(always)]
    unsafe fn chunk<'a>(
        &'a mut self,
        object: &'a mut Named,
        _layout: Layout,
        offset: usize,
    ) -> &'a mut [MaybeUninit<u8>] {
        let bytes = self.bytes(object, offset);
        // SAFETY: the same bytes, and every pass writes only bytes that it has.
        unsafe { &mut *(std::ptr::from_mut(bytes) as *mut [MaybeUninit<u8>]) }
    }

    fn is_contiguous(&self) -> bool {
        false
    }

    /// The payload of a list's block begins after a link of four bytes.
    fn most_align(&self) -> usize {
        1
    }

    fn usage(&self) -> Option<Usage> {
        let mut usage = self.heap.usage();
        usage.administrative_bytes += size_of::<Jamaica<'_, B>>().next_multiple_of(8);
        Some(usage)
    }

    fn check(&self) -> Result<(), Corruption> {
        self.heap.check()
    }

    fn piece_bytes(&self) -> Option<usize> {
        Some(B)
    }
}
