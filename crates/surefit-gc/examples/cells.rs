//! The memory of a small language: numbers, cons cells and arrays in 64 KiB, which is collected
//! when it is full.
//!
//! ```text
//! value   0: nil   odd: the number value >> 1   else even: the object with number value >> 1
//! cell    | 0          | head | tail |
//! array   | length * 2 + 1 | element 0 | ... |
//! ```
//! The rule for every client: what it needs after an allocation is on the stack before the
//! allocation. `Value` says what its bits refer to ([`Word`]), so the same program runs under
//! `Incremental` and `Generational`.

use std::mem::MaybeUninit;

use surefit_core::Refused;
use surefit_freelist::{Bitmap, Immediate, Segregated, Tree};
use surefit_gc::{Client, Collector, Edges, FreeList, Object, Scanned, Settings, Space, Word};

type Heap<'m> = Collector<'m, FreeList<'m, Segregated<Bitmap, Immediate, Tree, 256>>>;

/// A value of the language, as it is stored in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Value(u32);

const NIL: Value = Value(0);

impl Value {
    const fn number(number: u32) -> Self {
        Self(number << 1 | 1)
    }

    const fn reference(object: Object) -> Self {
        Self(object.number() << 1)
    }

    const fn as_number(self) -> u32 {
        self.0 >> 1
    }

    const fn as_object(self) -> Option<Object> {
        if self.0 & 1 == 1 {
            None
        } else {
            Object::of(self.0 >> 1)
        }
    }
}

/// What every collector must know of a value that it stores: to which object it refers.
impl Word for Value {
    type Bits = u32;

    fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    fn to_bits(self) -> u32 {
        self.0
    }

    fn reference(self) -> Option<Object> {
        self.as_object()
    }
}

/// What the collector must know: the stack, and which words of an object are values.
struct Stack(Vec<Value>);

impl<S: Space> Client<S> for Stack {
    fn roots(&mut self, edges: &mut Edges<'_>) {
        let objects = self.0.iter().filter_map(|value| value.as_object());
        objects.for_each(|object| edges.report(object));
    }

    fn scan(&mut self, object: &Scanned<'_, S>, from: u32, edges: &mut Edges<'_>) {
        let values = match object.load(0) {
            0 => 2,
            length => length >> 1,
        };
        let to = values.min(from + Edges::STRIDE);
        if to < values {
            edges.again_from(to);
        }
        for index in from..to {
            let target = object.load_as::<Value>(1 + index).as_object();
            target.into_iter().for_each(|target| edges.report(target));
        }
    }
}

struct Language<'m> {
    heap: Heap<'m>,
    stack: Stack,
}

impl Language<'_> {
    fn push(&mut self, value: Value) {
        self.stack.0.push(value);
    }

    fn pop(&mut self) -> Value {
        self.stack.0.pop().expect("the program pushed it")
    }

    fn get(&self, object: Value, index: u32) -> Value {
        let object = object.as_object().expect("an object");
        self.heap.load_as(object, 1 + index)
    }

    fn set(&mut self, object: Value, index: u32, value: Value) {
        let object = object.as_object().expect("an object");
        self.heap.store(object, 1 + index, value);
    }

    /// Replaces the top two values of the stack by a cell of them; the tail is on top.
    fn cons(&mut self) -> Result<(), Refused> {
        let cell = Value::reference(self.heap.alloc(&mut self.stack, 12)?);
        let (tail, head) = (self.pop(), self.pop());
        self.set(cell, 0, head);
        self.set(cell, 1, tail);
        self.push(cell);
        Ok(())
    }

    /// Pushes an array of nils.
    fn array(&mut self, length: u32) -> Result<(), Refused> {
        let object = self.heap.alloc(&mut self.stack, 4 + 4 * length as usize)?;
        self.heap.store_data(object, 0, length << 1 | 1);
        self.push(Value::reference(object));
        Ok(())
    }

    /// Pushes the list of the numbers from `from` to `to - 1`.
    fn range(&mut self, from: u32, to: u32) -> Result<(), Refused> {
        self.push(NIL);
        for number in (from..to).rev() {
            let list = self.pop();
            self.push(Value::number(number));
            self.push(list);
            self.cons()?;
        }
        Ok(())
    }

    /// Replaces the list on top of the stack by the sum of its numbers.
    fn sum(&mut self) {
        let (mut list, mut sum) = (self.pop(), 0);
        while list != NIL {
            sum += self.get(list, 0).as_number();
            list = self.get(list, 1);
        }
        self.push(Value::number(sum));
    }
}

fn main() -> Result<(), Refused> {
    let mut memory = vec![MaybeUninit::uninit(); 64 << 10];
    let heap = Heap::new(&mut memory, Settings::default())?;
    let mut language = Language {
        heap,
        stack: Stack(Vec::new()),
    };

    // An array that keeps the last ten of a thousand lists; the others are garbage.
    language.array(10)?;
    for round in 0..1000 {
        language.range(round, round + 100)?;
        let (list, array) = (language.pop(), language.pop());
        language.set(array, round % 10, list);
        language.push(array);
    }
    let array = language.pop();
    language.push(array);
    for slot in 0..10 {
        let list = language.get(array, slot);
        language.push(list);
        language.sum();
        let expected: u32 = (990 + slot..1090 + slot).sum();
        assert_eq!(language.pop(), Value::number(expected));
    }
    let totals = *language.heap.totals();
    println!(
        "{} cells and arrays, {} bytes, went through 64 KiB in {} collections; {} marked, {} freed",
        totals.allocations,
        totals.requested_bytes,
        totals.collections,
        totals.marked,
        totals.freed_objects
    );

    // An endless list: the heap reports that it is full, and all live objects are unchanged.
    let endless = language.range(0, 1_000_000);
    println!(
        "a list of a million cells: {}",
        endless.expect_err("too many")
    );
    language.stack.0.clear();
    let swept = language.heap.collect(&mut language.stack).swept;
    println!(
        "all dropped: {} objects live, {} bytes are free in {} chunk",
        swept.live_objects, swept.free_bytes, swept.free_chunks
    );
    assert_eq!((swept.live_objects, language.heap.check()), (0, Ok(())));
    Ok(())
}
