//! Vectors in pieces, cursors and views of pieces beside `Vec<u8>` and the standard library's
//! cursor.

use std::alloc::Layout;
use std::io::{BufRead, Cursor, IoSlice, IoSliceMut, Read, Seek, SeekFrom, Write};

use surefit_compact::{ByteVec, Bytes, Heap, Medium, Narrow, Wide, Width};

use crate::config::config;
use crate::input::Input;
use crate::region::Region;

struct Run<'m, W: Width> {
    heap: Heap<'m, W>,
    vectors: Vec<(ByteVec, Vec<u8>)>,
    objects: Vec<(Bytes<u8>, Vec<u8>)>,
    steps: usize,
}

/// Runs all operations of an input.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    match input.byte() % 3 {
        0 => run_width::<Wide>(&mut input),
        1 => run_width::<Narrow>(&mut input),
        _ => run_width::<Medium>(&mut input),
    }
}

fn run_width<W: Width>(input: &mut Input<'_>) {
    let config = config(input, W::WORD_BYTES);
    let page = config.geometry().page_bytes();
    let mut region = Region::new(input.region_bytes().min(128 << 10), page, input.below(9));
    let Ok(heap) = Heap::<W>::new(region.memory(), &config) else {
        return;
    };
    let mut run = Run {
        heap,
        vectors: Vec::new(),
        objects: Vec::new(),
        steps: 0,
    };
    while !input.is_empty() && run.steps < 1000 {
        run.steps += 1;
        run.step(input);
        run.heap.check().expect("every invariant holds");
    }
    run.verify_all();
    for (vector, _) in std::mem::take(&mut run.vectors) {
        vector.free(&mut run.heap);
    }
    for (bytes, _) in std::mem::take(&mut run.objects) {
        run.heap.free_bytes(bytes);
    }
    run.heap.check().expect("every invariant holds");
    let stats = run.heap.stats();
    assert_eq!((stats.live_blocks, stats.pages, stats.holes), (0, 0, 0));
}

fn fresh(seed: usize, len: usize) -> Vec<u8> {
    (0..len)
        .map(|at| (seed.wrapping_mul(37) ^ (at * 11) ^ at >> 8) as u8)
        .collect()
}

/// The same call on ours and on the model: the same result, or an error of both.
#[track_caller]
fn same<T: PartialEq + std::fmt::Debug>(ours: std::io::Result<T>, theirs: std::io::Result<T>) {
    assert_eq!(ours.ok(), theirs.ok());
}

fn any_seek(input: &mut Input<'_>, len: usize) -> SeekFrom {
    let by = input.number() as i64 - 16;
    match input.below(3) {
        0 => SeekFrom::Start(input.number() as u64 % (len as u64 + 2)),
        1 => SeekFrom::Current(by % (len as i64 + 2)),
        _ => SeekFrom::End(-(by % (len as i64 + 2))),
    }
}

/// Reads a cursor and the model's in the same steps.
fn read_beside<C: Read + Seek>(cursor: &mut C, model: &[u8], input: &mut Input<'_>) {
    let mut theirs = Cursor::new(model);
    for _ in 0..input.below(12) {
        let before = theirs.position();
        let seek = any_seek(input, model.len());
        let sought = cursor.seek(seek);
        // The model goes beyond its end, the object's cursor does not.
        match theirs.seek(seek) {
            Ok(at) if at <= model.len() as u64 => assert_eq!(sought.ok(), Some(at)),
            _ => {
                assert!(sought.is_err());
                theirs.set_position(before);
            }
        }
        let count = input.number() % (model.len() + 3);
        let (mut a, mut b) = (vec![0; count], vec![0; count]);
        same(cursor.read(&mut a), theirs.read(&mut b));
        assert_eq!(a, b);
        same(cursor.stream_position(), theirs.stream_position());
    }
}

