//! What a shard does.

use std::hint::black_box;

use surefit_collections::{ByteString, Release};
use surefit_core::Refused;

use super::bucket::{MOST_INSIDE, Value};
use super::outside::{Body, Fields, Heap, Outside, Values};
use super::table::Table;
use super::{Found, LEAST_LIMIT, Packed, soft};
use crate::reply::Reply;
use crate::store::{End, Error, Expiry, Figures, Kind, MOST_KEY, Store, indices};

/// What a record costs beside its bytes, at most, for the question whether there is room.
const EXTRA: usize = 256;

/// Bytes of keys with which a scan ends.
const MOST_SCANNED: usize = 256 << 10;

impl Packed {
    /// The record of a key, if its value is of a kind.
    fn of_kind(&mut self, now: u64, key: &[u8], kind: Kind) -> Result<Option<Found>, Error> {
        let hash = self.seed.of(key);
        let Some(found) = self.live(now, hash, key) else {
            return Ok(None);
        };
        let bucket = self.table.bucket(&self.heap, found.bucket);
        match bucket.kind(&self.heap, &found.at) == kind {
            true => Ok(Some(found)),
            false => Err(Error::Kind),
        }
    }

    fn body(&self, found: &Found) -> Option<&Body> {
        let bucket = self.table.bucket(&self.heap, found.bucket);
        bucket.body(&self.heap, &found.at)
    }

    fn change<R>(
        &mut self,
        found: &Found,
        change: impl FnOnce(&mut Body, &mut Heap) -> R,
    ) -> Option<R> {
        self.table
            .with(&mut self.heap, found.bucket, |bucket, heap| {
                bucket.change(heap, &found.at, change)
            })
    }

    fn put_text(
        &mut self,
        now: u64,
        hash: u32,
        key: &[u8],
        value: &[u8],
        expiry: Expiry,
    ) -> Result<(), Refused> {
        let found = self.live(now, hash, key);
        let place = match &found {
            Some(found) => found.at.head.place(),
            None => self.place_of_new(now, hash, key),
        };
        let number = self.table.home(place.hash);
        let at = found.as_ref().map(|found| &found.at);
        let former = self.table.with(&mut self.heap, number, |bucket, heap| {
            let deadline = match expiry {
                Expiry::Never => None,
                Expiry::Kept => at.and_then(|at| bucket.deadline(heap, at)),
                Expiry::At(deadline) => Some(deadline),
            };
            let value = match bucket.is_inside(at, key.len() + value.len()) {
                true => Value::Inside(value),
                false => Value::Outside(Outside::text(heap, key, value)?),
            };
            bucket.put(heap, at, place, key, value, deadline)
        })?;
        self.free(former);
        self.moved += usize::from(found.is_none() && place.number > 0);
        Ok(())
    }

    fn append_text(
        &mut self,
        now: u64,
        hash: u32,
        key: &[u8],
        more: &[u8],
    ) -> Result<usize, Refused> {
        let Some(found) = self.live(now, hash, key) else {
            self.put_text(now, hash, key, more, Expiry::Never)?;
            return Ok(more.len());
        };
        let at = &found.at;
        let (len, is_done) = self
            .table
            .with(&mut self.heap, found.bucket, |bucket, heap| {
                let len = bucket.text_len(heap, at) + more.len();
                if bucket.outside(heap, at).is_some() {
                    bucket.append_outside(heap, at, more)?;
                } else if bucket.is_inside(Some(at), key.len() + len) {
                    bucket.append(heap, at, more)?;
                } else {
                    return Ok((len, false));
                }
                Ok((len, true))
            })?;
        if !is_done {
            let bucket = self.table.bucket(&self.heap, found.bucket);
            let mut text = bucket.copy(&self.heap, at);
            text.extend_from_slice(more);
            self.put_text(now, hash, key, &text, Expiry::Kept)?;
        }
        Ok(len)
    }

    /// Adds to a hash or a list, which is made if the key is not there.
    fn add<R>(
        &mut self,
        now: u64,
        key: &[u8],
        bytes: usize,
        empty: fn(&Self) -> Body,
        mut add: impl FnMut(&mut Body, &mut Heap) -> Result<R, Refused>,
    ) -> Result<R, Error> {
        if key.len() > MOST_KEY {
            return Err(Error::LongKey);
        }
        self.of_kind(now, key, empty(self).kind())?;
        let hash = self.seed.of(key);
        self.fit(now, hash, key, key.len() + bytes + EXTRA, |it| {
            if it.live(now, hash, key).is_none() {
                it.put_empty(now, hash, key, empty(it))?;
            }
            let found = it.live(now, hash, key).expect("it was made");
            let added = it.change(&found, &mut add).expect("its kind was verified");
            it.remove_if_empty(&found);
            added
        })
    }

