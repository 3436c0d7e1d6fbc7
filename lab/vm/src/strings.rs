//! Strings, and the one that stands for each text that is interned.
//!
//! Those of constants and of names are roots. Those of `intern()` are weak: an entry as weak
//! references have them leads to the string, and the string itself has the entry. So a string that
//! the program drops dies, and what is beside the heap follows what is in it.

use std::hash::{DefaultHasher, Hash, Hasher};

use surefit_gc::Object;

use crate::stop::Trap;
use crate::vm::Vm;
use crate::world::ARRAY_HEADER;

fn hash(text: &[u16]) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

impl Vm<'_> {
    /// The characters of a string.
    pub(crate) fn text(&self, string: Object) -> Vec<u16> {
        let array = Object::of(self.heap.load(string, self.known.value));
        let array = array.filter(|&array| self.class_of(array) == self.known.chars);
        array.map_or_else(Vec::new, |array| self.chars(array, 0, self.length(array)))
    }

    /// Characters of an array.
    pub(crate) fn chars(&self, array: Object, from: u32, count: u32) -> Vec<u16> {
        let mut bytes = vec![0; 2 * count as usize];
        let from = 4 * ARRAY_HEADER as usize + 2 * from as usize;
        self.heap.load_bytes(array, from, &mut bytes);
        bytes
            .chunks_exact(2)
            .map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
            .collect()
    }

    /// A new string.
    pub(crate) fn new_string(&mut self, text: &[u16]) -> Result<Object, Trap> {
        let length = i32::try_from(text.len()).unwrap_or(i32::MAX);
        let array = self.new_array(self.known.chars, length)?;
        let bytes: Vec<u8> = text.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        self.heap
            .store_bytes(array, 4 * ARRAY_HEADER as usize, &bytes);
        self.world.handles.push(array);
        let string = self.new_object(self.known.string)?;
        self.world.handles.pop();
        self.heap.store(string, self.known.value, Some(array));
        Ok(string)
    }

    /// The root of a string constant.
    pub(crate) fn literal(&mut self, text: Vec<u16>) -> Result<u32, Trap> {
        if let Some(&root) = self.literals.get(&text) {
            return Ok(root);
        }
        let string = match self.interned(&text) {
            Some(string) => string,
            None => self.new_string(&text)?,
        };
        self.world.constants.push(string);
        let root = self.world.constants.len() as u32 - 1;
        self.literals.insert(text, root);
        Ok(root)
    }

    /// The string that stands for the text of a string: of a constant, or the first one that was
    /// interned.
    pub(crate) fn intern(&mut self, string: Object) -> Result<Object, Trap> {
        let text = self.text(string);
        if let Some(&root) = self.literals.get(&text) {
            return Ok(self.world.constants[root as usize]);
        }
        if let Some(known) = self.interned(&text) {
            return Ok(known);
        }
        let number = self.new_weak(string, Some(string))?;
        self.world.interned.add(hash(&text), number);
        Ok(string)
    }

    /// The string that was interned, and lives.
    fn interned(&mut self, text: &[u16]) -> Option<Object> {
        let numbers: Vec<u32> = self.world.interned.with(hash(text)).collect();
        numbers.into_iter().find_map(|number| {
            let string = self.world.weak[number as usize - 1].referent;
            let string = string.and_then(|string| self.heap.upgrade(string));
            string.filter(|&string| self.text(string) == text)
        })
    }
}
