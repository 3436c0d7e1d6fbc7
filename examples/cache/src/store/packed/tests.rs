//! Buckets that are filled to their limits, by keys that are chosen by their hashes.

use surefit_collections::Release;

use super::bucket::{Bucket, FULL, MOST, Value};
use super::hash::HASHES;
use super::head::{DEADLINE, Place};
use super::{Packed, Seeded};
use crate::store::{End, Expiry, Kind, Store};

fn shard() -> Packed {
    Packed::new(8 << 20, 64 << 20, 1).expect("a shard")
}

/// Keys whose hashes have as many zeros as lowest bits: they are in bucket 0 until the table has
/// more than 2^`zeros` buckets.
fn of_first_bucket(seed: Seeded, zeros: u32) -> impl Iterator<Item = Vec<u8>> {
    (0_u32..)
        .map(|number| number.to_string().into_bytes())
        .filter(move |key| seed.of(key).trailing_zeros() >= zeros)
}

fn first(shard: &Packed) -> &Bucket {
    shard.table.bucket(&shard.heap, 0)
}

/// Long keys of bucket 0, as long as there are no more than 16 buckets.
fn long_of_first_bucket(seed: Seeded) -> impl Iterator<Item = Vec<u8>> {
    let keys = (0_u32..).map(|number| number.to_le_bytes().repeat(15_000));
    keys.filter(move |key| seed.of(key).trailing_zeros() >= 4)
}

/// Keys of bucket 0, more than it takes.
fn too_many(seed: Seeded) -> Vec<Vec<u8>> {
    of_first_bucket(seed, 12).take(600).collect()
}

fn keys_of(shard: &mut Packed) -> Vec<Vec<u8>> {
    let (mut keys, mut place) = (Vec::new(), Some(0));
    while let Some(from) = place {
        place = shard.scan(0, from, 10, &mut |key| keys.push(key.to_vec()));
    }
    keys
}

/// Keys of other buckets.
fn others(seed: Seeded) -> Vec<Vec<u8>> {
    let keys = (0..500).map(|number| format!("other:{number}").into_bytes());
    keys.filter(|key| seed.of(key) % 8 != 0).collect()
}

#[test]
fn a_full_bucket_sends_new_keys_to_the_buckets_of_their_other_hashes() {
    let mut shard = shard();
    let keys = too_many(shard.seed);
    for (number, key) in keys.iter().enumerate() {
        let value = number.to_string();
        match number % 3 {
            0 => shard.set(0, key, value.as_bytes(), Expiry::Never),
            1 => shard.set(0, key, &[1; 2000], Expiry::Never),
            _ => shard.set_field(0, key, b"field", b"value").map(|_| ()),
        }
        .expect("room");
        shard.assert_sound();
    }
    assert_eq!(first(&shard).len(&shard.heap), FULL);
    let figures = shard.figures();
    assert_eq!((figures.evicted, figures.keys), (0, keys.len()));
    assert!(shard.moved >= keys.len() - FULL);
    let mut scanned = keys_of(&mut shard);
    scanned.sort();
    let mut sorted = keys.clone();
    sorted.sort();
    assert!(scanned == sorted, "each once");
    for (number, key) in keys.iter().enumerate() {
        assert_eq!(shard.set_deadline(0, key, Some(9)), Ok(true));
        match number % 3 {
            0 => {
                let set = shard.set(0, key, b"other", Expiry::Kept);
                assert_eq!(set, Ok(()));
                assert_eq!(shard.append(0, key, b"!"), Ok(6));
                assert_eq!(shard.copy(0, key), Ok(Some(b"other!".to_vec())));
            }
            1 => assert_eq!(shard.len_of(0, key, Kind::Text), Ok(2000)),
            _ => assert_eq!(shard.set_field(0, key, b"field", b""), Ok(false)),
        }
        assert_eq!(shard.deadline(0, key), Some(Some(9)));
        // Half go by a deletion, the others by their deadline.
        assert!(number % 2 > 0 || shard.remove(0, key));
    }
    assert_eq!(shard.figures().evicted, 0);
    shard.assert_sound();
    while shard.figures().keys > 0 {
        shard.tick(9);
    }
    assert_eq!(shard.moved, 0);
    shard.assert_sound();
}

