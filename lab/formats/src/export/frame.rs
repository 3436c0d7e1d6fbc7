//! Where an allocation came from.

use surefit_trace::{Event, Op};

/// A frame of a call stack. What is not known is empty or 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Frame {
    /// The function.
    pub function: String,
    /// The file of its source.
    pub file: String,
    /// The line in it.
    pub line: u32,
    /// The program or the library.
    pub module: String,
    /// The address of the call.
    pub address: u64,
}

/// The number of a stack that nobody knows. A reallocation from there stays with who allocated.
pub const UNKNOWN: u64 = 0;

/// The number of a stack that stands in for a call stack: the thread and the size-class of the
/// request, which are powers of two. A free has none; it gets [`UNKNOWN`].
#[must_use]
pub const fn without_call_sites(event: Event) -> u64 {
    let size = match event.op() {
        Op::Alloc { size, .. } | Op::Realloc { size, .. } => size,
        Op::Free { .. } => return UNKNOWN,
    };
    (event.thread() as u64 + 1) << 8 | log2(size) as u64
}

/// The frames of such a stack, the innermost first: the size-class, then the thread.
#[must_use]
pub fn frames_without_call_sites(stack: u64) -> Vec<Frame> {
    let most = 1_u128 << (stack & 255);
    let class = match most {
        1 => "0 to 1 bytes".to_owned(),
        2 => "2 bytes".to_owned(),
        _ => format!("{} to {most} bytes", most / 2 + 1),
    };
    let thread = (stack >> 8).saturating_sub(1);
    [class, format!("thread {thread}")]
        .map(|function| Frame {
            function,
            ..Frame::default()
        })
        .into()
}

/// The logarithm of the least power of two that is no less.
const fn log2(size: u64) -> u32 {
    match size {
        0 | 1 => 0,
        _ => 64 - (size - 1).leading_zeros(),
    }
}

#[cfg(test)]
mod tests {
    use surefit_trace::{Call, Event, Op};

    use super::{frames_without_call_sites, without_call_sites};

    #[test]
    fn size_classes_end_at_powers_of_two() {
        let names = |size| {
            let (id, call) = (0, Call::Malloc);
            let event = Event::new(3, Op::Alloc { id, size, call });
            frames_without_call_sites(without_call_sites(event))
                .into_iter()
                .map(|frame| frame.function)
                .collect::<Vec<_>>()
        };
        for (size, class) in [
            (0, "0 to 1 bytes"),
            (1, "0 to 1 bytes"),
            (2, "2 bytes"),
            (3, "3 to 4 bytes"),
            (4, "3 to 4 bytes"),
            (5, "5 to 8 bytes"),
            (64, "33 to 64 bytes"),
            (65, "65 to 128 bytes"),
            (1 << 56, "36028797018963969 to 72057594037927936 bytes"),
        ] {
            assert_eq!(names(size), [class, "thread 3"]);
        }
    }
}
