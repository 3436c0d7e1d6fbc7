//! The stack of a call: the deepest way through a function and all that it calls.
//!
//! Each function is followed on all its ways, also on those that never return. What cannot be
//! bounded is said, and where it is.

use std::collections::{BTreeMap, BTreeSet};

use crate::graph::{self, Callee};
use crate::image::Image;
use crate::instruction::Flow;
use crate::listing::{Function, Line};
use crate::pointer::Pointer;

/// Something without a bound, and the address of its instruction.
pub type Unbounded = (u32, &'static str);

/// The stack of one function.
#[derive(Clone, Debug, Default)]
struct Frame {
    /// Bytes, at most.
    own: i64,
    /// The function that is called, the address of the call, and the bytes in use then.
    calls: BTreeSet<(u32, u32, i64)>,
    unbounded: BTreeSet<Unbounded>,
}

impl Frame {
    fn call(&mut self, target: u32, at: u32, depth: i64, callee: &dyn Fn(u32) -> Callee) {
        if callee(target) == Callee::Unknown {
            let why = "a call of what is no function, or a jump into data";
            self.unbounded.insert((at, why));
        } else {
            self.calls.insert((target, at, depth));
        }
    }
}

/// The stack of a call.
#[derive(Clone, Debug, Default)]
pub struct Stack {
    /// Bytes, at most; if nothing is unbounded.
    pub bytes: i64,
    /// The deepest way: functions, and the bytes in use when each calls the next one.
    pub way: Vec<(u32, i64)>,
    /// What has no bound, by the function that it is in.
    pub unbounded: BTreeSet<(u32, Unbounded)>,
    /// Functions that were called and not followed.
    pub left_out: BTreeSet<u32>,
    /// Functions that were not followed a second time.
    pub once: BTreeSet<u32>,
}

/// What is said of the functions of an image.
pub struct Said<'a> {
    /// Whether calls of a function do not count.
    pub is_left_out: &'a dyn Fn(&Function) -> bool,
    /// Whether a function does not come to call itself, though the graph of calls has a way.
    pub is_once: &'a dyn Fn(&Function) -> bool,
}

/// Those functions that are entered only once, and are entered.
type Inside = Vec<u32>;

/// Finds the stack of calls.
pub struct Finder<'a> {
    image: &'a Image,
    said: &'a Said<'a>,
    frames: BTreeMap<u32, Frame>,
    deepest: BTreeMap<(u32, Inside), Deepest>,
}

/// The bytes of a call, and the call that is on its deepest way, with the bytes in use then.
type Deepest = (i64, Option<(u32, i64)>);

impl<'a> Finder<'a> {
    /// Of an image.
    pub fn new(image: &'a Image, said: &'a Said<'a>) -> Self {
        Self {
            image,
            said,
            frames: BTreeMap::new(),
            deepest: BTreeMap::new(),
        }
    }

    /// The stack of a call of the function at an address.
    pub fn of(&mut self, root: u32) -> Stack {
        let mut stack = Stack::default();
        let inside = self.enter(root, &Inside::new());
        let mut seen = BTreeSet::new();
        self.visit(root, &inside, &mut Vec::new(), &mut seen, &mut stack);
        if stack.unbounded.is_empty() {
            stack.bytes = self.deepest(root, &inside).0;
            let mut next = Some((root, inside));
            while let Some((function, inside)) = next {
                let (bytes, deeper) = self.deepest(function, &inside);
                let own = deeper.map_or(bytes, |(_, depth)| depth);
                stack.way.push((function, own));
                next = deeper.map(|(target, _)| (target, self.enter(target, &inside)));
            }
        }
        stack
    }

