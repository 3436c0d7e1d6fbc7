//! Descriptors of fields and methods: what a value takes.

use crate::classfile::Parsed;

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One word that is no reference.
    Word,
    /// Two words: a long or a double.
    Wide,
    Reference,
}

impl Kind {
    /// Words of a field, slots of the stack.
    pub(crate) const fn words(self) -> u16 {
        match self {
            Self::Wide => 2,
            Self::Word | Self::Reference => 1,
        }
    }

    /// Of a field's descriptor.
    pub(crate) fn of(descriptor: &str) -> Parsed<Self> {
        match first(descriptor.as_bytes())? {
            (kind, []) => Ok(kind),
            _ => Err("a descriptor is too long"),
        }
    }
}

/// The first type of a descriptor, and the rest.
fn first(descriptor: &[u8]) -> Parsed<(Kind, &[u8])> {
    const WRONG: &str = "a descriptor is not one";
    let (head, mut rest) = descriptor.split_first().ok_or(WRONG)?;
    Ok(match head {
        b'B' | b'C' | b'F' | b'I' | b'S' | b'Z' => (Kind::Word, rest),
        b'J' | b'D' => (Kind::Wide, rest),
        b'L' => {
            let end = rest.iter().position(|&byte| byte == b';').ok_or(WRONG)?;
            (Kind::Reference, &rest[end + 1..])
        }
        b'[' => {
            while let [b'[', more @ ..] = rest {
                rest = more;
            }
            // Of an element that is no array: this calls itself once.
            (Kind::Reference, first(rest)?.1)
        }
        _ => return Err(WRONG),
    })
}

/// The name of a primitive type, by its letter.
pub(crate) const fn primitive(letter: u8) -> &'static str {
    match letter {
        b'Z' => "boolean",
        b'B' => "byte",
        b'C' => "char",
        b'S' => "short",
        b'I' => "int",
        b'J' => "long",
        b'F' => "float",
        _ => "double",
    }
}

/// What a method takes and returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Signature {
    /// Slots of the arguments, `this` not included.
    pub(crate) arguments: u16,
    /// `None` for `void`.
    pub(crate) returns: Option<Kind>,
}

impl Signature {
    /// Of a method's descriptor.
    pub(crate) fn of(descriptor: &str) -> Parsed<Self> {
        let mut rest = descriptor.as_bytes();
        rest = rest
            .strip_prefix(b"(")
            .ok_or("a method's descriptor begins with (")?;
        let mut arguments = 0;
        while !rest.starts_with(b")") {
            let (kind, more) = first(rest)?;
            arguments += kind.words();
            rest = more;
            if arguments > 255 {
                return Err("a method has more than 255 words of arguments");
            }
        }
        let returns = match &rest[1..] {
            b"V" => None,
            other => match first(other)? {
                (kind, []) => Some(kind),
                _ => return Err("a descriptor is too long"),
            },
        };
        Ok(Self { arguments, returns })
    }

    /// Slots of the result.
    pub(crate) const fn results(self) -> u16 {
        match self.returns {
            Some(kind) => kind.words(),
            None => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, Signature};

    #[test]
    fn arguments_are_counted_in_words() {
        let signature = Signature::of("(IJ[[DLjava/lang/String;Z)[B").expect("valid");
        assert_eq!((signature.arguments, signature.results()), (6, 1));
        assert_eq!(signature.returns, Some(Kind::Reference));
        assert_eq!(Signature::of("()V").expect("valid").results(), 0);
    }

    #[test]
    fn others_are_damaged() {
        for wrong in [
            "", "V", "(", "(V)V", "()", "(L)V", "()II", "([)V", "(Lx)V", "([V)V",
        ] {
            assert!(Signature::of(wrong).is_err(), "{wrong}");
        }
        for wrong in ["", "[", "[V", "II", "L", "Lx", "V"] {
            assert!(Kind::of(wrong).is_err(), "{wrong}");
        }
        let long = format!("({})V", "J".repeat(128));
        assert!(Signature::of(&long).is_err());
    }
}
