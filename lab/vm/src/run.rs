//! A run: a program, a heap, an end. And the smallest heap in which it runs.

use std::io::{Write, sink};
use std::mem::MaybeUninit;
use std::rc::Rc;

use surefit_clients::bisect::Boundary;
use surefit_clients::java::{Ran as Stepped, Space, Timing};
use surefit_core::Corruption;
use surefit_freelist::Counters;
use surefit_gc::Totals;

use crate::classes::{Classes, STATIC};
use crate::heap::Heap;
use crate::meter::Meter;
use crate::program::Program;
use crate::spaces::{Collecting, How, begin};
use crate::stop::{Refusal, Trap};
use crate::vm::{Output, Vm};
use crate::watch::{Watch, Watched, Watching};
use crate::world::{ARRAY_HEADER, Slot};

/// What is run, and on which heap.
#[derive(Clone, Copy, Debug)]
pub struct Call<'c> {
    /// The class files.
    pub program: &'c Program,
    /// The class whose `main` is run: `Main`, `game/Main`.
    pub main: &'c str,
    /// What it is given.
    pub arguments: &'c [String],
    /// The space in which objects lie.
    pub space: &'c Space,
    /// When the collector works.
    pub collecting: Collecting,
    /// How many branches and calls it may take; `u64::MAX` for as many as it likes.
    pub steps: u64,
}

/// A program that ran.
#[derive(Clone, Debug)]
pub struct Ran {
    /// Its exit status: 0, what it gave to `System.exit`, or 1 if an exception was not caught.
    pub status: i32,
    /// Whether there was no room for an object, which a program may catch.
    pub was_full: bool,
    /// What the collector did; times are in nanoseconds of the thread's processor time.
    pub totals: Totals,
    /// What free lists did.
    pub counters: Counters,
    /// Classes that were loaded.
    pub classes: usize,
    /// The pauses of a collector in steps, and what it did; absent for others. A tick is a
    /// nanosecond of the thread's processor time, or what was asked for.
    pub stepped: Option<Stepped>,
}

