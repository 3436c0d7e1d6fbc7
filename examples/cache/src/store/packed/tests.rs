//! Buckets that are filled to their limits, by keys that are chosen by their hashes.

use super::bucket::{Bucket, MOST_BODIES, MOST_RECORDS};
use super::head::DEADLINE;
use super::{Packed, Seeded};
use crate::store::{Expiry, Kind, Store};

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

#[test]
fn a_bucket_that_is_full_of_records_is_split() {
    let mut shard = shard();
    let keys: Vec<_> = of_first_bucket(shard.seed, 3).take(300).collect();
    let mut fullest = 0;
    for key in &keys {
        shard.set(0, key, b"", Expiry::Never).expect("room");
        fullest = fullest.max(first(&shard).len());
    }
    assert_eq!(fullest, MOST_RECORDS);
    assert_eq!(shard.figures().evicted, 0);
    assert!(
        keys.iter()
            .all(|key| shard.kind(0, key) == Some(Kind::Text))
    );
    shard.assert_sound();
}

#[test]
fn where_a_split_does_not_help_only_the_full_bucket_loses_records() {
    let mut shard = shard();
    let others = (0..500).map(|number| format!("other:{number}").into_bytes());
    let seed = shard.seed;
    let others: Vec<_> = others.filter(|key| seed.of(key) % 8 != 0).collect();
    for key in &others {
        shard.set(0, key, b"", Expiry::Never).expect("room");
    }
    // The hand is elsewhere.
    shard.evict_hand = 1;
    for key in of_first_bucket(seed, 12).take(300) {
        shard.set(0, &key, b"", Expiry::Never).expect("room");
    }
    assert_eq!(first(&shard).len(), MOST_RECORDS);
    assert_eq!(shard.figures().evicted, 300 - MOST_RECORDS as u64);
    assert!(
        others
            .iter()
            .all(|key| shard.kind(0, key) == Some(Kind::Text))
    );
    shard.assert_sound();
}

#[test]
fn deadlines_find_room_in_a_bucket_that_is_full_of_bytes() {
    let mut shard = shard();
    let keys: Vec<_> = of_first_bucket(shard.seed, 3).take(74).collect();
    for (number, key) in keys.iter().enumerate() {
        let text = vec![number as u8; 48 - key.len()];
        shard.set(0, key, &text, Expiry::Never).expect("room");
    }
    let mut fullest = 0;
    for key in &keys {
        assert_eq!(shard.set_deadline(0, key, Some(1000)), Ok(true));
        fullest = fullest.max(first(&shard).bodies.len());
    }
    assert!(fullest + DEADLINE > MOST_BODIES, "{fullest}");
    assert_eq!(shard.figures().evicted, 0);
    for (number, key) in keys.iter().enumerate() {
        let text = vec![number as u8; 48 - key.len()];
        assert_eq!(shard.copy(0, key), Ok(Some(text)));
        assert_eq!(shard.deadline(0, key), Some(Some(1000)));
    }
    shard.assert_sound();
}
