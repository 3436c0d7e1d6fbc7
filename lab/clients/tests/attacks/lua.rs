//! Any script is safe to run: it cannot reach what Lua does not verify.

use std::cell::Cell;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};

use surefit_clients::lua::{
    Collecting, Failure, Options, Output, PROGRAMS, Ran, Script, run, run_and_look,
};
use surefit_core::RawHeap;
use surefit_freelist::Tlsf;
use surefit_gc::{Clock, NoClock};

const KEPT: Options = Options {
    output: Output::Kept,
    collecting: Collecting::WhenRefused,
    refuse_every: 0,
};

fn in_heap<K: Clock>(source: &[u8], clock: K, options: Options) -> Ran {
    let mut memory = vec![MaybeUninit::uninit(); 1 << 20];
    let mut heap = Tlsf::new(&mut memory).expect("large enough");
    let (name, arguments) = (c"@attack.lua", [&b"arguments"[..]].repeat(3));
    let script = Script {
        name,
        source,
        arguments: &arguments,
    };
    let ran = run(&mut heap, clock, &script, options);
    assert_eq!((heap.check(), heap.live_objects()), (Ok(()), 0));
    ran
}

fn printed(source: &str) -> String {
    let ran = in_heap(source.as_bytes(), NoClock, KEPT);
    assert_eq!(ran.result, Ok(()), "{source}");
    String::from_utf8(ran.output).expect("text")
}

