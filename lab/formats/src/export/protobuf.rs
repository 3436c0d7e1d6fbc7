//! Fields of protobuf messages.

/// A message that grows.
#[derive(Debug, Default)]
pub(super) struct Message(pub(super) Vec<u8>);

impl Message {
    /// A field that is a number; 0 is the same as no field.
    pub(super) fn number(&mut self, field: u32, value: u64) -> &mut Self {
        if value != 0 {
            self.integer(u64::from(field) << 3);
            self.integer(value);
        }
        self
    }

    /// A field of bytes: a text, or another message.
    pub(super) fn bytes(&mut self, field: u32, bytes: &[u8]) -> &mut Self {
        self.integer(u64::from(field) << 3 | 2);
        self.integer(bytes.len() as u64);
        self.0.extend(bytes);
        self
    }

    /// A field of several numbers, packed.
    pub(super) fn numbers(
        &mut self,
        field: u32,
        values: impl IntoIterator<Item = u64>,
    ) -> &mut Self {
        let mut packed = Self::default();
        for value in values {
            packed.integer(value);
        }
        self.bytes(field, &packed.0)
    }

    /// A base-128 integer.
    fn integer(&mut self, mut value: u64) {
        while value >= 128 {
            self.0.push(value.to_le_bytes()[0] | 128);
            value >>= 7;
        }
        self.0.push(value.to_le_bytes()[0]);
    }
}
