//! Commands of hashes and lists.

use super::call::{Call, Done, Failure};
use crate::resp;
use crate::store::{End, Kind, Store};

/// Fields and values that a command adds or removes before others may have the shard.
const TURN: usize = 256;

const NOT_POSITIVE: Failure = Failure::Text("ERR value is out of range, must be positive");

/// `HSET` and `HMSET`. If a field is refused, those before it are set. Others may come between the
/// fields of a long command.
pub(super) fn set_fields<S: Store>(call: &mut Call<'_, S>) -> Done {
    let is_old = call.words[0].eq_ignore_ascii_case(b"HMSET");
    if call.words.len() % 2 != 0 {
        return Err(Failure::Text(match is_old {
            true => "ERR wrong number of arguments for 'hmset' command",
            false => "ERR wrong number of arguments for 'hset' command",
        }));
    }
    let (key, now, mut added) = (call.words[1], call.now, 0);
    let shards = &call.cache.shards;
    shards.in_turns(key, &call.words[2..], 2 * TURN, |shard, words| {
        words.chunks_exact(2).try_for_each(|pair| {
            added += usize::from(shard.set_field(now, key, pair[0], pair[1])?);
            Ok::<(), Failure>(())
        })
    })?;
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
    let (key, now, mut removed) = (call.words[1], call.now, 0);
    let shards = &call.cache.shards;
    shards.in_turns(key, &call.words[2..], TURN, |shard, fields| {
        fields.iter().try_for_each(|field| {
            removed += usize::from(shard.remove_field(now, key, field)?);
            Ok::<(), Failure>(())
        })
    })?;
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

/// If a value is refused, those before it are there. Values of others may be among those of a long
/// command.
fn push<S: Store>(call: &mut Call<'_, S>, end: End) -> Done {
    let (key, now, mut len) = (call.words[1], call.now, 0);
    let shards = &call.cache.shards;
    shards.in_turns(key, &call.words[2..], TURN, |shard, values| {
        values.iter().try_for_each(|value| {
            len = shard.push(now, key, end, value)?;
            Ok::<(), Failure>(())
        })
    })?;
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
