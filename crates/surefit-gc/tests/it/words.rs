//! Values with a tag: every collector knows to what they refer, because their type says so.

use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};

use surefit_freelist::{Bitmap, Immediate, Segregated, Tree};
use surefit_gc::{
    Client, Collector, Edges, FreeList, Generational, Incremental, Object, Scanned, Settings,
    Space, Word,
};

type Lists<'m> = FreeList<'m, Segregated<Bitmap, Immediate, Tree, 256>>;

/// Of four bytes: odd for a number, else twice the number of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Tagged(u32);

impl Word for Tagged {
    type Bits = u32;

    fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    fn to_bits(self) -> u32 {
        self.0
    }

    fn reference(self) -> Option<Object> {
        (self.0 & 1 == 0).then(|| Object::of(self.0 >> 1)).flatten()
    }
}

/// Of eight bytes: a NaN whose lower half is the number of an object, or a floating-point number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Boxed(u64);

const NAN: u64 = 0xfff8 << 48;

impl Word for Boxed {
    type Bits = u64;

    fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    fn to_bits(self) -> u64 {
        self.0
    }

    fn reference(self) -> Option<Object> {
        let is_reference = self.0 & NAN == NAN;
        is_reference.then(|| Object::of(self.0 as u32)).flatten()
    }
}

/// A word that can be made of a reference.
trait Refers: Word + PartialEq + core::fmt::Debug {
    const NUMBER: Self;

    fn to(object: Object) -> Self;
}

impl Refers for Option<Object> {
    const NUMBER: Self = None;

    fn to(object: Object) -> Self {
        Some(object)
    }
}

impl Refers for Tagged {
    const NUMBER: Self = Self(15);

    fn to(object: Object) -> Self {
        Self(object.number() << 1)
    }
}

impl Refers for Boxed {
    const NUMBER: Self = Self(0x4008 << 48 | 7);

    fn to(object: Object) -> Self {
        Self(NAN | u64::from(object.number()))
    }
}

/// A program whose objects have two words of one type, at the words 0 and 2.
struct Program<W> {
    roots: Vec<W>,
}

impl<S: Space, W: Refers> Client<S> for Program<W> {
    fn roots(&mut self, edges: &mut Edges<'_>) {
        let roots = self.roots.iter().filter_map(|root| root.reference());
        roots.for_each(|root| edges.report(root));
    }

    fn scan(&mut self, object: &Scanned<'_, S>, _from: u32, edges: &mut Edges<'_>) {
        let words = [0, 2].map(|word| object.load_as::<W>(word));
        let references = words.iter().filter_map(|word| word.reference());
        references.for_each(|object| edges.report(object));
    }
}

/// A reference that is loaded and then overwritten while a cycle marks is kept.
fn kept_in_steps<W: Refers>() {
    let mut region = vec![MaybeUninit::uninit(); 1 << 14];
    let gc = Collector::<Lists<'_>>::new(&mut region, Settings::default()).expect("large enough");
    let mut gc = Incremental::over(gc);
    for word in [0, 2] {
        let mut program = Program { roots: Vec::new() };
        let holder = gc.alloc(&mut program, 16).expect("room");
        program.roots.push(W::to(holder));
        let held = gc.alloc(&mut program, 16).expect("room");
        gc.store(holder, word, W::to(held));
        gc.store(held, 0, W::NUMBER);
        gc.start(&mut program);
        program.roots.push(gc.load_as(holder, word));
        gc.store(holder, word, W::NUMBER);
        gc.finish(&mut program);
        assert!(gc.contains(held) && gc.cycle().shaded == 1, "word {word}");
        assert_eq!(gc.load_as::<W>(held, 0), W::NUMBER);
        program.roots.pop();
        gc.collect(&mut program);
        assert!(!gc.contains(held) && gc.check() == Ok(()));
    }
}

