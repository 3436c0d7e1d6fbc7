//! What clients say and get, without sockets: bytes in, bytes out.

use surefit_cache::cache::Cache;
use surefit_cache::connection::Connection;
use surefit_cache::store::surefit::Surefit;

struct Session {
    cache: Cache<Surefit>,
    connection: Connection,
    now: u64,
}

impl Session {
    fn new() -> Self {
        Self {
            cache: Cache::new(Surefit::new(16 << 20).expect("memory"), 0, 1),
            connection: Connection::default(),
            now: 0,
        }
    }

    /// What comes back for some bytes.
    fn raw(&mut self, bytes: &[u8]) -> String {
        self.connection.receive(&mut self.cache, self.now, bytes);
        self.replies()
    }

    fn replies(&mut self) -> String {
        let reply = self
            .connection
            .output()
            .escape_ascii()
            .to_string()
            .replace("\\'", "'");
        self.connection.sent(self.connection.output().len());
        reply.replace("\\r\\n", " ").trim_end().to_string()
    }

    /// What comes back for an inline command.
    fn say(&mut self, line: &str) -> String {
        self.raw(format!("{line}\r\n").as_bytes())
    }
}

#[test]
fn every_command_answers() {
    let mut session = Session::new();
    for (line, reply) in [
        ("PING", "+PONG"),
        ("ping hello", "$5 hello"),
        ("ECHO x", "$1 x"),
        ("GET a", "$-1"),
        ("SET a 1", "+OK"),
        ("get a", "$1 1"),
        ("SET a 2 NX", "$-1"),
        ("SET b 2 XX", "$-1"),
        ("SET b 22 nx px 1500", "+OK"),
        ("SET c 3 EX 100", "+OK"),
        ("MGET a x b", "*3 $1 1 $-1 $2 22"),
        ("EXISTS a a x c", ":3"),
        ("TTL a", ":-1"),
        ("TTL x", ":-2"),
        ("TTL c", ":100"),
        ("PTTL b", ":1500"),
        ("SET b 4 XX KEEPTTL", "+OK"),
        ("PTTL b", ":1500"),
        ("DBSIZE", ":3"),
        ("DEL a x", ":1"),
        ("UNLINK c", ":1"),
        (
            "CONFIG GET maxmemory save",
            "*4 $9 maxmemory $1 0 $4 save $0",
        ),
        ("CONFIG SET maxmemory 10mb", "+OK"),
        ("CONFIG GET MAXMEMORY", "*2 $9 maxmemory $8 10485760"),
        ("CONFIG GET nothing", "*0"),
        ("CONFIG RESETSTAT", "+OK"),
        ("COMMAND DOCS", "*0"),
        ("COMMAND", "*0"),
        ("CLIENT SETNAME me", "+OK"),
        ("SELECT 0", "+OK"),
        ("MEMORY PURGE", "+OK"),
        ("FLUSHALL", "+OK"),
        ("DBSIZE", ":0"),
    ] {
        assert_eq!(session.say(line), reply, "{line}");
    }
    assert!(session.say("HELLO 2").starts_with("*14 $6 server $5 redis"));
    let info = session.say("INFO memory");
    for field in [
        "used_memory:",
        "maxmemory:10485760",
        "maxmemory_policy:allkeys-lru",
    ] {
        assert!(info.contains(field), "{info}");
    }
}

#[test]
fn mistakes_are_named_and_change_nothing() {
    let mut session = Session::new();
    session.say("SET a 1");
    for (line, reply) in [
        ("GET", "-ERR wrong number of arguments for 'get' command"),
        (
            "GET a b",
            "-ERR wrong number of arguments for 'get' command",
        ),
        ("SET a", "-ERR wrong number of arguments for 'set' command"),
        ("MGET", "-ERR wrong number of arguments for 'mget' command"),
        ("NOSUCH a", "-ERR unknown command 'NOSUCH'"),
        ("SET a 2 EX", "-ERR syntax error"),
        ("SET a 2 EX 1 PX 1", "-ERR syntax error"),
        ("SET a 2 NX XX", "-ERR syntax error"),
        ("SET a 2 KEEPTTL EX 1", "-ERR syntax error"),
        ("SET a 2 NO", "-ERR syntax error"),
        (
            "SET a 2 EX x",
            "-ERR value is not an integer or out of range",
        ),
        ("SET a 2 EX 0", "-ERR invalid expire time in 'set' command"),
        ("SET a 2 EX -5", "-ERR invalid expire time in 'set' command"),
        (
            "SET a 2 EX 9223372036854775807",
            "-ERR invalid expire time in 'set' command",
        ),
        (
            "CONFIG SET maxmemory lots",
            "-ERR argument must be a memory value",
        ),
        ("CONFIG SET save x", "-ERR only 'maxmemory' can be set"),
        ("HELLO 3", "-NOPROTO unsupported protocol version"),
        ("SELECT 1", "-ERR DB index is out of range"),
        ("GET a", "$1 1"),
    ] {
        assert_eq!(session.say(line), reply, "{line}");
    }
}

