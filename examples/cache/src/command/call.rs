//! A command that is executed, and what it is answered if it fails.

use crate::reply::Reply;
use crate::resp;
use crate::shards::Shards;
use crate::store::{Error, Store};

/// One client, as far as commands know it.
#[derive(Debug, Default)]
pub struct Client {
    /// What is answered.
    pub reply: Reply,
    /// Whether the connection ends when the replies are sent.
    pub is_closing: bool,
    /// Whether the client has said the password.
    pub(super) is_known: bool,
}

/// What commands need of the whole cache.
#[derive(Debug)]
pub struct Cache<S> {
    /// The shards.
    pub shards: Shards<S>,
    /// What clients must say first, if there is one.
    pub password: Option<String>,
}

/// A command that is executed.
pub(super) struct Call<'a, S> {
    pub(super) cache: &'a Cache<S>,
    pub(super) client: &'a mut Client,
    pub(super) now: u64,
    pub(super) words: &'a [&'a [u8]],
}

/// Whether a command was done; if not, what is answered.
pub(super) type Done = Result<(), Failure>;

/// What is answered instead of a result.
pub(super) enum Failure {
    Store(Error),
    Text(&'static str),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

pub(super) const NOT_A_NUMBER: Failure =
    Failure::Text("ERR value is not an integer or out of range");
pub(super) const SYNTAX: Failure = Failure::Text("ERR syntax error");
pub(super) const OVERFLOW: Failure = Failure::Text("ERR increment or decrement would overflow");

/// When a time has passed: as Redis counts, at most `i64::MAX` milliseconds.
pub(super) fn deadline(now: u64, after: u64) -> Option<u64> {
    let at = now.checked_add(after)?;
    i64::try_from(at).is_ok().then_some(at)
}

impl Failure {
    pub(super) const fn text(&self) -> &'static str {
        match self {
            Self::Text(text) => text,
            Self::Store(Error::Kind) => {
                "WRONGTYPE Operation against a key holding the wrong kind of value"
            }
            Self::Store(Error::Full) => "OOM command not allowed when used memory > 'maxmemory'.",
            Self::Store(Error::LongKey) => "ERR the key is longer than 65535 bytes",
        }
    }
}

impl<S: Store> Call<'_, S> {
    pub(super) fn key(&self) -> &[u8] {
        self.words[1]
    }

    pub(super) fn reply(&mut self) -> &mut Reply {
        &mut self.client.reply
    }

    pub(super) fn number(&self, index: usize) -> Result<i64, Failure> {
        resp::number(self.words[index]).ok_or(NOT_A_NUMBER)
    }

    pub(super) fn ok(&mut self) -> Done {
        self.reply().simple("OK");
        Ok(())
    }

    pub(super) fn count(&mut self, count: usize) -> Done {
        self.reply().count(count);
        Ok(())
    }

    /// Whether the client is to be cut off, because it asked for more than a reply may hold.
    pub(super) fn is_cut_off(&mut self) -> bool {
        self.client.is_closing |= self.client.reply.is_too_long();
        self.client.is_closing
    }
}
