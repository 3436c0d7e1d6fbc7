//! The same shard on the standard library's containers, and so on the program's allocator: what the
//! other is compared with, in measurements and in tests.
//!
//! It has no limit: the standard library does not say what its containers hold.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};

use super::{End, Error, Expiry, Figures, Kind, MOST_KEY, Store, indices};
use crate::reply::Reply;

/// A value.
#[derive(Debug)]
enum Value {
    Text(Vec<u8>),
    Hash(HashMap<Vec<u8>, Vec<u8>>),
    List(VecDeque<Vec<u8>>),
}

impl Value {
    fn kind(&self) -> Kind {
        match self {
            Self::Text(_) => Kind::Text,
            Self::Hash(_) => Kind::Hash,
            Self::List(_) => Kind::List,
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Hash(fields) => fields.len(),
            Self::List(values) => values.len(),
        }
    }
}

/// A value, and when it expires.
#[derive(Debug)]
struct Record {
    value: Value,
    deadline: Option<u64>,
}

impl Record {
    fn is_expired(&self, now: u64) -> bool {
        self.deadline.is_some_and(|deadline| deadline <= now)
    }
}

/// A shard on the standard library's containers.
#[derive(Debug, Default)]
pub struct Plain {
    records: HashMap<Box<[u8]>, Record>,
    /// Records with a deadline, at least.
    mortal: usize,
    expired: u64,
    /// When all records were last searched for expired ones.
    searched: u64,
}

impl Plain {
    fn live(&mut self, now: u64, key: &[u8]) -> Option<&mut Record> {
        // With a reference that is returned the compiler would not let the record be removed.
        if self.mortal > 0 && self.records.get(key)?.is_expired(now) {
            self.records.remove(key);
            self.expired += 1;
            return None;
        }
        self.records.get_mut(key)
    }

    /// A value of a kind; if the key is not there, it gets an empty one.
    fn made(&mut self, now: u64, key: &[u8], empty: Value) -> Result<&mut Value, Error> {
        if key.len() > MOST_KEY {
            return Err(Error::LongKey);
        }
        self.of_kind(now, key, empty.kind())?;
        Ok(match self.records.entry(key.into()) {
            Entry::Occupied(record) => &mut record.into_mut().value,
            Entry::Vacant(place) => {
                let deadline = None;
                &mut place
                    .insert(Record {
                        value: empty,
                        deadline,
                    })
                    .value
            }
        })
    }

    fn of_kind(&mut self, now: u64, key: &[u8], kind: Kind) -> Result<Option<&mut Value>, Error> {
        match self.live(now, key) {
            None => Ok(None),
            Some(record) if record.value.kind() == kind => Ok(Some(&mut record.value)),
            Some(_) => Err(Error::Kind),
        }
    }

    fn remove_if_empty(&mut self, key: &[u8]) {
        if self
            .records
            .get(key)
            .is_some_and(|record| record.value.len() == 0)
        {
            self.records.remove(key);
        }
    }
}

impl Store for Plain {
    const NAME: &'static str = "std";

    /// Looking keys up one after another took no less time, with its second hash.
    const LOOKS_AHEAD: bool = false;

