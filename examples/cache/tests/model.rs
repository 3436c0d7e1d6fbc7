//! Scripts of commands with a clock that the test sets: the shard on surefit's heap beside the one
//! on the standard library's containers, and under limits.

use std::collections::{BTreeMap, BTreeSet};

use surefit_cache::reply::Reply;
use surefit_cache::store::packed::{LEAST_LIMIT, Packed};
use surefit_cache::store::plain::Plain;
use surefit_cache::store::{End, Error, Expiry, Kind, MOST_KEY, Store};

/// Numbers that a seed decides (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn chance(&mut self, of: u64) -> bool {
        self.below(of) == 0
    }

    /// Mostly short, sometimes longer than what lies in a bucket, or in one piece.
    fn bytes(&mut self) -> Vec<u8> {
        let most = [4, 40, 400, 1100, 6000][self.below(5) as usize];
        let (len, byte) = (self.below(most) as usize, self.next());
        (0..len).map(|at| (byte as usize + at) as u8).collect()
    }
}

/// What a command of a shard answers: a result, and bytes.
type Answer = (Result<i64, Error>, Vec<u8>);

fn small(random: &mut Random, keys: u64) -> Vec<u8> {
    let number = random.below(keys);
    let mut key = format!("key:{number}").into_bytes();
    match number % 16 {
        0 => key.resize(700, b'.'),
        1 => key.resize(5000, b'.'),
        _ => {}
    }
    key
}

/// One command. All shards that get the same random numbers get the same command.
fn step<S: Store>(shard: &mut S, random: &mut Random, now: u64, keys: u64) -> Answer {
    let key = small(random, keys);
    let (choice, value, field) = (random.below(22), random.bytes(), small(random, 20));
    let end = if random.chance(2) {
        End::Front
    } else {
        End::Back
    };
    let at = now + 1 + random.below(300);
    let expiry = [Expiry::Never, Expiry::Kept, Expiry::At(at)][random.below(3) as usize];
    let (from, to) = (random.below(40) as i64 - 20, random.below(40) as i64 - 20);
    let reply = &mut Reply::default();
    let flag = |is: bool| i64::from(is);
    let count = |count: usize| count as i64;
    let kind = [Kind::Text, Kind::Hash, Kind::List][random.below(3) as usize];
    let result = match choice {
        0..5 => shard.set(now, &key, &value, expiry).map(|()| 0),
        5 => shard.append(now, &key, &value).map(count),
        6 | 7 => Ok(flag(shard.remove(now, &key))),
        8 => shard.get(now, &key, reply).map(flag),
        9 => Ok(shard.kind(now, &key).map_or(-1, |kind| kind as i64)),
        10 => Ok(shard
            .deadline(now, &key)
            .map_or(-2, |it| it.map_or(-1, |at| at as i64))),
        11 => shard
            .set_deadline(now, &key, (from > 0).then_some(at))
            .map(flag),
        12 => shard.len_of(now, &key, kind).map(count),
        13 | 14 => shard.set_field(now, &key, &field, &value).map(flag),
        15 => shard.field(now, &key, &field, reply).map(flag),
        16 => shard.remove_field(now, &key, &field).map(flag),
        17 | 18 => shard.push(now, &key, end, &value).map(count),
        19 => shard.pop(now, &key, end, reply).map(flag),
        20 => shard.range(now, &key, from, to, reply).map(|()| 0),
        _ => shard.copy(now, &key).map(|text| {
            text.map_or(-1, |text| {
                reply.bulk(&text);
                count(text.len())
            })
        }),
    };
    (result, reply.bytes().to_vec())
}

/// All keys of a shard, by calls of `scan`.
fn scanned<S: Store>(shard: &mut S, now: u64, count: usize) -> Vec<Vec<u8>> {
    let (mut keys, mut place) = (Vec::new(), Some(0));
    while let Some(from) = place {
        place = shard.scan(now, from, count, &mut |key| keys.push(key.to_vec()));
    }
    keys.sort();
    keys
}

