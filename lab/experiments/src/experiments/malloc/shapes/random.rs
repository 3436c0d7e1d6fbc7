//! One thread that replaces objects at random.
#![deny(unsafe_code)]

use anyhow::Result;

use super::super::objects::Object;
use super::super::random::Random;
use super::super::watch::Watch;
use super::super::work::Work;

/// Small objects: half of them of 8 to 64 bytes, one in eight of 256 to 1024.
pub(super) fn churn(work: Work, watch: &mut Watch) -> Result<u64> {
    let size = |random: &mut Random| match random.bits() >> 61 {
        0..=3 => random.between(8, 64),
        4..=6 => random.between(65, 255),
        _ => random.between(256, 1024),
    };
    Ok(replace(work.of(8_000_000), 4000, 1, size, watch))
}

/// Large objects: 32 KiB to 8 MiB, 16 at once.
pub(super) fn large(work: Work, watch: &mut Watch) -> Result<u64> {
    let size = |random: &mut Random| random.logarithmic(32 << 10, 8 << 20);
    Ok(replace(work.of(1000), 16, 2, size, watch))
}

/// Replaces one of `slots` objects `times` times.
fn replace(
    times: u64,
    slots: usize,
    seed: u64,
    size: impl Fn(&mut Random) -> u32,
    watch: &mut Watch,
) -> u64 {
    let mut random = Random::new(seed);
    let mut objects: Vec<_> = (0..slots).map(|_| None).collect();
    watch.time(|| {
        let mut sum = 0_u64;
        for _ in 0..times {
            let slot = random.index(slots);
            let tag = random.bits() as u8;
            if let Some(old) = objects[slot].take() {
                sum = sum.wrapping_add(Object::free(old));
            }
            objects[slot] = Some(Object::new(size(&mut random), tag));
        }
        let left = objects.drain(..).flatten().map(Object::free);
        left.fold(sum, u64::wrapping_add)
    })
}
