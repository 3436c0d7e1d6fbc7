//! Commands of the server and of the connection.

use super::call::{Call, Done, Failure};
use crate::store::Store;

/// The Redis that these commands answer as: clients ask for it.
const REDIS: &str = "7.0.0";

pub(super) fn key_count<S: Store>(call: &mut Call<'_, S>) -> Done {
    let keys = call.cache.shards.figures().keys;
    call.count(keys)
}

pub(super) fn clear<S: Store>(call: &mut Call<'_, S>) -> Done {
    call.cache.shards.each().for_each(|mut shard| shard.clear());
    call.ok()
}

pub(super) fn memory<S: Store>(call: &mut Call<'_, S>) -> Done {
    if !call.words[1].eq_ignore_ascii_case(b"PURGE") {
        return Err(Failure::Text("ERR unknown subcommand of 'memory'"));
    }
    call.cache.shards.each().for_each(|mut shard| shard.purge());
    call.ok()
}

/// `INFO`: all sections, whichever are asked for.
pub(super) fn info<S: Store>(call: &mut Call<'_, S>) -> Done {
    let figures = call.cache.shards.figures();
    let text = format!(
        "# Server\r\nredis_version:{REDIS}\r\nredis_mode:standalone\r\narch_bits:{}\r\nprocess_id:{}\r\nstore:{}\r\nshards:{}\r\n\
         # Memory\r\nused_memory:{}\r\nheld_memory:{}\r\nmaxmemory:{}\r\n\
         maxmemory_policy:allkeys-lru\r\n\
         # Stats\r\nevicted_keys:{}\r\nexpired_keys:{}\r\n\
         # Cluster\r\ncluster_enabled:0\r\n\
         # Keyspace\r\ndb0:keys={}\r\n",
        usize::BITS,
        std::process::id(),
        S::NAME,
        call.cache.shards.len(),
        figures.used,
        figures.held,
        figures.limit,
        figures.evicted,
        figures.expired,
        figures.keys,
    );
    call.reply().bulk(text.as_bytes());
    Ok(())
}

/// `CONFIG GET` and `CONFIG SET` of what this cache has.
pub(super) fn config<S: Store>(call: &mut Call<'_, S>) -> Done {
    let is = |name: &str| call.words[1].eq_ignore_ascii_case(name.as_bytes());
    if is("GET") && call.words.len() > 2 {
        return config_get(call);
    }
    if is("SET") && call.words.len() == 4 {
        return config_set(call);
    }
    if is("RESETSTAT") {
        return call.ok();
    }
    Err(Failure::Text(
        "ERR unknown subcommand of 'config', or wrong number of arguments",
    ))
}

fn config_get<S: Store>(call: &mut Call<'_, S>) -> Done {
    let limit = call.cache.shards.figures().limit.to_string();
    let known = [
        ("maxmemory", limit.as_str()),
        ("maxmemory-policy", "allkeys-lru"),
        ("save", ""),
        ("appendonly", "no"),
    ];
    let is_asked = |name: &str| {
        let mut words = call.words[2..].iter();
        words.any(|word| *word == b"*" || word.eq_ignore_ascii_case(name.as_bytes()))
    };
    let shown: Vec<_> = known
        .into_iter()
        .filter(|(name, _)| is_asked(name))
        .collect();
    call.reply().map(shown.len());
    for (name, value) in shown {
        call.reply().bulk(name.as_bytes());
        call.reply().bulk(value.as_bytes());
    }
    Ok(())
}

fn config_set<S: Store>(call: &mut Call<'_, S>) -> Done {
    if !call.words[2].eq_ignore_ascii_case(b"maxmemory") {
        return Err(Failure::Text("ERR only 'maxmemory' can be set"));
    }
    let bytes = size(call.words[3]);
    let bytes = bytes.ok_or(Failure::Text("ERR argument must be a memory value"))?;
    let part = bytes / call.cache.shards.len();
    match call
        .cache
        .shards
        .each()
        .all(|mut shard| shard.set_limit(part))
    {
        true => call.ok(),
        false => Err(Failure::Text(
            "ERR 'maxmemory' is too low or too high for the shards",
        )),
    }
}

pub(super) fn ping<S: Store>(call: &mut Call<'_, S>) -> Done {
    match call.words.get(1) {
        Some(word) => call.client.reply.bulk(word),
        None => call.client.reply.simple("PONG"),
    }
    Ok(())
}

pub(super) fn echo<S: Store>(call: &mut Call<'_, S>) -> Done {
    call.client.reply.bulk(call.words[1]);
    Ok(())
}

