//! A log that grows in pieces while other objects come and go: appended to, read line by line,
//! written to a file descriptor by vectors. `cargo run -p surefit-compact --features std --example
//! log`.

use std::io::{self, BufRead, IoSlice, Write};
use std::mem::MaybeUninit;

use surefit_compact::{ByteVec, Config, Heap};

static CONFIG: Config = Config::DEFAULT;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut memory = vec![MaybeUninit::uninit(); 1 << 20];
    let mut heap: Heap<'_> = Heap::new(&mut memory, &CONFIG)?;
    let mut log = ByteVec::with_capacity(&heap, 0)?;
    let mut short_lived = Vec::new();
    for number in 0..2000_u32 {
        log.extend(&mut heap, format!("line {number}\n").as_bytes())?;
        short_lived.push(heap.insert([number; 20])?);
        if number % 3 == 0 {
            // Moves other objects; the log's names stay good.
            heap.free(short_lived.swap_remove(number as usize % short_lived.len()));
        }
    }
    let pieces = log.chunks(&heap).len();
    println!("{} bytes in {pieces} pieces", log.len());

    let last = log.cursor(&heap).lines().last().expect("2000 lines")?;
    println!("the last line: {last}");

    let log = log.into_bytes(&mut heap)?;
    let vectors: Vec<IoSlice<'_>> = heap.chunks(&log).io_slices().take(2).collect();
    let written = io::sink().write_vectored(&vectors)?;
    println!("{written} bytes in one call, from {} pieces", vectors.len());
    heap.free_bytes(log);
    Ok(())
}
