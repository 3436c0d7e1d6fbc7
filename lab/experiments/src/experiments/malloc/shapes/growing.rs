//! Buffers that realloc makes longer: many that grow by a little in turn, and one that grows by a
//! quarter until it is very long.
#![deny(unsafe_code)]

use anyhow::Result;

use super::super::objects::Object;
use super::super::random::Random;
use super::super::watch::Watch;
use super::super::work::Work;

/// Buffers that grow in turn.
const BUFFERS: usize = 64;

/// They end here, in bytes.
const MOST: u32 = 64 << 10;

/// Where the long one ends, in bytes.
const LONGEST: u32 = 64 << 20;

/// The shape.
pub(super) fn growing(work: Work, watch: &mut Watch) -> Result<u64> {
    let mut random = Random::new(5);
    let rounds = work.of(10);
    let most = work.of(u64::from(MOST)).max(512) as u32;
    let longest = work.of(u64::from(LONGEST)).max(4096) as u32;
    Ok(watch.time(|| {
        let rounds = (0..rounds).map(|_| {
            let freed = in_turn(&mut random, most);
            freed.wrapping_add(long(longest))
        });
        rounds.fold(0, u64::wrapping_add)
    }))
}

/// Buffers that grow by at most 512 bytes at a time, in turn.
fn in_turn(random: &mut Random, most: u32) -> u64 {
    let mut buffers: Vec<_> = (0..BUFFERS)
        .map(|tag| Some(Object::new(16, tag as u8)))
        .collect();
    let mut freed = 0_u64;
    while !buffers.is_empty() {
        for buffer in &mut buffers {
            let Some(short) = buffer.take() else { continue };
            let bytes = short.bytes() + random.between(1, 512);
            if bytes > most {
                freed = freed.wrapping_add(short.free());
            } else {
                *buffer = Some(short.resized(bytes));
            }
        }
        buffers.retain(Option::is_some);
    }
    freed
}

/// One buffer that grows by a quarter.
fn long(most: u32) -> u64 {
    let mut buffer = Object::new(1024, 77);
    loop {
        let bytes = buffer.bytes() + buffer.bytes() / 4;
        if bytes > most {
            return buffer.free();
        }
        buffer = buffer.resized(bytes);
    }
}