pub(super) fn select<S: Store>(call: &mut Call<'_, S>) -> Done {
    match call.number(1)? {
        0 => call.ok(),
        _ => Err(Failure::Text("ERR DB index is out of range")),
    }
}

/// `COMMAND`: clients ask for descriptions, and go without them.
pub(super) fn commands<S: Store>(call: &mut Call<'_, S>) -> Done {
    call.reply().array(0);
    Ok(())
}

/// `CLIENT SETNAME` and `CLIENT SETINFO`, which clients send first.
pub(super) fn client<S: Store>(call: &mut Call<'_, S>) -> Done {
    let is = |name: &str| call.words[1].eq_ignore_ascii_case(name.as_bytes());
    match is("SETNAME") || is("SETINFO") {
        true => call.ok(),
        false => Err(Failure::Text("ERR unknown subcommand of 'client'")),
    }
}

const WRONG_PASSWORD: Failure =
    Failure::Text("WRONGPASS invalid username-password pair or user is disabled.");

/// `AUTH [default] password`
pub(super) fn authenticate<S: Store>(call: &mut Call<'_, S>) -> Done {
    check_password(call, &call.words[1..])?;
    call.ok()
}

fn check_password<S: Store>(call: &mut Call<'_, S>, words: &[&[u8]]) -> Done {
    let Some(password) = &call.cache.password else {
        return Err(Failure::Text(
            "ERR AUTH called without any password configured",
        ));
    };
    let is_right = match words {
        [word] | [b"default", word] => is_same(word, password.as_bytes()),
        _ => false,
    };
    // Who has said it stays known.
    call.client.is_known |= is_right;
    if is_right {
        Ok(())
    } else {
        Err(WRONG_PASSWORD)
    }
}

/// Compares all bytes, so that the time does not tell how many are right.
fn is_same(word: &[u8], password: &[u8]) -> bool {
    let different = word
        .iter()
        .zip(password)
        .fold(0, |sum, (a, b)| sum | (a ^ b));
    word.len() == password.len() && different == 0
}

/// `HELLO [2|3] [AUTH default password] [SETNAME name]`
pub(super) fn hello<S: Store>(call: &mut Call<'_, S>) -> Done {
    let is_third = match call.words.get(1).copied() {
        None => call.client.reply.is_third,
        Some(b"2") => false,
        Some(b"3") => true,
        Some(_) => return Err(Failure::Text("NOPROTO unsupported protocol version")),
    };
    let mut rest = call.words.get(2..).unwrap_or_default();
    while let [option, further @ ..] = rest {
        rest = match further {
            [user, password, rest @ ..] if option.eq_ignore_ascii_case(b"AUTH") => {
                check_password(call, &[user, password])?;
                rest
            }
            [_, rest @ ..] if option.eq_ignore_ascii_case(b"SETNAME") => rest,
            _ => return Err(Failure::Text("ERR syntax error in HELLO")),
        };
    }
    if call.cache.password.is_some() && !call.client.is_known {
        return Err(Failure::Text(
            "NOAUTH HELLO must be called with the client authenticated",
        ));
    }
    let reply = &mut call.client.reply;
    reply.is_third = is_third;
    reply.map(6);
    for (name, text) in [
        ("server", "redis"),
        ("version", REDIS),
        ("mode", "standalone"),
        ("role", "master"),
    ] {
        reply.bulk(name.as_bytes());
        reply.bulk(text.as_bytes());
    }
    reply.bulk(b"proto");
    reply.integer(if is_third { 3 } else { 2 });
    reply.bulk(b"modules");
    reply.array(0);
    Ok(())
}

pub(super) fn quit<S: Store>(call: &mut Call<'_, S>) -> Done {
    call.client.is_closing = true;
    call.ok()
}

/// A number of bytes, as Redis writes it: `100`, `100k` (1000), `100kb` (1024), `mb`, `gb`.
#[must_use]
pub fn size(word: &[u8]) -> Option<usize> {
    let digits = word.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, unit) = word.split_at(digits);
    let scale: usize = match unit.to_ascii_lowercase().as_slice() {
        b"" | b"b" => 1,
        b"k" => 1000,
        b"kb" => 1 << 10,
        b"m" => 1_000_000,
        b"mb" => 1 << 20,
        b"g" => 1_000_000_000,
        b"gb" => 1 << 30,
        _ => return None,
    };
    let number = usize::try_from(crate::resp::number(number)?).ok()?;
    number.checked_mul(scale)
}
