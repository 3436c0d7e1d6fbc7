//! A free under a bound in pages.

use surefit::compact::automaton::{self, Free, PageCounts};
use surefit::compact::{Bound, Config, Heap};

use crate::heap::{Memory, address, config, shape};
use crate::steps::Walk;

/// At most one not-full page.
static CONFIG: Config = config(Bound::Pages(1));

#[test]
fn a_free_under_a_bound_in_pages() {
    static MEMORY: Memory = Memory::new();
    let mut walk = Walk::of("A free under a bound in pages");
    let region = MEMORY.take().expect("taken once");
    let mut heap: Heap<'_> = Heap::new(region, &CONFIG).expect("the region is large enough");
    let class = CONFIG.geometry().class_for(40, 8).expect("a class");
    let blocks = u32::from(CONFIG.geometry().layout(class).blocks);
    // Page 0 is full, page 1 holds two objects.
    let mut objects: Vec<_> = (0..u64::from(blocks) + 2)
        .map(|number| heap.insert([number; 5]).expect("room"))
        .collect();
    let counts = heap.details().class_counts(class);
    assert_eq!(counts.not_full, 1, "κ");
    let decision = |source| {
        let page = PageCounts {
            used: blocks,
            blocks,
        };
        let source = PageCounts {
            used: source,
            blocks,
        };
        automaton::free(CONFIG.bound(), counts, page, Some(source))
    };

    walk.step("Refill the freed page-block");
    let empties_source = false;
    assert_eq!(decision(2), Free::Refill { empties_source }, "F2");
    let freed = address(&heap, &objects[4]);
    heap.free(objects.remove(4));
    let victim = objects.last().expect("it lives");
    assert_eq!(address(&heap, victim), freed);
    assert_eq!(heap.get(victim), &[u64::from(blocks) + 1; 5]);
    let pages = shape(&heap, class);
    assert_eq!(pages.full[0].number, 0, "it stays full");
    assert_eq!((pages.not_full[0].number, pages.not_full[0].used()), (1, 1));
    assert_eq!(heap.stats().moves_total, 1);

    walk.step("Release the source page");
    let empties_source = true;
    assert_eq!(decision(1), Free::Refill { empties_source }, "F3");
    heap.free(objects.remove(4));
    let pages = shape(&heap, class);
    assert_eq!((pages.full.len(), pages.not_full.len()), (1, 0));
    assert_eq!((heap.stats().moves_total, heap.stats().freed_pages), (2, 1));
    heap.check().expect("every invariant");
}
