//! The drifting load on the cache alone, without sockets: for a profiler, and for counts of
//! instructions, which other programs on the machine do not change.
//!
//! ```sh
//! valgrind --tool=callgrind target/release/examples/profile surefit
//! perf stat -e instructions:u target/release/examples/profile malloc
//! ```
//! The second argument is the payload in MiB, 8 by default. Prints what surefit's heap holds at the
//! end of each phase.

use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefit_cache::cache::{Cache, Options};
use surefit_cache::store::Store;
use surefit_cache::store::malloc::Malloc;
use surefit_cache::store::surefit::Surefit;
use surefit_cache::store::tlsf::TlsfStore;

fn main() -> anyhow::Result<()> {
    let mut words = std::env::args().skip(1);
    let store = words.next().unwrap_or_else(|| "surefit".into());
    let budget = words.next().map_or(Ok(8), |word| word.parse::<usize>())? << 20;
    match store.as_str() {
        "surefit" => play(Surefit::new(1 << 30)?, budget, |cache, payload| {
            println!("payload {payload}, requested {}", cache.used_bytes());
            println!("  {:?}", cache.store().usage());
        }),
        "tlsf" => play(TlsfStore::new(1 << 30)?, budget, |_, _| {}),
        "malloc" => play(Malloc::default(), budget, |_, _| {}),
        other => anyhow::bail!("no store {other}"),
    }
    Ok(())
}

fn play<S: Store>(store: S, budget: usize, shown: impl Fn(&Cache<S>, usize)) {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut cache = Cache::new(store, 0, 1);
    let value = vec![7; 1 << 20];
    let (mut live, mut payload, mut number, mut mean) = (Vec::new(), 0, 0_u64, 240.0);
    for _ in 0..8 {
        while payload < budget {
            let len = (mean * random.random_range(0.5..1.5)) as usize;
            let key = format!("key:{number:012}");
            let set = cache.set(0, key.as_bytes(), &value[..len], Options::default());
            assert_eq!(set, Ok(true));
            payload += key.len() + len;
            number += 1;
            live.push((key, len));
        }
        for _ in 0..live.len() / 10 {
            let (key, len) = &live[random.random_range(0..live.len())];
            assert_eq!(cache.get(0, key.as_bytes()).map(|it| it.len()), Some(*len));
        }
        live.shuffle(&mut random);
        for (key, len) in live.split_off(live.len() / 5) {
            assert!(cache.delete(0, key.as_bytes()));
            payload -= key.len() + len;
        }
        cache.purge();
        shown(&cache, payload);
        mean *= 1.7;
    }
}
