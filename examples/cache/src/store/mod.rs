//! A shard of the cache: keys with values of three kinds, and deadlines.
//!
//! Time is a number of milliseconds that the caller passes: nothing here reads a clock. A key whose
//! deadline has come is not there for any method. A key is used by whatever reads or writes it
//! while it is there, but not by the write that makes it. Under the limit those go first that were
//! not used for long, so also those that were written once and never asked for.

pub mod packed;
pub mod plain;

use crate::reply::Reply;

/// What kind of value a key has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Bytes.
    Text,
    /// Values by fields.
    Hash,
    /// Values in an order.
    List,
}

/// Why a command was not done. Nothing has changed but what was evicted to make room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The value is of another kind.
    Kind,
    /// There is no room, though all other keys were evicted, or it would take too many of them.
    Full,
    /// The key is longer than [`MOST_KEY`].
    LongKey,
}

/// The longest key, in bytes.
pub const MOST_KEY: usize = u16::MAX as usize;

/// When a key expires that gets a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expiry {
    /// Never.
    Never,
    /// When it did before.
    Kept,
    /// At this time.
    At(u64),
}

/// An end of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The left one.
    Front,
    /// The right one.
    Back,
}

/// What `INFO` says of a shard.
#[derive(Clone, Copy, Debug, Default)]
pub struct Figures {
    /// Keys, those included whose deadline has come and that nobody found yet.
    pub keys: usize,
    /// Bytes that are in use.
    pub used: usize,
    /// Bytes that are held, with those that wait to be given back.
    pub held: usize,
    /// The limit, in bytes.
    pub limit: usize,
    /// Keys that gave way to others.
    pub evicted: u64,
    /// Keys that were found to be expired.
    pub expired: u64,
}

impl Figures {
    /// The sum over two shards.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self {
            keys: self.keys + other.keys,
            used: self.used + other.used,
            held: self.held + other.held,
            limit: self.limit + other.limit,
            evicted: self.evicted + other.evicted,
            expired: self.expired + other.expired,
        }
    }
}