    /// All that is reached: what has no bound, recursion, what is left out.
    fn visit(
        &mut self,
        address: u32,
        inside: &Inside,
        open: &mut Vec<(u32, Inside)>,
        seen: &mut BTreeSet<(u32, Inside)>,
        stack: &mut Stack,
    ) {
        if !seen.insert((address, inside.clone())) {
            return;
        }
        open.push((address, inside.clone()));
        let frame = self.frame(address);
        let unbounded = frame.unbounded.iter().map(|&it| (address, it));
        stack.unbounded.extend(unbounded);
        for &(target, at, _) in &frame.calls {
            if self.is_left_out(target) {
                stack.left_out.insert(target);
            } else if inside.contains(&target) {
                stack.once.insert(target);
            } else {
                let deeper = self.enter(target, inside);
                if open.contains(&(target, deeper.clone())) {
                    stack.unbounded.insert((address, (at, "recursion")));
                } else {
                    self.visit(target, &deeper, open, seen, stack);
                }
            }
        }
        open.pop();
    }

    /// Nothing that is reached is unbounded.
    fn deepest(&mut self, address: u32, inside: &Inside) -> Deepest {
        let key = (address, inside.clone());
        if let Some(&known) = self.deepest.get(&key) {
            return known;
        }
        let frame = self.frame(address);
        let mut most = (frame.own, None);
        for &(target, _, depth) in &frame.calls {
            if !self.is_left_out(target) && !inside.contains(&target) {
                let deeper = self.enter(target, inside);
                let bytes = depth + self.deepest(target, &deeper).0;
                if bytes > most.0 {
                    most = (bytes, Some((target, depth)));
                }
            }
        }
        self.deepest.insert(key, most);
        most
    }

    fn enter(&self, target: u32, inside: &Inside) -> Inside {
        let mut inside = inside.clone();
        if self.is(target, self.said.is_once) && !inside.contains(&target) {
            inside.push(target);
            inside.sort_unstable();
        }
        inside
    }

    fn is_left_out(&self, address: u32) -> bool {
        self.is(address, self.said.is_left_out)
    }

    fn is(&self, address: u32, what: &dyn Fn(&Function) -> bool) -> bool {
        self.image.at(address).is_ok_and(what)
    }

    fn frame(&mut self, address: u32) -> Frame {
        if let Some(frame) = self.frames.get(&address) {
            return frame.clone();
        }
        let frame = match self.image.at(address) {
            Ok(function) => frame(function, &|target| self.image.callee(target)),
            Err(_) => Frame::default(),
        };
        self.frames.insert(address, frame.clone());
        frame
    }
}

/// Follows the stack pointer through a function.
fn frame(function: &Function, callee: &dyn Fn(u32) -> Callee) -> Frame {
    let lines: BTreeMap<u32, &Line> = function.lines.iter().map(|it| (it.address, it)).collect();
    let mut frame = Frame::default();
    let mut known: BTreeMap<u32, Pointer> = BTreeMap::new();
    let mut open = vec![(function.address(), Pointer::default())];
    while let Some((address, mut pointer)) = open.pop() {
        if let Some(before) = known.get(&address) {
            let mut joined = before.clone();
            if !joined.join(&pointer) {
                frame.unbounded.insert((address, "two depths of the stack"));
                continue;
            }
            if joined == *before {
                continue;
            }
            pointer = joined;
        }
        known.insert(address, pointer.clone());
        let Some(line) = lines.get(&address) else {
            frame.unbounded.insert((address, "the end of the function"));
            continue;
        };
        if !pointer.step(function, line) {
            let why = "the stack pointer is set to what is not known";
            frame.unbounded.insert((address, why));
            continue;
        }
        frame.own = frame.own.max(pointer.depth);
        match Flow::of(&line.mnemonic, &line.operands) {
            Ok(Flow::Indirect) => {
                frame.unbounded.insert((address, "an indirect call"));
            }
            // Under a condition, a call in place of the return.
            Ok(Flow::Branch(target)) if !lines.contains_key(&target) => {
                frame.call(target, address, pointer.depth_under(line), callee);
                open.push((address + line.bytes, pointer));
                continue;
            }
            Err(_) if jumps(line) => {
                frame.unbounded.insert((address, "an indirect jump"));
                continue;
            }
            _ => {}
        }
        match graph::step(function, line, callee, false) {
            Ok(step) => {
                if let Some(target) = step.call {
                    frame.call(target, address, pointer.depth, callee);
                    pointer.after_call();
                }
                let next = step.next.into_iter();
                open.extend(next.map(|next| (next, pointer.clone())));
            }
            Err(_) => {
                frame
                    .unbounded
                    .insert((address, "a jump that cannot be followed"));
            }
        }
    }
    frame
}

