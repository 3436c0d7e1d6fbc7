//! What each command does. The texts of errors are those of Redis, so that clients know them.

use std::ops::RangeInclusive;

use crate::cache::{Cache, Only, Options, Refused};
use crate::reply;
use crate::store::Store;

/// What happens to the connection after a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// It goes on.
    GoOn,
    /// It ends once the reply is sent.
    Close,
}

/// The arguments of a command, the first of which is its name.
pub type Arguments<'a> = [&'a [u8]];

/// The name of a command, how many arguments it takes with its name, and what it does.
struct Command<S: Store> {
    name: &'static str,
    count: RangeInclusive<usize>,
    run: fn(&mut Call<'_, S>),
}

/// A command that is being executed.
struct Call<'a, S: Store> {
    cache: &'a mut Cache<S>,
    now: u64,
    words: &'a Arguments<'a>,
    out: &'a mut Vec<u8>,
}

const ANY: usize = usize::MAX;
const SYNTAX: &str = "ERR syntax error";
const NOT_A_NUMBER: &str = "ERR value is not an integer or out of range";

impl<S: Store> Command<S> {
    const fn new(name: &'static str, least: usize, most: usize, run: fn(&mut Call<'_, S>)) -> Self {
        Self {
            name,
            count: least..=most,
            run,
        }
    }

    /// All commands; those that programs call most stand first.
    const ALL: &[Self] = &[
        Self::new("GET", 2, 2, get),
        Self::new("SET", 3, ANY, set),
        Self::new("DEL", 2, ANY, delete),
        Self::new("MGET", 2, ANY, get_many),
        Self::new("EXISTS", 2, ANY, exists),
        Self::new("PING", 1, 2, ping),
        Self::new("TTL", 2, 2, |call| time_left(call, 1000)),
        Self::new("PTTL", 2, 2, |call| time_left(call, 1)),
        Self::new("UNLINK", 2, ANY, delete),
        Self::new("ECHO", 2, 2, |call| reply::bulk(call.out, call.words[1])),
        Self::new("DBSIZE", 1, 1, |call| count(call.out, call.cache.len())),
        Self::new("FLUSHALL", 1, 2, clear),
        Self::new("FLUSHDB", 1, 2, clear),
        Self::new("INFO", 1, ANY, info),
        Self::new("CONFIG", 2, ANY, config),
        Self::new("MEMORY", 2, ANY, memory),
        Self::new("COMMAND", 1, ANY, |call| reply::array(call.out, 0)),
        Self::new("CLIENT", 2, ANY, |call| reply::simple(call.out, "OK")),
        Self::new("SELECT", 2, 2, select),
        Self::new("HELLO", 1, ANY, hello),
    ];
}

/// Executes a command at `now` in milliseconds, and appends its reply.
pub fn execute<S: Store>(
    cache: &mut Cache<S>,
    now: u64,
    words: &Arguments<'_>,
    out: &mut Vec<u8>,
) -> Then {
    let Some(name) = words.first() else {
        return Then::GoOn;
    };
    if name.eq_ignore_ascii_case(b"QUIT") {
        reply::simple(out, "OK");
        return Then::Close;
    }
    let known = Command::<S>::ALL
        .iter()
        .find(|it| name.eq_ignore_ascii_case(it.name.as_bytes()));
    match known {
        None => {
            let shown = String::from_utf8_lossy(&name[..name.len().min(128)]);
            reply::error(out, &format!("ERR unknown command '{shown}'"));
        }
        Some(known) if !known.count.contains(&words.len()) => {
            let name = known.name.to_ascii_lowercase();
            reply::error(
                out,
                &format!("ERR wrong number of arguments for '{name}' command"),
            );
        }
        Some(known) => (known.run)(&mut Call {
            cache,
            now,
            words,
            out,
        }),
    }
    Then::GoOn
}

fn count(out: &mut Vec<u8>, number: usize) {
    reply::integer(out, i64::try_from(number).unwrap_or(i64::MAX));
}

/// Appends the value of a key, or null.
fn value_of<S: Store>(call: &mut Call<'_, S>, key: &[u8]) {
    match call.cache.get(call.now, key) {
        None => reply::null(call.out),
        Some(value) => {
            reply::bulk_head(call.out, value.len());
            value
                .chunks()
                .for_each(|chunk| call.out.extend_from_slice(chunk));
            call.out.extend_from_slice(b"\r\n");
        }
    }
}

