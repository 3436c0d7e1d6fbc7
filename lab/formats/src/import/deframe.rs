//! Frames out of bytes: where one begins and ends, and whether it is sound.
//!
//! ```text
//! flag 7e │ number (vi) │ record │ FCS, 2 bytes │ flag 7e         7e and 7d inside: 7d, byte XOR 20
//! ```
//!
//! Two flags with nothing between them are no frame. Whatever else stands between two flags and is
//! not sound is skipped and counted. So a reader that begins anywhere is in step again at the next
//! flag.
//!
//! # Source
//! RFC 1662: HDLC-like framing with octet stuffing, and the 16-bit FCS.

/// Begins and ends a frame.
const FLAG: u8 = 0x7e;
/// The next byte stands for itself XOR 0x20.
const ESCAPE: u8 = 0x7d;
/// The longest frame, in bytes without escapes: a number, an operation with a thread, two addresses
/// and a size, and the check sequence.
const MAX_FRAME_BYTES: usize = 5 + 11 + 3 * 10 + 2;
/// The check sequence of a sound frame together with its own check sequence.
const SOUND: u16 = 0xf0b8;

/// What frames say happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Record {
    /// The board began: its heap is empty.
    Begin,
    /// An object is allocated.
    Alloc {
        address: u64,
        size: u64,
        is_zeroed: bool,
        log2_align: Option<u8>,
    },
    /// An object is reallocated.
    Realloc { old: u64, address: u64, size: u64 },
    /// An object is freed.
    Free { address: u64 },
}

/// A sound frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    /// Frames since the board began, this one not counted; modulo 2^32.
    pub(super) number: u32,
    pub(super) thread: u64,
    pub(super) record: Record,
    /// The check sequence: two frames of one number that differ have different ones, almost always.
    pub(super) fcs: u16,
}

/// Finds the frames among bytes that come one by one.
#[derive(Debug, Default)]
pub(super) struct Deframer {
    /// The bytes since the last flag, without escapes.
    bytes: Vec<u8>,
    /// The bytes since the last flag, as they came.
    came: u64,
    is_escaped: bool,
    /// Pieces between two flags that are no sound frame, and their bytes.
    pub(super) damaged: u64,
    pub(super) damaged_bytes: u64,
    /// Frames that are sound.
    pub(super) sound: u64,
}

impl Deframer {
    /// Takes the next byte; a frame if it ends one that is sound.
    pub(super) fn push(&mut self, byte: u8) -> Option<Frame> {
        if byte == FLAG {
            return self.end();
        }
        self.came += 1;
        if byte == ESCAPE && !self.is_escaped {
            self.is_escaped = true;
            return None;
        }
        let escaped = std::mem::take(&mut self.is_escaped);
        // One byte more than a frame can have says that it is none.
        if self.bytes.len() <= MAX_FRAME_BYTES {
            self.bytes.push(if escaped { byte ^ 0x20 } else { byte });
        }
        None
    }

    /// Ends the piece since the last flag, at a flag or at the end of all bytes.
    pub(super) fn end(&mut self) -> Option<Frame> {
        let came = std::mem::take(&mut self.came);
        let is_escaped = std::mem::take(&mut self.is_escaped);
        let frame = (!is_escaped).then(|| parse(&self.bytes)).flatten();
        self.bytes.clear();
        match frame {
            Some(_) => self.sound += 1,
            None if came == 0 => {}
            None => {
                self.damaged += 1;
                self.damaged_bytes += came;
            }
        }
        frame
    }
}

/// The frame that the bytes are, if they are one.
fn parse(bytes: &[u8]) -> Option<Frame> {
    if bytes.len() > MAX_FRAME_BYTES || checked(bytes) != SOUND {
        return None;
    }
    let (content, fcs) = bytes.split_last_chunk::<2>()?;
    let rest = &mut &*content;
    let number = u32::try_from(integer(rest)?).ok()?;
    let (op, thread) = head(rest)?;
    let record = match op {
        0 | 1 => Record::Alloc {
            address: integer(rest)?,
            size: size(rest)?,
            is_zeroed: op == 1,
            log2_align: None,
        },
        2 => {
            let log2 = u8::try_from(integer(rest)?).ok();
            Record::Alloc {
                address: integer(rest)?,
                size: size(rest)?,
                is_zeroed: false,
                log2_align: Some(log2.filter(|log2| *log2 <= surefit_trace::Align::MAX_LOG2)?),
            }
        }
        3 => Record::Realloc {
            old: integer(rest)?,
            address: integer(rest)?,
            size: size(rest)?,
        },
        4 => Record::Free {
            address: integer(rest)?,
        },
        // The thread's place holds the version of the frames.
        7 if number == 0 && thread == VERSION => Record::Begin,
        _ => return None,
    };
    let fcs = u16::from_le_bytes(*fcs);
    let frame = Frame {
        number,
        thread,
        record,
        fcs,
    };
    rest.is_empty().then_some(frame)
}

