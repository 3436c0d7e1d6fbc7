//! What a board sends, written anew from the format's description.

/// What happens on a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    Begin,
    Malloc {
        thread: u64,
        address: u64,
        size: u64,
    },
    Calloc {
        thread: u64,
        address: u64,
        size: u64,
    },
    Aligned {
        thread: u64,
        log2: u64,
        address: u64,
        size: u64,
    },
    Realloc {
        thread: u64,
        old: u64,
        address: u64,
        size: u64,
    },
    Free {
        thread: u64,
        address: u64,
    },
}

fn integer(mut value: u64, out: &mut Vec<u8>) {
    while value >= 128 {
        out.push((value % 128 + 128) as u8);
        value /= 128;
    }
    out.push(value as u8);
}

/// CRC-16/X-25, bit by bit from the polynomial x^16 + x^12 + x^5 + 1.
fn check_sequence(bytes: &[u8]) -> u16 {
    let mut register = 0xffff_u16;
    for byte in bytes {
        for bit in 0..8 {
            let out = (register ^ u16::from(byte >> bit)) & 1;
            register = (register / 2) ^ if out == 1 { 0x8408 } else { 0 };
        }
    }
    !register
}

/// The frame of a call, with a flag at each end.
pub(crate) fn frame(number: u32, call: Call) -> Vec<u8> {
    let (op, beside, fields) = match call {
        Call::Begin => (7, 1, vec![]),
        Call::Malloc {
            thread,
            address,
            size,
        } => (0, thread, vec![address, size]),
        Call::Calloc {
            thread,
            address,
            size,
        } => (1, thread, vec![address, size]),
        Call::Aligned {
            thread,
            log2,
            address,
            size,
        } => (2, thread, vec![log2, address, size]),
        Call::Realloc {
            thread,
            old,
            address,
            size,
        } => (3, thread, vec![old, address, size]),
        Call::Free { thread, address } => (4, thread, vec![address]),
    };
    let mut content = Vec::new();
    integer(number.into(), &mut content);
    content.push(op | (beside.min(31) as u8) << 3);
    if beside >= 31 {
        integer(beside - 31, &mut content);
    }
    for field in fields {
        integer(field, &mut content);
    }
    content.extend(check_sequence(&content).to_le_bytes());
    let mut frame = vec![0x7e];
    for byte in content {
        match byte {
            0x7d | 0x7e => frame.extend([0x7d, byte ^ 0x20]),
            _ => frame.push(byte),
        }
    }
    frame.push(0x7e);
    frame
}

/// All frames of a run, numbered from 0.
pub(crate) fn frames(calls: &[Call]) -> Vec<Vec<u8>> {
    (0..)
        .zip(calls)
        .map(|(number, call)| frame(number, *call))
        .collect()
}
