//! Lua programs on every space: what they print, what is left, and what happens when memory runs
//! out.
#![cfg(feature = "lua")]

use std::alloc::Layout;
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use surefit_clients::lua::{
    Collecting, Counts, Failure, Options, Output, PROGRAMS, Ran, Script, run,
};
use surefit_core::{Corruption, RawHeap, Refused, Usage};
use surefit_freelist::{
    BestFit, BinnedFit, Bitmap, Buddy, Deferred, FirstFit, HalfFit, Immediate, Never, NextFit,
    NextHitTable, Scan, SegregatedFit, Tlsf, Tree, TreeFit, WorstFit,
};
use surefit_gc::NoClock;

const KEPT: Options = Options {
    output: Output::Kept,
    collecting: Collecting::WhenRefused,
    refuse_every: 0,
};

/// The allocator of this process, as an unlimited heap.
struct System;

// SAFETY: the contract of the global allocator; this requests at least one byte.
unsafe impl RawHeap for System {
    fn allocate(&mut self, layout: Layout) -> Result<NonNull<u8>, Refused> {
        // SAFETY: the layout has at least one byte: Lua requests no less, and there is no reserve
        // where `parts` is empty.
        NonNull::new(unsafe { std::alloc::alloc(layout) }).ok_or(Refused::NoChunk)
    }

    unsafe fn free(&mut self, object: NonNull<u8>, layout: Layout) {
        // SAFETY: the caller's S1 and S2.
        unsafe { std::alloc::dealloc(object.as_ptr(), layout) };
    }

    fn usage(&self) -> Usage {
        Usage::default()
    }

    fn check(&self) -> Result<(), Corruption> {
        Ok(())
    }
}

fn script<'a>(source: &'a str, arguments: &'a [&'a [u8]]) -> Script<'a> {
    Script {
        name: c"@test.lua",
        source: source.as_bytes(),
        arguments,
    }
}

/// Runs a script on TLSF in a region, all of which is free again at the end.
fn in_heap(bytes: usize, script: &Script<'_>, options: Options) -> Ran {
    let mut memory = vec![MaybeUninit::new(0xA5); bytes];
    let mut heap = Tlsf::new(&mut memory).expect("large enough for its table");
    let ran = run(&mut heap, NoClock, script, options);
    heap.check().expect("sound");
    assert_eq!(heap.live_objects(), 0, "everything is freed");
    ran
}

fn printed(source: &str) -> String {
    let ran = in_heap(1 << 20, &script(source, &[]), KEPT);
    assert_eq!(ran.result, Ok(()));
    String::from_utf8(ran.output).expect("text")
}

fn error(bytes: usize, source: &str) -> Failure {
    let ran = in_heap(bytes, &script(source, &[]), KEPT);
    ran.result.expect_err("it fails")
}

/// The output of every program at a small size, on the allocator of the process.
fn expected() -> Vec<Vec<u8>> {
    let outputs = PROGRAMS.iter().map(|program| {
        let arguments = [program.small.as_bytes()];
        let ran = run(&mut System, NoClock, &program.script(&arguments), KEPT);
        assert_eq!(ran.result, Ok(()), "{}", program.name);
        assert!(!ran.output.is_empty(), "{} prints nothing", program.name);
        ran.output
    });
    outputs.collect()
}

macro_rules! spaces {
    ($run:ident: $($name:literal $heap:ty;)*) => {$(
        $run($name, |memory, script, options| {
            let mut heap = <$heap>::new(memory).expect("large enough for its table");
            let before = heap.usage().total();
            let ran = run(&mut heap, NoClock, script, options);
            heap.check().expect($name);
            assert_eq!((heap.live_objects(), heap.usage().total()), (0, before), $name);
            ran
        });
    )*};
}