    fn put_empty(&mut self, now: u64, hash: u32, key: &[u8], body: Body) -> Result<(), Refused> {
        let place = self.place_of_new(now, hash, key);
        let number = self.table.home(place.hash);
        self.table.with(&mut self.heap, number, |bucket, heap| {
            let value = Value::Outside(Outside::many(heap, key, body)?);
            bucket.put(heap, None, place, key, value, None)
        })?;
        self.moved += usize::from(place.number > 0);
        Ok(())
    }

    fn remove_if_empty(&mut self, found: &Found) {
        if self.body(found).is_some_and(|body| body.len() == 0) {
            self.remove_found(*found);
        }
    }
}

/// Replies with a string.
fn reply_with(heap: &Heap, string: &ByteString, reply: &mut Reply) {
    reply.pieces(string.len(), string.slices(heap));
}

/// Sets a field; whether it is new.
fn set_field(
    fields: &mut Fields,
    heap: &mut Heap,
    field: &[u8],
    value: &[u8],
) -> Result<bool, Refused> {
    let value = ByteString::from_bytes(heap, value)?;
    if let Some(place) = fields.get_mut(heap, field) {
        let former = std::mem::replace(place, value);
        former.free(heap);
        return Ok(false);
    }
    let field = match ByteString::from_bytes(heap, field) {
        Ok(field) => field,
        Err(refused) => {
            value.free(heap);
            return Err(refused);
        }
    };
    match fields.insert(heap, field, value) {
        Ok(former) => {
            former.release(heap);
            Ok(true)
        }
        Err(full) => {
            full.value.release(heap);
            Err(full.refused)
        }
    }
}

/// Adds a value at an end; returns how many there are.
fn push(values: &mut Values, heap: &mut Heap, end: End, value: &[u8]) -> Result<usize, Refused> {
    let value = ByteString::from_bytes(heap, value)?;
    let pushed = match end {
        End::Front => values.push_front(heap, value),
        End::Back => values.push_back(heap, value),
    };
    match pushed {
        Ok(()) => Ok(values.len()),
        Err(full) => {
            full.value.free(heap);
            Err(full.refused)
        }
    }
}

impl Store for Packed {
    const NAME: &'static str = "packed";

    const LOOKS_AHEAD: bool = true;

