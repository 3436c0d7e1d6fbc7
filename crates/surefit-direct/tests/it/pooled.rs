//! The certified mode of direct heaps: exactly the certified bytes serve everything within the
//! demand.

use std::alloc::Layout;
use std::ptr::NonNull;

use proptest::prelude::*;
use surefit_core::{RawHeap, Refused};
use surefit_direct::{
    DirectCertificate, DirectDemand, DirectHeap, Partition, Partitioning, PooledHeap, Small,
    Standard, Tiny, certify, certify_blocks, certify_general, region_bytes,
};
use surefit_testkit::{JunkRegion, Shape, run_script, script};

fn layout(bytes: usize, align: usize) -> Layout {
    Layout::from_size_align(bytes, align).expect("a layout")
}

/// A live object: its place, its bytes, and the line of the demand that it belongs to.
struct Object {
    place: NonNull<u8>,
    bytes: usize,
    line: usize,
    mark: u8,
}

impl Object {
    fn write(place: NonNull<u8>, bytes: usize, line: usize, mark: u8) -> Self {
        // SAFETY: the heap just gave out so many bytes there.
        unsafe { place.write_bytes(mark, bytes) };
        Self {
            place,
            bytes,
            line,
            mark,
        }
    }

    fn is_intact(&self, bytes: usize) -> bool {
        // SAFETY: the object is live, and all its bytes were written.
        let all = unsafe { std::slice::from_raw_parts(self.place.as_ptr(), bytes) };
        all.iter().all(|byte| *byte == self.mark)
    }
}

/// A program that stays within a demand, on a heap of any kind.
struct Program<'d, H> {
    heap: H,
    demand: &'d [DirectDemand],
    live: Vec<Object>,
    mark: u8,
}

impl<H: RawHeap> Program<'_, H> {
    fn live_of(&self, line: usize) -> u32 {
        let own = self.live.iter().filter(|object| object.line == line);
        u32::try_from(own.count()).expect("few")
    }

    fn has_room(&self, line: usize) -> bool {
        self.live_of(line) < self.demand[line].objects
    }

    fn allocate(&mut self, line: usize) {
        let DirectDemand { bytes, align, .. } = self.demand[line];
        if !self.has_room(line) {
            return;
        }
        let place = self.heap.allocate(layout(bytes, align));
        let place = place.unwrap_or_else(|refused| panic!("line {line}: {refused}"));
        assert_eq!(place.addr().get() % align, 0);
        self.mark = self.mark.wrapping_add(1);
        self.live.push(Object::write(place, bytes, line, self.mark));
    }

    fn free(&mut self, which: usize) {
        if self.live.is_empty() {
            return;
        }
        let object = self.live.swap_remove(which % self.live.len());
        assert!(object.is_intact(object.bytes), "an object was overwritten");
        let align = self.demand[object.line].align;
        // SAFETY: S1, S2: live, with its layout.
        unsafe { self.heap.free(object.place, layout(object.bytes, align)) };
    }

    /// Resizes an object from its line to another one of the same alignment, if both have room.
    fn resize(&mut self, which: usize, line: usize) {
        let Some(at) = which.checked_rem(self.live.len()) else {
            return;
        };
        let (old, new) = (self.demand[self.live[at].line], self.demand[line]);
        if !self.has_room(line) || old.align != new.align {
            return;
        }
        let object = self.live.swap_remove(at);
        // SAFETY: S1, S2: live, with its layout; the size does not overflow.
        let place = unsafe {
            self.heap
                .resize(object.place, layout(object.bytes, old.align), new.bytes)
        };
        let place = place.expect("old and new are within the demand");
        let moved = Object { place, ..object };
        assert!(
            moved.is_intact(old.bytes.min(new.bytes)),
            "a copy lost bytes"
        );
        self.live
            .push(Object::write(place, new.bytes, line, moved.mark));
    }

    fn run(&mut self, steps: &[(u8, u16, u8)]) {
        for &(what, which, line) in steps {
            let line = usize::from(line) % self.demand.len();
            match what % 8 {
                0..4 => self.allocate(line),
                4..7 => self.free(usize::from(which)),
                _ => self.resize(usize::from(which), line),
            }
            self.heap.check().expect("sound");
        }
        // Every line at its peak at once, and nothing left.
        for line in 0..self.demand.len() {
            while self.has_room(line) {
                self.allocate(line);
            }
        }
        self.heap.check().expect("sound");
        while !self.live.is_empty() {
            self.free(7);
        }
        self.heap.check().expect("sound");
    }
}

