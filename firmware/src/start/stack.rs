//! How much of the stack was used. It was painted when the program began; what it used is not of
//! that colour any more.

const PAINT: u32 = 0xcccc_cccc;

unsafe extern "C" {
    /// The lowest word of the stack.
    static _stack_end: u32;
    /// One past its highest word.
    static _stack_start: u32;
}

/// The bytes of the stack, and how many of them were used. If all were, it may have overflowed.
pub fn bytes() -> (usize, usize) {
    let (lowest, end) = (&raw const _stack_end, &raw const _stack_start);
    let words = (end.addr() - lowest.addr()) / size_of::<u32>();
    let unused = (0..words).take_while(|&word| {
        // SAFETY: the linker's script puts the stack between the two, and every word of it was
        // painted; the reads end at the first word that is in use.
        unsafe { lowest.add(word).read_volatile() == PAINT }
    });
    let bytes = words * size_of::<u32>();
    (bytes, bytes - unused.count() * size_of::<u32>())
}
