//! Types that hold no reference are in the cells of an arena in steps, and keep what they hold.
#![forbid(unsafe_code)]

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::num::Wrapping;
use std::rc::Rc;
use std::sync::Arc;

use surefit_gc::{Barriered, Gc, NoGc, Rootable, StepArena, Trace};

/// Without a lifetime: it implements `NoGc`.
#[derive(Clone, Debug, PartialEq, Eq, Trace)]
struct Own<T> {
    name: String,
    values: Vec<T>,
}

/// What is not `Trace` may say it as well.
struct ByHand;
impl NoGc for ByHand {}

#[derive(Trace)]
struct Object {
    number: Cell<u32>,
    own: RefCell<Own<(u8, Option<char>)>>,
    names: RefCell<HashMap<String, Box<[Own<bool>]>>>,
}

#[test]
fn what_holds_no_reference_is_in_a_cell() {
    fn no_gc<T: NoGc + ?Sized>() {}
    fn in_cells<T: Trace + NoGc>() {
        fn object<T: Barriered>() {}
        object::<Cell<T>>();
        object::<RefCell<T>>();
        no_gc::<T>();
    }
    no_gc::<ByHand>();
    no_gc::<str>();
    no_gc::<[Own<u8>]>();
    in_cells::<(u8, i64, f64, char, bool, String, ())>();
    in_cells::<(Option<u8>, Result<u8, String>, [u8; 3], Wrapping<u8>)>();
    in_cells::<(&'static str, PhantomData<Rc<ByHand>>, Box<str>)>();
    in_cells::<(Rc<ByHand>, Arc<ByHand>, Cell<u8>, RefCell<u8>)>();
    in_cells::<(OnceCell<u8>, VecDeque<u8>, LinkedList<u8>)>();
    in_cells::<(BinaryHeap<u8>, BTreeSet<u8>, BTreeMap<u8, u8>)>();
    in_cells::<(HashSet<u8>, HashMap<u8, Own<u8>>, Vec<u8>)>();
    in_cells::<(u8, u8, u8, u8, u8, u8, u8, u8, u8, u8, u8, Own<u8>)>();
    in_cells::<(std::cmp::Reverse<u8>, std::rc::Weak<u8>)>();
}

#[test]
fn cells_change_while_a_cycle_runs() {
    type Objects = Rootable!['gc => Gc<'gc, Object>];
    let own = |name: &str| Own {
        name: name.to_owned(),
        values: vec![(1, Some('a')), (2, None)],
    };
    let mut region = [MaybeUninit::uninit(); 16_384];
    let mut arena = StepArena::<Objects>::new(&mut region, |mc| {
        mc.alloc(Object {
            number: Cell::new(0),
            own: RefCell::new(own("first")),
            names: RefCell::default(),
        })
    })
    .expect("room");
    arena.start();
    for number in 1..=100 {
        arena.mutate(|mc, object| {
            // Dead at once.
            mc.alloc(number).expect("room");
            object.number.set(number);
            object.own.replace(own(&number.to_string()));
            object.names.borrow_mut().insert(
                number.to_string(),
                Box::new([Own {
                    name: String::new(),
                    values: vec![number % 2 == 0],
                }]),
            );
        });
        arena.step(1);
        assert_eq!(arena.check(), Ok(()));
    }
    arena.collect();
    arena.mutate(|_, object| {
        assert_eq!(object.number.get(), 100);
        assert_eq!(*object.own.borrow(), own("100"));
        assert_eq!(object.names.borrow()["7"][0].values, [false]);
    });
}
