//! Class files, as javac writes them up to version 52: read once, into owned parts.
//!
//! The constant pool keeps its indexes, because code and links name constants by them. Attributes
//! that the machine does not use are skipped. Nothing here trusts a length: what is cut short or
//! names a constant of another kind is damaged.

use std::rc::Rc;

/// What is wrong with a class file.
pub(crate) type Parsed<T> = Result<T, &'static str>;

/// Reads big-endian numbers.
#[derive(Clone, Copy)]
pub(crate) struct Bytes<'a>(pub(crate) &'a [u8]);

impl<'a> Bytes<'a> {
    pub(crate) fn take(&mut self, len: usize) -> Parsed<&'a [u8]> {
        let (now, later) = self.0.split_at_checked(len).ok_or("it ends too early")?;
        self.0 = later;
        Ok(now)
    }

    fn array<const N: usize>(&mut self) -> Parsed<[u8; N]> {
        Ok(self.take(N)?.try_into().expect("so many were taken"))
    }

    pub(crate) fn u8(&mut self) -> Parsed<u8> {
        Ok(self.array::<1>()?[0])
    }

    pub(crate) fn u16(&mut self) -> Parsed<u16> {
        self.array().map(u16::from_be_bytes)
    }

    pub(crate) fn u32(&mut self) -> Parsed<u32> {
        self.array().map(u32::from_be_bytes)
    }

    fn u64(&mut self) -> Parsed<u64> {
        self.array().map(u64::from_be_bytes)
    }

    /// As many as a number of two bytes says.
    fn many<T>(&mut self, mut one: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let count = self.u16()?;
        (0..count).map(|_| one(self)).collect()
    }
}

/// A constant, with the indexes of its parts.
#[derive(Clone, Debug)]
pub(crate) enum Constant {
    /// The second half of a long constant, index 0, and the kinds that `invokedynamic` needs.
    Nothing,
    /// A text, as names and descriptors are.
    Text(Rc<str>),
    /// A text that only characters of Java can hold, with half of a surrogate pair; or none.
    Modified(Rc<[u8]>),
    Word(u32),
    Wide(u64),
    Class(u16),
    String(u16),
    NameAndType(u16, u16),
    /// A field or a method: its class, its name and type.
    Member(u16, u16),
}

/// The constant pool.
#[derive(Debug)]
pub(crate) struct Pool(Vec<Constant>);

/// A field or a method that code names.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) class: Rc<str>,
    pub(crate) name: Rc<str>,
    pub(crate) descriptor: Rc<str>,
}

impl Pool {
    fn read(bytes: &mut Bytes<'_>) -> Parsed<Self> {
        let count = usize::from(bytes.u16()?);
        let mut all = vec![Constant::Nothing];
        while all.len() < count {
            let constant = Self::constant(bytes)?;
            let is_wide = matches!(constant, Constant::Wide(_));
            all.push(constant);
            if is_wide {
                all.push(Constant::Nothing);
            }
        }
        Ok(Self(all))
    }

    fn constant(bytes: &mut Bytes<'_>) -> Parsed<Constant> {
        Ok(match bytes.u8()? {
            1 => {
                let len = bytes.u16()?;
                let bytes = bytes.take(len.into())?;
                match text(bytes) {
                    Some(text) => Constant::Text(text),
                    None => Constant::Modified(bytes.into()),
                }
            }
            3 | 4 => Constant::Word(bytes.u32()?),
            5 | 6 => Constant::Wide(bytes.u64()?),
            7 => Constant::Class(bytes.u16()?),
            8 => Constant::String(bytes.u16()?),
            9..=11 => Constant::Member(bytes.u16()?, bytes.u16()?),
            12 => Constant::NameAndType(bytes.u16()?, bytes.u16()?),
            15 => bytes.take(3).map(|_| Constant::Nothing)?,
            16 => bytes.take(2).map(|_| Constant::Nothing)?,
            17 | 18 => bytes.take(4).map(|_| Constant::Nothing)?,
            _ => return Err("a constant is of an unknown kind"),
        })
    }