impl<W: Width> Run<'_, W> {
    fn step(&mut self, input: &mut Input<'_>) {
        match input.byte() % 16 {
            0 => self.new_vector(input),
            1..5 => self.extend(input),
            5 => self.push(input),
            6 => self.shorten(input),
            7 => self.reserve(input),
            8 => self.vector_to_bytes(input),
            9 => self.allocate(input),
            10 => self.free(input),
            11 => self.read(input),
            12 => self.write(input),
            13 => self.views(input),
            14 => self.views_mut(input),
            _ => self.verify_all(),
        }
    }

    fn verify_all(&self) {
        for (vector, content) in &self.vectors {
            assert_eq!(vector.len(), content.len());
            assert!(vector.capacity() >= vector.len());
            assert!(vector.chunks(&self.heap).flatten().eq(content));
        }
        for (bytes, content) in &self.objects {
            assert_eq!(bytes.len(), content.len());
            assert!(self.heap.chunks(bytes).flatten().eq(content));
        }
    }

    // ---- vectors --------------------------------------------------------------------------------

    fn new_vector(&mut self, input: &mut Input<'_>) {
        let capacity = input.size();
        // What is parked goes back before the heap refuses.
        let before = self.heap.usage().block_bytes;
        match ByteVec::with_capacity(&self.heap, capacity) {
            Ok(vector) => {
                assert!(vector.is_empty() && vector.capacity() >= capacity);
                self.vectors.push((vector, Vec::new()));
            }
            Err(_) => assert_eq!(
                self.heap.usage().block_bytes,
                before,
                "a refusal changes no object"
            ),
        }
    }

    fn extend(&mut self, input: &mut Input<'_>) {
        let source = fresh(self.steps, input.size() % 20_000);
        let Some(which) = input.number().checked_rem(self.vectors.len()) else {
            return self.new_vector(input);
        };
        let (vector, content) = &mut self.vectors[which];
        let before = vector.capacity();
        if vector.extend(&mut self.heap, &source).is_ok() {
            content.extend(&source);
        } else {
            assert_eq!(vector.capacity(), before, "a refusal changes nothing");
        }
        assert!(vector.chunks(&self.heap).flatten().eq(&*content));
    }

    fn push(&mut self, input: &mut Input<'_>) {
        if let Some(which) = input.number().checked_rem(self.vectors.len()) {
            let (vector, content) = &mut self.vectors[which];
            for _ in 0..input.byte() {
                if vector.push(&mut self.heap, content.len() as u8).is_err() {
                    break;
                }
                content.push(content.len() as u8);
            }
        }
    }

    fn shorten(&mut self, input: &mut Input<'_>) {
        if let Some(which) = input.number().checked_rem(self.vectors.len()) {
            let (vector, content) = &mut self.vectors[which];
            let len = input.number() % (content.len() + 2);
            vector.truncate(len);
            content.truncate(len);
        }
    }

    fn reserve(&mut self, input: &mut Input<'_>) {
        if let Some(which) = input.number().checked_rem(self.vectors.len()) {
            let (vector, content) = &mut self.vectors[which];
            let additional = input.size();
            if vector.reserve(&mut self.heap, additional).is_ok() {
                assert!(vector.capacity() >= content.len() + additional);
            }
            assert!(vector.chunks(&self.heap).flatten().eq(&*content));
        }
    }

    fn vector_to_bytes(&mut self, input: &mut Input<'_>) {
        if let Some(which) = input.number().checked_rem(self.vectors.len()) {
            let (vector, content) = self.vectors.swap_remove(which);
            match vector.into_bytes(&mut self.heap) {
                Ok(bytes) => self.objects.push((bytes, content)),
                Err(full) => self.vectors.push((full.value, content)),
            }
        }
    }

    // ---- objects --------------------------------------------------------------------------------

    fn allocate(&mut self, input: &mut Input<'_>) {
        let content = fresh(self.steps, input.size() % 20_000);
        let layout = Layout::from_size_align(content.len(), 8).expect("a valid layout");
        if let Ok(mut bytes) = self.heap.alloc_zeroed(layout) {
            self.heap.write_at(&mut bytes, 0, &content);
            self.objects.push((bytes, content));
        }
    }

    fn free(&mut self, input: &mut Input<'_>) {
        if input.byte() % 2 == 0 {
            if let Some(which) = input.number().checked_rem(self.vectors.len()) {
                self.vectors.swap_remove(which).0.free(&mut self.heap);
            }
        } else if let Some(which) = input.number().checked_rem(self.objects.len()) {
            let (bytes, _) = self.objects.swap_remove(which);
            self.heap.free_bytes(bytes);
        }
    }

    // ---- cursors --------------------------------------------------------------------------------

    fn read(&mut self, input: &mut Input<'_>) {
        if let Some(which) = input.number().checked_rem(self.vectors.len()) {
            let (vector, content) = &mut self.vectors[which];
            read_beside(&mut vector.cursor(&self.heap), content, input);
            read_beside(&mut vector.cursor_mut(&self.heap), content, input);
        }
        if let Some(which) = input.number().checked_rem(self.objects.len()) {
            let (bytes, content) = &mut self.objects[which];
            read_beside(&mut self.heap.cursor(bytes), content, input);
            let mut cursor = self.heap.cursor(bytes);
            let mut whole: Vec<u8> = Vec::new();
            while !cursor.fill_buf().expect("it cannot fail").is_empty() {
                let chunk = cursor.fill_buf().expect("it cannot fail");
                let count = 1 + input.number() % chunk.len();
                whole.extend(&chunk[..count]);
                cursor.consume(count);
            }
            assert_eq!(&whole, content);
        }
    }

    fn write(&mut self, input: &mut Input<'_>) {
        if let Some(which) = input.number().checked_rem(self.objects.len()) {
            let (bytes, content) = &mut self.objects[which];
            let mut ours = self.heap.cursor_mut(bytes);
            let mut theirs = Cursor::new(&mut content[..]);
            for _ in 0..input.below(12) {
                let at = input.number() as u64 % (theirs.get_ref().len() as u64 + 1);
                same(ours.seek(SeekFrom::Start(at)), Ok(at));
                theirs.set_position(at);
                let source = fresh(self.steps + at as usize, input.size() % 9000);
                same(ours.write(&source), theirs.write(&source));
                assert_eq!(ours.position() as u64, theirs.position());
            }
            assert!(self.heap.chunks(bytes).flatten().eq(&*content));
        }
    }

    // ---- views ----------------------------------------------------------------------------------

    /// Views of the pieces, from both ends.
    fn views(&mut self, input: &mut Input<'_>) {
        let Some(which) = input.number().checked_rem(self.objects.len()) else {
            return;
        };
        let (bytes, content) = &self.objects[which];
        let mut views = self.heap.chunks(bytes).io_slices();
        let (mut front, mut back) = (Vec::new(), Vec::new());
        while views.len() > 0 {
            let left = views.len();
            if input.byte() % 2 == 0 {
                front.push(views.next().expect("there are more"));
            } else {
                back.push(views.next_back().expect("there are more"));
            }
            assert_eq!(views.len(), left - 1);
        }
        assert!(views.next().is_none() && views.next_back().is_none());
        front.extend(back.into_iter().rev());
        let mut written = Vec::new();
        let count = front.iter().map(|view| view.len()).sum::<usize>();
        assert_eq!(
            written
                .write_vectored(
                    &front
                        .iter()
                        .map(|view| IoSlice::new(view))
                        .collect::<Vec<_>>()
                )
                .expect("a vector takes everything"),
            count
        );
        assert_eq!(&written, content);
        if content.len() % 4 == 0 {
            let words = self.heap.chunks(bytes).slices::<[u8; 4]>();
            assert!(words.flatten().flatten().eq(content));
            let words = self.heap.chunks(bytes).slices::<u32>().flatten();
            let expected = content.chunks_exact(4);
            assert!(
                words.eq(expected
                    .map(|word| u32::from_ne_bytes(word.try_into().expect("four bytes")))
                    .collect::<Vec<_>>()
                    .iter())
            );
        }
    }

    fn views_mut(&mut self, input: &mut Input<'_>) {
        let Some(which) = input.number().checked_rem(self.objects.len()) else {
            return;
        };
        let (bytes, content) = &mut self.objects[which];
        let source = fresh(self.steps, input.number() % (content.len() + 1));
        let mut views: Vec<IoSliceMut<'_>> = self.heap.chunks_mut(bytes).io_slices().collect();
        let read = (&source[..]).read_vectored(&mut views);
        assert_eq!(read.expect("it cannot fail"), source.len());
        content[..source.len()].copy_from_slice(&source);
        if content.len() % 4 == 0 {
            let words = self.heap.chunks_mut(bytes).slices::<u32>().flatten();
            for (word, model) in words.zip(content.chunks_exact_mut(4)) {
                *word = word.rotate_left(8);
                model.copy_from_slice(&word.to_ne_bytes());
            }
        }
        assert!(self.heap.chunks(bytes).flatten().eq(&*content));
    }
}
