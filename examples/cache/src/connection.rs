//! One client: the bytes that wait for the end of their command, and the replies that wait to be
//! sent. No socket: [`crate::server`] moves the bytes.

use crate::cache::Cache;
use crate::command::{self, Then};
use crate::reply;
use crate::request::{Progress, Request};
use crate::store::Store;

/// Buffers that are larger than this are given back when they are empty.
const KEPT_BYTES: usize = 64 << 10;

/// Replies that may wait before no more commands of the client are executed.
const MOST_WAITING: usize = 1 << 20;

/// The state of one client.
#[derive(Debug, Default)]
pub struct Connection {
    request: Request,
    /// The bytes of an incomplete command, and of what is behind it.
    input: Vec<u8>,
    output: Vec<u8>,
    /// The bytes of `output` that were sent.
    sent: usize,
    is_closing: bool,
}

impl Connection {
    /// Takes bytes from the client and executes the commands that they complete.
    pub fn receive<S: Store>(&mut self, cache: &mut Cache<S>, now: u64, bytes: &[u8]) {
        if self.input.is_empty() {
            let used = self.run(cache, now, bytes);
            self.input.extend_from_slice(&bytes[used..]);
        } else {
            self.input.extend_from_slice(bytes);
            self.resume(cache, now);
        }
    }

    /// Executes commands that waited until replies were sent.
    pub fn resume<S: Store>(&mut self, cache: &mut Cache<S>, now: u64) {
        let mut input = std::mem::take(&mut self.input);
        let used = self.run(cache, now, &input);
        input.drain(..used);
        if input.is_empty() && input.capacity() > KEPT_BYTES {
            input = Vec::new();
        }
        self.input = input;
    }

    /// The replies that were not sent yet.
    #[must_use]
    pub fn output(&self) -> &[u8] {
        &self.output[self.sent..]
    }

    /// Notes that `len` bytes of replies were sent.
    pub fn sent(&mut self, len: usize) {
        self.sent += len;
        if self.sent == self.output.len() {
            self.output.clear();
            self.sent = 0;
            if self.output.capacity() > KEPT_BYTES {
                self.output = Vec::new();
            }
        }
    }

    /// Whether so many replies wait that the client must read first.
    #[must_use]
    pub fn is_stalled(&self) -> bool {
        self.output().len() >= MOST_WAITING
    }

    /// Whether the connection ends once its replies are sent.
    #[must_use]
    pub fn is_closing(&self) -> bool {
        self.is_closing
    }

    /// Executes commands; returns how many bytes they had.
    fn run<S: Store>(&mut self, cache: &mut Cache<S>, now: u64, bytes: &[u8]) -> usize {
        let mut start = 0;
        while !self.is_closing && !self.is_stalled() {
            match self.request.read(&bytes[start..]) {
                Ok(Progress::Incomplete) => return start,
                Ok(Progress::Complete(len)) => {
                    self.execute(cache, now, &bytes[start..start + len]);
                    start += len;
                }
                Err(error) => {
                    reply::error(&mut self.output, &format!("ERR {}", error.0));
                    self.is_closing = true;
                }
            }
        }
        if self.is_closing { bytes.len() } else { start }
    }

    fn execute<S: Store>(&mut self, cache: &mut Cache<S>, now: u64, bytes: &[u8]) {
        const FEW: usize = 8;
        let places = self.request.arguments();
        let mut few = [&b""[..]; FEW];
        let many: Vec<&[u8]>;
        let words = if places.len() <= FEW {
            for (word, place) in few.iter_mut().zip(places) {
                *word = &bytes[place.clone()];
            }
            &few[..places.len()]
        } else {
            many = places.iter().map(|place| &bytes[place.clone()]).collect();
            &many
        };
        let then = command::execute(cache, now, words, &mut self.output);
        self.is_closing = then == Then::Close;
        self.request.reset();
    }
}
