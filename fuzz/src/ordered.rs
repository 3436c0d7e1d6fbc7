//! An ordered map beside that of the standard library.

use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Unbounded};

use surefit_collections::{BTreeMap as Moving, Release, String as MovingString};
use surefit_compact::{Full, Heap, Width};

use crate::input::Input;

/// An ordered map, and its model.
#[derive(Default)]
pub(crate) struct Ordered {
    map: Moving<MovingString, u32>,
    model: BTreeMap<String, u32>,
}

impl Ordered {
    pub(crate) fn change<W: Width>(&mut self, heap: &mut Heap<'_, W>, input: &mut Input<'_>) {
        let (map, model) = (&mut self.map, &mut self.model);
        let name = format!("{:01$}", input.byte(), input.below(30));
        let value = input.number() as u32;
        match input.below(8) {
            0..=3 => {
                let Ok(key) = MovingString::from_text(heap, &name) else {
                    return;
                };
                match map.insert(heap, key, value) {
                    Ok(former) => assert_eq!(former, model.insert(name.clone(), value)),
                    Err(Full { value, .. }) => value.0.free(heap),
                }
            }
            4 => assert_eq!(map.remove(heap, name.as_str()), model.remove(&name)),
            5 => {
                let taken = match value % 2 {
                    0 => (map.pop_first(heap), model.pop_first()),
                    _ => (map.pop_last(heap), model.pop_last()),
                };
                let (ours, theirs) = (taken.0.as_ref(), taken.1.as_ref());
                assert_eq!(ours.map(|it| it.1), theirs.map(|it| it.1));
                taken.0.release(heap);
            }
            6 => {
                let keep = |value: &mut u32| {
                    *value = value.rotate_left(1);
                    *value % 3 > 0
                };
                map.retain(heap, |_, value| keep(value));
                model.retain(|_, value| keep(value));
            }
            _ => {
                if let Some(there) = map.get_mut(heap, name.as_str()) {
                    *there ^= value;
                    *model.get_mut(&name).expect("in both") ^= value;
                }
            }
        }
        map.check(heap).expect("every invariant");
        assert!(map.values(heap).eq(model.values()));
        let bounds = (Unbounded, Excluded(name.as_str()));
        let below = map.range::<_, str>(heap, bounds).rev();
        let expected = model.range::<str, _>(bounds).rev();
        assert!(
            below
                .map(|(_, value)| value)
                .eq(expected.map(|(_, value)| value))
        );
        assert_eq!(map.get(heap, name.as_str()), model.get(&name));
    }

    /// Copies what there is if there is room, and frees all.
    pub(crate) fn finish<W: Width>(self, heap: &mut Heap<'_, W>) {
        if let Ok(copy) = self.map.try_clone(heap) {
            assert!(copy.values(heap).eq(self.model.values()));
            copy.check(heap).expect("every invariant");
            copy.free(heap);
        }
        self.map.free(heap);
    }
}
