//! Why a recording cannot be imported: always one line.

use std::io;

/// Why a recording cannot be imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The file cannot be read.
    #[error("cannot be read: {0}; check the path and its permissions")]
    Read(io::Error),
    /// The compressed file is damaged.
    #[error("the compressed file is damaged ({0}); fetch it again, or record the program again")]
    Damaged(String),
    /// There is not one byte.
    #[error("is empty; give a recording of heaptrack or of a board")]
    Empty,
    /// A compressed file was cut short before anything of it can be unpacked.
    #[error(
        "was cut short: nothing of it can be unpacked; fetch it again, or record the program again"
    )]
    Cut,
    /// It is a trace already.
    #[error("is a trace of surefit already: it needs no import")]
    Trace,
    /// It is neither text of heaptrack nor frames of a board.
    #[error(
        "is neither a recording of heaptrack nor of a board ({sound} sound frames among {damaged} \
         that are not); give one of them"
    )]
    Unknown {
        /// Frames that are sound.
        sound: u64,
        /// Pieces between two flags that are no sound frame.
        damaged: u64,
    },
    /// The file was written by a version of heaptrack that is not known here.
    #[error(
        "has version {0} of heaptrack's format; this surefit reads versions up to 3: import it with \
         a newer surefit"
    )]
    Version(u64),
    /// A line of heaptrack's that is none.
    #[error("line {line}: {problem}; the file is damaged: record the program again")]
    Line {
        /// The line, counted from 1.
        line: u64,
        /// What is wrong.
        problem: &'static str,
    },
    /// More objects than a trace has numbers for.
    #[error("allocates more than 2^32 objects; record a shorter run")]
    TooManyObjects,
}