/// Whether an instruction that is not known may jump.
fn jumps(line: &Line) -> bool {
    let bare = line.mnemonic.as_str();
    let operands = &line.operands;
    let written = operands.starts_with("pc") || operands.contains("pc}");
    written
        || ["bx", "bl", "bxj", "tb"]
            .iter()
            .any(|it| bare.starts_with(it))
}

#[cfg(test)]
mod tests {
    use super::{Finder, Said, Stack};
    use crate::image::Image;
    use crate::tests::listing;

    fn stack(functions: &[(&str, &[&str])]) -> Stack {
        let image = Image::of(&listing(functions)).expect("a listing");
        let said = Said {
            is_left_out: &|function| function.path == "panic",
            is_once: &|function| function.path == "once",
        };
        Finder::new(&image, &said).of(0x10)
    }

    fn unbounded(functions: &[(&str, &[&str])]) -> Vec<(u32, u32, &'static str)> {
        let all = stack(functions).unbounded.into_iter();
        all.map(|(function, (at, why))| (function, at, why))
            .collect()
    }

    #[test]
    fn the_deepest_call_counts() {
        let f: &[&str] = &[
            "push\t{r4, lr}",
            "bl\t1e <deep>",
            "sub\tsp, #32",
            "bl\t22 <flat>",
            "add\tsp, #32",
            "nop",
            "pop\t{r4, pc}",
        ];
        let deep: &[&str] = &["sub\tsp, #64", "bx\tlr"];
        let stack = stack(&[
            ("f", f),
            ("deep", deep),
            ("flat", &["push\t{r4}", "bx\tlr"]),
        ]);
        assert!(stack.unbounded.is_empty(), "{stack:?}");
        assert_eq!(stack.bytes, 8 + 64);
        assert_eq!(stack.way, [(0x10, 8), (0x1e, 64)]);
    }

    #[test]
    fn ways_that_never_return_count_unless_they_are_left_out() {
        let f: &[&str] = &["cbz\tr0, 14 <f>", "bx\tlr", "push\t{r4, lr}", "bl\t18 <it>"];
        let it: &[&str] = &["sub\tsp, #128", "b.n\t1a <it>"];
        assert_eq!(stack(&[("f", f), ("it", it)]).bytes, 136);
        let left_out = stack(&[("f", f), ("panic", it)]);
        assert_eq!(left_out.bytes, 8);
        assert_eq!(left_out.left_out.into_iter().collect::<Vec<_>>(), [0x18]);
    }

    #[test]
    fn what_has_no_bound_is_named() {
        let one = |lines: &[&str]| unbounded(&[("f", lines)]);
        assert_eq!(
            one(&["blx\tr3", "bx\tlr"]),
            [(0x10, 0x10, "an indirect call")]
        );
        assert_eq!(one(&["nop", "bx\tr3"]), [(0x10, 0x12, "an indirect jump")]);
        assert_eq!(one(&["mov\tpc, r3"]), [(0x10, 0x10, "an indirect jump")]);
        assert_eq!(one(&["bl\t10 <f>", "bx\tlr"]), [(0x10, 0x10, "recursion")]);
        let nowhere = "a call of what is no function, or a jump into data";
        assert_eq!(one(&["bl\t80 <f>", "bx\tlr"]), [(0x10, 0x10, nowhere)]);
        assert_eq!(one(&["nop"]), [(0x10, 0x12, "the end of the function")]);
        let set = "the stack pointer is set to what is not known";
        assert_eq!(one(&["mov\tsp, r3", "bx\tlr"]), [(0x10, 0x10, set)]);
        let grows: &[&str] = &["push\t{r4}", "bne.n\t10 <f>", "bx\tlr"];
        assert_eq!(one(grows), [(0x10, 0x10, "two depths of the stack")]);
        // In a function that is called, through another one.
        let f: &[&str] = &["bl\t14 <g>", "bx\tlr"];
        let g: &[&str] = &["push\t{lr}", "bl\t10 <f>", "pop\t{pc}"];
        assert_eq!(
            unbounded(&[("f", f), ("g", g)]),
            [(0x14, 0x16, "recursion")]
        );
    }

