//! It serves single collections of a program that has another allocator.
#![cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]

use core::alloc::Layout;
use core::ptr::NonNull;

use allocator_api2::alloc::Allocator;
use surefit_malloc::SurefitMalloc;

/// Bytes that say where they are.
fn fill(object: NonNull<[u8]>) {
    for at in 0..object.len() {
        // SAFETY: inside the object.
        unsafe { object.cast::<u8>().add(at).write(at.to_le_bytes()[0]) };
    }
}

fn assert_filled(object: NonNull<[u8]>, bytes: usize) {
    for at in 0..bytes {
        // SAFETY: inside the object, and written.
        let byte = unsafe { object.cast::<u8>().add(at).read() };
        assert_eq!(byte, at.to_le_bytes()[0]);
    }
}

#[test]
fn bytes_are_kept_when_size_and_alignment_change() {
    let allocator = &SurefitMalloc;
    let layout = |bytes, align| Layout::from_size_align(bytes, align).expect("a layout");
    let mut had = layout(10, 1);
    let mut object = allocator.allocate(had).expect("memory");
    fill(object);
    for (bytes, align) in [
        (10, 1),
        (100, 64),
        (5000, 8),
        (5000, 4096),
        (300_000, 16),
        (300_001, 1 << 20),
    ] {
        let new = layout(bytes, align);
        // SAFETY: the object has the layout, and the new one is not shorter.
        object = unsafe { allocator.grow(object.cast(), had, new) }.expect("memory");
        assert_eq!(object.cast::<u8>().addr().get() % align, 0);
        assert_filled(object, had.size());
        fill(object);
        had = new;
    }
    for (bytes, align) in [(100_000, 4096), (64, 64), (3, 1), (0, 1 << 16)] {
        let new = layout(bytes, align);
        // SAFETY: the object has the layout, and the new one is not longer.
        object = unsafe { allocator.shrink(object.cast(), had, new) }.expect("memory");
        assert_eq!(object.cast::<u8>().addr().get() % align, 0);
        assert_filled(object, bytes);
        had = new;
    }
    // SAFETY: the object has the layout.
    unsafe { allocator.deallocate(object.cast(), had) };
    let zeros = allocator
        .allocate_zeroed(layout(70_000, 16))
        .expect("memory");
    for at in 0..70_000 {
        // SAFETY: inside the object, and written.
        assert_eq!(unsafe { zeros.cast::<u8>().add(at).read() }, 0);
    }
}