#[test]
fn what_lies_by_another_hash_is_spared_when_it_grows() {
    let mut shard = Packed::new(super::LEAST_LIMIT, 64 << 20, 1).expect("a shard");
    let keys = too_many(shard.seed);
    for key in &keys[..FULL + 1] {
        shard.push(0, key, End::Back, b"first").expect("room");
    }
    let list = &keys[FULL];
    assert_eq!(shard.moved, 1);
    let mut pushed = 1;
    while let Ok(len) = shard.push(0, list, End::Back, &[1; 1000]) {
        pushed += 1;
        assert_eq!(len, pushed, "nothing of it is evicted");
    }
    assert_eq!(shard.figures().keys, 1);
    assert_eq!(shard.len_of(0, list, Kind::List), Ok(pushed));
    shard.assert_sound();
}

#[test]
fn only_if_all_buckets_of_a_key_are_full_one_of_them_loses_a_record() {
    let mut shard = shard();
    let seed = shard.seed;
    let others = others(seed);
    for key in &others[..20] {
        shard.set(0, key, b"", Expiry::Never).expect("room");
    }
    // The hand is elsewhere.
    shard.evict_hand = 1;
    let keys = (0_u32..).map(|number| number.to_le_bytes());
    let all_hashes_are_even = |key: &[u8; 4]| {
        let mut hashes = (0..HASHES).map(|number| seed.of_number(number, key));
        hashes.all(|hash| hash & 3 == 0)
    };
    let keys: Vec<_> = keys.filter(all_hashes_are_even).take(FULL + 9).collect();
    for key in &keys {
        shard.set(0, key, b"", Expiry::Never).expect("room");
    }
    assert!(shard.table.len() <= 4, "all of one bucket");
    assert_eq!(first(&shard).len(&shard.heap), FULL);
    let is_there = |key: &Vec<u8>| shard.kind(0, key) == Some(Kind::Text);
    assert!(
        others[..20]
            .iter()
            .filter(|key| seed.of(key) & 3 > 0)
            .all(is_there)
    );
    assert!(shard.figures().evicted >= 9);
    shard.assert_sound();
}

#[test]
fn a_full_bucket_loses_what_is_expired_first() {
    let mut shard = shard();
    let keys = too_many(shard.seed);
    let (mortal, stay) = keys.split_at(100);
    for key in stay.iter().take(FULL - mortal.len()) {
        shard.set(0, key, b"", Expiry::Never).expect("room");
    }
    for key in mortal {
        shard.set(0, key, b"", Expiry::At(10)).expect("room");
    }
    assert_eq!(shard.figures().evicted, 0);
    assert_eq!(first(&shard).len(&shard.heap), FULL);
    let new = stay.last().expect("there is one");
    shard.set(10, new, b"", Expiry::Never).expect("room");
    assert_eq!((shard.figures().evicted, shard.figures().expired), (0, 100));
    assert_eq!(shard.moved, 0);
    shard.assert_sound();
}

#[test]
fn deadlines_find_room_in_a_bucket_that_is_full_of_bytes() {
    let mut shard = shard();
    let text = |number: usize, key: &[u8]| vec![number as u8; 39 - key.len()];
    let keys: Vec<_> = of_first_bucket(shard.seed, 12).take(81).collect();
    for (number, key) in keys.iter().enumerate() {
        let text = text(number, key);
        shard.set(0, key, &text, Expiry::Never).expect("room");
    }
    let mut fullest = 0;
    for key in &keys {
        assert_eq!(shard.set_deadline(0, key, Some(1000)), Ok(true));
        fullest = fullest.max(first(&shard).bytes.len());
    }
    assert!(fullest + DEADLINE > MOST, "{fullest}");
    assert_eq!(shard.figures().evicted, 0);
    for (number, key) in keys.iter().enumerate() {
        assert_eq!(shard.copy(0, key), Ok(Some(text(number, key))));
        assert_eq!(shard.deadline(0, key), Some(Some(1000)));
    }
    shard.assert_sound();
}

