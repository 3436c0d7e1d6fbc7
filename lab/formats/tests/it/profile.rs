//! A reader of profiles, as much as the tests need: protobuf messages as lists of fields.

use std::collections::BTreeMap;
use std::io::Read;

/// A field's value.
#[derive(Clone, Debug)]
enum Value {
    Number(u64),
    Bytes(Vec<u8>),
}

/// A message: its fields in the order in which they stand.
struct Message(Vec<(u32, Value)>);

fn integer(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..).step_by(7) {
        let (first, rest) = bytes.split_first().expect("a byte");
        *bytes = rest;
        value |= u64::from(first & 127) << shift;
        if *first < 128 {
            break;
        }
    }
    value
}

impl Message {
    fn read(mut bytes: &[u8]) -> Self {
        let mut fields = Vec::new();
        while !bytes.is_empty() {
            let tag = integer(&mut bytes);
            let value = match tag & 7 {
                0 => Value::Number(integer(&mut bytes)),
                2 => {
                    let length = usize::try_from(integer(&mut bytes)).expect("short");
                    let (value, rest) = bytes.split_at(length);
                    bytes = rest;
                    Value::Bytes(value.to_vec())
                }
                other => panic!("wire type {other}"),
            };
            fields.push((u32::try_from(tag >> 3).expect("a field"), value));
        }
        Self(fields)
    }

    fn number(&self, field: u32) -> u64 {
        let found = self.0.iter().rfind(|(number, _)| *number == field);
        match found {
            None => 0,
            Some((_, Value::Number(value))) => *value,
            Some(_) => panic!("field {field} is no number"),
        }
    }

    fn all(&self, field: u32) -> impl Iterator<Item = &[u8]> {
        let fields = self.0.iter().filter(move |(number, _)| *number == field);
        fields.map(move |(_, value)| match value {
            Value::Bytes(bytes) => &bytes[..],
            Value::Number(_) => panic!("field {field} is a number"),
        })
    }

    fn numbers(&self, field: u32) -> Vec<u64> {
        let mut values = Vec::new();
        for mut packed in self.all(field) {
            while !packed.is_empty() {
                values.push(integer(&mut packed));
            }
        }
        values
    }
}

/// A profile, with names in place of numbers.
pub(crate) struct Profile {
    pub(crate) sample_types: Vec<(String, String)>,
    pub(crate) default_sample_type: String,
    pub(crate) comment: String,
    /// By the frames of the stack, the innermost first: `function file:line module address`.
    pub(crate) samples: BTreeMap<Vec<String>, Vec<u64>>,
}

/// Unpacks and reads a profile. Every number that it names must be there.
pub(crate) fn read(gzip: &[u8]) -> Profile {
    let mut bytes = Vec::new();
    let mut decoder = flate2::read::GzDecoder::new(gzip);
    decoder.read_to_end(&mut bytes).expect("gzip");
    let profile = Message::read(&bytes);
    let strings: Vec<_> = profile
        .all(6)
        .map(|text| String::from_utf8(text.to_vec()).expect("UTF-8"))
        .collect();
    assert_eq!(strings[0], "", "the first string is empty");
    let text = |number: u64| strings[usize::try_from(number).expect("small")].clone();
    let by_id = |field| -> BTreeMap<u64, Message> {
        let all: Vec<_> = profile.all(field).map(Message::read).collect();
        let count = all.len();
        let map: BTreeMap<_, _> = all
            .into_iter()
            .map(|message| (message.number(1), message))
            .collect();
        assert!(
            map.len() == count && !map.contains_key(&0),
            "ids are distinct and not 0"
        );
        map
    };
    let (mappings, locations, functions) = (by_id(3), by_id(4), by_id(5));
    let frame = |location: &u64| {
        let location = &locations[location];
        let module = match location.number(2) {
            0 => String::new(),
            mapping => text(mappings[&mapping].number(5)),
        };
        let lines: Vec<_> = location.all(4).map(Message::read).collect();
        let (function, line) = match &lines[..] {
            [line] => (&functions[&line.number(1)], line.number(2)),
            [] => return format!("? {module} {:x}", location.number(3)),
            other => panic!("{} lines", other.len()),
        };
        let (name, file) = (text(function.number(2)), text(function.number(4)));
        format!("{name} {file}:{line} {module} {:x}", location.number(3))
    };
    let mut samples = BTreeMap::new();
    for sample in profile.all(2).map(Message::read) {
        let frames = sample.numbers(1).iter().map(frame).collect();
        let values = sample.numbers(2);
        assert!(
            samples.insert(frames, values).is_none(),
            "a stack occurs once"
        );
    }
    let sample_types = profile.all(1).map(Message::read);
    Profile {
        sample_types: sample_types
            .map(|kind| (text(kind.number(1)), text(kind.number(2))))
            .collect(),
        default_sample_type: text(profile.number(14)),
        comment: text(profile.number(13)),
        samples,
    }
}
