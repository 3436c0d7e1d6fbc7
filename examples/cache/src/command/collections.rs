//! Commands of hashes and lists.

use super::call::{Call, Done, Failure};
use crate::resp;
use crate::store::{End, Kind, Store};

const NOT_POSITIVE: Failure = Failure::Text("ERR value is out of range, must be positive");

/// `HSET` and `HMSET`. If a field is refused, those before it are set.
pub(super) fn set_fields<S: Store>(call: &mut Call<'_, S>) -> Done {
    let is_old = call.words[0].eq_ignore_ascii_case(b"HMSET");
    if call.words.len() % 2 != 0 {
        return Err(Failure::Text(match is_old {
            true => "ERR wrong number of arguments for 'hmset' command",
            false => "ERR wrong number of arguments for 'hset' command",
        }));
    }
    let (key, mut added) = (call.words[1], 0);
    let mut shard = call.cache.shards.of(key);
    for pair in call.words[2..].chunks_exact(2) {
        added += usize::from(shard.set_field(call.now, key, pair[0], pair[1])?);
    }
    drop(shard);
    match is_old {
        true => call.ok(),
        false => call.count(added),
    }
}

pub(super) fn field<S: Store>(call: &mut Call<'_, S>) -> Done {
    let (key, field) = (call.words[1], call.words[2]);
    let mut shard = call.cache.shards.of(key);
    if !shard.field(call.now, key, field, &mut call.client.reply)? {
        call.client.reply.null();
    }
    Ok(())
}

pub(super) fn remove_fields<S: Store>(call: &mut Call<'_, S>) -> Done {
    let (key, mut removed) = (call.words[1], 0);
    let mut shard = call.cache.shards.of(key);
    for field in &call.words[2..] {
        removed += usize::from(shard.remove_field(call.now, key, field)?);
    }
    drop(shard);
    call.count(removed)
}

pub(super) fn fields<S: Store>(call: &mut Call<'_, S>) -> Done {
    let key = call.words[1];
    call.cache
        .shards
        .of(key)
        .fields(call.now, key, &mut call.client.reply)?;
    call.is_cut_off();
    Ok(())
}

pub(super) fn field_count<S: Store>(call: &mut Call<'_, S>) -> Done {
    let count = call
        .cache
        .shards
        .of(call.key())
        .len_of(call.now, call.key(), Kind::Hash)?;
    call.count(count)
}

pub(super) fn push_front<S: Store>(call: &mut Call<'_, S>) -> Done {
    push(call, End::Front)
}

pub(super) fn push_back<S: Store>(call: &mut Call<'_, S>) -> Done {
    push(call, End::Back)
}

/// If a value is refused, those before it are there.
fn push<S: Store>(call: &mut Call<'_, S>, end: End) -> Done {
    let (key, mut len) = (call.words[1], 0);
    let mut shard = call.cache.shards.of(key);
    for value in &call.words[2..] {
        len = shard.push(call.now, key, end, value)?;
    }
    drop(shard);
    call.count(len)
}

pub(super) fn pop_front<S: Store>(call: &mut Call<'_, S>) -> Done {
    pop(call, End::Front)
}

pub(super) fn pop_back<S: Store>(call: &mut Call<'_, S>) -> Done {
    pop(call, End::Back)
}

/// One value, or an array of as many as are asked for. A client that is cut off gets those that are
/// taken till then.
fn pop<S: Store>(call: &mut Call<'_, S>, end: End) -> Done {
    let (key, now) = (call.words[1], call.now);
    let count = match call.words.len() {
        2 => None,
        _ => {
            let count = resp::number(call.words[2]).and_then(|it| usize::try_from(it).ok());
            Some(count.ok_or(NOT_POSITIVE)?)
        }
    };
    let mut shard = call.cache.shards.of(key);
    let reply = &mut call.client.reply;
    let Some(count) = count else {
        if !shard.pop(now, key, end, reply)? {
            reply.null();
        }
        return Ok(());
    };
    let len = shard.len_of(now, key, Kind::List)?;
    if len == 0 {
        reply.null_array();
        return Ok(());
    }
    reply.array(count.min(len));
    for _ in 0..count.min(len) {
        shard.pop(now, key, end, &mut call.client.reply)?;
        if call.is_cut_off() {
            break;
        }
    }
    Ok(())
}

pub(super) fn range<S: Store>(call: &mut Call<'_, S>) -> Done {
    let (key, from, to) = (call.words[1], call.number(2)?, call.number(3)?);
    call.cache
        .shards
        .of(key)
        .range(call.now, key, from, to, &mut call.client.reply)?;
    call.is_cut_off();
    Ok(())
}

pub(super) fn value_count<S: Store>(call: &mut Call<'_, S>) -> Done {
    let count = call
        .cache
        .shards
        .of(call.key())
        .len_of(call.now, call.key(), Kind::List)?;
    call.count(count)
}