    fn look_ahead<'a>(&self, keys: impl Iterator<Item = &'a [u8]>) {
        let buckets = keys.map(|key| self.table.home(self.seed.of(key)));
        let buckets = buckets.map(|number| self.table.bucket(&self.heap, number));
        // Where they lie first: then the loop below waits for nothing but them.
        let buckets: Vec<_> = buckets.collect();
        let counts = buckets.iter().map(|bucket| bucket.len(&self.heap));
        black_box(counts.sum::<usize>());
    }

    fn kind(&mut self, now: u64, key: &[u8]) -> Option<Kind> {
        let hash = self.seed.of(key);
        let found = self.live(now, hash, key)?;
        let bucket = self.table.bucket(&self.heap, found.bucket);
        Some(bucket.kind(&self.heap, &found.at))
    }

    fn len_of(&mut self, now: u64, key: &[u8], kind: Kind) -> Result<usize, Error> {
        let Some(found) = self.of_kind(now, key, kind)? else {
            return Ok(0);
        };
        let bucket = self.table.bucket(&self.heap, found.bucket);
        Ok(match bucket.body(&self.heap, &found.at) {
            Some(body) => body.len(),
            None => bucket.text_len(&self.heap, &found.at),
        })
    }

    fn remove(&mut self, now: u64, key: &[u8]) -> bool {
        let hash = self.seed.of(key);
        let found = self.live(now, hash, key);
        found.map(|found| self.remove_found(found)).is_some()
    }

    fn deadline(&mut self, now: u64, key: &[u8]) -> Option<Option<u64>> {
        let hash = self.seed.of(key);
        let found = self.live(now, hash, key)?;
        let bucket = self.table.bucket(&self.heap, found.bucket);
        Some(bucket.deadline(&self.heap, &found.at))
    }

    fn set_deadline(&mut self, now: u64, key: &[u8], to: Option<u64>) -> Result<bool, Error> {
        let hash = self.seed.of(key);
        // Nothing is evicted for a key that is not there.
        if self.live(now, hash, key).is_none() {
            return Ok(false);
        }
        self.fit(now, hash, key, EXTRA, |it| {
            let Some(Found { bucket, at }) = it.live(now, hash, key) else {
                return Ok(false);
            };
            it.table.with(&mut it.heap, bucket, |bucket, heap| {
                bucket.set_deadline(heap, &at, to)
            })?;
            Ok(true)
        })
    }

    fn get(&mut self, now: u64, key: &[u8], reply: &mut Reply) -> Result<bool, Error> {
        let Some(found) = self.of_kind(now, key, Kind::Text)? else {
            return Ok(false);
        };
        let bucket = self.table.bucket(&self.heap, found.bucket);
        bucket.reply(&self.heap, &found.at, reply);
        Ok(true)
    }

    fn copy(&mut self, now: u64, key: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        let found = self.of_kind(now, key, Kind::Text)?;
        Ok(found.map(|found| {
            let bucket = self.table.bucket(&self.heap, found.bucket);
            bucket.copy(&self.heap, &found.at)
        }))
    }

    fn set(&mut self, now: u64, key: &[u8], value: &[u8], expiry: Expiry) -> Result<(), Error> {
        if key.len() > MOST_KEY {
            return Err(Error::LongKey);
        }
        let hash = self.seed.of(key);
        self.fit(now, hash, key, key.len() + value.len() + EXTRA, |it| {
            it.put_text(now, hash, key, value, expiry)
        })
    }

    fn append(&mut self, now: u64, key: &[u8], more: &[u8]) -> Result<usize, Error> {
        if key.len() > MOST_KEY {
            return Err(Error::LongKey);
        }
        let len = self.len_of(now, key, Kind::Text)?;
        // A longer one lies outside already, and stays where it is.
        let moved = if len > MOST_INSIDE { 0 } else { len };
        let hash = self.seed.of(key);
        let bytes = key.len() + moved + more.len() + EXTRA;
        self.fit(now, hash, key, bytes, |it| {
            it.append_text(now, hash, key, more)
        })
    }

    fn set_field(
        &mut self,
        now: u64,
        key: &[u8],
        field: &[u8],
        value: &[u8],
    ) -> Result<bool, Error> {
        let empty = |it: &Self| Body::Hash(Fields::with_hasher(it.seed));
        let bytes = field.len() + value.len();
        self.add(now, key, bytes, empty, |body, heap| match body {
            Body::Hash(fields) => set_field(fields, heap, field, value),
            Body::List(_) => Ok(false),
        })
    }

    fn field(
        &mut self,
        now: u64,
        key: &[u8],
        field: &[u8],
        reply: &mut Reply,
    ) -> Result<bool, Error> {
        let found = self.of_kind(now, key, Kind::Hash)?;
        let Some(Body::Hash(fields)) = found.and_then(|found| self.body(&found)) else {
            return Ok(false);
        };
        let value = fields.get(&self.heap, field);
        Ok(value
            .map(|value| reply_with(&self.heap, value, reply))
            .is_some())
    }

    fn remove_field(&mut self, now: u64, key: &[u8], field: &[u8]) -> Result<bool, Error> {
        let Some(found) = self.of_kind(now, key, Kind::Hash)? else {
            return Ok(false);
        };
        let removed = self.change(&found, |body, heap| match body {
            Body::Hash(fields) => fields.remove(heap, field),
            Body::List(_) => None,
        });
        let removed = removed.flatten();
        let was_there = removed.is_some();
        removed.release(&mut self.heap);
        self.remove_if_empty(&found);
        Ok(was_there)
    }

    fn fields(&mut self, now: u64, key: &[u8], reply: &mut Reply) -> Result<(), Error> {
        let found = self.of_kind(now, key, Kind::Hash)?;
        let Some(Body::Hash(fields)) = found.and_then(|found| self.body(&found)) else {
            reply.map(0);
            return Ok(());
        };
        reply.map(fields.len());
        for (field, value) in fields.iter(&self.heap) {
            reply_with(&self.heap, field, reply);
            reply_with(&self.heap, value, reply);
            if reply.is_too_long() {
                break;
            }
        }
        Ok(())
    }

    fn push(&mut self, now: u64, key: &[u8], end: End, value: &[u8]) -> Result<usize, Error> {
        let empty = |_: &Self| Body::List(Values::new());
        self.add(now, key, value.len(), empty, |body, heap| match body {
            Body::List(values) => push(values, heap, end, value),
            Body::Hash(_) => Ok(0),
        })
    }

    fn pop(&mut self, now: u64, key: &[u8], end: End, reply: &mut Reply) -> Result<bool, Error> {
        let Some(found) = self.of_kind(now, key, Kind::List)? else {
            return Ok(false);
        };
        let popped = self.change(&found, |body, heap| match (body, end) {
            (Body::List(values), End::Front) => values.pop_front(heap),
            (Body::List(values), End::Back) => values.pop_back(heap),
            (Body::Hash(_), _) => None,
        });
        let popped = popped.flatten();
        if let Some(value) = &popped {
            reply_with(&self.heap, value, reply);
        }
        let was_there = popped.is_some();
        popped.release(&mut self.heap);
        self.remove_if_empty(&found);
        Ok(was_there)
    }

    fn range(
        &mut self,
        now: u64,
        key: &[u8],
        from: i64,
        to: i64,
        reply: &mut Reply,
    ) -> Result<(), Error> {
        let found = self.of_kind(now, key, Kind::List)?;
        let Some(Body::List(values)) = found.and_then(|found| self.body(&found)) else {
            reply.array(0);
            return Ok(());
        };
        let indices = indices(values.len(), from, to);
        reply.array(indices.len());
        for value in indices.filter_map(|index| values.get(&self.heap, index)) {
            reply_with(&self.heap, value, reply);
            if reply.is_too_long() {
                break;
            }
        }
        Ok(())
    }

    fn scan(
        &mut self,
        now: u64,
        place: u32,
        count: usize,
        each: &mut dyn FnMut(&[u8]),
    ) -> Option<u32> {
        let (mut next, mut seen, mut bytes) = (Some(place), 0, 0);
        while let Some(start) = next.filter(|_| seen < count && bytes < MOST_SCANNED) {
            let (number, behind) = self.table.interval(start);
            let bucket = self.table.bucket(&self.heap, number);
            let records = bucket.records(&self.heap);
            let records = records.map(|at| (Table::place(at.head.hash), at));
            let mut records: Vec<_> = records.filter(|it| it.0 >= start).collect();
            records.sort_unstable_by_key(|it| it.0);
            // Buckets without records count too: a call is bounded.
            seen += records.len().max(1);
            next = behind;
            let mut last = start;
            for (place, at) in records {
                // Those of one place are passed together.
                if bytes >= MOST_SCANNED && place > last {
                    next = Some(place);
                    break;
                }
                last = place;
                let deadline = bucket.deadline(&self.heap, &at);
                if deadline.is_none_or(|deadline| deadline > now) {
                    each(&bucket.key(&self.heap, &at));
                    bytes += usize::from(at.head.key);
                }
            }
        }
        next
    }

    fn clear(&mut self) {
        self.table.clear(&mut self.heap, &mut self.waiting);
        self.free_some();
        self.moved = 0;
    }

    fn tick(&mut self, now: u64) -> bool {
        self.keep_house(now)
    }

    fn purge(&mut self) {
        while self.free_some() {}
        self.heap.compact(u64::MAX);
        // Where the system refuses, the memory stays until the next tick.
        let _ = self.heap.give_all_back();
    }

    fn figures(&self) -> Figures {
        self.figures_now()
    }

    fn set_limit(&mut self, bytes: usize) -> bool {
        if bytes < LEAST_LIMIT {
            return false;
        }
        // What is above a lower limit goes with the next writes.
        self.heap.set_limits(soft(bytes), bytes).is_ok()
    }

    fn assert_sound(&self) {
        self.heap.check().expect("the heap is sound");
        let moved = self.table.assert_sound(&self.heap);
        assert_eq!(moved, self.moved, "P6");
        if self.table.records() == 0 && self.table.len() == 1 && self.waiting.is_empty() {
            // The vector of buckets only: nothing leaked.
            assert_eq!(
                self.heap.heap().live_blocks().count(),
                1,
                "all that is live"
            );
        }
    }
}