#[test]
fn commands_may_come_in_any_parts() {
    let bytes = b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$7\r\na\r\nb\0c\xFF\r\nGET k\r\n*2\r\n$4\r\nPING\r\n$0\r\n\r\n";
    for step in 1..=bytes.len() {
        let mut session = Session::new();
        let replies: Vec<String> = bytes.chunks(step).map(|part| session.raw(part)).collect();
        let all = replies.join(" ");
        let all: Vec<&str> = all.split_whitespace().collect();
        assert_eq!(all.join(" "), r"+OK $7 a b\x00c\xff $0", "{step}");
    }
}

#[test]
fn huge_and_empty_values_come_back() {
    let mut session = Session::new();
    let huge = vec![b'v'; 5 << 20];
    let mut bytes = format!("*3\r\n$3\r\nSET\r\n$4\r\nhuge\r\n${}\r\n", huge.len()).into_bytes();
    bytes.extend_from_slice(&huge);
    bytes.extend_from_slice(b"\r\n");
    let replies: String = bytes
        .chunks(64 << 10)
        .map(|part| session.raw(part))
        .collect();
    assert_eq!(replies, "+OK");
    let reply = session.say("GET huge");
    assert_eq!(reply.len(), huge.len() + "$5242880 ".len());
    assert_eq!(
        session.raw(b"*3\r\n$3\r\nSET\r\n$0\r\n\r\n$0\r\n\r\n"),
        "+OK"
    );
    assert_eq!(session.raw(b"*2\r\n$3\r\nGET\r\n$0\r\n\r\n"), "$0");
}

#[test]
fn a_value_that_fits_under_no_limit_is_refused() {
    let mut session = Session::new();
    session.say("CONFIG SET maxmemory 100kb");
    let value = "v".repeat(60_000);
    assert_eq!(session.say(&format!("SET a {value}")), "+OK");
    assert_eq!(session.say(&format!("SET b {value}")), "+OK");
    assert_eq!(session.say("EXISTS a b"), ":1");
    let twice = format!("*3\r\n$3\r\nSET\r\n$1\r\nc\r\n$120000\r\n{value}{value}\r\n");
    assert!(session.raw(twice.as_bytes()).starts_with("-OOM "));
    assert_eq!(session.say("PING"), "+PONG");
}

#[test]
fn bytes_that_are_no_command_end_the_connection() {
    let mut session = Session::new();
    let replies = session.raw(b"PING\r\n*1\r\n+OK\r\nPING\r\n");
    assert_eq!(replies, "+PONG -ERR Protocol error: expected '$'");
    assert!(session.connection.is_closing());
    assert_eq!(session.raw(b"PING\r\n"), "");
    let mut session = Session::new();
    assert_eq!(session.raw(b"QUIT\r\nPING\r\n"), "+OK");
    assert!(session.connection.is_closing());
}

/// A client that sends without reading is not served beyond a megabyte of replies.
#[test]
fn a_client_that_does_not_read_waits() {
    let mut session = Session::new();
    let value = "v".repeat(40_000);
    session.say(&format!("SET a {value}"));
    let (connection, cache) = (&mut session.connection, &mut session.cache);
    connection.receive(cache, 0, "GET a\r\n".repeat(100).as_bytes());
    assert!(connection.is_stalled());
    let mut received = 0;
    while !connection.output().is_empty() {
        assert!(connection.output().len() < (1 << 20) + 50_000);
        received += connection.output().len();
        connection.sent(connection.output().len());
        connection.resume(cache, 0);
    }
    assert_eq!(received, 100 * ("$40000\r\n\r\n".len() + value.len()));
}

#[test]
fn keys_expire_by_the_clock_that_is_passed() {
    let mut session = Session::new();
    session.say("SET a 1 EX 2");
    session.now = 1_999;
    assert_eq!(session.say("MGET a"), "*1 $1 1");
    session.now = 2_000;
    assert_eq!(session.say("MGET a"), "*1 $-1");
    assert_eq!(session.say("TTL a"), ":-2");
}