/// Runs a program on a heap in exactly its certified bytes, wherever they begin.
fn within<S: Partitioning>(demand: &[DirectDemand], misaligned: usize, steps: &[(u8, u16, u8)]) {
    let certificate = certify::<S>(demand).expect("certifiable");
    let parts = [
        certificate.table_bytes,
        certificate.page_bytes,
        certificate.run_bytes,
        certificate.alignment_bytes,
    ];
    assert_eq!(parts.iter().sum::<usize>(), certificate.heap_bytes);
    for bytes in [certificate.heap_bytes, certificate.heap_bytes + misaligned] {
        let mut region = JunkRegion::misaligned(bytes, S::UNIT_BYTES, misaligned, 3);
        let heap = PooledHeap::<S>::certified(region.memory(), demand).expect("enough");
        let empty = heap.usage();
        let mut program = Program {
            heap,
            demand,
            live: Vec::new(),
            mark: 0,
        };
        program.run(steps);
        assert_eq!(program.heap.usage().free_page_bytes, empty.free_page_bytes);
        assert_eq!(empty.total(), bytes);
    }
}

fn any_demand() -> impl Strategy<Value = Vec<DirectDemand>> {
    let line =
        (0_usize..3000, 0_u32..4, 0_u32..12).prop_map(|(bytes, align, objects)| DirectDemand {
            bytes: bytes % [40, 600, 3000][bytes % 3],
            align: 4 << align,
            objects,
        });
    prop::collection::vec(line, 1..7)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_demand_is_served_in_exactly_its_bytes(
        demand in any_demand(),
        misaligned in 0_usize..1200,
        steps in prop::collection::vec(any::<(u8, u16, u8)>(), 0..200),
    ) {
        within::<Tiny>(&demand, misaligned, &steps);
        let aligned = demand.iter().map(|line| DirectDemand { align: line.align.min(16), ..*line });
        within::<Partition<128, 16, 1>>(&aligned.collect::<Vec<_>>(), misaligned, &steps);
        let aligned = demand.iter().map(|line| DirectDemand { align: line.align.min(64), ..*line });
        within::<Partition<128, 64, 8>>(&aligned.collect::<Vec<_>>(), misaligned, &steps);
        within::<Small>(&demand, misaligned, &steps);
        within::<Standard>(&demand, misaligned, &steps);
    }

    #[test]
    fn any_demand_is_served_without_pools_in_its_bytes(
        demand in any_demand(),
        misaligned in 0_usize..1200,
        steps in prop::collection::vec(any::<(u8, u16, u8)>(), 0..100),
    ) {
        within_general::<Tiny>(&demand, misaligned, &steps);
        let aligned = demand.iter().map(|line| DirectDemand { align: line.align.min(16), ..*line });
        within_general::<Partition<128, 16, 1>>(&aligned.collect::<Vec<_>>(), misaligned, &steps);
    }

    #[test]
    fn page_blocks_are_served_without_pools_too(
        objects in prop::collection::vec((1_usize..128, 1_u32..60), 1..6),
        more in 0_usize..2000,
        steps in prop::collection::vec(any::<(u8, u16, u8)>(), 0..200),
    ) {
        let demand: Vec<_> = objects.iter().map(|&(bytes, objects)| DirectDemand::new(bytes, objects)).collect();
        let certificate = certify_blocks::<Tiny>(&demand).expect("certifiable");
        let mut region = JunkRegion::misaligned(certificate.heap_bytes + more, 64, more, 3);
        let heap = DirectHeap::<Tiny>::with(region.memory()).expect("enough");
        Program { heap, demand: &demand, live: Vec::new(), mark: 0 }.run(&steps);
    }
}