/// Calls a function with every space: its name, and a function that runs a script in a region with
/// it.
fn on_every_space(
    mut each: impl FnMut(&str, fn(&mut [MaybeUninit<u8>], &Script<'_>, Options) -> Ran),
) {
    spaces! { each:
        "tlsf" Tlsf<'_>;
        "first fit" FirstFit<'_>;
        "best fit" BestFit<'_>;
        "worst fit" WorstFit<'_>;
        "next fit" NextFit<'_>;
        "tree fit" TreeFit<'_>;
        "bins" BinnedFit<'_>;
        "half-fit" HalfFit<'_>;
        "buddy" Buddy<'_>;
        "scan, never" SegregatedFit<'_, Scan, Never, Tree, 256>;
        "scan, deferred" SegregatedFit<'_, Scan, Deferred, Tree, 256>;
        "scan, immediate" SegregatedFit<'_, Scan, Immediate, Tree, 256>;
        "table, never" SegregatedFit<'_, NextHitTable, Never, Tree, 256>;
        "table, deferred" SegregatedFit<'_, NextHitTable, Deferred, Tree, 256>;
        "table, immediate" SegregatedFit<'_, NextHitTable, Immediate, Tree, 256>;
        "bitmap, never" SegregatedFit<'_, Bitmap, Never, Tree, 256>;
        "bitmap, deferred" SegregatedFit<'_, Bitmap, Deferred, Tree, 256>;
        "bitmap, immediate" SegregatedFit<'_, Bitmap, Immediate, Tree, 256>;
    }
}

#[test]
fn every_program_prints_the_same_on_every_space() {
    let expected = expected();
    let mut memory = vec![MaybeUninit::new(0xA5); 3 << 19];
    let mut spaces = 0;
    on_every_space(|space, run| {
        let mut collections = 0;
        for (program, expected) in PROGRAMS.iter().zip(&expected) {
            let arguments = [program.small.as_bytes()];
            let ran = run(&mut memory, &program.script(&arguments), KEPT);
            assert_eq!(ran.result, Ok(()), "{} on {space}", program.name);
            assert!(
                ran.output == *expected,
                "{} on {space} prints something else",
                program.name
            );
            assert_eq!(ran.counts.uncollected, 0, "{} on {space}", program.name);
            collections += ran.counts.collections;
        }
        assert!(collections > 0, "{space} was never exhausted");
        spaces += 1;
    });
    assert_eq!(spaces, 18);
}

/// Lua's own collectors, as they come and with tunings out of range.
const OWN: [Collecting; 4] = [
    Collecting::Incremental {
        pause: 0,
        step_multiplier: 0,
    },
    Collecting::Incremental {
        pause: u16::MAX,
        step_multiplier: u16::MAX,
    },
    Collecting::Generational { minor: 0, major: 0 },
    Collecting::Generational {
        minor: u16::MAX,
        major: u16::MAX,
    },
];

#[test]
fn every_program_prints_the_same_whatever_collects() {
    for (program, expected) in PROGRAMS.iter().zip(expected()) {
        for collecting in OWN {
            let options = Options { collecting, ..KEPT };
            let arguments = [program.small.as_bytes()];
            for bytes in [512 << 10, 16 << 20] {
                let ran = in_heap(bytes, &program.script(&arguments), options);
                let what = format!("{} in {bytes}, {collecting:?}", program.name);
                assert_eq!(ran.result, Ok(()), "{what}");
                assert!(ran.output == expected, "{what} prints something else");
                let is_refused = ran.counts.collections > 0;
                assert!(!is_refused || bytes < 1 << 20, "{what}: {:?}", ran.counts);
            }
        }
    }
}

#[test]
fn luas_collectors_keep_memory_low_by_themselves() {
    let source = "local t for i = 1, 100000 do t = { i } end";
    let peak = |collecting| {
        let options = Options { collecting, ..KEPT };
        let ran = run(&mut System, NoClock, &script(source, &[]), options);
        assert_eq!((ran.result, ran.counts.collections), (Ok(()), 0));
        ran.counts.peak_bytes
    };
    let pauses = |pause| Collecting::Incremental {
        pause,
        step_multiplier: 0,
    };
    let [short, usual, long] = [110, 200, 1000].map(|pause| peak(pauses(pause)));
    assert!(short < usual && usual < long, "{short} {usual} {long}");
    let never = peak(Collecting::WhenRefused);
    assert!(never > 5_000_000 && long < never / 4, "{long} {never}");
    let generations = peak(Collecting::Generational { minor: 0, major: 0 });
    assert!(generations < usual, "{generations}");
}

#[test]
fn refusals_that_nobody_needs_change_nothing_that_is_printed() {
    for (program, expected) in PROGRAMS.iter().zip(expected()) {
        let arguments = [program.small.as_bytes()];
        for refuse_every in [97, 1009] {
            let options = Options {
                refuse_every,
                ..KEPT
            };
            let ran = in_heap(4 << 20, &program.script(&arguments), options);
            assert_eq!(ran.result, Ok(()), "{}", program.name);
            assert!(
                ran.output == expected,
                "{} prints something else",
                program.name
            );
            assert!(ran.counts.collections + 20 >= ran.counts.allocations / (2 * refuse_every));
        }
    }
}

#[test]
fn every_request_for_an_object_can_be_refused_once() {
    let source = "local t = {} for i = 1, 300 do t[i % 7] = { ('x'):rep(i), function() return t end } end \
                  print(coroutine.wrap(function() for i = 1, 50 do coroutine.yield(tostring(i) .. 'y') end end)())";
    let options = Options {
        refuse_every: 1,
        ..KEPT
    };
    let ran = in_heap(1 << 20, &script(source, &[]), options);
    assert_eq!((ran.result, ran.output), (Ok(()), b"1y\n".to_vec()));
    assert!(ran.counts.collections > 900, "{:?}", ran.counts);
}

#[test]
fn payloads_that_are_odd_multiples_of_eight_will_do() {
    let mut memory = vec![MaybeUninit::new(0xA5); 1 << 20];
    let mut odd = 0;
    for skew in [0, 8] {
        let start = memory.as_ptr().align_offset(16) + skew;
        let heap = &mut Odd {
            heap: Tlsf::new(&mut memory[start..]).expect("a region"),
            odd: 0,
        };
        for program in PROGRAMS {
            let arguments = [program.small.as_bytes()];
            let ran = run(heap, NoClock, &program.script(&arguments), KEPT);
            assert_eq!(ran.result, Ok(()), "{}", program.name);
        }
        odd += heap.odd;
    }
    assert!(odd > 10_000, "{odd}");
}

/// Counts the payloads that are no multiples of sixteen.
struct Odd<'m> {
    heap: Tlsf<'m>,
    odd: u64,
}

// SAFETY: what the heap returns.
unsafe impl RawHeap for Odd<'_> {
    fn allocate(&mut self, layout: Layout) -> Result<NonNull<u8>, Refused> {
        assert_eq!(layout.align(), 8, "Lua is told 8");
        let object = self.heap.allocate(layout)?;
        self.odd += u64::from(object.addr().get() % 16 == 8);
        Ok(object)
    }

    unsafe fn free(&mut self, object: NonNull<u8>, layout: Layout) {
        // SAFETY: the caller's S1 and S2.
        unsafe { self.heap.free(object, layout) };
    }

    unsafe fn resize(
        &mut self,
        object: NonNull<u8>,
        layout: Layout,
        new_size: usize,
    ) -> Result<NonNull<u8>, Refused> {
        // SAFETY: the caller's S1 and S2.
        unsafe { self.heap.resize(object, layout, new_size) }
    }

    fn usage(&self) -> Usage {
        self.heap.usage()
    }

    fn check(&self) -> Result<(), Corruption> {
        self.heap.check()
    }
}

