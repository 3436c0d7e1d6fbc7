//! Reads one byte behind a buffer. The address sanitizer must end the program, or what it says of
//! others is worth nothing.

#[test]
fn reads_behind_a_buffer() {
    let buffer = vec![7_u8; 64];
    let end = std::hint::black_box(buffer.as_ptr()).wrapping_add(buffer.len());
    // SAFETY: none. The byte is not ours; this program exists to be caught.
    let byte = unsafe { end.read_volatile() };
    println!("not seen: {byte}");
}