    #[test]
    fn a_branch_into_data_has_no_bound() {
        let nowhere = "a call of what is no function, or a jump into data";
        for branch in ["b.n\t16 <f+0x6>", "beq.n\t16 <f+0x6>", "bl\t16 <f+0x6>"] {
            // A literal pool behind the function.
            let data = "  16:\t20000010 \t.word\t0x20000010\n";
            let text = listing(&[("f", &["nop", branch, "bx\tlr"])]) + data;
            let image = Image::of(&text).expect("a listing");
            let said = Said {
                is_left_out: &|_| false,
                is_once: &|_| false,
            };
            let stack = Finder::new(&image, &said).of(0x10);
            assert_eq!(
                stack.unbounded.into_iter().collect::<Vec<_>>(),
                [(0x10, (0x12, nowhere))]
            );
        }
        // The way into it.
        assert_eq!(
            unbounded(&[("f", &["nop"])]),
            [(0x10, 0x12, "the end of the function")]
        );
    }

    #[test]
    fn a_call_that_ends_a_function_does_not_return() {
        // C's `exit`, by its compiler's word: the debugger's call in `ask` returns for others.
        let exit: &[&str] = &["push\t{r3, lr}", "bl\t18 <ask>"];
        let unused: &[&str] = &["nop", "bx\tlr"];
        let ask: &[&str] = &["sub\tsp, #16", "bkpt\t0x00ab", "bx\tlr"];
        let stack = stack(&[("exit", exit), ("unused", unused), ("ask", ask)]);
        assert!(stack.unbounded.is_empty(), "{stack:?}");
        assert_eq!(stack.bytes, 8 + 16);
    }

    #[test]
    fn what_is_entered_once_ends_a_recursion() {
        let f: &[&str] = &["push\t{lr}", "bl\t16 <once>", "pop\t{pc}"];
        let once: &[&str] = &["sub\tsp, #32", "bl\t10 <f>", "add\tsp, #32", "bx\tlr"];
        let stack = stack(&[("f", f), ("once", once)]);
        assert!(stack.unbounded.is_empty(), "{stack:?}");
        assert_eq!(stack.bytes, 4 + 32 + 4);
        assert_eq!(stack.way, [(0x10, 4), (0x16, 32), (0x10, 4)]);
    }

    #[test]
    fn a_call_in_place_of_a_return_may_be_under_a_condition() {
        let f: &[&str] = &[
            "push\t{r4, lr}",
            "sub\tsp, #12",
            "ittt\thi",
            "addhi\tsp, #12",
            "ldmiahi.w\tsp!, {r4, lr}",
            "bhi.n\t20 <g>",
            "bl\t24 <h>",
            "pop\t{r4, pc}",
        ];
        let g: &[&str] = &["sub\tsp, #56", "bx\tlr"];
        let h: &[&str] = &["sub\tsp, #44", "bx\tlr"];
        assert_eq!(stack(&[("f", f), ("g", g), ("h", h)]).bytes, 20 + 44);
    }

    #[test]
    fn instructions_that_are_not_known_need_no_stack() {
        let lines: &[&str] = &[
            "vpush\t{d8}",
            "vadd.f32\ts0, s1, s2",
            "vpop\t{d8}",
            "bx\tlr",
        ];
        assert_eq!(stack(&[("f", lines)]).bytes, 8);
    }
}