/// An old object to which a young one is stored is remembered, and one with a number is not.
fn remembered<W: Refers>() {
    let mut region = vec![MaybeUninit::uninit(); 1 << 14];
    let gc = Collector::<Lists<'_>>::new(&mut region, Settings::default()).expect("large enough");
    let mut gc = Generational::over(gc);
    let mut program = Program { roots: Vec::new() };
    let old = gc.alloc(&mut program, 16).expect("room");
    program.roots.push(W::to(old));
    gc.collect(&mut program);
    gc.store(old, 2, W::NUMBER);
    gc.store(old, 0, W::to(old));
    assert!(!gc.is_remembered(old));
    let young = gc.alloc(&mut program, 16).expect("room");
    gc.store(old, 2, W::to(young));
    assert!(gc.is_remembered(old));
    gc.collect_young(&mut program);
    assert!(gc.contains(young) && gc.check() == Ok(()));
}

#[test]
fn what_a_tagged_word_loses_is_kept_in_steps() {
    kept_in_steps::<Option<Object>>();
    kept_in_steps::<Tagged>();
    kept_in_steps::<Boxed>();
}

#[test]
fn an_old_object_with_a_tagged_reference_is_remembered() {
    remembered::<Option<Object>>();
    remembered::<Tagged>();
    remembered::<Boxed>();
}

/// Who would store a reference to a dead object, or beyond the last word, writes nothing.
#[test]
fn a_value_that_refers_to_no_live_object_is_not_stored() {
    let mut region = vec![MaybeUninit::uninit(); 1 << 14];
    let mut gc = Collector::<Lists<'_>>::new(&mut region, Settings::default()).expect("enough");
    let object = gc.alloc_as_is(16).expect("room");
    let last = gc.words(object) - 1;
    gc.store_data(object, last, 3);
    let dead = Object::of(object.number() + 1).expect("not 0");
    for value in [Boxed::to(dead), Boxed::NUMBER] {
        let store = AssertUnwindSafe(|| gc.store(object, last, value));
        assert!(catch_unwind(store).is_err());
        assert_eq!(gc.load(object, last), 3);
    }
    assert_eq!(gc.load_as::<Boxed>(object, 0), Boxed(0));
}

/// A word whose functions answer anything, and unwind.
#[derive(Clone, Copy)]
struct Liar(u32);

impl Word for Liar {
    type Bits = u32;

    fn from_bits(bits: u32) -> Self {
        assert_ne!(bits, 5, "unwinds");
        Self(bits.rotate_left(7))
    }

    fn to_bits(self) -> u32 {
        assert_ne!(self.0, 6, "unwinds");
        self.0 ^ 0x55
    }

    fn reference(self) -> Option<Object> {
        assert_ne!(self.0, 7, "unwinds");
        Object::of(self.0.wrapping_mul(3))
    }
}

#[test]
fn a_word_may_lie_and_unwind() {
    let mut region = vec![MaybeUninit::uninit(); 1 << 14];
    let gc = Collector::<Lists<'_>>::new(&mut region, Settings::default()).expect("large enough");
    let mut gc = Incremental::over(gc);
    let mut program = Program::<Option<Object>> { roots: Vec::new() };
    for round in 0..3 {
        let object = gc.alloc(&mut program, 64).expect("room");
        program.roots.push(Some(object));
        if round > 0 {
            gc.start(&mut program);
        }
        for value in (0..100).chain([u32::MAX / 3, u32::MAX]) {
            let store = AssertUnwindSafe(|| gc.store(object, 1 + value % 8, Liar(value)));
            let _ = catch_unwind(store);
            gc.store_data(object, 3, value % 8);
            let load = AssertUnwindSafe(|| gc.load_as::<Liar>(object, 3).0);
            assert_eq!(catch_unwind(load).is_err(), value % 8 == 5);
        }
        (0..10).for_each(|word| gc.store_data(object, word, 0));
        gc.finish(&mut program);
        assert_eq!(gc.check(), Ok(()));
    }
    let gc = Collector::<Lists<'_>>::new(&mut region, Settings::default()).expect("large enough");
    let mut gc = Generational::over(gc);
    let object = gc.alloc_as_is(64).expect("room");
    program.roots = vec![Some(object)];
    gc.collect(&mut program);
    for value in 0..100 {
        let _ = catch_unwind(AssertUnwindSafe(|| gc.store(object, 1, Liar(value))));
        assert_eq!(gc.check(), Ok(()));
    }
    gc.store_data(object, 1, 0);
    gc.collect_young(&mut program);
    assert_eq!(gc.check(), Ok(()));
}
