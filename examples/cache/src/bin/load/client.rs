//! One connection: sends commands in batches, and checks every reply.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Instant;

use anyhow::{bail, ensure};
use hdrhistogram::Histogram;

/// The longest value, in bytes.
const NOISE: usize = 1 << 20;

/// A key, which is a number, and its value: some bytes of the noise.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item {
    pub(crate) number: u64,
    pub(crate) len: usize,
}

impl Item {
    const KEY_BYTES: usize = 16;

    fn key(self) -> String {
        format!("key:{:012}", self.number)
    }

    /// The bytes of key and value.
    pub(crate) fn payload(self) -> usize {
        Self::KEY_BYTES + self.len
    }
}

/// What a command of a batch is answered with.
#[derive(Clone, Copy, Debug)]
enum Expected {
    Ok,
    One,
    Value(Item),
}

/// The client.
#[derive(Debug)]
pub(crate) struct Client {
    stream: TcpStream,
    replies: BufReader<TcpStream>,
    batch: Vec<u8>,
    expected: Vec<Expected>,
    noise: Vec<u8>,
    read: Vec<u8>,
    /// How many commands are sent at once.
    pub(crate) depth: usize,
    /// Nanoseconds from the sending of a batch to each of its replies.
    pub(crate) latency: Histogram<u64>,
    /// Commands that were answered.
    pub(crate) commands: u64,
}

impl Client {
    pub(crate) fn new(address: SocketAddr, noise_seed: u64) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        let replies = BufReader::with_capacity(64 << 10, stream.try_clone()?);
        Ok(Self {
            stream,
            replies,
            batch: Vec::new(),
            expected: Vec::new(),
            noise: noise(noise_seed),
            read: Vec::new(),
            depth: 1,
            latency: Histogram::new(3)?,
            commands: 0,
        })
    }

    pub(crate) fn set(&mut self, item: Item) -> anyhow::Result<()> {
        let (key, len) = (item.key(), item.len);
        write!(self.batch, "*3\r\n$3\r\nSET\r\n$16\r\n{key}\r\n${len}\r\n")?;
        let value = value(&self.noise, item);
        self.batch.extend_from_slice(value);
        self.batch.extend_from_slice(b"\r\n");
        self.add(Expected::Ok)
    }

    pub(crate) fn get(&mut self, item: Item) -> anyhow::Result<()> {
        write!(self.batch, "*2\r\n$3\r\nGET\r\n$16\r\n{}\r\n", item.key())?;
        self.add(Expected::Value(item))
    }

    pub(crate) fn delete(&mut self, item: Item) -> anyhow::Result<()> {
        write!(self.batch, "*2\r\n$3\r\nDEL\r\n$16\r\n{}\r\n", item.key())?;
        self.add(Expected::One)
    }

    /// Asks the server to give memory back.
    pub(crate) fn purge(&mut self) -> anyhow::Result<()> {
        self.flush()?;
        self.batch.extend_from_slice(b"MEMORY PURGE\r\n");
        self.expected.push(Expected::Ok);
        self.flush()
    }

    fn add(&mut self, expected: Expected) -> anyhow::Result<()> {
        self.expected.push(expected);
        if self.expected.len() >= self.depth {
            self.flush()?;
        }
        Ok(())
    }

    /// Sends what waits, and checks the replies.
    pub(crate) fn flush(&mut self) -> anyhow::Result<()> {
        let start = Instant::now();
        self.stream.write_all(&self.batch)?;
        self.batch.clear();
        let expected = std::mem::take(&mut self.expected);
        for expected in &expected {
            self.check(*expected)?;
            let ns = u64::try_from(start.elapsed().as_nanos())?;
            self.latency.record(ns)?;
            self.commands += 1;
        }
        self.expected = expected;
        self.expected.clear();
        Ok(())
    }

    fn check(&mut self, expected: Expected) -> anyhow::Result<()> {
        self.read.clear();
        self.replies.read_until(b'\n', &mut self.read)?;
        let line = self.read.trim_ascii_end();
        match expected {
            Expected::Ok => ensure!(line == b"+OK", "not OK: {}", line.escape_ascii()),
            Expected::One => ensure!(line == b":1", "not one key: {}", line.escape_ascii()),
            Expected::Value(item) => {
                let head = format!("${}", item.len);
                if line != head.as_bytes() {
                    bail!("not {head}: {}", line.escape_ascii());
                }
                self.read.resize(item.len + 2, 0);
                self.replies.read_exact(&mut self.read)?;
                let value = value(&self.noise, item);
                ensure!(&self.read[..item.len] == value, "another value");
            }
        }
        Ok(())
    }
}

/// The bytes that an item's value has.
fn value(noise: &[u8], item: Item) -> &[u8] {
    let start = usize::try_from(item.number * 7919 % (NOISE as u64)).unwrap_or(0);
    &noise[start..start + item.len]
}

/// Bytes that cannot be compressed.
fn noise(seed: u64) -> Vec<u8> {
    use rand::{RngCore, SeedableRng};
    let mut bytes = vec![0; 2 * NOISE];
    rand_chacha::ChaCha8Rng::seed_from_u64(seed).fill_bytes(&mut bytes);
    bytes
}
