//! The server as a process: clients of all kinds over loopback, among them those of Redis.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

const REDIS_CLI: &str = "redis-cli";
const REDIS_BENCHMARK: &str = "redis-benchmark";

/// A server that ends with the test.
struct Server {
    child: Child,
    port: String,
}

impl Server {
    fn start(store: &str) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_surefit-cache"))
            .args(["--port", "0", "--store", store])
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let mut line = String::new();
        let output = child.stdout.take().expect("a pipe");
        BufReader::new(output).read_line(&mut line).expect("a line");
        let port = line
            .trim_end()
            .rsplit(':')
            .next()
            .expect("a port")
            .to_string();
        Self { child, port }
    }

    fn connect(&self) -> TcpStream {
        TcpStream::connect(format!("127.0.0.1:{}", self.port)).expect("a connection")
    }

    /// Output of a program of Redis, or nothing if it is not installed.
    fn ask(&self, program: &str, arguments: &[&str]) -> Option<String> {
        if !is_installed(program) {
            println!("NOT RUN: {program} against the cache ({program} is not installed)");
            return None;
        }
        let output = Command::new(program)
            .args(["-h", "127.0.0.1", "-p", &self.port])
            .args(arguments)
            .output()
            .expect("it runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && error.is_empty(), "{text}{error}");
        Some(text)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| Path::new(&folder).join(program).exists())
}

/// Sends bytes and reads as many as the reply has.
fn say(stream: &mut TcpStream, bytes: &[u8], reply: &[u8]) {
    stream.write_all(bytes).expect("sent");
    let mut read = vec![0; reply.len()];
    stream.read_exact(&mut read).expect("a reply");
    assert_eq!(
        read.escape_ascii().to_string(),
        reply.escape_ascii().to_string()
    );
}

#[test]
fn clients_share_a_cache_and_may_go_at_any_time() {
    for store in ["surefit", "tlsf", "malloc"] {
        let server = Server::start(store);
        let mut one = server.connect();
        say(&mut one, b"SET a 1\r\nGET a\r\n", b"+OK\r\n$1\r\n1\r\n");
        let mut two = server.connect();
        say(&mut two, b"*2\r\n$3\r\nGET\r\n$1\r\na\r\n", b"$1\r\n1\r\n");
        // In the middle of a command, and with replies that nobody reads.
        one.write_all(b"*3\r\n$3\r\nSET\r\n$1\r\nb\r\n$100\r\nabc")
            .expect("sent");
        drop(one);
        let mut three = server.connect();
        three.write_all(&b"GET a\r\n".repeat(1000)).expect("sent");
        drop(three);
        say(&mut two, b"EXISTS a b\r\n", b":1\r\n");
        say(&mut two, b"QUIT\r\n", b"+OK\r\n");
        assert_eq!(two.read(&mut [0; 1]).expect("closed"), 0);
        say(&mut server.connect(), b"DBSIZE\r\n", b":1\r\n");
    }
}

/// A value of many reads and writes, to a client that reads only after it has sent everything.
#[test]
fn a_large_value_goes_both_ways() {
    let server = Server::start("surefit");
    let value: Vec<u8> = (0..3 << 20).map(|at: u32| (at % 251) as u8).collect();
    let mut bytes = format!("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n${}\r\n", value.len()).into_bytes();
    bytes.extend_from_slice(&value);
    bytes.extend_from_slice(b"\r\nGET k\r\nGET k\r\nPING\r\n");
    let head = format!("${}\r\n", value.len()).into_bytes();
    let once = [&head[..], &value, b"\r\n"].concat();
    let reply = [b"+OK\r\n", &once[..], &once, b"+PONG\r\n"].concat();
    let mut stream = server.connect();
    stream.write_all(&bytes).expect("sent");
    let mut read = vec![0; reply.len()];
    stream.read_exact(&mut read).expect("a reply");
    assert!(read == reply, "the reply is what was stored");
}

#[test]
fn redis_cli_works() {
    let server = Server::start("surefit");
    for (arguments, expected) in [
        (&["PING"][..], "PONG\n"),
        (&["SET", "key", "two words", "EX", "100"], "OK\n"),
        (&["GET", "key"], "two words\n"),
        (&["MGET", "key", "none"], "two words\n\n"),
        (&["EXISTS", "key"], "1\n"),
        (&["TTL", "key"], "100\n"),
        (&["CONFIG", "SET", "maxmemory", "1mb"], "OK\n"),
        (&["CONFIG", "GET", "maxmemory"], "maxmemory\n1048576\n"),
        (&["DEL", "key"], "1\n"),
        (&["GET", "key"], "\n"),
    ] {
        let Some(said) = server.ask(REDIS_CLI, arguments) else {
            return;
        };
        assert_eq!(said, expected, "{arguments:?}");
    }
    let info = server
        .ask(REDIS_CLI, &["INFO", "memory"])
        .expect("asked before");
    assert!(info.contains("maxmemory:1048576"), "{info}");
}

#[test]
fn redis_benchmark_works() {
    let server = Server::start("surefit");
    let arguments = [
        "-t",
        "ping,set,get",
        "-n",
        "2000",
        "-c",
        "8",
        "-P",
        "4",
        "-d",
        "300",
        "-r",
        "500",
    ];
    let Some(said) = server.ask(REDIS_BENCHMARK, &[&arguments[..], &["--csv"]].concat()) else {
        return;
    };
    for test in ["PING_INLINE", "PING_MBULK", "SET", "GET"] {
        assert!(said.contains(&format!("\"{test}\",")), "{said}");
    }
    let mut stream = server.connect();
    stream.write_all(b"DBSIZE\r\n").expect("sent");
    let mut line = String::new();
    BufReader::new(stream)
        .read_line(&mut line)
        .expect("a reply");
    let keys: u32 = line
        .trim_matches([':', '\r', '\n'])
        .parse()
        .expect("a number");
    assert!((400..=500).contains(&keys), "{keys} keys of 500");
}
