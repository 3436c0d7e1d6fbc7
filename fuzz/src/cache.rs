//! The cache server: arbitrary bytes as requests, and commands of known words on both of its
//! stores.

use surefit_cache::command::{Cache, Client};
use surefit_cache::resp::Limits;
use surefit_cache::server::Connection;
use surefit_cache::shards::Shards;
use surefit_cache::store::Store;
use surefit_cache::store::packed::{LEAST_LIMIT, Packed};
use surefit_cache::store::plain::Plain;

/// Commands that answer the same on both stores.
const SAME: [&[u8]; 39] = [
    b"GET",
    b"SET",
    b"SETNX",
    b"MGET",
    b"MSET",
    b"INCR",
    b"DECR",
    b"INCRBY",
    b"DECRBY",
    b"APPEND",
    b"STRLEN",
    b"DEL",
    b"UNLINK",
    b"EXISTS",
    b"EXPIRE",
    b"PEXPIRE",
    b"TTL",
    b"PTTL",
    b"PERSIST",
    b"TYPE",
    b"HSET",
    b"HMSET",
    b"HGET",
    b"HDEL",
    b"HGETALL",
    b"HLEN",
    b"LPUSH",
    b"RPUSH",
    b"LPOP",
    b"RPOP",
    b"LRANGE",
    b"LLEN",
    b"FLUSHALL",
    b"PING",
    b"ECHO",
    b"SELECT",
    b"COMMAND",
    b"CLIENT",
    b"HELLO",
];

/// Those that do not: they tell of memory, of an order, or of what nobody has found to be expired.
const OTHER: [&[u8]; 6] = [b"SCAN", b"DBSIZE", b"MEMORY", b"INFO", b"CONFIG", b"AUTH"];

const WORDS: [&[u8]; 26] = [
    b"a",
    b"b",
    b"c",
    b"d",
    b"",
    b"0",
    b"1",
    b"-1",
    b"7",
    b"100",
    b"9223372036854775807",
    b"EX",
    b"PX",
    b"NX",
    b"XX",
    b"KEEPTTL",
    b"GET",
    b"MATCH",
    b"COUNT",
    b"*[a-",
    b"PURGE",
    b"SET",
    b"maxmemory",
    b"6mb",
    b"3",
    b"*",
];

/// The first byte chooses: bytes of a client, or commands with room or under the least limit.
/// Nothing panics, and the heap is sound; pieces of requests get the replies of the whole, and both
/// stores give the same ones.
pub fn run(data: &[u8]) {
    match data.split_first() {
        None => {}
        Some((0..85, bytes)) => requests(bytes),
        Some((85..170, bytes)) => commands(bytes, 32 << 20),
        Some((_, bytes)) => commands(bytes, LEAST_LIMIT),
    }
}

fn cache<S: Store>(shard: S) -> Cache<S> {
    Cache {
        shards: Shards::new([shard]),
        password: None,
    }
}

fn packed(limit: usize) -> Cache<Packed> {
    cache(Packed::new(limit, 64 << 20, 1).expect("a shard"))
}

/// The replies to bytes that come in pieces of a length, and whether the connection is over.
fn replies(bytes: &[u8], piece: usize) -> (Vec<u8>, bool) {
    let (cache, mut connection) = (packed(LEAST_LIMIT), Connection::default());
    let limits = Limits {
        arguments: 64,
        bytes: 1 << 14,
        reply: 1 << 16,
    };
    let mut said = Vec::new();
    for piece in bytes.chunks(piece) {
        if !connection.is_closing() {
            let received = connection.receive(&cache, &|| 0, &limits, piece, &mut said);
            received.expect("a vector takes all");
        }
    }
    cache.shards.number(0).assert_sound();
    (said, connection.is_closing())
}

fn requests(bytes: &[u8]) {
    let Some((&piece, bytes)) = bytes.split_first() else {
        return;
    };
    let whole = replies(bytes, bytes.len().max(1));
    assert_eq!(whole, replies(bytes, usize::from(piece) + 1));
}

/// A word that a byte chooses; from a bound on, bytes of a length.
fn word(byte: u8) -> Vec<u8> {
    match WORDS.get(usize::from(byte)) {
        Some(word) => word.to_vec(),
        None if byte < 250 => vec![byte; usize::from(byte) * 4],
        None => vec![byte; (usize::from(byte) - 249) * 4000],
    }
}

fn commands(bytes: &[u8], limit: usize) {
    let is_roomy = limit > LEAST_LIMIT;
    let (cache, model) = (packed(limit), cache(Plain::default()));
    let (mut client, mut other) = (Client::default(), Client::default());
    let (mut rest, mut now) = (bytes.iter(), 0);
    while let Some(&first) = rest.next() {
        let first = usize::from(first);
        let name = *SAME.iter().chain(&OTHER).nth(first % 45).expect("a name");
        let shape = rest.next().copied().unwrap_or(0);
        now += u64::from(shape >> 3);
        let more = rest.by_ref().take(usize::from(shape & 7));
        let words: Vec<Vec<u8>> = [name.to_vec()]
            .into_iter()
            .chain(more.map(|&it| word(it)))
            .collect();
        let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
        cache.execute(&mut client, now, &words);
        if is_roomy && SAME.contains(&name) {
            model.execute(&mut other, now, &words);
            let sorted = |client: &Client| {
                let mut bytes = client.reply.bytes().to_vec();
                // Fields have no order.
                if name == b"HGETALL" {
                    bytes.sort_unstable();
                }
                bytes
            };
            assert!(sorted(&client) == sorted(&other), "{words:?}");
        }
        if first >= 225 {
            cache.shards.number(0).tick(now);
        }
        client.reply.clear();
        other.reply.clear();
    }
    let mut shard = cache.shards.number(0);
    shard.assert_sound();
    shard.clear();
    shard.assert_sound();
}
