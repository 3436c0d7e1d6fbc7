//! Real heaps in exactly their certified bytes, under programs that fragment.
//!
//! ```text
//! fill the address table with the smallest objects, free them
//! for each class, by its least request: fill up to M; free all but the first of each page      (twice, up and down)
//! then 20,000 requests of random sizes, random ones freed wherever M would be passed
//! ```
//! No call may be refused.
#![deny(unsafe_code)]

use core::alloc::Layout;
use core::mem::MaybeUninit;

use anyhow::Result;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefit_compact::{Bytes, Config, Heap, Narrow, Wide, Width};

use super::others::UNIT_BYTES;
use super::search::{Best, FULL};
use surefit_measure::requests::Requests;

/// Requests of random sizes.
const RANDOM: u32 = 20_000;

/// What became of a heap's requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Served {
    /// Requests made.
    pub(super) requests: u64,
    /// Of them, refused.
    pub(super) refused: u64,
}

/// Drives a heap of exactly the certified bytes.
///
/// # Errors
/// The configuration is not valid, or the region too small for a heap: never for what was
/// certified.
pub(super) fn served(best: &Best, requests: Requests) -> Result<Served> {
    let config = best.choice.config(FULL)?;
    match best.choice.word_bytes {
        2 => driven::<Narrow>(&config, best.bytes() as usize, requests),
        _ => driven::<Wide>(&config, best.bytes() as usize, requests),
    }
}

/// Drives a heap over so many bytes that begin at a multiple of the page.
pub(super) fn driven<W: Width>(
    config: &Config,
    bytes: usize,
    requests: Requests,
) -> Result<Served> {
    let page = config.geometry().page_bytes();
    let mut memory = vec![MaybeUninit::<u8>::uninit(); bytes + page];
    let start = memory.as_ptr().align_offset(page);
    let mut load = Load {
        heap: Heap::<W>::new(&mut memory[start..start + bytes], config)?,
        requests,
        live: 0,
        objects: Vec::new(),
        served: Served::default(),
    };
    load.fill(UNIT_BYTES);
    load.keep_each(usize::MAX);
    let steps = load.steps(config);
    for &(bytes, blocks) in steps.iter().chain(steps.iter().rev()) {
        load.fill(bytes);
        load.keep_each(blocks);
    }
    load.random();
    Ok(load.served)
}

struct Load<'m, W: Width> {
    heap: Heap<'m, W>,
    requests: Requests,
    live: u64,
    objects: Vec<(Bytes<MaybeUninit<u8>>, u64)>,
    served: Served,
}

impl<W: Width> Load<'_, W> {
    /// The least request of each class, and the page-blocks of one of its pages.
    fn steps(&self, config: &Config) -> Vec<(u64, usize)> {
        let geometry = config.geometry();
        let steps = self.requests.steps(config);
        let steps = steps.into_iter().map(|bytes| bytes.max(UNIT_BYTES));
        let with_blocks = steps.filter_map(|bytes| {
            let class = geometry.class_for(bytes as usize, 8)?;
            Some((bytes, usize::from(geometry.layout(class).blocks)))
        });
        with_blocks.collect()
    }

    /// Whether the demand allows one more; then it is made.
    fn request(&mut self, bytes: u64) -> bool {
        if self.live + bytes > self.requests.live {
            return false;
        }
        let layout = Layout::from_size_align(bytes as usize, 8);
        let object = layout.ok().and_then(|layout| self.heap.alloc(layout).ok());
        self.served.requests += 1;
        match object {
            Some(object) => {
                self.live += bytes;
                self.objects.push((object, bytes));
                true
            }
            None => {
                self.served.refused += 1;
                false
            }
        }
    }

    fn free(&mut self, number: usize) {
        let (object, bytes) = self.objects.swap_remove(number);
        self.live -= bytes;
        self.heap.free_bytes(object);
    }

    fn fill(&mut self, bytes: u64) {
        while self.request(bytes) {}
    }

    /// Frees all objects but the first of each so many.
    fn keep_each(&mut self, many: usize) {
        let all = std::mem::take(&mut self.objects);
        for (number, (object, bytes)) in all.into_iter().enumerate() {
            if number % many == 0 && many != usize::MAX {
                self.objects.push((object, bytes));
            } else {
                self.live -= bytes;
                self.heap.free_bytes(object);
            }
        }
    }

    fn random(&mut self) {
        let mut random = ChaCha8Rng::seed_from_u64(13);
        let most = self.requests.largest.ilog2();
        for _ in 0..RANDOM {
            let log2 = random.random_range(UNIT_BYTES.ilog2()..=most);
            let above = random.random_range(0..1_u64 << log2);
            let bytes = ((1 << log2) + above).min(self.requests.largest);
            while self.live + bytes > self.requests.live {
                let number = random.random_range(0..self.objects.len());
                self.free(number);
            }
            self.request(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use surefit_compact::Narrow;

    use super::super::points::Objects;
    use super::super::search::{FULL, LEAST_PIECE, best};
    use super::{driven, served};

    #[test]
    fn the_certified_bytes_serve_and_half_of_them_do_not() {
        for objects in Objects::ALL {
            let requests = objects.requests(16 << 10);
            let best = best(requests, LEAST_PIECE).expect("certified");
            let all = served(&best, requests).expect("a heap");
            assert_eq!(all.refused, 0, "{objects:?}");
            assert!(all.requests > 20_000, "{all:?}");
            let config = best.choice.config(FULL).expect("valid");
            let half = driven::<Narrow>(&config, best.bytes() as usize / 2, requests);
            assert!(half.expect("a heap").refused > 0, "{objects:?}");
        }
    }
}
