//! What clients say and get, without sockets: bytes in, bytes out, on both stores.

mod fuzz;
mod said;

use std::cell::Cell;

use surefit_cache::command::Cache;
use surefit_cache::resp::Limits;
use surefit_cache::server::Connection;
use surefit_cache::shards::Shards;
use surefit_cache::store::Store;
use surefit_cache::store::packed::Packed;
use surefit_cache::store::plain::Plain;

use said::SAID;

struct Session<S> {
    cache: Cache<S>,
    connection: Connection,
    limits: Limits,
    now: u64,
}

impl<S: Store> Session<S> {
    fn new(shards: impl IntoIterator<Item = S>) -> Self {
        Self {
            cache: Cache {
                shards: Shards::new(shards),
                password: None,
            },
            connection: Connection::default(),
            limits: Limits {
                arguments: 100,
                bytes: 10_000,
                reply: 256 << 20,
            },
            now: 0,
        }
    }

    /// What comes back for some bytes.
    fn raw(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let clock = || self.now;
        let received = self
            .connection
            .receive(&self.cache, &clock, &self.limits, bytes, &mut out);
        received.expect("a vector takes all");
        out
    }

    /// What comes back for a line of words, with blanks for line breaks.
    fn say(&mut self, line: &str) -> String {
        let reply = self.raw(format!("{line}\r\n").as_bytes());
        let reply = reply.escape_ascii().to_string().replace("\\'", "'");
        reply.replace("\\r\\n", " ").trim_end().into()
    }
}

fn packed(count: u64) -> impl Iterator<Item = Packed> {
    (0..count).map(|seed| Packed::new(8 << 20, 32 << 20, seed).expect("a shard"))
}

#[test]
fn every_command_answers_alike_on_both_stores() {
    let (mut ours, mut theirs) = (Session::new(packed(1)), Session::new([Plain::default()]));
    for (line, reply) in SAID {
        assert_eq!(ours.say(line), *reply, "{line}");
        assert_eq!(theirs.say(line), *reply, "{line}");
    }
    ours.cache.shards.number(0).assert_sound();
}

#[test]
fn several_shards_answer_as_one_does() {
    let mut session = Session::new(packed(3));
    for (line, reply) in SAID.iter().filter(|(line, _)| !line.starts_with("SCAN")) {
        assert_eq!(session.say(line), *reply, "{line}");
    }
    for number in 0..300 {
        session.say(&format!("SET key:{number} {number}"));
        session.say(&format!("SET other:{number} {number}"));
    }
    let (mut cursor, mut found) = (String::from("0"), Vec::new());
    loop {
        let reply = session.say(&format!("SCAN {cursor} MATCH key:* COUNT 7"));
        let mut words = reply.split(' ').map(String::from);
        cursor = words.nth(2).expect("a cursor");
        found.extend(words.filter(|word| word.starts_with("key:")));
        if cursor == "0" {
            break;
        }
    }
    found.sort_unstable();
    found.dedup();
    assert_eq!(found.len(), 300);
    assert_eq!(session.say("DBSIZE"), ":600");
    assert_eq!(
        session.say("CONFIG GET maxmemory"),
        "*2 $9 maxmemory $8 25165824"
    );
    assert_eq!(session.say("CONFIG SET maxmemory 48mb"), "+OK");
    assert_eq!(
        session.say("CONFIG GET maxmemory"),
        "*2 $9 maxmemory $8 50331648"
    );
    let refused = "-ERR 'maxmemory' is too low or too high for the shards";
    assert_eq!(session.say("CONFIG SET maxmemory 1mb"), refused);
    assert_eq!(
        session.say("CONFIG SET maxmemory x"),
        "-ERR argument must be a memory value"
    );
    assert!(session.say("INFO").contains("maxmemory:50331648"));
}

#[test]
fn a_full_cache_says_so_and_loses_nothing() {
    let mut session = Session::new(packed(1));
    session.limits = Limits::DEFAULT;
    session.say("SET key value");
    let value = "x".repeat(8 << 20);
    let oom = "-OOM command not allowed when used memory > 'maxmemory'.";
    let request = |name: &str| format!("*3\r\n{name}\r\n$3\r\nkey\r\n${}\r\n{value}\r\n", 8 << 20);
    for name in ["$3\r\nSET", "$6\r\nAPPEND"] {
        let reply = session.raw(request(name).as_bytes());
        assert_eq!(String::from_utf8_lossy(&reply).trim_end(), oom);
    }
    assert_eq!(session.say("GET key"), "$5 value");
}