/// Lua seeds its hashes by addresses and the time, so tables grow a little earlier or later.
#[test]
fn what_is_counted_hardly_depends_on_the_run() {
    for program in PROGRAMS {
        let arguments = [program.small.as_bytes()];
        let allocations = || {
            in_heap(512 << 10, &program.script(&arguments), KEPT)
                .counts
                .allocations
        };
        let (first, second) = (allocations(), allocations());
        assert!(
            first.abs_diff(second) * 100 <= first,
            "{}: {first}, {second}",
            program.name
        );
    }
}

#[test]
fn counts_are_those_of_the_heap() {
    let ran = in_heap(
        256 << 10,
        &script("local t for i = 1, 40000 do t = { t and 1 } end", &[]),
        KEPT,
    );
    let Counts {
        allocations,
        frees,
        swept,
        collections,
        live_bytes,
        peak_bytes,
        ..
    } = ran.counts;
    assert!(
        allocations > 80_000,
        "a table and its array each: {allocations}"
    );
    assert!(collections > 10, "{collections}");
    assert!(swept <= frees && frees < allocations);
    assert!(live_bytes <= peak_bytes && peak_bytes < 256 << 10);
}

#[test]
fn buffers_never_fail_while_there_is_garbage() {
    let source = "local n = 0 for i = 1, 4000 do local t = {} for j = 1, 40 do t[j] = ('%d,%d;'):format(i, j) .. ('x'):rep(90) end \
                  n = n + #table.concat(t) end print(n)";
    let ran = in_heap(256 << 10, &script(source, &[]), KEPT);
    assert_eq!(ran.result, Ok(()));
    assert_eq!(ran.counts.uncollected, 0);
    assert!(ran.counts.collections > 10, "{:?}", ran.counts);
}

