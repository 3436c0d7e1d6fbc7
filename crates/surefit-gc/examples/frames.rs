//! A small interpreter that draws 60 frames a second, with a collector that stops it, and with one
//! that takes what time is left of each frame.
//!
//! ```text
//! number  | 1 | value |      pair  | 2 | head | tail |      nil: no object
//! ```
//! The language is postfix; all values are on a stack, and every number is an object. Time is
//! virtual: an operation of the program is a tick, and so is a unit of the collector's work. A
//! frame has 40,000. What frames take on this machine is measured beside it.

use std::mem::MaybeUninit;
use std::str::SplitWhitespace;
use std::time::Instant;

use surefit_core::Refused;
use surefit_freelist::{Bitmap, Immediate, Segregated, Tree};
use surefit_gc::schedule::{Amount, Rate, Schedule};
use surefit_gc::{
    Client, Clock, Collector, Edges, FreeList, Incremental, Object, Scanned, Settings, Space,
    VirtualClock,
};

type Lists<'m> = FreeList<'m, Segregated<Bitmap, Immediate, Tree, 256>>;
type Heap<'m> = Incremental<'m, Lists<'m>, &'m VirtualClock>;

const NUMBER: u32 = 1;
const PAIR: u32 = 2;

/// Ticks of a frame.
const FRAME: u64 = 40_000;

#[derive(Debug)]
enum Op {
    Push(u32),
    Nil,
    Swap,
    Dup,
    Rotate,
    Add,
    Cons,
    Head,
    Tail,
    /// Runs its body as long as the top of the stack is not nil.
    While(Vec<Op>),
}

fn parse(words: &mut SplitWhitespace<'_>) -> Vec<Op> {
    let mut ops = Vec::new();
    while let Some(word) = words.next() {
        ops.push(match word {
            "nil" => Op::Nil,
            "swap" => Op::Swap,
            "dup" => Op::Dup,
            "rotate" => Op::Rotate,
            "+" => Op::Add,
            "cons" => Op::Cons,
            "head" => Op::Head,
            "tail" => Op::Tail,
            "while[" => Op::While(parse(words)),
            "]" => return ops,
            number => Op::Push(number.parse().expect("a number")),
        });
    }
    ops
}

#[derive(Default)]
struct Stack(Vec<Option<Object>>);

impl<S: Space> Client<S> for Stack {
    fn roots(&mut self, edges: &mut Edges<'_>) {
        self.0.iter().flatten().for_each(|&root| edges.report(root));
    }

    fn scan(&mut self, object: &Scanned<'_, S>, _from: u32, edges: &mut Edges<'_>) {
        if object.load(0) == PAIR {
            let parts = [1, 2].map(|word| object.reference(word));
            parts
                .into_iter()
                .flatten()
                .for_each(|part| edges.report(part));
        }
    }
}

struct Machine<'m> {
    heap: Heap<'m>,
    stack: Stack,
    clock: &'m VirtualClock,
}

impl Machine<'_> {
    fn pop(&mut self) -> Option<Object> {
        self.stack.0.pop().expect("the program pushed it")
    }

    fn number(&mut self, value: u32) -> Result<(), Refused> {
        let number = self.heap.alloc(&mut self.stack, 8)?;
        self.heap.store_data(number, 0, NUMBER);
        self.heap.store_data(number, 1, value);
        self.stack.0.push(Some(number));
        Ok(())
    }

    fn part(&mut self, word: u32) {
        let pair = self.pop().expect("a pair");
        assert_eq!(self.heap.load(pair, 0), PAIR);
        self.stack.0.push(self.heap.reference(pair, word));
    }

    fn run(&mut self, ops: &[Op]) -> Result<(), Refused> {
        for op in ops {
            self.clock.pass(1);
            let top = self.stack.0.len();
            match op {
                Op::Push(value) => self.number(*value)?,
                Op::Nil => self.stack.0.push(None),
                Op::Swap => self.stack.0.swap(top - 1, top - 2),
                Op::Dup => self.stack.0.push(self.stack.0[top - 1]),
                Op::Rotate => self.stack.0[top - 3..].rotate_left(1),
                Op::Head => self.part(1),
                Op::Tail => self.part(2),
                Op::Add => {
                    let [a, b] = [self.pop(), self.pop()].map(|number| number.expect("a number"));
                    let sum = self.heap.load(a, 1).wrapping_add(self.heap.load(b, 1));
                    self.number(sum)?;
                }
                Op::Cons => {
                    let pair = self.heap.alloc(&mut self.stack, 12)?;
                    let [tail, head] = [self.pop(), self.pop()];
                    self.heap.store_data(pair, 0, PAIR);
                    self.heap.store(pair, 1, head);
                    self.heap.store(pair, 2, tail);
                    self.stack.0.push(Some(pair));
                }
                Op::While(body) => {
                    while self.stack.0.last().is_some_and(Option::is_some) {
                        self.run(body)?;
                    }
                    self.pop();
                }
            }
        }
        Ok(())
    }
}

/// Draws frames; returns the ticks and the microseconds of the longest one.
fn play(schedule: Schedule) -> Result<(u64, f64), Refused> {
    let mut memory = vec![MaybeUninit::uninit(); 512 << 10];
    let clock = VirtualClock::new();
    let heap = Collector::<Lists<'_>>::new(&mut memory, Settings::default())?;
    let heap = Incremental::over(heap.with_clock(&clock)).with_schedule(schedule);
    let stack = Stack::default();
    let mut machine = Machine {
        heap,
        stack,
        clock: &clock,
    };
    // A list of 2000 numbers; each frame makes a new one, whose numbers are larger by one.
    let build = "nil ".to_owned() + &"0 swap cons ".repeat(2000);
    let draw = "nil swap while[ dup head 1 + rotate cons swap tail ]";
    let [build, draw] = [&build, draw].map(|text| parse(&mut text.split_whitespace()));
    machine.run(&build)?;
    let (mut longest, mut longest_micros) = (0, 0.0_f64);
    for _ in 0..300 {
        let (began, real) = (clock.now(), Instant::now());
        machine.run(&draw)?;
        if machine.heap.due() {
            let rate = Rate { units: 1, ticks: 1 };
            machine
                .heap
                .run_until(&mut machine.stack, began + FRAME, rate);
        }
        longest = longest.max(clock.now() - began);
        longest_micros = longest_micros.max(real.elapsed().as_secs_f64() * 1e6);
        // Until the next frame.
        clock.pass(FRAME.saturating_sub(clock.now() - began));
    }
    let (steps, paced) = (machine.heap.steps(), machine.heap.paced());
    println!(
        "{} cycles, {} at once, {} bytes occupied at most, longest pause {} units, 99 % of pauses up to {}",
        steps.cycles,
        steps.whole + steps.forced,
        paced.most_occupied.bytes,
        machine.heap.pauses().longest(),
        machine.heap.pauses().at_most(99, 100),
    );
    assert_eq!(machine.heap.check(), Ok(()));
    Ok((longest, longest_micros))
}

fn main() -> Result<(), Refused> {
    let whole = play(Schedule::Whole)?;
    let trigger = Amount {
        objects: u64::MAX,
        bytes: 200 << 10,
    };
    let steps = play(Schedule::Asked(trigger))?;
    println!(
        "longest of 300 frames of {FRAME} ticks, without steps: {} ticks, {:.0} µs",
        whole.0, whole.1
    );
    println!(
        "in steps, in the time that is left:                     {} ticks, {:.0} µs",
        steps.0, steps.1
    );
    assert!(steps.0 <= FRAME);
    Ok(())
}