fn get<S: Store>(call: &mut Call<'_, S>) {
    value_of(call, call.words[1]);
}

fn get_many<S: Store>(call: &mut Call<'_, S>) {
    let words = call.words;
    reply::array(call.out, words.len() - 1);
    words[1..].iter().for_each(|key| value_of(call, key));
}

fn set<S: Store>(call: &mut Call<'_, S>) {
    let options = match set_options(call.now, &call.words[3..]) {
        Ok(options) => options,
        Err(error) => return reply::error(call.out, error),
    };
    match call
        .cache
        .set(call.now, call.words[1], call.words[2], options)
    {
        Ok(true) => reply::simple(call.out, "OK"),
        Ok(false) => reply::null(call.out),
        Err(Refused::LongKey) => reply::error(call.out, "ERR key is longer than 2048 bytes"),
        Err(Refused::LongValue) => reply::error(call.out, "ERR value is longer than 512 MiB"),
        Err(Refused::Full) => reply::error(
            call.out,
            "OOM command not allowed when used memory > 'maxmemory'.",
        ),
    }
}

/// The words after the value of SET.
fn set_options(now: u64, words: &Arguments<'_>) -> Result<Options, &'static str> {
    let mut options = Options::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let is = |name: &str| word.eq_ignore_ascii_case(name.as_bytes());
        let has_time = options.deadline.is_some() || options.keep_deadline;
        let is_free = options.only == Only::Always;
        if is("EX") || is("PX") {
            let time = words.next().filter(|_| !has_time).ok_or(SYNTAX)?;
            let scale = if is("EX") { 1000 } else { 1 };
            options.deadline = Some(deadline(now, time, scale)?);
        } else if is("KEEPTTL") && !has_time {
            options.keep_deadline = true;
        } else if is("NX") && is_free {
            options.only = Only::Absent;
        } else if is("XX") && is_free {
            options.only = Only::Present;
        } else {
            return Err(SYNTAX);
        }
    }
    Ok(options)
}

/// A time from now in units of `scale` milliseconds.
fn deadline(now: u64, time: &[u8], scale: u64) -> Result<u64, &'static str> {
    let time: i64 = number(time).ok_or(NOT_A_NUMBER)?;
    let time = u64::try_from(time).ok().filter(|&time| time > 0);
    time.and_then(|time| time.checked_mul(scale)?.checked_add(now))
        .ok_or("ERR invalid expire time in 'set' command")
}

fn number<T: std::str::FromStr>(word: &[u8]) -> Option<T> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

fn delete<S: Store>(call: &mut Call<'_, S>) {
    let keys = call.words[1..].iter();
    let deleted = keys.filter(|key| call.cache.delete(call.now, key)).count();
    count(call.out, deleted);
}

fn exists<S: Store>(call: &mut Call<'_, S>) {
    let keys = call.words[1..].iter();
    let found = keys
        .filter(|key| call.cache.contains(call.now, key))
        .count();
    count(call.out, found);
}

fn ping<S: Store>(call: &mut Call<'_, S>) {
    match call.words.get(1) {
        Some(word) => reply::bulk(call.out, word),
        None => reply::simple(call.out, "PONG"),
    }
}

/// TTL rounds to the nearest second, as Redis does.
fn time_left<S: Store>(call: &mut Call<'_, S>, unit: u64) {
    let left = match call.cache.deadline(call.now, call.words[1]) {
        None => -2,
        Some(None) => -1,
        Some(Some(deadline)) => {
            i64::try_from((deadline - call.now + unit / 2) / unit).unwrap_or(i64::MAX)
        }
    };
    reply::integer(call.out, left);
}

fn clear<S: Store>(call: &mut Call<'_, S>) {
    call.cache.clear();
    reply::simple(call.out, "OK");
}

fn memory<S: Store>(call: &mut Call<'_, S>) {
    if call.words[1].eq_ignore_ascii_case(b"PURGE") {
        call.cache.purge();
        reply::simple(call.out, "OK");
    } else {
        reply::error(call.out, "ERR unknown subcommand of 'memory'");
    }
}

fn select<S: Store>(call: &mut Call<'_, S>) {
    match number::<u32>(call.words[1]) {
        Some(0) => reply::simple(call.out, "OK"),
        Some(_) => reply::error(call.out, "ERR DB index is out of range"),
        None => reply::error(call.out, NOT_A_NUMBER),
    }
}