#[test]
fn a_long_buffer_waits_for_a_collection() {
    let source = "local parts = {} for i = 1, 60 do parts[i] = ('p'):rep(1000) end local n = 0 \
                  for i = 1, 40 do n = n + #table.concat(parts) end print(n)";
    let ran = in_heap(400 << 10, &script(source, &[]), KEPT);
    assert_eq!((ran.result, ran.output), (Ok(()), b"2400000\n".to_vec()));
    assert_eq!(ran.counts.uncollected, 0);
    assert!(ran.counts.collections > 5, "{:?}", ran.counts);
    assert!(ran.counts.largest_array_bytes > (400 << 10) / 8);
}

#[test]
fn a_collection_for_a_buffer_keeps_what_a_coroutine_uses_and_runs_no_finalizer() {
    let source = "local function mortal() setmetatable({}, { __gc = function() print('gone') end }) end mortal() \
                  local made = coroutine.wrap(function(...) local kept, more = {}, { ... } \
                    for i = 1, 300 do kept[i] = ('k%d'):format(i):rep(40) \
                      if #('x'):rep(30000 + i) ~= 30000 + i then print('wrong') end \
                      if i % 7 == 0 then coroutine.yield(#kept) end end \
                    for i = 1, 300 do if kept[i] ~= ('k%d'):format(i):rep(40) then print('lost', i) end end \
                    return more[1] end) \
                  local last repeat last = made('first') until last == 'first' print(last)";
    let ran = in_heap(256 << 10, &script(source, &[]), KEPT);
    let output = String::from_utf8(ran.output).expect("text");
    assert_eq!((ran.result, &*output), (Ok(()), "first\ngone\n"));
    assert!(ran.counts.collections > 20, "{:?}", ran.counts);
    assert_eq!(ran.counts.uncollected, 0);
}

/// Lua does not collect while it moves a stack.
#[test]
fn stacks_grow_whatever_the_heap() {
    let source = "local function deep(n) if n == 0 then return 0 end local t = { n } return t[1] - n + 1 + deep(n - 1) end \
                  local n = 0 for i = 1, 40 do \
                  local ok, sum = coroutine.resume(coroutine.create(deep), 10 * i) \
                  if not ok then assert(sum == 'not enough memory', sum) print('full') return end \
                  n = n + sum end print(n)";
    let mut ended = 0;
    for bytes in (40 << 10..400 << 10).step_by(7001) {
        let ran = in_heap(bytes, &script(source, &[]), KEPT);
        match ran.result {
            Ok(()) if ran.output == b"8200\n" => ended += 1,
            // What a coroutine throws is a value, an exhausted heap too.
            Ok(()) => assert_eq!(ran.output, b"full\n", "{bytes}"),
            Err(Failure::Error(message)) => panic!("{bytes}: {message}"),
            Err(Failure::OutOfMemory(_)) => {}
        }
    }
    assert!(ended > 20, "{ended}");
}

/// Among small objects that survive there is soon no room for a long array, although most is free.
#[test]
fn long_arrays_find_room_in_the_memory_of_luas_own_collector() {
    let program = PROGRAMS.iter().find(|it| it.name == "json");
    let program = program.expect("it comes with surefit");
    for bytes in [300_000, 330_000] {
        let mut memory = vec![MaybeUninit::new(0xA5); bytes];
        let mut heap: SegregatedFit<'_> = SegregatedFit::new(&mut memory).expect("a region");
        let ran = run(&mut heap, NoClock, &program.script(&[b"30"]), KEPT);
        assert_eq!(ran.result, Ok(()), "{bytes}: {:?}", ran.counts);
        assert!(ran.counts.largest_array_bytes > bytes as u64 / 16);
    }
}

