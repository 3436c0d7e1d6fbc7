//! Heaps in exactly their certified bytes: objects of every line are allocated, resized to other
//! lines and freed, by several instances and in any order. Nothing is refused.

use super::*;

/// Lines of a demand, and the objects of each.
struct Drive<'h> {
    locals: Vec<Local<'h, RawMutex>>,
    heap: &'h Heap<'h, Fixed>,
    demand: &'h [SharedDemand],
    live: Vec<Vec<NonNull<u8>>>,
    done: Done,
}

/// What a drive did.
#[derive(Debug, Default)]
struct Done {
    allocated: usize,
    aligned: usize,
    empty: usize,
    grown: usize,
    shrunk: usize,
    in_place: usize,
    elsewhere: usize,
}

impl Drive<'_> {
    fn step(&mut self, random: &mut impl FnMut(usize) -> usize) {
        let (line, thread) = (random(self.demand.len()), random(self.locals.len()));
        match random(100) {
            0..=49 => self.allocate(line, thread, random(4) == 0),
            50..=69 => self.resize(line, random(self.demand.len()), thread, random),
            70..=97 => self.free(line, thread, random),
            98 => self.locals[thread].trim(),
            _ => {
                drop(self.locals.swap_remove(thread));
                self.locals.push(self.heap.join().unwrap());
            }
        }
    }

    fn allocate(&mut self, line: usize, thread: usize, zeroed: bool) {
        let SharedDemand {
            bytes,
            align,
            count,
        } = self.demand[line];
        if self.live[line].len() == count {
            return;
        }
        let local = &self.locals[thread];
        let object = if zeroed {
            local.allocate_zeroed(bytes, align)
        } else {
            local.allocate(bytes, align)
        };
        let object = object.expect("certified");
        assert_eq!(object.addr().get() % align, 0);
        self.live[line].push(object);
        self.done.allocated += 1;
        self.done.aligned += usize::from(align > GRANULE);
        self.done.empty += usize::from(bytes == 0);
    }

    /// Resizes an object of a line to one of another line of the same alignment, or of the same
    /// line.
    fn resize(
        &mut self,
        from: usize,
        to: usize,
        thread: usize,
        random: &mut impl FnMut(usize) -> usize,
    ) {
        let (had, has) = (self.demand[from], self.demand[to]);
        let full = from != to && self.live[to].len() == has.count;
        if self.live[from].is_empty() || full || had.align != has.align {
            return;
        }
        let place = random(self.live[from].len());
        let object = self.live[from].swap_remove(place);
        // SAFETY: it is live, and has this alignment.
        let new = unsafe { self.locals[thread].resize(object, has.bytes, has.align) };
        let new = new.unwrap().expect("certified");
        self.live[to].push(new);
        self.done.grown += usize::from(has.bytes > had.bytes);
        self.done.shrunk += usize::from(has.bytes < had.bytes);
        self.done.in_place += usize::from(new == object);
    }

    /// Makes all objects of a line out of those of another one, each of which was just allocated.
    fn pour(&mut self, from: usize, to: usize, random: &mut impl FnMut(usize) -> usize) {
        if self.demand[from].align != self.demand[to].align || from == to {
            return;
        }
        for line in [from, to] {
            while !self.live[line].is_empty() {
                self.free(line, random(self.locals.len()), random);
            }
        }
        let thread = random(self.locals.len());
        for _ in 0..self.demand[to].count {
            self.allocate(from, thread, false);
            self.resize(from, to, thread, random);
        }
        self.allocate(from, thread, false);
    }

    fn free(&mut self, line: usize, thread: usize, random: &mut impl FnMut(usize) -> usize) {
        if self.live[line].is_empty() {
            return;
        }
        let place = random(self.live[line].len());
        let object = self.live[line].swap_remove(place);
        let memory = self.heap.common().memory();
        let owner = memory.owner(memory.unit_of(object.as_ptr()).unwrap());
        self.done.elsewhere += usize::from(owner != self.locals[thread].number());
        free(&self.locals[thread], object).unwrap();
    }
}

/// Lines of which each is near one before it, so that resizes stay in place, or nearly do.
fn demand(random: &mut impl FnMut(usize) -> usize) -> Vec<SharedDemand> {
    let mut lines: Vec<SharedDemand> = Vec::new();
    for _ in 0..=random(6) {
        let near = lines
            .len()
            .checked_sub(1)
            .map(|most| lines[random(most + 1)]);
        let most = [200, 2000, 40_000][random(3)];
        let bytes = match (random(12), near) {
            (0, _) => 0,
            (1, _) => 33_000 + random(200_000),
            (2 | 3, _) | (_, None) => 1 + random(most),
            (at, Some(near)) => near.bytes * (at + 1) / 10,
        };
        let align = match (random(3), near) {
            (0, Some(near)) => near.align,
            (1, _) => 1 << random(15),
            _ => 16,
        };
        let most = (600_000 / (bytes + align)).clamp(2, 300);
        let count = 1 + random(most);
        lines.push(SharedDemand {
            bytes,
            align,
            count,
        });
    }
    lines
}

