//! A survey shows every allocated object, and every reference as often as it exists.
#![forbid(unsafe_code)]

use std::cell::Cell;
use std::mem::MaybeUninit;

use surefit_gc::{Arena, Full, Gc, GcArray, Rootable, Seen, Trace};

#[derive(Trace)]
struct Node<'gc> {
    links: [Cell<Option<Gc<'gc, Node<'gc>>>>; 2],
    wide: Option<GcArray<'gc, Gc<'gc, Node<'gc>>>>,
}

type Tree = Rootable!['gc => Option<Gc<'gc, Node<'gc>>>];

fn node<'gc>(wide: Option<GcArray<'gc, Gc<'gc, Node<'gc>>>>) -> Node<'gc> {
    let links = [const { Cell::new(None) }; 2];
    Node { links, wide }
}

#[test]
fn every_object_and_every_reference_is_shown_in_order() {
    let mut region = [MaybeUninit::uninit(); 65536];
    let mut arena = Arena::<Tree>::new(&mut region, |_| Ok(None)).expect("room");
    arena
        .mutate_root(|mc, root| {
            let leaf = mc.alloc(node(None))?;
            let array = mc.alloc_array(200, |_| leaf)?;
            let top = mc.alloc(node(Some(array)))?;
            leaf.links[1].set(Some(top));
            top.links[0].set(Some(top));
            *root = Some(top);
            Ok::<_, Full>(())
        })
        .expect("room");
    let mut seen = Vec::new();
    arena.survey(|next| seen.push(next));
    let object = |seen: &Seen| match *seen {
        Seen::Object { number, kind, .. } => Some((number, kind)),
        _ => None,
    };
    let [(leaf, nodes), (array, arrays), (top, again)] =
        seen.iter().filter_map(object).collect::<Vec<_>>()[..]
    else {
        panic!("three objects: {seen:?}");
    };
    assert!(leaf < array && array < top && nodes == again && nodes != arrays);
    let mut expected = vec![Seen::Root, Seen::Reference(top)];
    let sizes = seen.iter().filter_map(|seen| match *seen {
        Seen::Object { bytes, .. } => Some(bytes),
        _ => None,
    });
    let [small, large, same] = sizes.collect::<Vec<_>>()[..] else {
        panic!("three sizes")
    };
    assert!(small == same && (1608..1640).contains(&large));
    expected.extend([
        Seen::Object {
            number: leaf,
            kind: nodes,
            bytes: small,
        },
        Seen::Reference(top),
    ]);
    expected.push(Seen::Object {
        number: array,
        kind: arrays,
        bytes: large,
    });
    expected.extend([Seen::Reference(leaf); 200]);
    expected.push(Seen::Object {
        number: top,
        kind: nodes,
        bytes: small,
    });
    expected.extend([Seen::Reference(top), Seen::Reference(array)]);
    assert_eq!(seen, expected);
    assert_eq!(arena.collect().live_objects, 3);
}

#[test]
fn dead_objects_are_shown_until_they_are_freed() {
    let mut region = [MaybeUninit::uninit(); 65536];
    let mut arena = Arena::<Tree>::new(&mut region, |_| Ok(None)).expect("room");
    arena
        .mutate(|mc, _| (0..10).try_for_each(|_| mc.alloc(node(None)).map(drop)))
        .expect("room");
    let mut count = 0;
    arena.survey(|_| count += 1);
    assert_eq!(count, 11);
    arena.collect();
    arena.survey(|seen| assert_eq!(seen, Seen::Root));
}