/// Runs a program in a region. All of the region is the heap, tables included; classes and the
/// stack lie beside it.
///
/// # Errors
/// What the machine does not run; the region is too small to begin in; `out` cannot be written.
///
/// # Panics
/// If the heap is damaged afterwards, which is a fault of the collector.
pub fn run(
    call: &Call<'_>,
    region: &mut [MaybeUninit<u8>],
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<Ran, Refusal> {
    run_on(
        call,
        Timing::Processor,
        region,
        Output::new(out, err),
        false,
    )
}

/// As [`run`], by a clock of choice: with [`Timing::Virtual`] every run is the same. `None` if
/// there was no room for an object. What the program writes is dropped.
///
/// # Errors
/// As [`run`], but for the want of room.
///
/// # Panics
/// As [`run`].
pub fn clocked(
    call: &Call<'_>,
    timing: Timing,
    region: &mut [MaybeUninit<u8>],
) -> Result<Option<Ran>, Refusal> {
    let (out, err) = (&mut sink(), &mut sink());
    match run_on(call, timing, region, Output::new(out, err), true) {
        Ok(ran) => Ok((!ran.was_full).then_some(ran)),
        Err(Refusal::NoRoom(_)) => Ok(None),
        Err(other) => Err(other),
    }
}

/// Runs a program; perhaps not on when an object found no room.
fn run_on(
    call: &Call<'_>,
    timing: Timing,
    region: &mut [MaybeUninit<u8>],
    output: Output<'_>,
    ends_when_full: bool,
) -> Result<Ran, Refusal> {
    let meter = Meter::new(timing);
    let how = How {
        collecting: call.collecting,
        large_from: usize::MAX,
        meter: &meter,
    };
    let mut heap = begin(call.space, how, region).map_err(Refusal::NoRoom)?;
    let output = Output::new(&mut *output.out, &mut *output.err);
    let (status, was_full, classes) = machine(call, &mut *heap, None, output, ends_when_full)?;
    let ran = Ran {
        status,
        was_full,
        totals: heap.totals(),
        counters: heap.counters(),
        classes,
        stepped: heap.stepped(),
    };
    verify(&*heap);
    Ok(ran)
}

/// As [`run`], and notes something of it; `None` if there was no room for an object. What the
/// program writes is dropped.
///
/// # Errors
/// As [`run`], but for the want of room.
///
/// # Panics
/// As [`run`].
pub fn watch(
    call: &Call<'_>,
    watching: Watching,
    region: &mut [MaybeUninit<u8>],
) -> Result<Option<Watched>, Refusal> {
    let meter = Rc::new(Meter::new(Timing::Processor));
    let how = How {
        collecting: call.collecting,
        large_from: watching.large_from,
        meter: &meter,
    };
    let Ok(mut heap) = begin(call.space, how, region) else {
        return Ok(None);
    };
    let mut watch = Watch::new(Rc::clone(&meter), watching);
    let (out, err) = (&mut sink(), &mut sink());
    match machine(
        call,
        &mut *heap,
        Some(&mut watch),
        Output::new(out, err),
        true,
    ) {
        Ok((_, false, _)) => {
            let watched = watch.end(&*heap);
            verify(&*heap);
            Ok(Some(watched))
        }
        Ok((_, true, _)) | Err(Refusal::NoRoom(_)) => Ok(None),
        Err(other) => Err(other),
    }
}

/// Verifies the heap after a run, when its time is no longer taken.
fn verify(heap: &dyn Heap) {
    let sound: Result<(), Corruption> = heap.check();
    assert_eq!(sound, Ok(()), "the heap is damaged");
}

/// Runs the program; its status, whether the heap was full, and how many classes there were.
fn machine<'v>(
    call: &'v Call<'_>,
    heap: &'v mut dyn Heap,
    watch: Option<&'v mut Watch>,
    output: Output<'v>,
    ends_when_full: bool,
) -> Result<(i32, bool, usize), Refusal> {
    let refused = |trap| match trap {
        Trap::Refused(refusal) => *refusal,
        _ => Refusal::Missing("what the machine begins with".to_owned()),
    };
    let mut vm = Vm::new(heap, watch, Classes::new(call.program), output).map_err(refused)?;
    vm.steps = call.steps;
    vm.ends_when_full = ends_when_full;
    let ended = match begin_main(&mut vm, call) {
        Err(Trap::Thrown) => uncaught(&mut vm).map(|()| 1),
        ended => ended.map(|()| 0),
    };
    let ended = ended.and_then(|status| vm.run_to_the_end().map(|()| status));
    let status = match ended {
        Ok(status) | Err(Trap::Exit(status)) => status,
        Err(Trap::Refused(refusal)) => return Err(*refusal),
        Err(Trap::Thrown) => 1,
    };
    vm.output.out.flush()?;
    vm.output.err.flush()?;
    Ok((status, vm.was_full, vm.classes.all.len()))
}

fn begin_main(vm: &mut Vm<'_>, call: &Call<'_>) -> Result<(), Trap> {
    let class = vm.load(call.main)?;
    let main = vm
        .classes
        .find_method(class, "main", "([Ljava/lang/String;)V");
    let main = main.filter(|&main| vm.classes.method(main).flags & STATIC != 0);
    let missing = || Refusal::Missing(format!("method {}.main(String[])", call.main));
    let main = main.ok_or_else(missing)?;
    let strings = vm.load("[Ljava/lang/String;")?;
    let array = vm.new_array(strings, call.arguments.len() as i32)?;
    vm.push(Slot::reference(Some(array)));
    for (index, argument) in call.arguments.iter().enumerate() {
        let text: Vec<u16> = argument.encode_utf16().collect();
        let string = vm.new_string(&text)?;
        vm.heap
            .store(array, ARRAY_HEADER + index as u32, Some(string));
    }
    vm.run_method(main)
}