fn hello<S: Store>(call: &mut Call<'_, S>) {
    if call.words.get(1).is_some_and(|version| *version != b"2") {
        return reply::error(call.out, "NOPROTO unsupported protocol version");
    }
    reply::array(call.out, 14);
    let texts = [
        ("server", "redis"),
        ("version", env!("CARGO_PKG_VERSION")),
        ("mode", "standalone"),
        ("role", "master"),
        ("store", S::KEY),
    ];
    for (name, text) in texts {
        reply::bulk(call.out, name.as_bytes());
        reply::bulk(call.out, text.as_bytes());
    }
    reply::bulk(call.out, b"proto");
    reply::integer(call.out, 2);
    reply::bulk(call.out, b"modules");
    reply::array(call.out, 0);
}

/// `INFO`: all sections, whichever are asked for.
fn info<S: Store>(call: &mut Call<'_, S>) {
    let (cache, counts) = (&*call.cache, call.cache.counts());
    let text = format!(
        "# Server\r\nredis_mode:standalone\r\nprocess_id:{}\r\n\
         # Memory\r\nused_memory:{}\r\nheld_memory:{}\r\nmaxmemory:{}\r\n\
         maxmemory_policy:allkeys-lru\r\nmem_allocator:{}\r\n\
         # Stats\r\nevicted_keys:{}\r\nexpired_keys:{}\r\n\
         keyspace_hits:{}\r\nkeyspace_misses:{}\r\n\
         # Keyspace\r\ndb0:keys={}\r\n",
        std::process::id(),
        cache.used_bytes(),
        cache.store().held_bytes(),
        cache.limit(),
        S::KEY,
        counts.evicted,
        counts.expired,
        counts.hits,
        counts.misses,
        cache.len(),
    );
    reply::bulk(call.out, text.as_bytes());
}

/// `CONFIG GET` and `CONFIG SET` of what this cache has.
fn config<S: Store>(call: &mut Call<'_, S>) {
    let words = call.words;
    let is = |name: &str| words[1].eq_ignore_ascii_case(name.as_bytes());
    if is("GET") && words.len() >= 3 {
        config_get(call);
    } else if is("SET") && words.len() >= 4 && words.len() % 2 == 0 {
        config_set(call);
    } else if is("RESETSTAT") {
        reply::simple(call.out, "OK");
    } else {
        reply::error(
            call.out,
            "ERR unknown subcommand of 'config', or wrong number of arguments",
        );
    }
}

fn config_get<S: Store>(call: &mut Call<'_, S>) {
    let limit = call.cache.limit().to_string();
    let known = [
        ("maxmemory", limit.as_str()),
        ("maxmemory-policy", "allkeys-lru"),
        ("save", ""),
        ("appendonly", "no"),
    ];
    let asked = |name: &str| {
        let mut words = call.words[2..].iter();
        words.any(|word| *word == b"*" || word.eq_ignore_ascii_case(name.as_bytes()))
    };
    let shown: Vec<_> = known.into_iter().filter(|(name, _)| asked(name)).collect();
    reply::array(call.out, 2 * shown.len());
    for (name, value) in shown {
        reply::bulk(call.out, name.as_bytes());
        reply::bulk(call.out, value.as_bytes());
    }
}

fn config_set<S: Store>(call: &mut Call<'_, S>) {
    let words = call.words;
    let mut limit = None;
    for pair in words[2..].chunks_exact(2) {
        if !pair[0].eq_ignore_ascii_case(b"maxmemory") {
            return reply::error(call.out, "ERR only 'maxmemory' can be set");
        }
        limit = size(pair[1]);
        if limit.is_none() {
            return reply::error(call.out, "ERR argument must be a memory value");
        }
    }
    call.cache.set_limit(limit.unwrap_or_default());
    reply::simple(call.out, "OK");
}

/// A number of bytes, as Redis writes it: `100`, `100k` (1000), `100kb` (1024), `mb`, `gb`.
#[must_use]
pub fn size(word: &[u8]) -> Option<usize> {
    let digits = word.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number_, unit) = word.split_at(digits);
    let scale = match unit.to_ascii_lowercase().as_slice() {
        b"" | b"b" => 1,
        b"k" => 1000,
        b"kb" => 1 << 10,
        b"m" => 1_000_000,
        b"mb" => 1 << 20,
        b"g" => 1_000_000_000,
        b"gb" => 1 << 30,
        _ => return None,
    };
    number::<usize>(number_)?.checked_mul(scale)
}
