//! A heap as the theory sees it: objects of whole words, at addresses that are numbers of words.
//!
//! A program sees where its objects lie and decides by that what it does next. All it does goes
//! through a [`Watched`] heap, which keeps the [`Account`].
#![deny(unsafe_code)]

/// A heap of words.
pub(super) trait WordHeap {
    /// What names a live object.
    type Object;

    /// Allocates the given number of words; `None` if there is no room.
    fn allocate(&mut self, words: u64) -> Option<Self::Object>;

    /// Frees an object of the given number of words.
    fn free(&mut self, object: Self::Object, words: u64);

    /// The first word of an object of the given number of words, where it lies now.
    fn address(&mut self, object: &mut Self::Object, words: u64) -> u64;
}

/// There was no room: the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Full;

/// A live object of a program.
#[derive(Debug)]
pub(super) struct Live<O> {
    object: O,
    pub(super) words: u64,
    /// Where it lay when the program looked last.
    pub(super) at: u64,
}

/// What a program did, and what it saw of its heap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Account {
    /// Words live now.
    live: u64,
    /// M: the most words live at once.
    pub(super) most_live: u64,
    /// Words allocated in all.
    pub(super) allocated: u64,
    /// The first word that was ever seen in use, and one past the last.
    used: Option<(u64, u64)>,
    /// Every address in the order in which it was handed out, in one number.
    pub(super) places: u64,
}

impl Account {
    /// The first word that was ever seen in use; 0 if none was.
    pub(super) fn first(&self) -> u64 {
        self.used.map_or(0, |(first, _)| first)
    }

    /// From the first word in use to the last, over the whole program.
    pub(super) fn span(&self) -> u64 {
        self.used.map_or(0, |(first, end)| end - first)
    }

    fn allocated(&mut self, at: u64, words: u64) {
        self.live += words;
        self.most_live = self.most_live.max(self.live);
        self.allocated += words;
        let (first, end) = self.used.unwrap_or((at, at));
        self.used = Some((first.min(at), end.max(at + words)));
        // FNV-1a over words: addresses count from wherever the first object lies
        self.places = (self.places ^ at.wrapping_sub(first)).wrapping_mul(0x0000_0100_0000_01b3);
    }
}

/// A heap under a program.
#[derive(Debug)]
pub(super) struct Watched<H> {
    heap: H,
    account: Account,
}

impl<H: WordHeap> Watched<H> {
    pub(super) fn new(heap: H) -> Self {
        Self {
            heap,
            account: Account::default(),
        }
    }

    /// What the program did so far.
    pub(super) const fn account(&self) -> &Account {
        &self.account
    }

    /// The heap.
    pub(super) const fn heap(&self) -> &H {
        &self.heap
    }

    /// Words that are live.
    pub(super) const fn live(&self) -> u64 {
        self.account.live
    }

    pub(super) fn allocate(&mut self, words: u64) -> Result<Live<H::Object>, Full> {
        let mut object = self.heap.allocate(words).ok_or(Full)?;
        let at = self.heap.address(&mut object, words);
        self.account.allocated(at, words);
        Ok(Live { object, words, at })
    }

    pub(super) fn free(&mut self, live: Live<H::Object>) {
        self.account.live -= live.words;
        self.heap.free(live.object, live.words);
    }

    /// Looks where an object lies now.
    pub(super) fn look(&mut self, live: &mut Live<H::Object>) {
        live.at = self.heap.address(&mut live.object, live.words);
    }
}