    fn look_ahead<'a>(&self, _: impl Iterator<Item = &'a [u8]>) {}

    fn kind(&mut self, now: u64, key: &[u8]) -> Option<Kind> {
        Some(self.live(now, key)?.value.kind())
    }

    fn len_of(&mut self, now: u64, key: &[u8], kind: Kind) -> Result<usize, Error> {
        Ok(self.of_kind(now, key, kind)?.map_or(0, |value| value.len()))
    }

    fn remove(&mut self, now: u64, key: &[u8]) -> bool {
        let removed = self.records.remove(key);
        removed.is_some_and(|record| !record.is_expired(now))
    }

    fn deadline(&mut self, now: u64, key: &[u8]) -> Option<Option<u64>> {
        Some(self.live(now, key)?.deadline)
    }

    fn set_deadline(&mut self, now: u64, key: &[u8], at: Option<u64>) -> Result<bool, Error> {
        self.mortal += usize::from(at.is_some());
        let record = self.live(now, key);
        Ok(record.map(|record| record.deadline = at).is_some())
    }

    fn get(&mut self, now: u64, key: &[u8], reply: &mut Reply) -> Result<bool, Error> {
        let value = self.of_kind(now, key, Kind::Text)?;
        let Some(Value::Text(text)) = value else {
            return Ok(false);
        };
        reply.bulk(text);
        Ok(true)
    }

    fn copy(&mut self, now: u64, key: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        let value = self.of_kind(now, key, Kind::Text)?;
        let Some(Value::Text(text)) = value else {
            return Ok(None);
        };
        Ok(Some(text.clone()))
    }

    fn set(&mut self, now: u64, key: &[u8], value: &[u8], expiry: Expiry) -> Result<(), Error> {
        if key.len() > MOST_KEY {
            return Err(Error::LongKey);
        }
        let deadline = match expiry {
            Expiry::Never => None,
            Expiry::Kept => self.deadline(now, key).flatten(),
            Expiry::At(deadline) => Some(deadline),
        };
        self.mortal += usize::from(deadline.is_some());
        let value = Value::Text(value.into());
        self.records.insert(key.into(), Record { value, deadline });
        Ok(())
    }

    fn append(&mut self, now: u64, key: &[u8], more: &[u8]) -> Result<usize, Error> {
        match self.made(now, key, Value::Text(Vec::new()))? {
            Value::Text(text) => {
                text.extend_from_slice(more);
                Ok(text.len())
            }
            _ => Err(Error::Kind),
        }
    }

    fn set_field(
        &mut self,
        now: u64,
        key: &[u8],
        field: &[u8],
        value: &[u8],
    ) -> Result<bool, Error> {
        match self.made(now, key, Value::Hash(HashMap::new()))? {
            Value::Hash(fields) => Ok(fields.insert(field.into(), value.into()).is_none()),
            _ => Err(Error::Kind),
        }
    }

    fn field(
        &mut self,
        now: u64,
        key: &[u8],
        field: &[u8],
        reply: &mut Reply,
    ) -> Result<bool, Error> {
        let Some(Value::Hash(fields)) = self.of_kind(now, key, Kind::Hash)? else {
            return Ok(false);
        };
        Ok(fields.get(field).map(|value| reply.bulk(value)).is_some())
    }

    fn remove_field(&mut self, now: u64, key: &[u8], field: &[u8]) -> Result<bool, Error> {
        let Some(Value::Hash(fields)) = self.of_kind(now, key, Kind::Hash)? else {
            return Ok(false);
        };
        let removed = fields.remove(field);
        self.remove_if_empty(key);
        Ok(removed.is_some())
    }

    fn fields(&mut self, now: u64, key: &[u8], reply: &mut Reply) -> Result<(), Error> {
        let Some(Value::Hash(fields)) = self.of_kind(now, key, Kind::Hash)? else {
            reply.map(0);
            return Ok(());
        };
        reply.map(fields.len());
        for (field, value) in fields {
            reply.bulk(field);
            reply.bulk(value);
            if reply.is_too_long() {
                break;
            }
        }
        Ok(())
    }

    fn push(&mut self, now: u64, key: &[u8], end: End, value: &[u8]) -> Result<usize, Error> {
        let Value::List(values) = self.made(now, key, Value::List(VecDeque::new()))? else {
            return Err(Error::Kind);
        };
        match end {
            End::Front => values.push_front(value.into()),
            End::Back => values.push_back(value.into()),
        }
        Ok(values.len())
    }

    fn pop(&mut self, now: u64, key: &[u8], end: End, reply: &mut Reply) -> Result<bool, Error> {
        let Some(Value::List(values)) = self.of_kind(now, key, Kind::List)? else {
            return Ok(false);
        };
        let popped = match end {
            End::Front => values.pop_front(),
            End::Back => values.pop_back(),
        };
        self.remove_if_empty(key);
        Ok(popped.map(|value| reply.bulk(&value)).is_some())
    }

    fn range(
        &mut self,
        now: u64,
        key: &[u8],
        from: i64,
        to: i64,
        reply: &mut Reply,
    ) -> Result<(), Error> {
        let Some(Value::List(values)) = self.of_kind(now, key, Kind::List)? else {
            reply.array(0);
            return Ok(());
        };
        let indices = indices(values.len(), from, to);
        reply.array(indices.len());
        for value in values.range(indices) {
            reply.bulk(value);
            if reply.is_too_long() {
                break;
            }
        }
        Ok(())
    }

    fn scan(&mut self, now: u64, _: u32, _: usize, each: &mut dyn FnMut(&[u8])) -> Option<u32> {
        let live = self
            .records
            .iter()
            .filter(|(_, record)| !record.is_expired(now));
        live.for_each(|(key, _)| each(key));
        None
    }

    fn clear(&mut self) {
        self.records = HashMap::new();
    }

    /// Its table has no order in which a search could go on: all of it is searched, each second, or
    /// more rarely if there are so many records that 64 of them are searched per millisecond.
    fn tick(&mut self, now: u64) -> bool {
        let next = self.searched + (self.records.len() as u64 / 64).max(1000);
        if self.mortal > 0 && now >= next {
            self.searched = now;
            let before = self.records.len();
            self.records.retain(|_, record| !record.is_expired(now));
            self.expired += (before - self.records.len()) as u64;
            let records = self.records.values();
            self.mortal = records.filter(|record| record.deadline.is_some()).count();
        }
        false
    }

    fn purge(&mut self) {
        self.records.shrink_to_fit();
    }

    fn figures(&self) -> Figures {
        Figures {
            keys: self.records.len(),
            expired: self.expired,
            ..Figures::default()
        }
    }

    fn set_limit(&mut self, _: usize) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::{Expiry, Plain, Store};

    #[test]
    fn keys_that_nobody_reads_again_expire() {
        let mut shard = Plain::default();
        for number in 0..1000 {
            let (key, expiry) = (format!("{number}"), Expiry::At(1500 + number % 2));
            shard.set(0, key.as_bytes(), b"", expiry).expect("set");
        }
        shard.tick(1000);
        assert_eq!(shard.figures().keys, 1000);
        for now in [1500, 2000, 3000, 4000] {
            shard.tick(now);
        }
        assert_eq!((shard.figures().keys, shard.figures().expired), (0, 1000));
    }
}
