//! Commands of texts.

use super::call::{Call, Done, Failure, NOT_A_NUMBER, OVERFLOW, SYNTAX, deadline};
use crate::resp;
use crate::store::{Error, Expiry, Kind, Store};

pub(super) fn get<S: Store>(call: &mut Call<'_, S>) -> Done {
    let key = call.words[1];
    let was_there = call
        .cache
        .shards
        .of(key)
        .get(call.now, key, &mut call.client.reply)?;
    if !was_there {
        call.reply().null();
    }
    Ok(())
}

pub(super) fn get_many<S: Store>(call: &mut Call<'_, S>) -> Done {
    call.client.reply.array(call.words.len() - 1);
    for key in &call.words[1..] {
        let found = call
            .cache
            .shards
            .of(key)
            .get(call.now, key, &mut call.client.reply);
        // What is no text is answered as if it were not there, as in Redis.
        if !found.unwrap_or(false) {
            call.reply().null();
        }
        if call.is_cut_off() {
            break;
        }
    }
    Ok(())
}

/// The options of `SET`.
#[derive(Default)]
struct Options {
    is_only_new: bool,
    is_only_old: bool,
    is_former_wanted: bool,
    expiry: Option<Expiry>,
}

impl Options {
    fn read(words: &[&[u8]], now: u64) -> Result<Self, Failure> {
        let mut options = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let word = word.to_ascii_uppercase();
            let expiry = match word.as_slice() {
                b"NX" => {
                    options.is_only_new = true;
                    continue;
                }
                b"XX" => {
                    options.is_only_old = true;
                    continue;
                }
                b"GET" => {
                    options.is_former_wanted = true;
                    continue;
                }
                b"KEEPTTL" => Expiry::Kept,
                b"EX" | b"PX" => {
                    let unit = if word == b"EX" { 1000 } else { 1 };
                    let number = resp::number(words.next().ok_or(SYNTAX)?).ok_or(NOT_A_NUMBER)?;
                    let ms = u64::try_from(number).ok().filter(|it| *it > 0);
                    let at = ms.and_then(|it| deadline(now, it.checked_mul(unit)?));
                    let invalid = Failure::Text("ERR invalid expire time in 'set' command");
                    Expiry::At(at.ok_or(invalid)?)
                }
                _ => return Err(SYNTAX),
            };
            if options.expiry.replace(expiry).is_some() {
                return Err(SYNTAX);
            }
        }
        if options.is_only_new && options.is_only_old {
            return Err(SYNTAX);
        }
        Ok(options)
    }
}

pub(super) fn set<S: Store>(call: &mut Call<'_, S>) -> Done {
    let (key, value, now) = (call.words[1], call.words[2], call.now);
    let options = Options::read(&call.words[3..], now)?;
    let mut shard = call.cache.shards.of(key);
    let former = match options.is_former_wanted {
        true => shard.copy(now, key)?,
        false => None,
    };
    let is_conditional = options.is_only_new || options.is_only_old;
    let is_done = !is_conditional || shard.kind(now, key).is_some() == options.is_only_old;
    if is_done {
        shard.set(now, key, value, options.expiry.unwrap_or(Expiry::Never))?;
    }
    drop(shard);
    match (former, options.is_former_wanted || !is_done) {
        (Some(former), _) => call.reply().bulk(&former),
        (None, true) => call.reply().null(),
        (None, false) => call.reply().simple("OK"),
    }
    Ok(())
}

pub(super) fn set_new<S: Store>(call: &mut Call<'_, S>) -> Done {
    let (key, value, now) = (call.words[1], call.words[2], call.now);
    let mut shard = call.cache.shards.of(key);
    let is_new = shard.kind(now, key).is_none();
    if is_new {
        shard.set(now, key, value, Expiry::Never)?;
    }
    drop(shard);
    call.count(usize::from(is_new))
}

/// `MSET`. Keys of several shards are not set at one moment; if one is refused, those before it
/// are set.
pub(super) fn set_many<S: Store>(call: &mut Call<'_, S>) -> Done {
    if call.words.len() % 2 == 0 {
        return Err(Failure::Text(
            "ERR wrong number of arguments for 'mset' command",
        ));
    }
    for pair in call.words[1..].chunks_exact(2) {
        let mut shard = call.cache.shards.of(pair[0]);
        shard.set(call.now, pair[0], pair[1], Expiry::Never)?;
    }
    call.ok()
}

pub(super) fn increment<S: Store>(call: &mut Call<'_, S>) -> Done {
    let by = if call.words.len() > 2 {
        call.number(2)?
    } else {
        1
    };
    add(call, by)
}

pub(super) fn decrement<S: Store>(call: &mut Call<'_, S>) -> Done {
    let by = if call.words.len() > 2 {
        call.number(2)?
    } else {
        1
    };
    let by = by.checked_neg();
    add(
        call,
        by.ok_or(Failure::Text("ERR decrement would overflow"))?,
    )
}

fn add<S: Store>(call: &mut Call<'_, S>, by: i64) -> Done {
    let (key, now) = (call.words[1], call.now);
    let mut shard = call.cache.shards.of(key);
    // A number has at most twenty digits: a longer text is not copied.
    if shard.len_of(now, key, Kind::Text)? > 20 {
        return Err(NOT_A_NUMBER);
    }
    let text = shard.copy(now, key)?;
    let number = text
        .map_or(Some(0), |text| resp::number(&text))
        .ok_or(NOT_A_NUMBER)?;
    let sum = number.checked_add(by).ok_or(OVERFLOW)?;
    shard.set(now, key, sum.to_string().as_bytes(), Expiry::Kept)?;
    drop(shard);
    call.reply().integer(sum);
    Ok(())
}

/// The longest text that `APPEND` makes, in bytes: that of a request.
const MOST_TEXT: usize = 64 << 20;

pub(super) fn append<S: Store>(call: &mut Call<'_, S>) -> Done {
    let (key, more, now) = (call.words[1], call.words[2], call.now);
    let mut shard = call.cache.shards.of(key);
    if shard.len_of(now, key, Kind::Text)? + more.len() > MOST_TEXT {
        return Err(Error::Full.into());
    }
    let len = shard.append(now, key, more)?;
    drop(shard);
    call.count(len)
}

pub(super) fn length<S: Store>(call: &mut Call<'_, S>) -> Done {
    let key = call.words[1];
    let len = call
        .cache
        .shards
        .of(key)
        .len_of(call.now, key, Kind::Text)?;
    call.count(len)
}