/// Writes an exception that nobody caught.
fn uncaught(vm: &mut Vm<'_>) -> Result<(), Trap> {
    let Some(thrown) = vm.world.thrown.take() else {
        return Ok(());
    };
    vm.world.top = 0;
    vm.push(Slot::reference(Some(thrown)));
    let class = vm.class_of(thrown);
    let name = vm.classes.get(class).name.replace('/', ".");
    let throwable = vm.known.throwable;
    let method = vm
        .classes
        .declared(throwable, "uncaught", "(Ljava/lang/Throwable;)V");
    let method = method.ok_or_else(|| Refusal::Missing("Throwable.uncaught".to_owned()))?;
    match vm.run_method(method) {
        // There was no room even for the words: the machine says them.
        Err(Trap::Thrown) => Ok(writeln!(
            vm.output.err,
            "Exception in thread \"main\" {name}"
        )?),
        ended => ended,
    }
}

/// The smallest heap, to within a sixty-fourth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Least {
    /// Bytes of a heap in which the program ran and was never short of room.
    pub bytes: usize,
    /// The number of runs that this took.
    pub runs: u32,
}

/// The least heap that is tried.
const SMALLEST: usize = 32 << 10;

/// Finds the smallest heap in which a program runs without an `OutOfMemoryError`, to within a
/// sixty-fourth: one boundary between heaps that suffice and heaps that do not. `region` is the
/// largest that is tried; `None` if it does not suffice. What the program writes is dropped.
/// `call` says what is run in a heap of so many bytes: when a collector works may follow from it.
///
/// # Errors
/// As [`run`], but for the want of room.
///
/// # Panics
/// As [`run`].
pub fn least_heap<'c>(
    call: impl Fn(usize) -> Call<'c>,
    region: &mut [MaybeUninit<u8>],
) -> Result<Option<Least>, Refusal> {
    let mut runs = 0;
    let mut suffices = |bytes: usize, region: &mut [MaybeUninit<u8>]| {
        runs += 1;
        let ran = clocked(&call(bytes), Timing::Off, &mut region[..bytes]);
        ran.map(|ran| ran.is_some())
    };
    let (mut below, mut above) = (0, SMALLEST.min(region.len()));
    while !suffices(above, region)? {
        if above == region.len() {
            return Ok(None);
        }
        below = above;
        above = (2 * above).min(region.len());
    }
    let boundary = Boundary { below, above };
    let found = boundary.narrowed(8, |above| above / 64, |bytes| suffices(bytes, region))?;
    Ok(Some(Least {
        bytes: found.above,
        runs,
    }))
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::io::sink;
    use std::mem::MaybeUninit;

    use surefit_clients::java::Space;

    use super::{Call, Collecting, run};
    use crate::program::Program;
    use crate::written::{Code, class_file};

    /// Why a class with this `main` does not run to its end.
    fn refused(main: Code<'_>) -> String {
        let bytes = class_file("A", "java/lang/Object", 0, Some(main));
        let program = Program::of_classes(HashMap::from([("A".to_owned(), bytes)]));
        let call = Call {
            program: &program,
            main: "A",
            arguments: &[],
            space: &Space::Tlsf,
            collecting: Collecting::AtOnce,
            steps: 1000,
        };
        let mut region = vec![MaybeUninit::uninit(); 1 << 19];
        let ran = run(&call, &mut region, &mut sink(), &mut sink());
        ran.expect_err("it is refused").to_string()
    }

    #[test]
    fn a_handler_that_catches_what_it_throws_takes_steps() {
        const ACONST_NULL: u8 = 1;
        const ATHROW: u8 = 0xBF;
        let refused = refused((1, &[ACONST_NULL, ATHROW], &[[1, 2, 1, 0]]));
        assert_eq!(refused, "the program took more steps than it was allowed");
    }

    #[test]
    fn a_stack_of_more_than_65535_slots_is_refused() {
        const ICONST_0: u8 = 3;
        const LCONST_0: u8 = 9;
        const RETURN: u8 = 0xB1;
        let mut code = vec![LCONST_0; 1 << 15];
        code.insert(0, ICONST_0);
        code.push(RETURN);
        let refused = refused((u16::MAX, &code, &[]));
        assert!(
            refused.ends_with("the stack is deeper than declared"),
            "{refused}"
        );
    }
}