#[test]
fn buckets_become_fewer_as_records_go() {
    let mut shard = Packed::new(32 << 20, 64 << 20, 1).expect("a shard");
    let key = |number: usize| format!("key:{number:012}").into_bytes();
    for number in 0..50_000 {
        let text = vec![1; 120 + number % 241];
        shard
            .set(0, &key(number), &text, Expiry::Never)
            .expect("room");
    }
    for number in (0..50_000).filter(|number| number % 5 > 0) {
        assert!(shard.remove(0, &key(number)));
    }
    // About 265 bytes each, and 1,250 in a bucket in the mean.
    let (records, buckets) = (shard.table.records(), shard.table.len());
    assert!(
        records == 10_000 && buckets * 45 < records * 10,
        "{buckets}"
    );
    shard.assert_sound();
}

#[test]
fn a_merge_moves_the_long_records_of_both_buckets_outside() {
    let mut shard = shard();
    let heap = &mut shard.heap;
    let (mut many, mut long) = (Bucket::default(), Bucket::default());
    let put = |bucket: &mut Bucket, heap: &mut _, key: u32, text: &[u8]| {
        let key_bytes = key.to_le_bytes();
        let place = Place {
            hash: key,
            number: 0,
        };
        let put = bucket.put(heap, None, place, &key_bytes, Value::Inside(text), None);
        put.expect("room");
    };
    for key in 0..130 {
        put(&mut many, heap, key, b"");
    }
    for key in 130..134 {
        put(&mut long, heap, key, &[7; 900]);
    }
    many.merge(heap, &mut long).expect("room");
    assert!(
        (2..=4).contains(&many.outside.len(heap)),
        "the long ones alone"
    );
    assert!((0..134_u32).all(|key| many.find(heap, key, &key.to_le_bytes()).is_some()));
    many.assert_sound(heap);
    many.release(heap);
}

#[test]
fn a_scan_of_long_keys_ends_within_a_bucket() {
    let mut shard = shard();
    let mut keys: Vec<_> = long_of_first_bucket(shard.seed).take(20).collect();
    for key in &keys {
        shard.set(0, key, b"", Expiry::Never).expect("room");
    }
    assert_eq!(first(&shard).len(&shard.heap), 20);
    let (mut seen, mut place) = (Vec::new(), Some(0));
    while let Some(from) = place {
        let before = seen.len();
        place = shard.scan(0, from, 1000, &mut |key| seen.push(key.to_vec()));
        assert!((seen.len() - before) * 60_000 < (256 << 10) + 60_000);
    }
    seen.sort();
    keys.sort();
    assert!(seen == keys, "each key is passed once");
}

#[test]
fn an_append_to_a_long_text_makes_room_for_what_is_new() {
    let mut shard = shard();
    let long = vec![7; 3 << 20];
    shard.set(0, b"long", &long, Expiry::Never).expect("fits");
    for number in 0..200 {
        let key = format!("key:{number}");
        let set = shard.set(0, key.as_bytes(), &[1; 10_000], Expiry::Never);
        set.expect("fits");
    }
    let before = shard.figures();
    assert_eq!(before.evicted, 0);
    assert_eq!(
        shard.append(0, b"long", b"x").expect("fits"),
        long.len() + 1
    );
    assert_eq!(shard.figures().evicted, 0);
}

/// The objects that are live.
fn objects(shard: &Packed) -> usize {
    shard.heap.heap().live_blocks().count()
}

/// A hash and a list of so many fields or values each.
fn fill(shard: &mut Packed, number: usize, values: usize) {
    let (hash, list) = (format!("hash:{number}"), format!("list:{number}"));
    for value in 0..values {
        let value = value.to_le_bytes();
        let set = shard.set_field(0, hash.as_bytes(), &value, &value);
        set.expect("fits");
        let pushed = shard.push(0, list.as_bytes(), End::Back, &value);
        pushed.expect("fits");
    }
}

/// Does something, and then ticks until nothing waits; returns how many calls there were. None may
/// free more objects than a tick does.
fn in_steps(shard: &mut Packed, act: impl FnOnce(&mut Packed)) -> usize {
    let before = objects(shard);
    act(shard);
    let mut left = objects(shard);
    assert!(before - left < 2 * super::MANY + 600, "{before}, {left}");
    let mut calls = 1;
    while shard.tick(10) || !shard.waiting.is_empty() {
        let now = objects(shard);
        assert!(left - now < 2 * super::MANY + 600, "{left}, {now}");
        (left, calls) = (now, calls + 1);
    }
    shard.assert_sound();
    calls
}

