//! The order of use: a list of all records, from the one used last to the one used longest ago.

use super::records::{Link, Records};
use super::renamed::Renamed;
use crate::store::{Name, Store};

/// The ends of the list; the links are in the records.
#[derive(Debug)]
pub(super) struct Order<N> {
    newest: N,
    oldest: N,
}

impl<N: Name> Order<N> {
    pub(super) const fn new() -> Self {
        Self {
            newest: N::NIL,
            oldest: N::NIL,
        }
    }

    /// The record that was used longest ago.
    pub(super) fn oldest(&self) -> Option<N> {
        (self.oldest != N::NIL).then_some(self.oldest)
    }

    /// Adds a record that is not in the list, as the one used last.
    pub(super) fn push<S: Store<Name = N>>(&mut self, records: &mut Records<S>, name: N) {
        records.set_link(name, Link::Newer, N::NIL);
        records.set_link(name, Link::Older, self.newest);
        if self.newest == N::NIL {
            self.oldest = name;
        } else {
            records.set_link(self.newest, Link::Newer, name);
        }
        self.newest = name;
    }

    /// Takes a record out of the list.
    pub(super) fn remove<S: Store<Name = N>>(&mut self, records: &mut Records<S>, name: N) {
        let newer = records.link(name, Link::Newer);
        let older = records.link(name, Link::Older);
        match newer == N::NIL {
            true => self.newest = older,
            false => records.set_link(newer, Link::Older, older),
        }
        match older == N::NIL {
            true => self.oldest = newer,
            false => records.set_link(older, Link::Newer, newer),
        }
    }

    /// Makes a record of the list the one used last.
    pub(super) fn touch<S: Store<Name = N>>(&mut self, records: &mut Records<S>, name: N) {
        if self.newest != name {
            self.remove(records, name);
            self.push(records, name);
        }
    }

    /// Every object of the records, with its length.
    pub(super) fn objects<S: Store<Name = N>>(&self, records: &Records<S>) -> Vec<(N, usize)> {
        let (mut objects, mut name) = (Vec::new(), self.oldest);
        while name != N::NIL {
            objects.extend(records.objects(name));
            name = records.link(name, Link::Newer);
        }
        objects
    }

    /// Replaces every name, here and in the records, by another one of the same object.
    pub(super) fn rename<S: Store<Name = N>>(
        &mut self,
        records: &mut Records<S>,
        renamed: &Renamed<N>,
    ) {
        self.newest = renamed.get(self.newest);
        self.oldest = renamed.get(self.oldest);
        let mut name = self.oldest;
        while name != N::NIL {
            records.rename(name, renamed);
            name = records.link(name, Link::Newer);
        }
    }
}