/// Runs a program on a heap without pools in exactly the bytes of its certificate, and in more.
fn within_general<S: Partitioning>(
    demand: &[DirectDemand],
    misaligned: usize,
    steps: &[(u8, u16, u8)],
) {
    let certificate = certify_general::<S>(demand).expect("certifiable");
    let parts = [
        certificate.table_bytes,
        certificate.page_bytes,
        certificate.run_bytes,
        certificate.hole_bytes,
        certificate.alignment_bytes,
    ];
    assert_eq!(parts.iter().sum::<usize>(), certificate.heap_bytes);
    for bytes in [certificate.heap_bytes, certificate.heap_bytes + misaligned] {
        let mut region = JunkRegion::misaligned(bytes, S::UNIT_BYTES, misaligned, 3);
        let heap = DirectHeap::<S>::with(region.memory()).expect("enough");
        let live = Vec::new();
        let mut program = Program {
            heap,
            demand,
            live,
            mark: 0,
        };
        program.run(steps);
    }
}

/// One run pins each page that another object needs: lines alternate, and every second object is
/// freed.
#[test]
fn a_heap_without_pools_serves_runs_that_pin_its_pages() {
    for (short, long) in [(200, 512), (129, 500), (448, 512), (300, 3000)] {
        let lines = [
            DirectDemand::new(short, 40),
            DirectDemand::new(long, 40),
            DirectDemand::new(24, 200),
        ];
        let certificate = certify_general::<Tiny>(&lines).expect("certifiable");
        let mut region = JunkRegion::misaligned(certificate.heap_bytes, 64, 1, 3);
        let heap = DirectHeap::<Tiny>::with(region.memory()).expect("enough");
        let live = Vec::new();
        let mut program = Program {
            heap,
            demand: &lines,
            live,
            mark: 0,
        };
        for round in 0..20 {
            (0..40).for_each(|_| program.allocate(0));
            for which in (0..program.live.len()).rev().step_by(2 + round % 3) {
                program.free(which);
            }
            (0..40).for_each(|_| program.allocate(1));
            (0..200).for_each(|_| program.allocate(2));
            for which in (0..program.live.len()).rev().step_by(1 + round % 4) {
                program.free(which);
            }
        }
        program.heap.check().expect("sound");
    }
}

/// A region keeps one byte for itself.
#[test]
fn a_static_region_is_enough() {
    use surefit_core::{Page1K, Region};
    const DEMAND: [DirectDemand; 2] = [DirectDemand::new(24, 40), DirectDemand::new(1000, 2)];
    static MEMORY: Region<{ region_bytes::<Tiny>(&DEMAND) }, Page1K> = Region::new();
    let region = MEMORY.take().expect("taken once");
    let heap = PooledHeap::<Tiny>::certified(region, &DEMAND).expect("enough");
    assert_eq!(heap.degree_of_fragmentation(1000), 2);
}

#[test]
fn a_certificate_is_what_its_formula_says() {
    // Tiny: pages of 512 B, units of 64 B; 24-byte blocks: 21 a page, 128-byte blocks: 4 a page.
    let demand = [
        DirectDemand::new(24, 43),
        DirectDemand::new(20, 1),
        DirectDemand::new(128, 8),
        DirectDemand::new(1000, 2),
    ];
    let certificate = certify::<Tiny>(&demand).expect("certifiable");
    assert_eq!(certificate.page_bytes, (3 + 2) * 512);
    assert_eq!(certificate.run_bytes, 2 * 16 * 64);
    assert_eq!(certificate.alignment_bytes, 63);
    // 12 records of 16 for up to 96 units, 89 tags, 1 list and 12 + 2 counts of 4: 608, so two
    // pages; 12 heads.
    assert_eq!(certificate.table_bytes, 1024 + 48);
    assert_eq!(certificate.heap_bytes, 1024 + 48 + 2560 + 2048 + 63);
    assert_eq!(certificate.aligned_bytes, 1024 + 64 + 2560 + 2048);
}

