//! Random and changed bytes: every reply is whole, and the same in whatever pieces the bytes come.

use surefit_cache::store::Store;

use crate::said::SAID;
use crate::{Session, packed};

/// Numbers that a seed decides (SplitMix64).
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

/// Known commands in both forms, and some bytes changed.
fn requests(state: &mut u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..1 + random(state) % 40 {
        let (line, _) = SAID[random(state) as usize % SAID.len()];
        if random(state) % 2 == 0 {
            bytes.extend_from_slice(line.as_bytes());
        } else {
            let words: Vec<&str> = line.split_whitespace().collect();
            bytes.extend_from_slice(format!("*{}\r\n", words.len()).as_bytes());
            for word in words {
                bytes.extend_from_slice(format!("${}\r\n{word}", word.len()).as_bytes());
                bytes.extend_from_slice(b"\r\n");
            }
            continue;
        }
        bytes.extend_from_slice(b"\r\n");
    }
    for _ in 0..[0, 0, 1, 4, 40][random(state) as usize % 5] {
        let at = random(state) as usize % (bytes.len() + 1);
        match random(state) % 3 {
            0 if at < bytes.len() => bytes[at] = random(state) as u8,
            1 if at < bytes.len() => drop(bytes.remove(at)),
            _ => bytes.insert(at, b"*$\r\n-0912:"[random(state) as usize % 10]),
        }
    }
    bytes
}

/// The rest behind one whole reply; `None` if the bytes do not begin with one.
fn behind_reply(bytes: &[u8]) -> Option<&[u8]> {
    let end = bytes.windows(2).position(|pair| pair == b"\r\n")?;
    let (line, mut rest) = (&bytes[..end], &bytes[end + 2..]);
    let number = || std::str::from_utf8(&line[1..]).ok()?.parse::<i64>().ok();
    match line.first()? {
        b'+' | b'-' => {}
        b':' => drop(number()?),
        b'_' if line.len() == 1 => {}
        b'$' => match number()? {
            -1 => {}
            len => {
                let len = usize::try_from(len).ok()?;
                rest = rest.get(len..)?.strip_prefix(b"\r\n")?;
            }
        },
        kind @ (b'*' | b'%') => {
            for _ in 0..number()?.max(0) * if *kind == b'%' { 2 } else { 1 } {
                rest = behind_reply(rest)?;
            }
        }
        _ => return None,
    }
    Some(rest)
}

#[test]
fn any_bytes_get_whole_replies_and_the_same_in_any_pieces() {
    let mut malformed = 0;
    for seed in 0..3000 {
        let mut state = seed;
        let bytes = match seed % 10 {
            0 => (0..random(&mut state) % 300)
                .map(|_| random(&mut state) as u8)
                .collect(),
            _ => requests(&mut state),
        };
        let mut whole = Session::new(packed(1));
        let replies = whole.raw(&bytes);
        let mut rest = &replies[..];
        while !rest.is_empty() {
            let reply = rest;
            rest = behind_reply(rest).unwrap_or_else(|| panic!("{seed}: {}", reply.escape_ascii()));
        }
        let mut pieces = Session::new(packed(1));
        let (mut said, mut left) = (Vec::new(), &bytes[..]);
        while !left.is_empty() {
            let len = 1 + random(&mut state) as usize % 30.min(left.len());
            said.extend(pieces.raw(&left[..len]));
            left = &left[len..];
        }
        let (said, replies) = (said.escape_ascii(), replies.escape_ascii());
        assert_eq!(said.to_string(), replies.to_string(), "{seed}");
        assert_eq!(
            whole.connection.is_closing(),
            pieces.connection.is_closing(),
            "{seed}"
        );
        malformed += u32::from(whole.connection.is_closing());
        whole.cache.shards.number(0).assert_sound();
    }
    assert!(malformed > 300, "{malformed}");
}