/// A few objects, and many that are a little shorter.
fn crowded(random: &mut impl FnMut(usize) -> usize) -> Vec<SharedDemand> {
    let bytes = 200 + random(1800);
    let line = |bytes, count| SharedDemand {
        bytes,
        align: 16,
        count,
    };
    let shorter = bytes - bytes / (5 + random(4));
    vec![line(bytes, 1 + random(3)), line(shorter, 900_000 / bytes)]
}

/// Drives a heap in exactly its bytes.
fn drive(demand: &[SharedDemand], threads: u32, steps: usize, seed: u64) -> Done {
    let mut random = source::random(seed);
    let bytes = certify::<RawMutex>(demand, threads, false).unwrap();
    let skipped = random(UNIT_BYTES);
    let mut memory = region(bytes + skipped);
    let settings = Settings {
        threads,
        ..SETTINGS
    };
    let heap: Heap<'_, Fixed> = SharedDirect::new(&mut memory[skipped..], settings).unwrap();
    let mut drive = Drive {
        locals: (0..threads).map(|_| heap.join().unwrap()).collect(),
        heap: &heap,
        demand,
        live: vec![Vec::new(); demand.len()],
        done: Done::default(),
    };
    for step in 0..steps {
        drive.step(&mut random);
        if step % 100 == 50 {
            drive.pour(random(demand.len()), random(demand.len()), &mut random);
        }
        // Now and then all of a line, and then most of it goes.
        if step % 400 == 0 {
            let (line, thread) = (random(demand.len()), random(drive.locals.len()));
            (0..demand[line].count).for_each(|_| drive.allocate(line, thread, false));
            let kept = 1 + random(9);
            while drive.live[line].len() * kept > demand[line].count {
                drive.free(line, random(threads as usize), &mut random);
            }
        }
    }
    check(&heap);
    let Drive { locals, done, .. } = drive;
    drop(locals);
    done
}

#[test]
fn heaps_in_exactly_their_bytes_refuse_nothing() {
    let mut random = source::random(34);
    let mut all = Done::default();
    for heap in 0..120 {
        let (lines, threads) = if heap % 4 == 0 {
            (crowded(&mut random), 1)
        } else {
            (demand(&mut random), 1 + u32::try_from(random(3)).unwrap())
        };
        let done = drive(&lines, threads, 2500, heap);
        all.allocated += done.allocated;
        all.aligned += done.aligned;
        all.empty += done.empty;
        all.grown += done.grown;
        all.shrunk += done.shrunk;
        all.in_place += done.in_place;
        all.elsewhere += done.elsewhere;
    }
    // It did all that it says.
    let Done {
        allocated,
        aligned,
        empty,
        grown,
        shrunk,
        in_place,
        elsewhere,
    } = all;
    for count in [
        allocated, aligned, empty, grown, shrunk, in_place, elsewhere,
    ] {
        assert!(count > 1000, "{all:?}");
    }
}

#[test]
fn objects_that_a_resize_left_in_a_longer_page_block_are_certified() {
    let line = |bytes, count| SharedDemand {
        bytes,
        align: 16,
        count,
    };
    let demand = [line(1024, 2), line(896, 2000)];
    let bytes = certify::<RawMutex>(&demand, 1, false).unwrap();
    let mut memory = region(bytes);
    let settings = Settings {
        threads: 1,
        ..SETTINGS
    };
    let heap: Heap<'_, Fixed> = SharedDirect::new(&mut memory, settings).unwrap();
    let local = heap.join().unwrap();
    for served in 0..2000 {
        let object = local.allocate(1024, 16);
        let object = object.unwrap_or_else(|| panic!("refused after {served}"));
        // SAFETY: it is live, and stays in place.
        let shrunk = unsafe { local.resize(object, 896, 16) };
        assert_eq!(shrunk, Ok(Some(object)));
    }
}

#[test]
fn an_aligned_object_that_keeps_its_class_stays_in_place() {
    let mut memory = region(1 << 20);
    let heap: Heap<'_, Fixed> = SharedDirect::new(&mut memory, SETTINGS).unwrap();
    let local = heap.join().unwrap();
    // Of a page-block, and of units.
    for align in [512, 4096, 2 * UNIT_BYTES] {
        let object = local.allocate(20, align).unwrap();
        for bytes in [0, 1, 20, 100, 400] {
            // SAFETY: it is live.
            let resized = unsafe { local.resize(object, bytes, align) };
            assert_eq!(resized, Ok(Some(object)));
        }
        free(&local, object).unwrap();
    }
    check(&heap);
}
