//! A profile for pprof: of each stack, what it allocated in all, and what lives of that at the
//! peak.
//!
//! The four values have the names of Go's profiles of memory, which every reader of profiles knows:
//! `alloc_objects`, `alloc_space`, `inuse_objects`, `inuse_space`. The last two are those of the
//! event at which the sum of the live requests is greatest for the first time.
//!
//! Who knows how many bytes of fragmentation the objects of each stack keep at that event hands
//! them over at the end; they are a fifth value, `fragmentation_space`.
//!
//! # Source
//! <https://github.com/google/pprof/blob/main/proto/profile.proto>

use std::collections::HashMap;
use std::io::{self, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use surefit_trace::{Event, Header};

use super::frame::Frame;
use super::live::Live;
use super::protobuf::Message;

/// Gathers a trace event by event, and writes the profile at the end.
#[derive(Debug)]
pub struct PprofWriter<W: Write> {
    out: W,
    name: String,
    live: Live,
    live_bytes: u64,
    /// The peak as the trace's header says it; `None` once it was met.
    peak_bytes: Option<u64>,
    tables: Tables,
    /// By the number of the caller's: an index of `totals`.
    known: HashMap<u64, usize>,
    totals: Vec<Total>,
    /// In which heap the objects fragment so; `None` if nobody said.
    fragmented: Option<String>,
}

/// What a stack allocated.
#[derive(Clone, Debug, Default)]
struct Total {
    /// Numbers of places, the innermost first.
    places: Vec<u64>,
    allocated: Sum,
    live: Sum,
    live_at_peak: Sum,
    fragmentation: u64,
}

/// Objects, and the sum of their requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sum {
    objects: u64,
    bytes: u64,
}

/// What the profile's messages name by numbers from 1; of strings, 0 is the empty one.
#[derive(Debug, Default)]
struct Tables {
    strings: HashMap<String, u64>,
    /// By the names of function and file.
    functions: HashMap<(u64, u64), u64>,
    modules: HashMap<String, u64>,
    places: HashMap<Frame, u64>,
    /// The messages so far.
    profile: Message,
}

impl<W: Write> PprofWriter<W> {
    /// Begins a profile.
    pub fn new(out: W, header: &Header) -> Self {
        let mut tables = Tables::default();
        tables.string("");
        Self {
            out,
            name: header.name.clone(),
            live: Live::default(),
            live_bytes: 0,
            peak_bytes: Some(header.counts.peak_bytes),
            tables,
            known: HashMap::new(),
            totals: Vec::new(),
            fragmented: None,
        }
    }

    /// Takes the next event of a sound trace, which the stack of this number called. `frames` is
    /// asked once for the frames of each number, the innermost first.
    pub fn event(&mut self, event: Event, stack: u64, frames: impl FnOnce(u64) -> Vec<Frame>) {
        let Self {
            tables,
            totals,
            known,
            ..
        } = self;
        let change = self.live.take(event, stack, |_, stack| {
            *known.entry(stack).or_insert_with(|| {
                let places = frames(stack).into_iter().map(|frame| tables.place(frame));
                let places = places.collect();
                totals.push(Total {
                    places,
                    ..Total::default()
                });
                totals.len() - 1
            })
        });
        if let Some(ended) = change.ended {
            let live = &mut self.totals[ended.origin].live;
            live.objects -= 1;
            live.bytes -= ended.size;
            self.live_bytes -= ended.size;
        }
        if let Some(begun) = change.begun {
            let total = &mut self.totals[begun.origin];
            for sum in [&mut total.allocated, &mut total.live] {
                sum.objects += 1;
                sum.bytes += begun.size;
            }
            self.live_bytes += begun.size;
        }
        if self.peak_bytes == Some(self.live_bytes) {
            self.peak_bytes = None;
            for total in &mut self.totals {
                total.live_at_peak = total.live;
            }
        }
    }

    /// Adds the bytes of fragmentation in a heap that the objects of each stack keep at the peak. A
    /// stack that allocated nothing is left out.
    pub fn fragmentation(&mut self, heap: &str, stacks: impl IntoIterator<Item = (u64, u64)>) {
        self.fragmented = Some(heap.to_owned());
        for (stack, bytes) in stacks {
            if let Some(total) = self.known.get(&stack) {
                self.totals[*total].fragmentation += bytes;
            }
        }
    }

