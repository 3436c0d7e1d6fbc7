//! A rule in 31 bits: how to come from a call to the call of its function.

/// What leads from the registers at a call to those at the call of its function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// The function has a frame.
    Frame(Frame),
    /// Nobody called it: a program or a thread begins there.
    Last,
    /// Something that is not known here.
    Other,
}

/// A frame that ends a number of words above the stack pointer or the frame pointer. The word below
/// its end is the return address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    /// Whether it counts from the frame pointer.
    pub(crate) from_frame_pointer: bool,
    words: u32,
    saved: u32,
}

/// The bits of the kind, of the register, of the frame's words and of the saved word.
const KIND_BITS: u32 = 2;
const WORDS_AT: u32 = KIND_BITS + 1;
const WORDS_BITS: u32 = 18;
const SAVED_AT: u32 = WORDS_AT + WORDS_BITS;
const SAVED_BITS: u32 = 10;

/// The bits of a rule.
pub(crate) const BITS: u32 = SAVED_AT + SAVED_BITS;

const WORD: i64 = 8;

impl Frame {
    /// A frame that ends `end` bytes above the register; the frame pointer is what it was, or was
    /// saved `saved` bytes from the end. `None` if that cannot be written.
    pub(crate) fn new(from_frame_pointer: bool, end: i64, saved: Option<i64>) -> Option<Self> {
        let words = |bytes: i64| match bytes % WORD {
            0 => u32::try_from(bytes / WORD).ok(),
            _ => None,
        };
        let saved = match saved {
            // The word before is the return address.
            Some(from_end) => words(from_end.checked_neg()?).filter(|words| *words >= 2)?,
            None => 0,
        };
        let frame = Self {
            from_frame_pointer,
            words: words(end)?,
            saved,
        };
        let fits = frame.words >> WORDS_BITS == 0 && saved >> SAVED_BITS == 0;
        (fits && frame.words > 0).then_some(frame)
    }

    /// From the register to the frame's end, in bytes.
    #[inline]
    pub(crate) fn bytes(self) -> usize {
        self.words as usize * 8
    }

    /// From where the frame pointer was saved to the frame's end, in bytes; 0 if it is what it was.
    #[inline]
    pub(crate) fn saved(self) -> usize {
        self.saved as usize * 8
    }
}

impl Rule {
    /// Its bits; never zero.
    pub(crate) fn bits(self) -> u32 {
        match self {
            Self::Frame(frame) => {
                1 | u32::from(frame.from_frame_pointer) << KIND_BITS
                    | frame.words << WORDS_AT
                    | frame.saved << SAVED_AT
            }
            Self::Last => 2,
            Self::Other => 3,
        }
    }

    /// The rule of some bits that [`Rule::bits`] gave.
    #[inline]
    pub(crate) fn from_bits(bits: u32) -> Self {
        match bits & 3 {
            1 => Self::Frame(Frame {
                from_frame_pointer: bits & 1 << KIND_BITS != 0,
                words: bits >> WORDS_AT & ((1 << WORDS_BITS) - 1),
                saved: bits >> SAVED_AT & ((1 << SAVED_BITS) - 1),
            }),
            2 => Self::Last,
            _ => Self::Other,
        }
    }
}