    pub(crate) fn get(&self, index: u16) -> Parsed<&Constant> {
        self.0
            .get(usize::from(index))
            .ok_or("there is no such constant")
    }

    fn bytes(&self, index: u16) -> Parsed<&[u8]> {
        match self.get(index)? {
            Constant::Text(text) => Ok(text.as_bytes()),
            Constant::Modified(bytes) => Ok(bytes),
            _ => Err("a constant is no text"),
        }
    }

    /// A name or a descriptor; all that name one constant share its text. O(1).
    pub(crate) fn text(&self, index: u16) -> Parsed<Rc<str>> {
        match self.get(index)? {
            Constant::Text(text) => Ok(text.clone()),
            Constant::Modified(_) => Err("a name is no text"),
            _ => Err("a constant is no text"),
        }
    }

    /// The characters of a string constant's text.
    pub(crate) fn units(&self, index: u16) -> Parsed<Vec<u16>> {
        match self.get(index)? {
            Constant::Text(text) => Ok(text.encode_utf16().collect()),
            _ => units(self.bytes(index)?),
        }
    }

    pub(crate) fn class(&self, index: u16) -> Parsed<Rc<str>> {
        match self.get(index)? {
            Constant::Class(name) => self.text(*name),
            _ => Err("a constant is no class"),
        }
    }

    pub(crate) fn member(&self, index: u16) -> Parsed<Member> {
        let Constant::Member(class, named) = *self.get(index)? else {
            return Err("a constant is no field or method");
        };
        let Constant::NameAndType(name, descriptor) = *self.get(named)? else {
            return Err("a constant is no name and type");
        };
        Ok(Member {
            class: self.class(class)?,
            name: self.text(name)?,
            descriptor: self.text(descriptor)?,
        })
    }
}

/// The text of modified UTF-8: without a zero and surrogate pairs, that is UTF-8.
fn text(bytes: &[u8]) -> Option<Rc<str>> {
    let is_unmodified = bytes.iter().all(|&byte| byte < 0xF0);
    match std::str::from_utf8(bytes) {
        Ok(text) if is_unmodified => Some(text.into()),
        _ => Some(String::from_utf16(&units(bytes).ok()?).ok()?.into()),
    }
}

/// Modified UTF-8 as the characters of Java.
fn units(bytes: &[u8]) -> Parsed<Vec<u16>> {
    const WRONG: &str = "a text is not modified UTF-8";
    let mut units = Vec::with_capacity(bytes.len());
    let mut rest = bytes.iter().copied().map(u16::from);
    let follow = |next: Option<u16>| {
        let next = next.filter(|next| next & 0xC0 == 0x80);
        next.map(|next| next & 0x3F).ok_or(WRONG)
    };
    while let Some(first) = rest.next() {
        units.push(match first {
            0..0x80 => first,
            0xC0..0xE0 => (first & 0x1F) << 6 | follow(rest.next())?,
            0xE0..0xF0 => {
                let middle = follow(rest.next())?;
                (first & 0x0F) << 12 | middle << 6 | follow(rest.next())?
            }
            _ => return Err(WRONG),
        });
    }
    Ok(units)
}

/// A field as declared.
#[derive(Debug)]
pub(crate) struct FieldFile {
    pub(crate) flags: u16,
    pub(crate) name: Rc<str>,
    pub(crate) descriptor: Rc<str>,
    /// The constant of a static field.
    pub(crate) constant: Option<u16>,
}

/// A method as declared.
#[derive(Debug)]
pub(crate) struct MethodFile {
    pub(crate) flags: u16,
    pub(crate) name: Rc<str>,
    pub(crate) descriptor: Rc<str>,
    pub(crate) code: Option<Rc<CodeFile>>,
}

/// The code of a method.
#[derive(Debug)]
pub(crate) struct CodeFile {
    pub(crate) max_stack: u16,
    pub(crate) max_locals: u16,
    pub(crate) bytes: Vec<u8>,
    pub(crate) handlers: Vec<HandlerFile>,
    /// From a byte of the code on: the line of the source.
    pub(crate) lines: Vec<(u16, u16)>,
}