/// Bytes of tables that are no part of a page.
fn heads(certificate: &DirectCertificate) -> usize {
    certificate.table_bytes % 2048
}

#[test]
fn one_byte_fewer_is_refused() {
    let demand = [DirectDemand::new(24, 43), DirectDemand::new(3000, 2)];
    let certificate = certify::<Small>(&demand).expect("certifiable");
    let needed = certificate.heap_bytes;
    // The worst place: the heads end one byte behind a multiple of a unit.
    let worst = 257 - heads(&certificate) % 256;
    let mut region = JunkRegion::misaligned(needed, 256, worst, 3);
    assert!(PooledHeap::<Small>::certified(region.memory(), &demand).is_ok());
    let mut region = JunkRegion::misaligned(needed - 1, 256, worst, 3);
    let heap = PooledHeap::<Small>::certified(region.memory(), &demand);
    assert_eq!(heap.expect_err("too small"), Refused::Region { needed });
    let mut region = JunkRegion::new(certificate.aligned_bytes, 256, 3);
    assert!(PooledHeap::<Small>::certified(region.memory(), &demand).is_ok());
    let mut region = JunkRegion::new(certificate.aligned_bytes - 1, 256, 3);
    assert!(PooledHeap::<Small>::certified(region.memory(), &demand).is_err());
}

#[test]
fn what_exceeds_the_demand_takes_nothing_from_others() {
    let demand = [
        DirectDemand::new(24, 21),
        DirectDemand::new(64, 8),
        DirectDemand::new(600, 2),
        DirectDemand::new(2000, 1),
    ];
    let bytes = certify::<Tiny>(&demand).expect("certifiable").heap_bytes;
    let mut region = JunkRegion::new(bytes, 64, 3);
    let mut heap = PooledHeap::<Tiny>::certified(region.memory(), &demand).expect("enough");
    assert_eq!(heap.degree_of_fragmentation(24), 21);
    assert_eq!(heap.degree_of_fragmentation(32), 0);
    assert_eq!(heap.degree_of_fragmentation(500), 2);
    assert_eq!(heap.largest_free(), 2048);
    for _ in 0..21 {
        heap.allocate(layout(24, 8)).expect("within the demand");
    }
    let full = heap.usage();
    // One object too many, a class without a line, and a run over the longest.
    assert_eq!(heap.allocate(layout(24, 8)), Err(Refused::NoPage));
    assert_eq!(heap.allocate(layout(32, 8)), Err(Refused::NoPage));
    let limit = 2048;
    assert_eq!(
        heap.allocate(layout(2049, 8)),
        Err(Refused::TooLarge { limit })
    );
    let limit = 64;
    assert_eq!(
        heap.allocate(layout(64, 128)),
        Err(Refused::TooAligned { limit })
    );
    assert_eq!(heap.usage(), full);
    // Runs of both lengths do not serve each other.
    let long = heap.allocate(layout(641, 8)).expect("within the demand");
    assert_eq!(heap.allocate(layout(1000, 8)), Err(Refused::NoPage));
    let short = [300, 640].map(|bytes| heap.allocate(layout(bytes, 8)).expect("within"));
    assert_eq!(heap.allocate(layout(129, 8)), Err(Refused::NoPage));
    for place in [long, short[0], short[1]] {
        // SAFETY: S1: live; the layout is not needed.
        unsafe { heap.free(place, layout(1, 1)) };
    }
    assert_eq!(heap.degree_of_fragmentation(500), 2);
    heap.check().expect("sound");
}

#[test]
fn an_object_that_cannot_move_shrinks_where_it_is() {
    let demand = [DirectDemand::new(24, 1), DirectDemand::new(2000, 1)];
    let bytes = certify::<Tiny>(&demand).expect("certifiable").heap_bytes;
    let mut region = JunkRegion::new(bytes, 64, 3);
    let mut heap = PooledHeap::<Tiny>::certified(region.memory(), &demand).expect("enough");
    let object = heap.allocate(layout(2000, 8)).expect("within the demand");
    // SAFETY: S1, S2: live, with its layout.
    let shrunk = unsafe { heap.resize(object, layout(2000, 8), 100) };
    assert_eq!(shrunk, Ok(object));
    // SAFETY: as above.
    let grown = unsafe { heap.resize(object, layout(100, 8), 1990) };
    assert_eq!(grown, Ok(object), "within its run");
    heap.check().expect("sound");
}