fn packed(limit: usize, seed: u64) -> Packed {
    Packed::new(limit, 64 << 20, seed).expect("a shard")
}

/// The fields of a hash in one order, or nothing.
fn fields<S: Store>(shard: &mut S, now: u64, key: &[u8]) -> Result<Vec<u8>, Error> {
    let mut reply = Reply::default();
    shard.fields(now, key, &mut reply)?;
    let mut bytes = reply.bytes().to_vec();
    bytes.sort_unstable();
    Ok(bytes)
}

#[test]
fn a_shard_does_what_one_on_std_does() {
    for seed in 0..24 {
        let keys = [3, 30, 300][seed as usize % 3];
        let (mut shard, mut model) = (packed(32 << 20, seed), Plain::default());
        let (mut random, mut again) = (Random(seed), Random(seed));
        let mut clock = Random(!seed);
        let mut now = 0;
        for number in 0..3000 {
            now += clock.below(4);
            let answer = step(&mut shard, &mut random, now, keys);
            assert_eq!(
                answer,
                step(&mut model, &mut again, now, keys),
                "{seed}, {number}"
            );
            if clock.chance(50) {
                shard.tick(now);
                model.tick(now);
            }
            if clock.chance(64) {
                shard.assert_sound();
                let count = 1 + clock.below(20) as usize;
                let all = scanned(&mut shard, now, count);
                assert_eq!(all, scanned(&mut model, now, 1), "{seed}, {number}");
                for key in &all {
                    assert_eq!(fields(&mut shard, now, key), fields(&mut model, now, key));
                }
            }
        }
        assert_eq!(shard.figures().evicted, 0, "there was room");
        shard.clear();
        shard.assert_sound();
        assert_eq!(shard.figures().keys, 0);
    }
}

#[test]
fn nothing_is_lost_by_a_refusal_and_nothing_wrong_is_found_under_a_limit() {
    for seed in 0..8 {
        let (mut shard, mut random) = (packed(LEAST_LIMIT, seed), Random(seed));
        // What was written last, unless it was deleted; the shard may have evicted it.
        let mut model = BTreeMap::<Vec<u8>, Vec<u8>>::new();
        for number in 0..20_000 {
            let key = small(&mut random, 20_000);
            let mut reply = Reply::default();
            match random.below(8) {
                0..5 => {
                    let value = random.bytes();
                    shard
                        .set(0, &key, &value, Expiry::Never)
                        .expect("others are evicted");
                    model.insert(key, value);
                }
                5 => {
                    // More than a shard takes: what the key has stays, and all others do.
                    let before = (shard.copy(0, &key), shard.figures().keys);
                    let value = vec![0; LEAST_LIMIT];
                    let refused = shard.set(0, &key, &value, Expiry::Never);
                    assert_eq!(refused, Err(Error::Full));
                    assert_eq!(before, (shard.copy(0, &key), shard.figures().keys));
                }
                6 => {
                    shard.remove(0, &key);
                    model.remove(&key);
                }
                _ => {
                    if shard.get(0, &key, &mut reply).expect("all are texts") {
                        let mut expected = Reply::default();
                        expected.bulk(&model[&key]);
                        assert_eq!(reply.bytes(), expected.bytes());
                    }
                }
            }
            let figures = shard.figures();
            assert!(figures.used <= LEAST_LIMIT && figures.held <= LEAST_LIMIT);
            if number % 512 == 0 {
                shard.assert_sound();
            }
        }
        let figures = shard.figures();
        assert!(figures.evicted > 1000 && figures.keys > 100, "{figures:?}");
        // Most of the limit is payload. The values are 1,500 bytes long in the mean.
        let all = scanned(&mut shard, 0, 100);
        let payload: usize = all.iter().map(|key| key.len() + model[key].len()).sum();
        assert!(payload * 2 > LEAST_LIMIT, "{payload} bytes in {figures:?}");
        for key in all {
            assert_eq!(shard.copy(0, &key), Ok(Some(model[&key].clone())));
        }
    }
}