/// An entry of the table of exceptions, in bytes of the code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HandlerFile {
    pub(crate) start: u16,
    pub(crate) end: u16,
    pub(crate) handler: u16,
    /// The constant of the class that is caught; 0 for all.
    pub(crate) caught: u16,
}

/// A class file.
#[derive(Debug)]
pub(crate) struct ClassFile {
    pub(crate) pool: Pool,
    pub(crate) flags: u16,
    pub(crate) name: Rc<str>,
    pub(crate) superclass: Option<Rc<str>>,
    pub(crate) interfaces: Vec<Rc<str>>,
    pub(crate) fields: Vec<FieldFile>,
    pub(crate) methods: Vec<MethodFile>,
    /// The name of the source file.
    pub(crate) source: Option<Rc<str>>,
    /// Its own name, if it is declared in another class; empty if it is anonymous.
    pub(crate) simple_name: Option<Rc<str>>,
}

impl ClassFile {
    /// Reads a class file. O(its bytes).
    pub(crate) fn parse(bytes: &[u8]) -> Parsed<Self> {
        let mut bytes = Bytes(bytes);
        if bytes.u32()? != 0xCAFE_BABE {
            return Err("it does not begin as a class file");
        }
        let (_minor, major) = (bytes.u16()?, bytes.u16()?);
        if !(45..=52).contains(&major) {
            return Err("its version is not one of 45 to 52: compile with `javac --release 8`");
        }
        let pool = Pool::read(&mut bytes)?;
        let flags = bytes.u16()?;
        let name = pool.class(bytes.u16()?)?;
        let superclass = match bytes.u16()? {
            0 => None,
            index => Some(pool.class(index)?),
        };
        let interfaces = bytes.many(|bytes| pool.class(bytes.u16()?))?;
        let fields = bytes.many(|bytes| field(bytes, &pool))?;
        let methods = bytes.many(|bytes| method(bytes, &pool))?;
        let (mut source, mut simple_name) = (None, None);
        attributes(&mut bytes, &pool, |attribute, mut value| {
            match attribute {
                b"SourceFile" => source = Some(pool.text(value.u16()?)?),
                b"InnerClasses" => simple_name = inner_name(value, &pool, &name)?,
                _ => {}
            }
            Ok(())
        })?;
        Ok(Self {
            pool,
            flags,
            name,
            superclass,
            interfaces,
            fields,
            methods,
            source,
            simple_name,
        })
    }
}