#[test]
fn buffers_leave_nothing_behind() {
    let source = "for i = 1, 20000 do local s = ('x'):rep(2000) end collectgarbage() print(collectgarbage('count') < 60)";
    assert_eq!(printed(source), "true\n");
    let source = "for i = 1, 20000 do local s = ('x'):rep(2000) end";
    let ran = in_heap(160 << 10, &script(source, &[]), KEPT);
    assert_eq!(
        ran.result,
        Ok(()),
        "20,000 buffers of 56 bytes would not fit"
    );
}

#[test]
fn out_of_memory_is_a_value_and_can_be_caught() {
    let source = "local t = {} while true do t[#t + 1] = {} end";
    let failure = error(256 << 10, source);
    assert!(matches!(failure, Failure::OutOfMemory(1..)), "{failure}");
    let caught = format!("print(pcall(function() {source} end)) print(#{{}})");
    assert_eq!(printed(&caught), "false\tnot enough memory\n0\n");
    let failure = error(256 << 10, "local s = ('x'):rep(1 << 20)");
    assert_eq!(
        failure,
        Failure::OutOfMemory(1 << 20),
        "a buffer's refusal, too"
    );
    assert!(matches!(
        error(16 << 10, "print(1)"),
        Failure::OutOfMemory(_)
    ));
}

#[test]
fn no_size_of_the_heap_does_harm() {
    for bytes in (8 << 10..64 << 10).step_by(509) {
        let source =
            "local t = {} for i = 1, 30 do t[i] = ('x'):rep(60 * i) end print(#table.concat(t))";
        let ran = in_heap(bytes, &script(source, &[]), KEPT);
        match ran.result {
            Ok(()) => assert_eq!(ran.output, b"27900\n"),
            Err(failure) => assert!(matches!(failure, Failure::OutOfMemory(_)), "{failure}"),
        }
    }
}

#[test]
fn a_program_ends_or_is_out_of_memory_whatever_the_heap() {
    for program in PROGRAMS {
        let arguments = [program.small.as_bytes()];
        for bytes in (24 << 10..120 << 10).step_by(8009) {
            let result = in_heap(bytes, &program.script(&arguments), KEPT).result;
            let is_clean = matches!(result, Ok(()) | Err(Failure::OutOfMemory(_)));
            assert!(is_clean, "{} in {bytes}: {result:?}", program.name);
        }
    }
}

#[test]
fn an_error_has_its_calls() {
    let failure = error(1 << 20, "local function f() error('no more') end\n\nf()");
    let text = failure.to_string();
    assert!(
        text.starts_with("test.lua:1: no more\nstack traceback:"),
        "{text}"
    );
    assert!(text.contains("test.lua:3: in main chunk"), "{text}");
    let text = error(1 << 20, "local x = = 1").to_string();
    assert_eq!(text, "test.lua:1: unexpected symbol near '='");
    let text = error(
        1 << 20,
        "error(setmetatable({}, { __tostring = function() return 'mine' end }))",
    )
    .to_string();
    assert!(text.starts_with("mine\n"), "{text}");
}

/// Lua does not verify compiled code: a compiled script could break memory.
#[test]
fn a_script_is_text() {
    let compiled = printed("io.write(string.dump(function() end):sub(1, 4))");
    assert_eq!(compiled, "\x1bLua");
    let Failure::Error(message) = error(1 << 20, &compiled) else {
        panic!("not an error");
    };
    assert!(message.contains("binary chunk"), "{message}");
}

#[test]
fn arguments_and_libraries_are_those_of_lua() {
    let source = "#! /usr/bin/env lua\nprint(arg[0], #arg, arg[2], select('#', ...), (...), package.path ~= nil, io.write ~= nil, os.time() > 0)\n\
                  print(debug.getinfo(1, 'l').currentline)";
    let ran = in_heap(1 << 20, &script(source, &[b"first", b"se\0cond"]), KEPT);
    assert_eq!(ran.result, Ok(()));
    let output = String::from_utf8(ran.output).expect("text");
    assert_eq!(
        output,
        "test.lua\t2\tse\0cond\t2\tfirst\ttrue\ttrue\ttrue\n3\n"
    );
}

#[test]
fn finalizers_run_when_they_are_asked_for_and_in_the_end() {
    let source = "local function mortal(n) setmetatable({}, { __gc = function() print('gone', n) end }) end \
                  mortal(1) collectgarbage() mortal(2) print('end')";
    assert_eq!(printed(source), "gone\t1\nend\ngone\t2\n");
}
