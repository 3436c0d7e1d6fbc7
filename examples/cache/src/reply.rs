//! Replies in both versions of the protocol, RESP2 and RESP3, appended to a buffer.

/// The replies of one client that were not sent yet.
#[derive(Debug)]
pub struct Reply {
    bytes: Vec<u8>,
    /// Bytes above which no more values are appended: the client is cut off. 256 MiB, unless set.
    pub most: usize,
    /// Whether the client asked for the third version.
    pub is_third: bool,
}

/// A buffer that is larger is given back once it was sent.
const KEPT_BYTES: usize = 16 << 10;

impl Default for Reply {
    fn default() -> Self {
        Self {
            bytes: Vec::new(),
            most: 256 << 20,
            is_third: false,
        }
    }
}

impl Reply {
    /// What waits to be sent.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Forgets what was sent.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(KEPT_BYTES);
    }

    /// Whether so much waits that the client must be cut off.
    #[must_use]
    pub fn is_too_long(&self) -> bool {
        self.bytes.len() > self.most
    }

    /// `+text`
    pub fn simple(&mut self, text: &str) {
        self.line(b'+', text.as_bytes());
    }

    /// `-text`; line breaks in it become blanks.
    pub fn error(&mut self, text: &str) {
        self.line(b'-', text.replace(['\r', '\n'], " ").as_bytes());
    }

    /// `:number`
    pub fn integer(&mut self, number: i64) {
        self.number(b':', number);
    }

    /// `:number`
    pub fn count(&mut self, number: usize) {
        self.integer(i64::try_from(number).unwrap_or(i64::MAX));
    }

    /// The head of an array of `len` replies.
    pub fn array(&mut self, len: usize) {
        self.head(b'*', len);
    }

    /// The head of a map of `len` pairs of replies: in RESP2 an array of both.
    pub fn map(&mut self, len: usize) {
        match self.is_third {
            true => self.head(b'%', len),
            false => self.head(b'*', 2 * len),
        }
    }

    /// A bulk string.
    pub fn bulk(&mut self, bytes: &[u8]) {
        self.pieces(bytes.len(), std::iter::once(bytes));
    }

    /// A bulk string of `len` bytes that lie in pieces.
    pub fn pieces<'a>(&mut self, len: usize, pieces: impl Iterator<Item = &'a [u8]>) {
        self.head(b'$', len);
        for piece in pieces {
            self.bytes.extend_from_slice(piece);
        }
        self.bytes.extend_from_slice(b"\r\n");
    }

    /// No value.
    pub fn null(&mut self) {
        let null: &[u8] = if self.is_third { b"_\r\n" } else { b"$-1\r\n" };
        self.bytes.extend_from_slice(null);
    }

    /// No array.
    pub fn null_array(&mut self) {
        let null: &[u8] = if self.is_third { b"_\r\n" } else { b"*-1\r\n" };
        self.bytes.extend_from_slice(null);
    }

    fn head(&mut self, kind: u8, len: usize) {
        self.number(kind, i64::try_from(len).unwrap_or(i64::MAX));
    }

    fn number(&mut self, kind: u8, number: i64) {
        let (mut digits, mut start) = ([0; 20], 20);
        let mut rest = number.unsigned_abs();
        while rest > 0 || start == digits.len() {
            start -= 1;
            digits[start] = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        self.bytes.push(kind);
        if number < 0 {
            self.bytes.push(b'-');
        }
        self.bytes.extend_from_slice(&digits[start..]);
        self.bytes.extend_from_slice(b"\r\n");
    }

    fn line(&mut self, kind: u8, text: &[u8]) {
        self.bytes.push(kind);
        self.bytes.extend_from_slice(text);
        self.bytes.extend_from_slice(b"\r\n");
    }
}
