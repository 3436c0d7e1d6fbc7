//! Replies in the protocol's second version (RESP2), appended to a buffer.

use std::io::Write;

/// `+text`
pub fn simple(out: &mut Vec<u8>, text: &str) {
    line(out, b'+', text.as_bytes());
}

/// `-text`; line breaks in it become blanks.
pub fn error(out: &mut Vec<u8>, text: &str) {
    line(out, b'-', text.replace(['\r', '\n'], " ").as_bytes());
}

/// `:number`
pub fn integer(out: &mut Vec<u8>, number: i64) {
    // Writing to a vector cannot fail.
    let _ = write!(out, ":{number}\r\n");
}

/// The head of an array of `len` replies.
pub fn array(out: &mut Vec<u8>, len: usize) {
    let _ = write!(out, "*{len}\r\n");
}

/// The head of a bulk string of `len` bytes; a line break follows the bytes.
pub fn bulk_head(out: &mut Vec<u8>, len: usize) {
    let _ = write!(out, "${len}\r\n");
}

/// A whole bulk string.
pub fn bulk(out: &mut Vec<u8>, bytes: &[u8]) {
    bulk_head(out, bytes.len());
    out.extend_from_slice(bytes);
    out.extend_from_slice(b"\r\n");
}

/// No value.
pub fn null(out: &mut Vec<u8>) {
    out.extend_from_slice(b"$-1\r\n");
}

fn line(out: &mut Vec<u8>, kind: u8, text: &[u8]) {
    out.push(kind);
    out.extend_from_slice(text);
    out.extend_from_slice(b"\r\n");
}
