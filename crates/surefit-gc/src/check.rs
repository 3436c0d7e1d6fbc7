//! Verifies the numbered invariants of the bits.
#![deny(unsafe_code)]

use surefit_core::{Corruption, ensure};

use crate::collector::Collector;
use crate::object::Object;
use crate::space::Space;

impl<S: Space, K> Collector<'_, S, K> {
    /// Verifies G1 to G3.
    pub(crate) fn check_marks(&self) -> Result<(), Corruption> {
        self.check_live()?;
        let unused = self.marks.bits().next_unused(self.space.unused());
        if let Some(object) = unused.and_then(Object::of) {
            let what = "a number is marked that no object has had yet; it is";
            return Err(broken_at("G1", what, object));
        }
        match self.marks.next_grey(0) {
            Some(object) => Err(broken_at("G1", "an object is grey; its number", object)),
            None => Ok(()),
        }
    }

    /// Verifies G2 and G3.
    pub(crate) fn check_live(&self) -> Result<(), Corruption> {
        let bits = self.live.count().min(self.marks.bits().count());
        ensure(
            bits > self.space.places() as usize,
            "G3",
            "there are too few bits; bits",
            bits,
        )?;
        let mut cursor = 0;
        for object in self.space.objects() {
            let live = self.live.next(cursor).and_then(Object::of);
            if live != Some(object) {
                let at = live.map_or(object, |live| live.min(object));
                return Err(broken_at("G2", NOT_ONE_TO_ONE, at));
            }
            cursor = object.number() + 1;
        }
        match self.live.next(cursor).and_then(Object::of) {
            Some(object) => Err(broken_at("G2", NOT_ONE_TO_ONE, object)),
            None => Ok(()),
        }
    }
}

const NOT_ONE_TO_ONE: &str =
    "a number is that of an object or has a live bit, but not of both; it is";

pub(crate) const fn broken_at(
    invariant: &'static str,
    what: &'static str,
    object: Object,
) -> Corruption {
    Corruption::new(invariant, what, object.number() as usize)
}