#[test]
fn deadlines_come_with_the_clock() {
    let mut session = Session::new(packed(2));
    session.say("SET a 1 PX 100");
    session.say("RPUSH l 1 2 3");
    session.say("PEXPIRE l 200");
    session.now = 99;
    assert_eq!(session.say("EXISTS a l"), ":2");
    session.now = 100;
    assert_eq!(session.say("EXISTS a l"), ":1");
    assert_eq!(session.say("PTTL l"), ":100");
    session.now = 200;
    assert_eq!(session.say("LLEN l"), ":0");
    assert_eq!(session.say("LPUSH l 9"), ":1");
    assert_eq!(session.say("TTL l"), ":-1");
}

#[test]
fn each_command_has_a_time_of_its_own() {
    let mut session = Session::new(packed(1));
    let (time, mut out) = (Cell::new(0), Vec::new());
    let clock = || time.replace(time.get() + 60);
    let bytes = b"SET a 1 PX 100\r\nPTTL a\r\nPTTL a\r\n";
    let (cache, limits) = (&session.cache, &session.limits);
    let received = session
        .connection
        .receive(cache, &clock, limits, bytes, &mut out);
    received.expect("a vector takes all");
    assert_eq!(out, b"+OK\r\n:40\r\n:-2\r\n");
}

/// Another client of the same cache.
fn other<S: Store>(session: &mut Session<S>) {
    session.connection = Connection::default();
}

fn replies_are_bounded<S: Store>(mut session: Session<S>) {
    let value = "x".repeat(200);
    session.say(&format!("RPUSH l{}", format!(" {value}").repeat(40)));
    for number in 0..40 {
        session.say(&format!("HSET h {number} {value}"));
        session.say(&format!("SET {value}{number} 1"));
    }
    session.limits.reply = 1000;
    for line in [
        "LRANGE l 0 -1",
        "HGETALL h",
        "LPOP l 40",
        "SCAN 0 COUNT 1000",
    ] {
        assert!(!session.connection.is_closing());
        let len = session.raw(format!("{line}\r\n").as_bytes()).len();
        assert!((1001..1300).contains(&len), "{line}: {len}");
        assert!(session.connection.is_closing(), "{line}");
        other(&mut session);
    }
    // Those that were sent went, and no others.
    assert_eq!(session.say("LLEN l"), ":35");
}

#[test]
fn who_asks_for_too_much_is_cut_off() {
    replies_are_bounded(Session::new(packed(1)));
    replies_are_bounded(Session::new([Plain::default()]));
}

#[test]
fn longer_patterns_than_the_bound_are_refused() {
    let mut session = Session::new(packed(1));
    session.limits = Limits::DEFAULT;
    session.say("SET key value");
    let mut scan = |len: usize| {
        let (head, pattern) = (
            "*4\r\n$4\r\nSCAN\r\n$1\r\n0\r\n$5\r\nMATCH",
            "*".repeat(len),
        );
        let reply = session.raw(format!("{head}\r\n${len}\r\n{pattern}\r\n").as_bytes());
        String::from_utf8(reply).expect("a text")
    };
    assert_eq!(scan(1024), "*2\r\n$1\r\n0\r\n*1\r\n$3\r\nkey\r\n");
    let refused = "-ERR the pattern is longer than 1024 bytes\r\n";
    assert_eq!(scan(1025), refused);
}

#[test]
fn the_third_version_of_the_protocol_has_maps_and_a_null() {
    let mut session = Session::new(packed(1));
    let hello = session.say("HELLO 3");
    assert!(hello.starts_with("%6 $6 server $5 redis"), "{hello}");
    assert!(hello.contains("$5 proto :3"), "{hello}");
    assert_eq!(session.say("GET none"), "_");
    assert_eq!(session.say("LPOP none 1"), "_");
    session.say("HSET h f 1");
    assert_eq!(session.say("HGETALL h"), "%1 $1 f $1 1");
    assert!(session.say("HELLO 2").starts_with("*12 $6 server"));
    assert_eq!(session.say("GET none"), "$-1");
}

#[test]
fn a_password_is_asked_for() {
    let mut session = Session::new(packed(1));
    session.cache.password = Some("secret".into());
    assert_eq!(session.say("GET a"), "-NOAUTH Authentication required.");
    let refused = "-NOAUTH HELLO must be called with the client authenticated";
    assert_eq!(session.say("HELLO 3"), refused);
    let wrong = "-WRONGPASS invalid username-password pair or user is disabled.";
    for words in [
        "AUTH secre",
        "AUTH secrets",
        "AUTH secreT",
        "AUTH other secret",
    ] {
        assert_eq!(session.say(words), wrong);
    }
    assert_eq!(session.say("GET a"), "-NOAUTH Authentication required.");
    assert_eq!(session.say("AUTH default secret"), "+OK");
    assert_eq!(session.say("GET a"), "$-1");
    assert_eq!(session.say("AUTH secrets"), wrong);
    assert_eq!(session.say("HELLO 3 AUTH default x"), wrong);
    assert_eq!(session.say("GET a"), "$-1", "it stays known");
    let mut other = Session::new(packed(1));
    other.cache.password = Some("secret".into());
    assert!(
        other
            .say("HELLO 3 AUTH default secret SETNAME x")
            .starts_with("%6")
    );
    assert_eq!(other.say("GET a"), "_");
}

