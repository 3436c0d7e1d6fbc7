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
    fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_surefit-cache"))
            .args(["--port", "0"])
            .args(arguments)
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
    for store in ["packed", "std"] {
        let server = Server::start(&["--store", store]);
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

#[test]
fn more_clients_than_are_served_are_told_so() {
    let server = Server::start(&["--maxclients", "2"]);
    let (mut one, mut two) = (server.connect(), server.connect());
    say(&mut one, b"PING\r\n", b"+PONG\r\n");
    say(&mut two, b"PING\r\n", b"+PONG\r\n");
    let mut said = String::new();
    let mut three = server.connect();
    three.read_to_string(&mut said).expect("told and closed");
    assert_eq!(said, "-ERR max number of clients reached\r\n");
    say(&mut two, b"QUIT\r\n", b"+OK\r\n");
    assert_eq!(two.read(&mut [0; 1]).expect("closed"), 0);
    // Its thread ends soon: then there is a place again.
    loop {
        let mut four = server.connect();
        four.write_all(b"PING\r\n").expect("sent");
        let mut reply = [0; 7];
        if four.read_exact(&mut reply).is_ok() && &reply == b"+PONG\r\n" {
            break;
        }
    }
}

#[test]
fn many_clients_at_once_find_what_they_wrote() {
    let server = Server::start(&["--shards", "4"]);
    std::thread::scope(|scope| {
        for client in 0..8 {
            let server = &server;
            scope.spawn(move || {
                let mut stream = server.connect();
                for number in 0..500 {
                    let set = format!("SET {client}:{number} {number}\r\nINCR all\r\n");
                    stream.write_all(set.as_bytes()).expect("sent");
                    let mut reader = BufReader::new(&stream);
                    for _ in 0..2 {
                        reader.read_line(&mut String::new()).expect("a reply");
                    }
                }
                for number in 0..500 {
                    let get = format!("GET {client}:{number}\r\n");
                    let text = number.to_string();
                    let reply = format!("${}\r\n{text}\r\n", text.len());
                    say(&mut stream, get.as_bytes(), reply.as_bytes());
                }
            });
        }
    });
    say(&mut server.connect(), b"GET all\r\n", b"$4\r\n4000\r\n");
    say(&mut server.connect(), b"DBSIZE\r\n", b":4001\r\n");
}

/// A value of many reads and writes, to a client that reads only after it has sent everything.
#[test]
fn a_large_value_goes_both_ways() {
    let server = Server::start(&[]);
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
    let server = Server::start(&[]);
    for (arguments, expected) in [
        (&["PING"][..], "PONG\n"),
        (&["SET", "mortal", "word", "EX", "100"], "OK\n"),
        (&["SET", "key", "two words"], "OK\n"),
        (&["GET", "key"], "two words\n"),
        (&["MGET", "key", "none"], "two words\n\n"),
        (&["EXISTS", "key"], "1\n"),
        (&["TTL", "key"], "-1\n"),
        (&["CONFIG", "SET", "maxmemory", "16mb"], "OK\n"),
        (&["CONFIG", "GET", "maxmemory"], "maxmemory\n16777216\n"),
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
    assert!(info.contains("maxmemory:16777216"), "{info}");
}

#[test]
fn redis_benchmark_works() {
    let server = Server::start(&[]);
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
