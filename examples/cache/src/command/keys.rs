//! Commands of keys, whatever their values.

use super::call::{Call, Done, Failure, NOT_A_NUMBER, SYNTAX, deadline};
use super::pattern::{MOST_PATTERN, matches};
use crate::resp;
use crate::store::{Kind, Store};

pub(super) fn delete<S: Store>(call: &mut Call<'_, S>) -> Done {
    let keys = call.words[1..].iter();
    let removed = keys
        .filter(|key| call.cache.shards.of(key).remove(call.now, key))
        .count();
    call.count(removed)
}

pub(super) fn exists<S: Store>(call: &mut Call<'_, S>) -> Done {
    let keys = call.words[1..].iter();
    let found = keys
        .filter(|key| call.cache.shards.of(key).kind(call.now, key).is_some())
        .count();
    call.count(found)
}

pub(super) fn expire<S: Store>(call: &mut Call<'_, S>) -> Done {
    let invalid = "ERR invalid expire time in 'expire' command";
    expire_in(call, 1000, Failure::Text(invalid))
}

pub(super) fn expire_ms<S: Store>(call: &mut Call<'_, S>) -> Done {
    let invalid = "ERR invalid expire time in 'pexpire' command";
    expire_in(call, 1, Failure::Text(invalid))
}

/// A time that is not in the future deletes the key.
fn expire_in<S: Store>(call: &mut Call<'_, S>, unit: i64, invalid: Failure) -> Done {
    let (key, now) = (call.words[1], call.now);
    let Some(after) = call.number(2)?.checked_mul(unit) else {
        return Err(invalid);
    };
    let mut shard = call.cache.shards.of(key);
    let was_there = match u64::try_from(after) {
        Ok(after @ 1..) => match deadline(now, after) {
            None => return Err(invalid),
            deadline => shard.set_deadline(now, key, deadline)?,
        },
        _ => shard.remove(now, key),
    };
    drop(shard);
    call.count(usize::from(was_there))
}

pub(super) fn time_left<S: Store>(call: &mut Call<'_, S>) -> Done {
    left(call, 1000)
}

pub(super) fn time_left_ms<S: Store>(call: &mut Call<'_, S>) -> Done {
    left(call, 1)
}

/// `TTL` rounds to the nearest second, as Redis does.
fn left<S: Store>(call: &mut Call<'_, S>, unit: u64) -> Done {
    let (key, now) = (call.words[1], call.now);
    let left = match call.cache.shards.of(key).deadline(now, key) {
        None => -2,
        Some(None) => -1,
        Some(Some(at)) => i64::try_from((at - now + unit / 2) / unit).unwrap_or(i64::MAX),
    };
    call.reply().integer(left);
    Ok(())
}

pub(super) fn persist<S: Store>(call: &mut Call<'_, S>) -> Done {
    let (key, now) = (call.words[1], call.now);
    let mut shard = call.cache.shards.of(key);
    let had_deadline = shard.deadline(now, key).flatten().is_some();
    if had_deadline {
        shard.set_deadline(now, key, None)?;
    }
    drop(shard);
    call.count(usize::from(had_deadline))
}

pub(super) fn kind<S: Store>(call: &mut Call<'_, S>) -> Done {
    let kind = call.cache.shards.of(call.key()).kind(call.now, call.key());
    call.reply().simple(match kind {
        None => "none",
        Some(Kind::Text) => "string",
        Some(Kind::Hash) => "hash",
        Some(Kind::List) => "list",
    });
    Ok(())
}

/// The most keys that one `SCAN` is asked for.
const MOST_KEYS: usize = 10_000;

/// `SCAN cursor [MATCH pattern] [COUNT n]`. A cursor is a place in a shard, and the shard.
///
/// # Complexity
/// O(pattern * bytes of the keys that are looked at), without the lock.
pub(super) fn scan<S: Store>(call: &mut Call<'_, S>) -> Done {
    let invalid = || Failure::Text("ERR invalid cursor");
    let cursor = resp::number(call.key()).and_then(|it| u64::try_from(it).ok());
    let cursor = cursor.ok_or_else(invalid)?;
    let shards = call.cache.shards.len() as u64;
    let (number, place) = (cursor % shards, cursor / shards);
    let place = u32::try_from(place).map_err(|_| invalid())?;
    let (mut pattern, mut count) = (None, 10);
    for option in call.words[2..].chunks(2) {
        match option {
            [name, value] if name.eq_ignore_ascii_case(b"MATCH") => {
                if value.len() > MOST_PATTERN {
                    return Err(Failure::Text("ERR the pattern is longer than 1024 bytes"));
                }
                pattern = Some(*value);
            }
            [name, value] if name.eq_ignore_ascii_case(b"COUNT") => {
                let number = resp::number(value).ok_or(NOT_A_NUMBER)?;
                let number = usize::try_from(number).ok().filter(|it| *it > 0);
                count = number.ok_or(SYNTAX)?.min(MOST_KEYS);
            }
            _ => return Err(SYNTAX),
        }
    }
    let mut keys = Vec::new();
    #[expect(
        clippy::cast_possible_truncation,
        reason = "below the number of shards"
    )]
    let next = call
        .cache
        .shards
        .number(number as usize)
        .scan(call.now, place, count, &mut |key| {
            keys.push(key.to_vec());
        });
    // Without the lock: a pattern may take long.
    keys.retain(|key| pattern.is_none_or(|pattern| matches(pattern, key)));
    let next = match next {
        Some(place) => u64::from(place) * shards + number,
        None => (number + 1) % shards,
    };
    call.reply().array(2);
    call.reply().bulk(next.to_string().as_bytes());
    call.reply().array(keys.len());
    for key in &keys {
        call.reply().bulk(key);
        if call.is_cut_off() {
            break;
        }
    }
    Ok(())
}