#[test]
fn numbers_that_no_region_holds_are_refused() {
    for (bytes, objects) in [(usize::MAX, 1), (1 << 20, u32::MAX), (8, u32::MAX)] {
        let demand = [DirectDemand::new(bytes, objects)];
        let certificate = certify::<Tiny>(&demand);
        match certificate {
            Err(Refused::TooLarge { limit }) => assert!(limit > 1 << 30),
            Ok(certificate) => assert!(certificate.page_bytes as u64 >= 8 * u64::from(objects)),
            Err(refused) => panic!("{refused}"),
        }
        assert!(certify::<Tiny>(&[demand[0]; 3]).is_err());
        assert!(certify_general::<Tiny>(&[demand[0]; 3]).is_err());
    }
    let limit = 64;
    let aligned = DirectDemand {
        bytes: 8,
        align: 128,
        objects: 1,
    };
    assert_eq!(
        certify::<Tiny>(&[aligned]),
        Err(Refused::TooAligned { limit })
    );
    let limit = 128;
    let runs = certify_blocks::<Tiny>(&[DirectDemand::new(129, 1)]);
    assert_eq!(runs, Err(Refused::TooLarge { limit }));
}

#[test]
fn an_empty_demand_has_a_heap_that_refuses_everything() {
    let certificate = certify::<Tiny>(&[]).expect("certifiable");
    let mut region = JunkRegion::new(certificate.heap_bytes, 64, 3);
    match PooledHeap::<Tiny>::certified(region.memory(), &[]) {
        Ok(mut heap) => {
            assert_eq!(heap.allocate(layout(0, 1)), Err(Refused::NoPage));
            assert_eq!(heap.largest_free(), 0);
            heap.check().expect("sound");
        }
        Err(refused) => panic!("{refused}"),
    }
}

/// Lines of no object, of more lengths than the tables' last page has room for: the tables may fill
/// their page exactly.
fn no_object<S: Partitioning>() {
    for lines in 0..60 {
        let line = |number| DirectDemand::new(S::LARGEST_BLOCK + 1 + S::UNIT_BYTES * number, 0);
        let demand: Vec<_> = (0..lines).map(line).collect();
        let certificate = certify::<S>(&demand).expect("certifiable");
        for more in [0, 1, 5000] {
            let mut region = JunkRegion::misaligned(certificate.heap_bytes + more, 64, lines, 3);
            let heap = PooledHeap::<S>::certified(region.memory(), &demand);
            let mut heap = heap.unwrap_or_else(|refused| panic!("{lines} lines: {refused}"));
            heap.check().expect("sound");
            for bytes in [1, 200, 2000] {
                heap.allocate(layout(bytes, 8)).expect_err("no object");
            }
            assert_eq!(heap.largest_free(), 0);
            assert_eq!(heap.usage().total(), certificate.heap_bytes + more);
        }
    }
}

#[test]
fn a_demand_of_no_object_is_served_in_exactly_its_bytes() {
    no_object::<Partition<128, 16, 1>>();
    no_object::<Partition<128, 64, 8>>();
    no_object::<Partition<256, 128, 2>>();
    no_object::<Tiny>();
    no_object::<Small>();
    no_object::<Standard>();
}

