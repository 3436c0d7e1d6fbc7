//! Strings: their bytes, their characters in pieces, and how maps find them.

mod common;

use std::hash::Hasher;

use common::{ByDefault, ByShifted, DEFAULT, PIECES, SMALL_PIECES, boxed, with_refusals};
use surefit_collections::{ByteHeap, ByteString, Checked, HashMap, Lookup, Release};
use surefit_collections::{String as Moving, Vec as MovingVec};

/// Characters of one to four bytes.
const CHARACTERS: [&str; 4] = ["a", "ß", "€", "🦀"];

fn text(len: usize) -> String {
    (0..len).map(|i| CHARACTERS[(i * 7 + i / 5) % 4]).collect()
}

#[test]
fn characters_that_straddle_pieces_are_shown_whole() {
    for config in [&DEFAULT, &SMALL_PIECES] {
        let mut heap = boxed(1 << 20, config);
        for len in [0, 1, 5, 30, 63, 64, 65, 200, 1000, 3000] {
            let expected = text(len);
            let mut moving = Moving::new();
            for character in expected.chars() {
                moving
                    .push_str(&mut heap, character.encode_utf8(&mut [0; 4]))
                    .expect("room");
            }
            assert_eq!(moving.display(&heap).to_string(), expected);
            assert!(moving.equals(&heap, &expected));
            assert_eq!(moving.check(&heap), Ok(()));
            assert_eq!(
                (moving.len(), moving.is_empty()),
                (expected.len(), len == 0)
            );
            match moving.as_str(&heap) {
                Some(text) => assert_eq!(text, expected),
                None => assert!(expected.len() > config.division().small_bytes()),
            }
            assert_eq!(moving.as_bytes().len(), expected.len());
            let bytes = moving.into_bytes();
            assert!(bytes.slices(&heap).flatten().eq(expected.as_bytes()));
            bytes.free(&mut heap);
        }
        assert_eq!(heap.live_blocks().count(), 0);
    }
}

#[test]
fn strings_of_one_length_differ_by_any_byte() {
    let mut heap = boxed(1 << 20, &SMALL_PIECES);
    for len in [1, 63, 64, 65, 300] {
        let expected = vec![b'x'; len];
        let bytes = ByteString::from_bytes(&heap, &expected).expect("room");
        assert!(bytes.equals(&heap, &expected));
        assert!(!bytes.equals(&heap, &expected[1..]));
        for at in [0, len / 2, len - 1] {
            let mut other = expected.clone();
            other[at] = b'y';
            assert!(!bytes.equals(&heap, &other));
        }
        assert_eq!(bytes.as_slice(&heap).is_some(), len <= 64);
        bytes.free(&mut heap);
    }
}

#[test]
fn a_string_is_the_same_key_whatever_room_it_has() {
    for config in [&DEFAULT, &PIECES] {
        let mut heap = boxed(1 << 20, config);
        for len in [0, 10, 64, 100, 5000, 10_000, 20_000] {
            let expected: Vec<u8> = (0..len).map(|i| (i / 3) as u8).collect();
            let exact = ByteString::from_bytes(&heap, &expected).expect("room");
            let mut roomy = MovingVec::new();
            roomy.reserve(&mut heap, 2 * len + 40_000).expect("room");
            roomy.extend_from_slice(&mut heap, &expected).expect("room");
            let roomy = ByteString::from_vec(roomy);
            assert!(Lookup::<_, ByteString>::is(&exact, &roomy, &heap));
            let mut map = HashMap::<ByteString, u32, ByDefault>::default();
            map.insert(&mut heap, roomy, 7).expect("room");
            assert_eq!(map.get(&heap, &exact), Some(&7));
            assert_eq!(map.get(&heap, &expected[..]), Some(&7));
            // The key that was there stays, and the other one is released.
            assert_eq!(map.insert(&mut heap, exact, 8).expect("room"), Some(7));
            let (key, value) = map.remove_entry(&mut heap, &expected[..]).expect("there");
            assert_eq!((key.len(), value), (len, 8));
            key.into_vec().free(&mut heap);
            map.free(&mut heap);
            assert_eq!(heap.live_blocks().count(), 0);
        }
    }
}