#[test]
fn one_key_that_takes_all_is_refused_and_stays_whole() {
    let mut shard = packed(LEAST_LIMIT, 1);
    shard
        .set(0, b"other", b"value", Expiry::Never)
        .expect("room");
    let (mut pushed, value) = (0, [7; 1000]);
    let refused = loop {
        match shard.push(0, b"list", End::Back, &value) {
            Ok(len) => {
                pushed += 1;
                assert_eq!(len, pushed);
            }
            Err(error) => break error,
        }
    };
    assert_eq!(
        (refused, shard.kind(0, b"other")),
        (Error::Full, None),
        "evicted before"
    );
    shard.assert_sound();
    assert_eq!(shard.len_of(0, b"list", Kind::List), Ok(pushed));
    assert!(pushed * value.len() > LEAST_LIMIT * 4 / 5, "{pushed}");
    let mut reply = Reply::default();
    for _ in 0..pushed {
        assert_eq!(shard.pop(0, b"list", End::Front, &mut reply), Ok(true));
    }
    shard.assert_sound();
    assert_eq!(shard.kind(0, b"list"), None, "a list without values goes");
    shard
        .set(0, b"other", b"value", Expiry::Never)
        .expect("room");
}

#[test]
fn a_key_that_is_used_stays_while_others_go() {
    let mut shard = packed(LEAST_LIMIT, 2);
    shard
        .set(0, b"used", b"value", Expiry::Never)
        .expect("room");
    for number in 0..50_000 {
        let key = format!("other:{number}");
        shard
            .set(0, key.as_bytes(), &[1; 300], Expiry::Never)
            .expect("others are evicted");
        assert_eq!(shard.kind(0, b"used"), Some(Kind::Text), "{number}");
    }
    assert!(shard.figures().evicted > 30_000);
}

#[test]
fn a_key_whose_deadline_is_set_is_used() {
    let mut shard = packed(LEAST_LIMIT, 2);
    shard
        .set(0, b"used", b"value", Expiry::Never)
        .expect("room");
    for number in 0..50_000_u64 {
        let key = format!("other:{number}");
        shard
            .set(0, key.as_bytes(), &[1; 300], Expiry::Never)
            .expect("others are evicted");
        if number % 16 == 0 {
            let deadline = (number % 32 == 0).then_some(1000);
            let was_there = shard.set_deadline(0, b"used", deadline);
            assert_eq!(was_there, Ok(true), "{number}");
        }
    }
    assert!(shard.figures().evicted > 30_000);
}

#[test]
fn a_tick_is_bounded() {
    let mut shard = packed(32 << 20, 5);
    for number in 0..60_000 {
        let key = format!("key:{number}");
        shard
            .set(0, key.as_bytes(), &[1; 100], Expiry::At(1))
            .expect("room");
    }
    // About eleven are in a bucket, and a tick looks into 64 buckets.
    let mut former = 0;
    while shard.tick(1) {
        let expired = shard.figures().expired;
        assert!(expired - former < 64 * 40, "{expired}");
        assert_eq!(shard.figures().keys as u64, 60_000 - expired);
        former = expired;
    }
    assert!(
        former > 50_000,
        "ticks go on while they find many: {former}"
    );
}

#[test]
fn a_scan_of_long_keys_ends_earlier() {
    let mut shard = packed(32 << 20, 6);
    for number in 0..60_u8 {
        let key = [number; 60_000];
        shard.set(0, &key, b"", Expiry::Never).expect("room");
    }
    let (mut bytes, mut calls, mut place) = (0, 0, Some(0));
    while let Some(from) = place {
        let before = bytes;
        place = shard.scan(0, from, 10_000, &mut |key| bytes += key.len());
        assert!(bytes - before < 4 << 20);
        calls += 1;
    }
    assert_eq!(bytes, 60 * 60_000);
    assert!(calls > 1);
}