/// What is inside a large object, not at its beginning, is no object.
fn has_no_object_inside<H: RawHeap>(heap: &mut H, usable: impl Fn(&H, NonNull<u8>) -> usize) {
    let object = heap.allocate(layout(1000, 8)).expect("room");
    for inside in [8, 56, 64, 72, 960, 992] {
        // SAFETY: inside the object.
        let inside = unsafe { object.add(inside) };
        assert_eq!(usable(heap, inside), 0);
        // SAFETY: not an object, which is what the heap must find.
        let freed = unsafe { heap.try_free(inside, layout(1000, 8)) };
        assert_eq!(freed, Err(Refused::StaleHandle));
        // SAFETY: as above.
        let resized = unsafe { heap.resize(inside, layout(1000, 8), 900) };
        assert_eq!(resized, Err(Refused::StaleHandle));
    }
    assert_eq!(usable(heap, object), 1024);
    // SAFETY: S1, S2: live, with its layout.
    assert_eq!(unsafe { heap.try_free(object, layout(1000, 8)) }, Ok(()));
    // SAFETY: no object any more, which is what the heap must find.
    let again = unsafe { heap.try_free(object, layout(1000, 8)) };
    assert_eq!(again, Err(Refused::StaleHandle));
    heap.check().expect("sound");
}

#[test]
fn inside_a_large_object_no_object_is_found() {
    let demand = [DirectDemand::new(1000, 2)];
    let bytes = certify::<Tiny>(&demand).expect("certifiable").heap_bytes;
    let mut region = JunkRegion::new(bytes, 64, 3);
    let mut heap = PooledHeap::<Tiny>::certified(region.memory(), &demand).expect("enough");
    // SAFETY: the heap must find that nothing is there.
    has_no_object_inside(&mut heap, |heap, at| unsafe { heap.usable_bytes(at) });
    let mut region = JunkRegion::new(16 << 10, 64, 3);
    let mut heap = DirectHeap::<Tiny>::with(region.memory()).expect("enough");
    // SAFETY: as above.
    has_no_object_inside(&mut heap, |heap, at| unsafe { heap.usable_bytes(at) });
}

#[test]
fn an_object_that_shrinks_beyond_the_demand_counts_for_its_old_line() {
    let demand = [DirectDemand::new(128, 4), DirectDemand::new(2000, 1)];
    let bytes = certify::<Tiny>(&demand).expect("certifiable").heap_bytes;
    let mut region = JunkRegion::new(bytes, 64, 3);
    let mut heap = PooledHeap::<Tiny>::certified(region.memory(), &demand).expect("enough");
    let small = [(); 4].map(|()| heap.allocate(layout(128, 8)).expect("within"));
    let large = heap.allocate(layout(2000, 8)).expect("within");
    assert_eq!(heap.allocate(layout(128, 8)), Err(Refused::NoPage));
    // SAFETY: S1, S2: live, with its layout.
    let shrunk = unsafe { heap.resize(large, layout(2000, 8), 128) };
    assert_eq!(shrunk, Ok(large), "a shrink is never refused");
    // SAFETY: as above.
    unsafe { heap.free(small[0], layout(128, 8)) };
    assert_eq!(heap.allocate(layout(2000, 8)), Err(Refused::NoPage));
    // The next resize finds a page-block, and the line serves again.
    // SAFETY: as above.
    let moved = unsafe { heap.resize(large, layout(128, 8), 120) }.expect("within");
    assert_ne!(moved, large);
    assert_eq!(heap.allocate(layout(2000, 8)), Ok(large));
    heap.check().expect("sound");
}

#[test]
fn every_shape_of_script_runs() {
    let demand: Vec<_> = (1..=128)
        .map(|eighth| DirectDemand::new(8 * eighth, 9))
        .chain([DirectDemand::new(4000, 6), DirectDemand::new(9000, 6)])
        .collect();
    let bytes = certify::<Small>(&demand).expect("certifiable").heap_bytes;
    for (seed, shape) in (0..).zip(Shape::ALL) {
        let mut region = JunkRegion::misaligned(bytes, 256, 8 * seed, 7);
        let span = region.span();
        let mut heap = PooledHeap::<Small>::certified(region.memory(), &demand).expect("enough");
        let ops = script(shape, seed as u64, 1200, 9000);
        let tally = run_script(&mut heap, span, &ops, 1).expect("no fault");
        assert!(tally.allocated > 50, "{shape:?}: {tally:?}");
    }
}