/// The version of the frames that are read.
const VERSION: u64 = 1;

/// The largest request of a board, in bytes: 2^48. A larger one is damage that the check sequence
/// missed.
const MAX_SIZE: u64 = 1 << 48;

fn size(rest: &mut &[u8]) -> Option<u64> {
    integer(rest).filter(|size| *size <= MAX_SIZE)
}

/// An operation and what is beside it in the first byte, as in the format of traces.
fn head(rest: &mut &[u8]) -> Option<(u8, u64)> {
    let (byte, after) = rest.split_first()?;
    *rest = after;
    let value = match byte >> 3 {
        31 => integer(rest)?.checked_add(31)?,
        value => value.into(),
    };
    Some((byte & 7, value))
}

/// An unsigned LEB128 integer of at most ten bytes.
fn integer(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..70).step_by(7) {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        let bits = u64::from(byte & 127);
        if shift == 63 && bits > 1 {
            return None;
        }
        value |= bits << shift;
        if *byte < 128 {
            return Some(value);
        }
    }
    None
}

/// The check sequence over the bytes, not inverted.
fn checked(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0xffff, |sum, byte| {
        (0..8).fold(sum ^ u16::from(*byte), |sum, _| match sum & 1 {
            0 => sum >> 1,
            _ => sum >> 1 ^ 0x8408,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::{Deframer, Frame, Record, SOUND, checked};

    fn frames(bytes: &[u8]) -> (Vec<Frame>, u64, u64) {
        let mut deframer = Deframer::default();
        let mut frames: Vec<_> = bytes
            .iter()
            .filter_map(|byte| deframer.push(*byte))
            .collect();
        frames.extend(deframer.end());
        (frames, deframer.damaged, deframer.damaged_bytes)
    }

    #[test]
    fn the_check_sequence_is_that_of_the_rfc() {
        // The check value of CRC-16/X-25.
        assert_eq!(checked(b"123456789") ^ 0xffff, 0x906e);
        assert_eq!(checked(b"123456789\x6e\x90"), SOUND);
    }

    #[test]
    fn a_frame_is_found_between_other_bytes() {
        // free of 0x7e by thread 1, number 5: the address is escaped
        let content = [5, 1 << 3 | 4, 0x7e];
        let [low, high] = (checked(&content) ^ 0xffff).to_le_bytes();
        assert!(low != 0x7e && low != 0x7d && high != 0x7e && high != 0x7d);
        let frame = [0x7e, 5, 1 << 3 | 4, 0x7d, 0x5e, low, high, 0x7e];
        let bytes = [b"boot ok\r\n", &frame[..], b"~ text ~", &frame[1..]].concat();
        let (found, damaged, damaged_bytes) = frames(&bytes);
        let expected = Frame {
            number: 5,
            thread: 1,
            record: Record::Free { address: 0x7e },
            fcs: u16::from_le_bytes([low, high]),
        };
        assert_eq!(found, [expected, expected]);
        assert_eq!((damaged, damaged_bytes), (2, 9 + 6));
    }

    #[test]
    fn every_change_of_one_byte_is_noticed() {
        let content = [0x81, 1, 0, 0xc0, 0x80, 1, 40];
        let [low, high] = (checked(&content) ^ 0xffff).to_le_bytes();
        let frame = [&[0x7e][..], &content, &[low, high, 0x7e]].concat();
        assert_eq!(frames(&frame).0.len(), 1);
        for place in 0..frame.len() {
            for change in 1..=255 {
                let mut bytes = frame.clone();
                bytes[place] ^= change;
                let (found, damaged, _) = frames(&bytes);
                // A flag that is lost at either end leaves the frame whole, or joined to the end.
                let is_flag = place == 0 || place == frame.len() - 1;
                assert!(
                    is_flag || (found.is_empty() && damaged > 0),
                    "{place} {change}"
                );
            }
        }
    }
}