    /// Writes the profile, compressed, and returns what it was written to.
    ///
    /// # Errors
    /// What writing failed with.
    pub fn finish(mut self) -> io::Result<W> {
        let tables = &mut self.tables;
        let fragmentation = self.fragmented.is_some().then_some(FRAGMENTATION);
        for (name, unit) in SAMPLE_TYPES.into_iter().chain(fragmentation) {
            let (name, unit) = (tables.string(name), tables.string(unit));
            let mut kind = Message::default();
            kind.number(1, name).number(2, unit);
            tables.profile.bytes(1, &kind.0);
        }
        for total in &self.totals {
            let sums = [total.allocated, total.live_at_peak];
            let values = sums.into_iter().flat_map(|sum| [sum.objects, sum.bytes]);
            let values = values.chain(fragmentation.map(|_| total.fragmentation));
            let mut sample = Message::default();
            sample
                .numbers(1, total.places.iter().copied())
                .numbers(2, values);
            tables.profile.bytes(2, &sample.0);
        }
        let mut comment = format!("surefit: {}; in use are the objects at the peak", self.name);
        if let Some(heap) = &self.fragmented {
            comment += &format!(
                "; fragmentation: free page-blocks of {heap} there, in pages that the objects keep"
            );
        }
        let comment = tables.string(&comment);
        let usual = tables.string("inuse_space");
        tables.profile.number(13, comment).number(14, usual);
        tables.finish();
        let mut gzip = GzEncoder::new(self.out, Compression::default());
        gzip.write_all(&tables.profile.0)?;
        let mut out = gzip.finish()?;
        out.flush()?;
        Ok(out)
    }
}

/// The values of a sample, and their units.
const SAMPLE_TYPES: [(&str, &str); 4] = [
    ("alloc_objects", "count"),
    ("alloc_space", "bytes"),
    ("inuse_objects", "count"),
    ("inuse_space", "bytes"),
];

/// The value that may follow them.
const FRAGMENTATION: (&str, &str) = ("fragmentation_space", "bytes");

impl Tables {
    fn string(&mut self, text: &str) -> u64 {
        let next = self.strings.len() as u64;
        *self.strings.entry(text.to_owned()).or_insert(next)
    }

    fn place(&mut self, frame: Frame) -> u64 {
        if let Some(known) = self.places.get(&frame) {
            return *known;
        }
        let number = self.places.len() as u64 + 1;
        let module = self.module(&frame.module);
        let function = self.function(&frame);
        let mut place = Message::default();
        place
            .number(1, number)
            .number(2, module)
            .number(3, frame.address);
        if function > 0 {
            let mut line = Message::default();
            line.number(1, function).number(2, u64::from(frame.line));
            place.bytes(4, &line.0);
        }
        self.profile.bytes(4, &place.0);
        self.places.insert(frame, number);
        number
    }

    /// The number of a frame's function; 0 if it is not known.
    fn function(&mut self, frame: &Frame) -> u64 {
        if frame.function.is_empty() && frame.file.is_empty() {
            return 0;
        }
        let (name, file) = (self.string(&frame.function), self.string(&frame.file));
        let next = self.functions.len() as u64 + 1;
        let profile = &mut self.profile;
        *self.functions.entry((name, file)).or_insert_with(|| {
            let mut function = Message::default();
            function
                .number(1, next)
                .number(2, name)
                .number(3, name)
                .number(4, file);
            profile.bytes(5, &function.0);
            next
        })
    }

    /// The number of a program or library; 0 if it is not known.
    fn module(&mut self, path: &str) -> u64 {
        if path.is_empty() {
            return 0;
        }
        if let Some(known) = self.modules.get(path) {
            return *known;
        }
        let number = self.modules.len() as u64 + 1;
        let name = self.string(path);
        let mut module = Message::default();
        // pprof: functions, files and lines are known, so it need not look for them
        module.number(1, number).number(5, name);
        for known in 7..=9 {
            module.number(known, 1);
        }
        self.profile.bytes(3, &module.0);
        self.modules.insert(path.to_owned(), number);
        number
    }

    /// Writes the strings, in the order of their numbers.
    fn finish(&mut self) {
        let mut strings: Vec<_> = self.strings.iter().collect();
        strings.sort_unstable_by_key(|(_, number)| **number);
        for (text, _) in strings {
            self.profile.bytes(6, text.as_bytes());
        }
    }
}