/// Calls `one` with the name and the bytes of each attribute.
fn attributes(
    bytes: &mut Bytes<'_>,
    pool: &Pool,
    mut one: impl FnMut(&[u8], Bytes<'_>) -> Parsed<()>,
) -> Parsed<()> {
    for _ in 0..bytes.u16()? {
        let name = bytes.u16()?;
        let len = bytes.u32()? as usize;
        let value = Bytes(bytes.take(len)?);
        one(pool.bytes(name)?, value)?;
    }
    Ok(())
}

/// What a class is called in the one that it is declared in, if the attribute lists it.
fn inner_name(mut value: Bytes<'_>, pool: &Pool, class: &str) -> Parsed<Option<Rc<str>>> {
    let all = value.many(|value| {
        let (inner, _outer, name, _flags) =
            (value.u16()?, value.u16()?, value.u16()?, value.u16()?);
        Ok((pool.class(inner)?, name))
    })?;
    let own = all.iter().find(|(inner, _)| **inner == *class);
    own.map(|&(_, name)| match name {
        0 => Ok("".into()),
        name => pool.text(name),
    })
    .transpose()
}

fn field(bytes: &mut Bytes<'_>, pool: &Pool) -> Parsed<FieldFile> {
    let flags = bytes.u16()?;
    let (name, descriptor) = (pool.text(bytes.u16()?)?, pool.text(bytes.u16()?)?);
    let mut constant = None;
    attributes(bytes, pool, |name, mut value| {
        if name == b"ConstantValue" {
            constant = Some(value.u16()?);
        }
        Ok(())
    })?;
    Ok(FieldFile {
        flags,
        name,
        descriptor,
        constant,
    })
}

fn method(bytes: &mut Bytes<'_>, pool: &Pool) -> Parsed<MethodFile> {
    let flags = bytes.u16()?;
    let (name, descriptor) = (pool.text(bytes.u16()?)?, pool.text(bytes.u16()?)?);
    let mut found = None;
    attributes(bytes, pool, |name, value| {
        if name == b"Code" {
            found = Some(Rc::new(code(value, pool)?));
        }
        Ok(())
    })?;
    Ok(MethodFile {
        flags,
        name,
        descriptor,
        code: found,
    })
}

fn code(mut bytes: Bytes<'_>, pool: &Pool) -> Parsed<CodeFile> {
    let (max_stack, max_locals) = (bytes.u16()?, bytes.u16()?);
    let len = bytes.u32()? as usize;
    let code = bytes.take(len)?.to_vec();
    if code.is_empty() || code.len() > usize::from(u16::MAX) {
        return Err("a method has no code, or more than 65535 bytes of it");
    }
    let handlers = bytes.many(|bytes| {
        Ok(HandlerFile {
            start: bytes.u16()?,
            end: bytes.u16()?,
            handler: bytes.u16()?,
            caught: bytes.u16()?,
        })
    })?;
    let mut lines = Vec::new();
    attributes(&mut bytes, pool, |name, mut value| {
        if name == b"LineNumberTable" {
            lines.extend(value.many(|value| Ok((value.u16()?, value.u16()?)))?);
        }
        Ok(())
    })?;
    Ok(CodeFile {
        max_stack,
        max_locals,
        bytes: code,
        handlers,
        lines,
    })
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::{Bytes, ClassFile, text, units};
    use crate::written::class_file;

    #[test]
    fn fields_of_one_name_share_its_text() {
        let bytes = class_file("A", "java/lang/Object", 2, None);
        let file = ClassFile::parse(&bytes).expect("a class file");
        let [first, second] = &file.fields[..] else {
            panic!("two fields: {file:?}");
        };
        assert!(Rc::ptr_eq(&first.name, &second.name));
        assert!(Rc::ptr_eq(&first.descriptor, &second.descriptor));
    }

    #[test]
    fn modified_utf_8_has_zero_and_surrogates() {
        let bytes = [
            b'a', 0xC0, 0x80, 0xC3, 0xA9, 0xED, 0xA0, 0xBD, 0xED, 0xB8, 0x80,
        ];
        assert_eq!(units(&bytes), Ok(vec![0x61, 0, 0xE9, 0xD83D, 0xDE00]));
        for wrong in [
            &[0x80][..],
            &[0xC3],
            &[0xC3, 0x41],
            &[0xE0, 0x80],
            &[0xF0, 0x80, 0x80, 0x80],
        ] {
            assert!(units(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn names_are_of_all_characters_but_halves_of_pairs() {
        let pair = [0xED, 0xA0, 0xBD, 0xED, 0xB8, 0x80];
        assert_eq!(text(&pair).as_deref(), Some("\u{1F600}"));
        assert_eq!(text(&[b'a', 0xC0, 0x80]).as_deref(), Some("a\0"));
        assert_eq!(text("\u{E9}\u{1F600}".as_bytes()), None);
        assert_eq!(text(&pair[..3]), None);
        assert_eq!(text(&pair[..2]), None);
    }

    #[test]
    fn what_is_cut_short_is_damaged() {
        assert_eq!(Bytes(&[1, 2]).u32(), Err("it ends too early"));
        let head = [0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 53, 0, 1];
        let newer = ClassFile::parse(&head).expect_err("too new");
        assert!(newer.contains("--release 8"), "{newer}");
        assert!(ClassFile::parse(&head[..6]).is_err());
    }
}
