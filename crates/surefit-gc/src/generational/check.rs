//! Verifies the numbered invariants of a collector with two generations.
#![deny(unsafe_code)]

use surefit_core::{Corruption, ensure};

use crate::check::broken_at;
use crate::generational::count::Count;
use crate::generational::{Generational, WORD};
use crate::statistics::Clock;
use crate::stepwise::OneByOne;

impl<S: OneByOne, K: Clock> Generational<'_, S, K> {
    /// Verifies G2, G3, Y1, Y3, Y4 and the invariants of the space.
    ///
    /// # Errors
    /// The first invariant that does not hold.
    pub fn check(&self) -> Result<(), Corruption> {
        self.gc.check_live()?;
        self.check_marks()?;
        self.check_counts()?;
        self.gc.space.check()?;
        // At most what lives and what a sweep counted beside the words: both are in the region.
        let most = 2 * self.gc.space.usage().total() as u64;
        let what = "more bytes were counted than there can be; bytes";
        let is_possible = self.live.bytes <= most;
        ensure(is_possible, "Y4", what, self.live.bytes as usize)
    }

    /// Verifies Y1 and Y3.
    fn check_marks(&self) -> Result<(), Corruption> {
        let (mut old, mut remembered) = (0, 0);
        for object in self.objects().filter(|&object| self.is_old(object)) {
            old += 1;
            if self.gc.marks.is_grey(object) {
                remembered += 1;
                if self.lowest.is_none_or(|lowest| object < lowest) {
                    let what = "a remembered object is forgotten; its number";
                    return Err(broken_at("Y3", what, object));
                }
            }
        }
        let words = self.gc.marks.bits().words();
        let set: u64 = words.iter().map(|word| u64::from(word.count_ones())).sum();
        let what = "mark bits are set of what is no live object; bits";
        ensure(old + remembered == set, "Y1", what, set as usize)?;
        let what = "remembered objects were miscounted; objects";
        let is_counted = remembered == self.remembered;
        ensure(is_counted, "Y3", what, remembered as usize)
    }

    /// Verifies Y4. Bytes may be counted that a space has beside the words; no young ones that are
    /// not live.
    fn check_counts(&self) -> Result<(), Corruption> {
        let (mut live, mut young) = (Count::default(), Count::default());
        for object in self.objects() {
            let bytes = u64::from(self.words(object)) * WORD;
            live.add(bytes);
            if !self.is_old(object) {
                young.add(bytes);
            }
        }
        let what = "live objects were miscounted; objects";
        let is_counted = live.objects == self.live.objects;
        ensure(is_counted, "Y4", what, live.objects as usize)?;
        let what = "young objects were miscounted; objects";
        let is_counted = young.objects == self.young.objects;
        ensure(is_counted, "Y4", what, young.objects as usize)?;
        let what = "live objects have more bytes than were counted; bytes";
        let is_counted = live.bytes <= self.live.bytes;
        ensure(is_counted, "Y4", what, live.bytes as usize)?;
        let what = "the bytes of young objects were miscounted; bytes";
        let is_counted = (young.bytes..=self.live.bytes).contains(&self.young.bytes);
        ensure(is_counted, "Y4", what, young.bytes as usize)
    }
}
