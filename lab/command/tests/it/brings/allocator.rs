//! A program with an allocator of its own: `--cfg own` makes it the global one, `--cfg named` gives
//! it a function that is called as one of a known library.

use std::alloc::{GlobalAlloc, Layout};
use std::ffi::{c_int, c_long, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};

unsafe extern "C" {
    fn mmap(at: *mut c_void, bytes: usize, prot: c_int, flags: c_int, file: c_int, from: c_long)
    -> *mut c_void;
}

/// Objects side by side in 96 MiB; nothing is given back.
struct Bump;

static NEXT: AtomicUsize = AtomicUsize::new(0);

fn region() -> usize {
    static START: AtomicUsize = AtomicUsize::new(0);
    if START.load(Ordering::Relaxed) == 0 {
        let at = unsafe { mmap(std::ptr::null_mut(), 96 << 20, 3, 0x22, -1, 0) };
        START.store(at as usize, Ordering::Relaxed);
    }
    START.load(Ordering::Relaxed)
}

unsafe impl GlobalAlloc for Bump {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        serve(layout.size(), layout.align())
    }
    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

fn serve(size: usize, align: usize) -> *mut u8 {
    let at = NEXT.fetch_add(size + align, Ordering::Relaxed);
    ((region() + at).next_multiple_of(align)) as *mut u8
}

#[cfg(named)]
#[unsafe(no_mangle)]
extern "C" fn mi_malloc_aligned(size: usize, align: usize) -> *mut u8 {
    serve(size, align)
}

#[cfg(own)]
#[global_allocator]
static OWN: Bump = Bump;

fn main() {
    let kept: Vec<Vec<u8>> = (0..64).map(|byte| vec![byte; 1 << 20]).collect();
    #[cfg(named)]
    std::hint::black_box(mi_malloc_aligned(8, 8));
    std::hint::black_box(Bump);
    println!("{}", kept.len());
    // What is live at the end is resident at the end.
    std::mem::forget(kept);
}
