//! `embedded_alloc::TlsfHeap`.
#![no_std]
#![no_main]

use cortex_m_rt::entry;
use embedded_alloc::TlsfHeap;

#[entry]
fn main() -> ! {
    let memory = flash::memory();
    let heap = TlsfHeap::empty();
    // SAFETY: the region is this heap's alone.
    unsafe { heap.init(memory.as_mut_ptr().expose_provenance(), memory.len()) };
    flash::serve(&heap)
}