/// A compiled function with each byte changed in turn. Lua does not verify it, so it must not be
/// loaded.
#[test]
fn no_script_runs_what_lua_does_not_verify() {
    let source = r#"
        local sound = string.dump(function(...) local t = {...} for i = 1, #t do t[i] = t[i] .. i end return t end)
        local path = os.tmpname()
        local function loaders(code)
            local file = io.open(path, "wb") file:write(code) file:close()
            return {
                function() return load(code) end,
                function() return load(code, "x", "b") end,
                function() return load(code, "x", "bt", {}) end,
                function() local given = false return load(function() if not given then given = true return code end end) end,
                function() return loadfile(path) end,
                function() return loadfile(path, "b") end,
                function() return pcall(dofile, path) end,
                function() package.path = path return pcall(require, "x") end,
            }
        end
        local refused = 0
        for at = 20, #sound do
            for _, loader in ipairs(loaders(sound:sub(1, at - 1) .. string.char((sound:byte(at) + 77) % 256) .. sound:sub(at + 1))) do
                local loaded, message = loader()
                if loaded then print("loaded at", at) pcall(loaded, 1, 2, 3) else refused = refused + 1 end
                assert(tostring(message):find("binary chunk") , message)
            end
        end
        os.remove(path)
        print(refused > 800)
    "#;
    assert_eq!(printed(source), "true\n");
}

#[test]
fn no_script_finds_what_was_taken_away() {
    let source = r#"
        for name in pairs(debug) do assert(name == "traceback" or name == "getinfo", name) end
        assert(package.loaded.debug == debug and require("debug") == debug)
        assert(not package.loadlib and #package.searchers == 2)
        package.cpath = "/usr/lib/x86_64-linux-gnu/libc.so.6"
        assert(not pcall(require, "c"))
        -- Inside a reader the function that was taken away is on the stack.
        local seen = 0
        load(function()
            for level = 0, 9 do
                for _, info in ipairs({ debug.getinfo(level), debug.getinfo(level, "f"), debug.getinfo(coroutine.running(), level) }) do
                    assert(info.func == nil)
                    seen = seen + 1
                end
            end
        end)
        assert(seen > 9 and debug.getinfo(print).what == "C" and debug.getinfo(1, "l").currentline == 17)
        for _, level in ipairs({ -1, math.maxinteger, math.mininteger, 1e300, "1", 0 / 0 }) do
            local well, info = pcall(debug.getinfo, level)
            assert(not well or info == nil or info.func == nil)
        end
        assert(not getmetatable("").__index.load and debug.traceback("x", -5))
        print("sound", load("return 7")(), load("return x", "x", "t", { x = 8 })(), load("return x", "x", "bt", { x = 9 })())
    "#;
    assert_eq!(printed(source), "sound\t7\t8\t9\n");
}

/// Goes back and forth between zero and the largest number.
struct Hostile(Cell<u64>);

impl Clock for Hostile {
    fn now(&self) -> u64 {
        self.0.set(self.0.get().wrapping_mul(3).wrapping_sub(1));
        [0, u64::MAX, self.0.get()][self.0.get() as usize % 3]
    }
}

#[test]
fn a_clock_may_lie() {
    let source = b"local t for i = 1, 30000 do t = { i, t and t[1] } end print(t[1])";
    for seed in 0..20 {
        let ran = in_heap(source, Hostile(Cell::new(seed)), KEPT);
        assert_eq!((ran.result, &ran.output[..]), (Ok(()), &b"30000\n"[..]));
        assert!(ran.counts.collections > 0 && ran.counts.call_ticks > 1 << 60);
    }
}

#[test]
fn a_script_may_be_anything() {
    let deep = format!("{}{}", "(".repeat(100_000), ")".repeat(100_000));
    let sources = [
        &b""[..],
        b"#",
        b"#\n#",
        b"\x1bLua",
        b"\0",
        b"return return",
        b"error(nil)",
        b"error({})",
        b"error(setmetatable({}, { __tostring = error }))",
        b"error(setmetatable({}, { __tostring = function() return 1 end }))",
        b"local function f() return f() + 1 end f()",
        b"local t = setmetatable({}, {}) getmetatable(t).__index = t return t.x",
        b"local s = 'x' while true do s = s .. s end",
        b"string.rep('x', math.maxinteger)",
        b"('x'):rep(1 << 20):rep(1 << 44)",
        b"collectgarbage('setpause', math.maxinteger) collectgarbage('step', math.mininteger) error('end')",
        b"coroutine.wrap(function() coroutine.wrap(coroutine.running)() error('end') end)()",
        deep.as_bytes(),
    ];
    for (source, refuse_every) in sources
        .iter()
        .flat_map(|it| [(it, 0), (it, 1), (it, u64::MAX)])
    {
        let ran = in_heap(
            source,
            NoClock,
            Options {
                refuse_every,
                ..KEPT
            },
        );
        let text = String::from_utf8_lossy(&source[..source.len().min(60)]);
        match ran.result {
            Ok(()) => assert!(source.len() < 4, "{text}"),
            Err(failure) => assert!(
                !source.is_empty() && format!("{failure}").len() < 3000,
                "{text}"
            ),
        }
    }
}

#[test]
fn arguments_and_memory_may_be_any_number() {
    let many = vec![&b"x"[..]; 1_000_001];
    let script = Script {
        name: c"",
        source: b"",
        arguments: &many,
    };
    let mut heap_memory = vec![MaybeUninit::uninit(); 64 << 20];
    let mut heap = Tlsf::new(&mut heap_memory).expect("large enough");
    let ran = run(&mut heap, NoClock, &script, KEPT);
    assert!(matches!(ran.result, Err(Failure::Error(_))));
    assert_eq!(heap.live_objects(), 0);
    let mut exhausted = 0;
    for bytes in (4096..80_000).step_by(997) {
        let mut memory = vec![MaybeUninit::uninit(); bytes];
        let mut heap = Tlsf::new(&mut memory).expect("large enough");
        let program = PROGRAMS[bytes % PROGRAMS.len()].script(&[]);
        let ran = run(&mut heap, NoClock, &program, KEPT);
        exhausted += u32::from(matches!(ran.result, Err(Failure::OutOfMemory(_))));
        assert_eq!((heap.check(), heap.live_objects()), (Ok(()), 0), "{bytes}");
    }
    assert!(exhausted > 20, "{exhausted}");
}

#[test]
fn who_looks_at_the_heap_may_unwind() {
    let mut memory = vec![MaybeUninit::uninit(); 1 << 20];
    let mut heap = Tlsf::new(&mut memory).expect("large enough");
    let script = Script {
        name: c"=x",
        source: b"x = {}",
        arguments: &[],
    };
    let look = |heap: &Tlsf<'_>| -> usize { panic!("{} objects live", heap.live_objects()) };
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        run_and_look(&mut heap, NoClock, &script, KEPT, look).1
    }));
    assert!(unwound.is_err());
    assert_eq!(heap.check(), Ok(()));
    assert!(heap.live_objects() > 100, "what lived is leaked, no more");
    assert_eq!(run(&mut heap, NoClock, &script, KEPT).result, Ok(()));
}