#[test]
fn a_map_finds_strings_by_text() {
    let mut heap = boxed(4 << 20, &DEFAULT);
    let mut map = HashMap::<Moving, usize, ByDefault>::default();
    for i in 0..3000 {
        let key = Moving::from_text(&heap, &text(i % 250).replace('a', &i.to_string()));
        map.insert(&mut heap, key.expect("room"), i).expect("room");
    }
    for i in 0..3000 {
        let key = text(i % 250).replace('a', &i.to_string());
        match map.get_key_value(&heap, key.as_str()) {
            Some((found, _)) => assert!(found.equals(&heap, &key)),
            None => panic!("{key} is not there"),
        }
        assert!(!map.contains_key(&heap, format!("{key}?").as_str()));
    }
    let copy = map.try_clone(&mut heap).expect("room");
    map.free(&mut heap);
    assert!(copy.iter(&heap).all(|(key, value)| {
        let key = key.display(&heap).to_string();
        copy.get(&heap, key.as_str()) == Some(value)
    }));
    copy.free(&mut heap);
    assert_eq!(heap.live_blocks().count(), 0);
}

#[test]
fn a_refused_string_changes_nothing() {
    let mut heap = boxed(128 << 10, &SMALL_PIECES);
    for len in [0, 3, 20, 64, 500] {
        let expected = text(len);
        let (_, mut moving) = with_refusals(&mut heap, |heap| Moving::from_text(&*heap, &expected));
        let (_, copy) = with_refusals(&mut heap, |heap| {
            let live = heap.live_blocks().count();
            let copy = moving.try_clone(&*heap);
            assert!(copy.is_ok() || heap.live_blocks().count() == live);
            copy
        });
        let (refusals, ()) = with_refusals(&mut heap, |heap| {
            let pushed = moving.push_str(heap, &expected);
            let times = 1 + usize::from(pushed.is_ok());
            assert!(moving.equals(heap, &expected.repeat(times)));
            pushed
        });
        assert!(refusals > 0 || len < 20);
        assert!(copy.equals(&heap, &expected));
        moving.free(&mut heap);
        copy.free(&mut heap);
        assert_eq!(heap.live_blocks().count(), 0);
    }
}

#[test]
fn a_hasher_that_sees_parts_of_a_key_only_finds_it() {
    let mut heap = boxed(1 << 20, &PIECES);
    let mut map = HashMap::<Moving, usize, ByShifted>::default();
    for i in 0..300 {
        let key = Moving::from_text(&heap, &text(i)).expect("room");
        map.insert(&mut heap, key, i).expect("room");
    }
    assert!((0..300).all(|i| map.get(&heap, text(i).as_str()) == Some(&i)));
    map.free(&mut heap);
    assert_eq!(heap.live_blocks().count(), 0);
}

/// A key of two strings, which is found by two slices.
#[derive(Debug)]
struct Name {
    first: Moving,
    last: Moving,
}

impl<H: ByteHeap<Names = Checked>> Lookup<H, (&str, &str)> for Name {
    fn hash_of<S: Hasher>(query: &(&str, &str), heap: &H, state: &mut S) {
        <Moving as Lookup<H, str>>::hash_of(query.0, heap, state);
        <Moving as Lookup<H, str>>::hash_of(query.1, heap, state);
    }

    fn is(&self, query: &(&str, &str), heap: &H) -> bool {
        self.first.equals(heap, query.0) && self.last.equals(heap, query.1)
    }
}

impl<H: ByteHeap<Names = Checked>> Lookup<H, Name> for Name {
    fn hash_of<S: Hasher>(query: &Name, heap: &H, state: &mut S) {
        <Moving as Lookup<H, Moving>>::hash_of(&query.first, heap, state);
        <Moving as Lookup<H, Moving>>::hash_of(&query.last, heap, state);
    }

    fn is(&self, query: &Name, heap: &H) -> bool {
        Lookup::<H, Moving>::is(&self.first, &query.first, heap)
            && Lookup::<H, Moving>::is(&self.last, &query.last, heap)
    }
}

impl<H: ByteHeap<Names = Checked>> Release<H> for Name {
    fn release(self, heap: &mut H) {
        (self.first, self.last).release(heap);
    }
}

#[test]
fn keys_of_several_strings_are_found_by_slices() {
    let mut heap = boxed(1 << 20, &PIECES);
    let mut map = HashMap::<Name, usize, ByDefault>::default();
    let names: Vec<(String, String)> = (0..400).map(|i| (text(i % 90), text(i / 3))).collect();
    for (i, (first, last)) in names.iter().enumerate() {
        let first = Moving::from_text(&heap, first).expect("room");
        let last = Moving::from_text(&heap, last).expect("room");
        map.insert(&mut heap, Name { first, last }, i)
            .expect("room");
    }
    for (first, last) in &names {
        let found = map.get(&heap, &(first.as_str(), last.as_str()));
        assert_eq!(
            &names[*found.expect("it is there")],
            &(first.clone(), last.clone())
        );
    }
    assert_eq!(map.get(&heap, &("a", "no such name")), None);
    map.free(&mut heap);
    assert_eq!(heap.live_blocks().count(), 0);
}