#[test]
fn ticks_remove_expired_keys_that_nobody_asks_for() {
    let mut shard = packed(32 << 20, 3);
    for number in 0..20_000_u64 {
        let key = format!("key:{number}");
        let expiry = if number % 2 == 0 {
            Expiry::At(1000 + number)
        } else {
            Expiry::Never
        };
        shard
            .set(0, key.as_bytes(), &[1; 100], expiry)
            .expect("room");
    }
    let mut now = 1000;
    while shard.figures().expired < 10_000 {
        now += 100;
        shard.tick(now);
        assert!(now < 10_000_000, "all are found");
    }
    assert_eq!(
        (shard.figures().keys, shard.figures().expired),
        (10_000, 10_000)
    );
    shard.assert_sound();
    shard.purge();
    shard.assert_sound();
}

#[test]
fn a_scan_passes_all_keys_that_stay_however_many_come_and_go() {
    for seed in 0..20 {
        let (mut shard, mut random) = (packed(32 << 20, seed), Random(seed));
        let stay: Vec<_> = (0..500)
            .map(|number| format!("stay:{number}").into_bytes())
            .collect();
        let (mut come, mut gone) = (0_u64, 0_u64);
        for key in &stay {
            shard.set(0, key, &[1; 200], Expiry::Never).expect("room");
        }
        let mut seen = BTreeSet::new();
        let mut place = Some(0);
        while let Some(from) = place {
            // The table grows in some scans, shrinks in some, and does both in others.
            for _ in 0..random.below(12) {
                if random.chance(2) || seed % 3 == 0 {
                    let key = format!("other:{come}");
                    shard
                        .set(0, key.as_bytes(), &[1; 200], Expiry::Never)
                        .expect("room");
                    come += 1;
                } else if gone < come {
                    shard.remove(0, format!("other:{gone}").as_bytes());
                    gone += 1;
                }
            }
            place = shard.scan(0, from, 10, &mut |key| {
                seen.insert(key.to_vec());
            });
        }
        assert!(stay.iter().all(|key| seen.contains(key)), "{seed}");
        shard.assert_sound();
    }
}

#[test]
fn limits_and_long_keys_are_refused_as_they_must() {
    assert!(Packed::new(LEAST_LIMIT - 1, 64 << 20, 0).is_err());
    let mut shard = packed(8 << 20, 4);
    let long = vec![b'k'; MOST_KEY + 1];
    assert_eq!(shard.set(0, &long, b"", Expiry::Never), Err(Error::LongKey));
    assert_eq!(shard.append(0, &long, b""), Err(Error::LongKey));
    assert_eq!(shard.set_field(0, &long, b"", b""), Err(Error::LongKey));
    assert_eq!(shard.push(0, &long, End::Back, b""), Err(Error::LongKey));
    assert_eq!(shard.set(0, &long[1..], b"longest", Expiry::Never), Ok(()));
    assert_eq!(shard.copy(0, &long[1..]), Ok(Some(b"longest".to_vec())));
    assert!(!shard.set_limit(LEAST_LIMIT - 1) && !shard.set_limit(1 << 40));
    assert!(shard.set_limit(16 << 20));
    assert_eq!(shard.figures().limit, 16 << 20);
    shard.assert_sound();
    // Below what it holds: the next writes evict.
    for number in 0..10_000 {
        let key = format!("key:{number}");
        shard
            .set(0, key.as_bytes(), &[1; 1000], Expiry::Never)
            .expect("room");
    }
    assert!(shard.figures().used > 9 << 20);
    assert!(shard.set_limit(LEAST_LIMIT));
    shard
        .set(0, b"one", b"more", Expiry::Never)
        .expect("others are evicted");
    assert!(shard.figures().used <= LEAST_LIMIT);
    assert_eq!(shard.kind(0, b"one"), Some(Kind::Text));
    shard.purge();
    shard.assert_sound();
}