#[test]
fn a_tick_frees_only_so_many_values() {
    let mut shard = shard();
    for number in 0..40 {
        fill(&mut shard, number, 500);
        for kind in ["hash", "list"] {
            let key = format!("{kind}:{number}");
            let set = shard.set_deadline(0, key.as_bytes(), Some(5));
            set.expect("fits");
        }
    }
    assert!(in_steps(&mut shard, |_| ()) > 4);
    assert_eq!(shard.figures().keys, 0);
}

#[test]
fn what_is_dropped_goes_in_steps_and_is_not_there_at_once() {
    let mut shard = shard();
    let keys = [&b"hash:0"[..], b"list:0"];
    let acts: [fn(&mut Packed, &[u8]); 3] = [
        |shard, key| assert!(shard.remove(10, key)),
        |shard, key| shard.set(10, key, b"short", Expiry::Never).expect("fits"),
        |shard, _| shard.clear(),
    ];
    for act in acts {
        fill(&mut shard, 0, 20_000);
        for key in keys {
            let calls = in_steps(&mut shard, |shard| {
                act(shard, key);
                assert_ne!(
                    shard.len_of(10, key, Kind::Text),
                    Err(crate::store::Error::Kind)
                );
            });
            assert!(calls > 1 || shard.figures().keys == 0);
        }
        shard.clear();
        while shard.tick(10) || !shard.waiting.is_empty() {}
        shard.assert_sound();
    }
}

#[test]
fn what_waits_goes_before_a_record_is_evicted() {
    let mut shard = Packed::new(super::LEAST_LIMIT, 64 << 20, 1).expect("a shard");
    for number in 0..3 {
        fill(&mut shard, number, 6000);
        for kind in ["hash", "list"] {
            assert!(shard.remove(0, format!("{kind}:{number}").as_bytes()));
        }
    }
    shard.set(0, b"one", b"", Expiry::Never).expect("room");
    fill(&mut shard, 3, 6000);
    shard.clear();
    shard
        .set(0, b"one", &vec![0; 1 << 20], Expiry::Never)
        .expect("room");
    assert_eq!(shard.figures().evicted, 0);
    shard.assert_sound();
    shard.purge();
    assert!(shard.waiting.is_empty());
    assert!(shard.remove(0, b"one"));
    shard.assert_sound();
}

#[test]
fn what_is_split_is_not_merged_at_once() {
    let mut shard = shard();
    for number in 0..16 {
        let key = format!("key:{number}");
        let set = shard.set(0, key.as_bytes(), &[1; 100], Expiry::Never);
        set.expect("fits");
    }
    // Too much for one bucket, and little for two.
    assert_eq!(shard.table.len(), 2);
}

#[test]
fn what_waits_with_no_value_left_is_room_too() {
    let mut shard = shard();
    fill(&mut shard, 0, 512);
    assert!(shard.remove(0, b"list:0"));
    assert!(!shard.waiting.is_empty());
    assert!(shard.free_some(), "the list's own object");
    assert!(shard.waiting.is_empty());
    shard.assert_sound();
}

#[test]
fn no_record_is_evicted_for_the_deadline_of_a_key_that_is_not_there() {
    let mut shard = Packed::new(super::LEAST_LIMIT, 64 << 20, 1).expect("a shard");
    for number in 0.. {
        let set = shard.set(0, format!("{number}").as_bytes(), &[1; 100], Expiry::Never);
        set.expect("fits");
        // The next call with a deadline finds less room than it asks for.
        if shard.used() + 256 > shard.heap.limits().soft {
            break;
        }
    }
    let evicted = shard.figures().evicted;
    for number in 0..1000 {
        let key = format!("no:{number}");
        assert_eq!(shard.set_deadline(0, key.as_bytes(), Some(9)), Ok(false));
    }
    assert_eq!(shard.figures().evicted, evicted);
}