#[test]
fn a_stranger_sends_no_long_requests() {
    let mut session = Session::new(packed(1));
    session.limits.bytes = 1 << 20;
    session.cache.password = Some("secret".into());
    let long = format!("*3\r\n$3\r\nSET\r\n$1\r\na\r\n$20000\r\n{:0>20000}\r\n", 1);
    let known = format!("AUTH secret\r\n{long}");
    assert_eq!(session.raw(known.as_bytes()), b"+OK\r\n+OK\r\n");
    let mut other = Session::new(packed(1));
    other.limits.bytes = 1 << 20;
    other.cache.password = Some("secret".into());
    let reply = other.raw(&long.as_bytes()[..40]);
    assert!(reply.starts_with(b"-ERR Protocol error"), "{reply:?}");
}

const MALFORMED: &[(&[u8], &str)] = &[
    (b"*1\r\n:4\r\n", "-ERR Protocol error: expected '$'\r\n"),
    (b"*x\r\n", "-ERR Protocol error: not a number\r\n"),
    (b"*1\n", "-ERR Protocol error: not a number\r\n"),
    (
        b"*101\r\n",
        "-ERR Protocol error: invalid multibulk length\r\n",
    ),
    (
        b"*1\r\n$-1\r\n",
        "-ERR Protocol error: invalid bulk length\r\n",
    ),
    (
        b"*1\r\n$10001\r\n",
        "-ERR Protocol error: invalid bulk length\r\n",
    ),
    (
        b"*1\r\n$9223372036854775807\r\n",
        "-ERR Protocol error: invalid bulk length\r\n",
    ),
    (
        b"*1\r\n$00000000000000000000000",
        "-ERR Protocol error: too long a number\r\n",
    ),
    (
        b"*1\r\n$4\r\nPINGxx",
        "-ERR Protocol error: expected a line break\r\n",
    ),
    (
        b"PING\r\n*x\r\nPING\r\n",
        "+PONG\r\n-ERR Protocol error: not a number\r\n",
    ),
];

#[test]
fn what_is_no_request_is_answered_and_ends_the_connection() {
    for (bytes, reply) in MALFORMED {
        let mut session = Session::new(packed(1));
        let said = session.raw(bytes);
        assert_eq!(
            String::from_utf8_lossy(&said),
            *reply,
            "{}",
            bytes.escape_ascii()
        );
        assert!(session.connection.is_closing());
        assert!(
            session.raw(b"PING\r\n").is_empty(),
            "nothing is answered any more"
        );
    }
}

#[test]
fn lines_are_bounded_and_empty_requests_are_not_answered() {
    let long = [b'x'; 1 << 16];
    let mut session = Session::new(packed(1));
    assert_eq!(
        session.raw(&long),
        b"-ERR Protocol error: too big inline request\r\n"
    );
    let words = "PING ".repeat(101) + "\n";
    let mut session = Session::new(packed(1));
    assert_eq!(
        session.raw(words.as_bytes()),
        b"-ERR Protocol error: too many arguments\r\n"
    );
    let mut session = Session::new(packed(1));
    assert_eq!(
        session.raw(b"*0\r\n*-1\r\n\r\nPING\r\nQUIT\r\nPING\r\n"),
        b"+PONG\r\n+OK\r\n"
    );
}

#[test]
fn a_pipeline_of_any_length_ends_where_it_must() {
    let ends: [(&str, &str); 3] = [
        ("QUIT\r\nPING\r\n*x\r\n", "+OK\r\n"),
        ("*x\r\nPING\r\n", "-ERR Protocol error: not a number\r\n"),
        ("PING\r\nPI", "+PONG\r\n"),
    ];
    for count in 0..40 {
        for (end, last) in ends {
            let bytes = "SET key 1\r\nGET key\r\n".repeat(count) + end;
            let expected = "+OK\r\n$1\r\n1\r\n".repeat(count) + last;
            for cut in [0, bytes.len() / 2, bytes.len() - end.len()] {
                let mut session = Session::new(packed(2));
                let (first, second) = bytes.as_bytes().split_at(cut);
                let mut said = session.raw(first);
                said.extend(session.raw(second));
                assert_eq!(String::from_utf8_lossy(&said), expected, "{count}, {cut}");
                assert_eq!(session.connection.is_closing(), !end.ends_with("PI"));
            }
        }
    }
}