/// A shard.
pub trait Store: Send + Sized + 'static {
    /// The word for it in options and in `INFO`.
    const NAME: &'static str;

    /// Whether [`Store::look_ahead`] is worth its time.
    const LOOKS_AHEAD: bool;

    /// Reads what commands with these keys will read first. A processor waits for the memory of all
    /// of them at once then, not for one after another. Changes nothing.
    fn look_ahead<'a>(&self, keys: impl Iterator<Item = &'a [u8]>);

    /// The kind of a key's value.
    fn kind(&mut self, now: u64, key: &[u8]) -> Option<Kind>;

    /// The bytes of a text, the fields of a hash or the elements of a list; 0 without the key.
    ///
    /// # Errors
    /// [`Error::Kind`]
    fn len_of(&mut self, now: u64, key: &[u8], kind: Kind) -> Result<usize, Error>;

    /// Deletes a key; whether it was there.
    fn remove(&mut self, now: u64, key: &[u8]) -> bool;

    /// The deadline of a key: `None` without the key, `Some(None)` without a deadline.
    fn deadline(&mut self, now: u64, key: &[u8]) -> Option<Option<u64>>;

    /// Sets the deadline of a key, or takes it away; whether the key was there.
    ///
    /// # Errors
    /// [`Error::Full`]
    fn set_deadline(&mut self, now: u64, key: &[u8], at: Option<u64>) -> Result<bool, Error>;

    /// Replies with a text; whether the key was there, else it replies nothing.
    ///
    /// # Errors
    /// [`Error::Kind`]
    fn get(&mut self, now: u64, key: &[u8], reply: &mut Reply) -> Result<bool, Error>;

    /// A copy of a text.
    ///
    /// # Errors
    /// [`Error::Kind`]
    fn copy(&mut self, now: u64, key: &[u8]) -> Result<Option<Vec<u8>>, Error>;

    /// Gives a key a text, whatever it had.
    ///
    /// # Errors
    /// [`Error::Full`], [`Error::LongKey`]
    fn set(&mut self, now: u64, key: &[u8], value: &[u8], expiry: Expiry) -> Result<(), Error>;

    /// Appends to a text; returns its length.
    ///
    /// # Errors
    /// Each.
    fn append(&mut self, now: u64, key: &[u8], more: &[u8]) -> Result<usize, Error>;

    /// Sets a field of a hash; whether it is new.
    ///
    /// # Errors
    /// Each.
    fn set_field(
        &mut self,
        now: u64,
        key: &[u8],
        field: &[u8],
        value: &[u8],
    ) -> Result<bool, Error>;

    /// Replies with a field of a hash; whether it was there, else it replies nothing.
    ///
    /// # Errors
    /// [`Error::Kind`]
    fn field(
        &mut self,
        now: u64,
        key: &[u8],
        field: &[u8],
        reply: &mut Reply,
    ) -> Result<bool, Error>;

    /// Deletes a field of a hash; whether it was there. A hash without fields goes.
    ///
    /// # Errors
    /// [`Error::Kind`]
    fn remove_field(&mut self, now: u64, key: &[u8], field: &[u8]) -> Result<bool, Error>;

    /// Replies with a map of all fields.
    /// It ends where the reply is too long.
    ///
    /// # Errors
    /// [`Error::Kind`]
    fn fields(&mut self, now: u64, key: &[u8], reply: &mut Reply) -> Result<(), Error>;

    /// Adds a value at an end of a list; returns how many there are.
    ///
    /// # Errors
    /// Each.
    fn push(&mut self, now: u64, key: &[u8], end: End, value: &[u8]) -> Result<usize, Error>;

    /// Takes a value from an end of a list and replies with it; whether there was one, else it
    /// replies nothing. A list without values goes.
    ///
    /// # Errors
    /// [`Error::Kind`]
    fn pop(&mut self, now: u64, key: &[u8], end: End, reply: &mut Reply) -> Result<bool, Error>;

    /// Replies with an array of a list's values from one index to another, both included.
    /// Negative ones count from the back. It ends where the reply is too long.
    ///
    /// # Errors
    /// [`Error::Kind`]
    fn range(
        &mut self,
        now: u64,
        key: &[u8],
        from: i64,
        to: i64,
        reply: &mut Reply,
    ) -> Result<(), Error>;

    /// Calls `each` with some keys from a place on, about `count`, or fewer if they have about 256
    /// KiB; returns the next place, or `None` at the end. A key that is there from the first place
    /// to the end is passed at least once.
    fn scan(
        &mut self,
        now: u64,
        place: u32,
        count: usize,
        each: &mut dyn FnMut(&[u8]),
    ) -> Option<u32>;

    /// Deletes everything.
    fn clear(&mut self);

    /// Housekeeping, ten times in a second: deletes expired keys and gives memory back, but only so
    /// many at once. `true` if more waits: then the next call should be soon, but others should get
    /// the shard before.
    fn tick(&mut self, now: u64) -> bool;

    /// Gives back all memory that can be given back. Linear in the shard.
    fn purge(&mut self);

    /// What `INFO` says.
    fn figures(&self) -> Figures;

    /// Sets the limit, in bytes; `false` if it is too low or too high.
    fn set_limit(&mut self, bytes: usize) -> bool;

    /// Verifies every invariant. Linear in the shard.
    ///
    /// # Panics
    /// If one does not hold.
    fn assert_sound(&self) {}
}

/// The indices of a list of `len` values that `LRANGE` means.
fn indices(len: usize, from: i64, to: i64) -> std::ops::Range<usize> {
    let len = i64::try_from(len).unwrap_or(i64::MAX);
    let place = |index: i64| {
        if index < 0 {
            index.saturating_add(len)
        } else {
            index
        }
    };
    let (from, to) = (place(from).clamp(0, len), place(to).clamp(-1, len - 1) + 1);
    let index = |place: i64| usize::try_from(place).unwrap_or(0);
    index(from)..index(to.max(from))
}
