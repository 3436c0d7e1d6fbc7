//! The basic blocks of one function, without those from which it never returns.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail};

use crate::instruction::Flow;
use crate::listing::{Function, Line};

/// Instructions that run one after the other.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// The addresses of its instructions.
    pub instructions: Vec<u32>,
    /// The functions that it calls.
    pub calls: Vec<u32>,
    /// The blocks that may follow, by their numbers.
    pub next: BTreeSet<usize>,
    /// Whether the function may end with it.
    pub ends: bool,
}

/// The blocks of a function; it begins with the first.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// The function's address.
    pub address: u32,
    /// The function's name.
    pub name: String,
    /// Its name without arguments.
    pub path: String,
    /// The blocks.
    pub blocks: Vec<Block>,
    /// Calls from which there is no way back.
    pub never_return: BTreeSet<u32>,
}

/// What follows an instruction.
pub struct Step {
    /// The addresses of the instructions that may follow.
    pub next: Vec<u32>,
    /// The function that is called.
    pub call: Option<u32>,
    /// Whether the function may end.
    pub ends: bool,
}

/// What is known of the target of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Callee {
    /// It may return.
    Returns,
    /// It does not return, or is not called.
    NeverReturns,
    /// No function begins there.
    Unknown,
}

/// What follows an instruction of a function, by what is known of those that it calls.
///
/// # Errors
/// A jump that cannot be followed. If `strict`, also an instruction that is not known, an indirect
/// jump or call, and a call of what is no function.
pub fn step(
    function: &Function,
    line: &Line,
    callee: &dyn Fn(u32) -> Callee,
    strict: bool,
) -> Result<Step> {
    let inside = |address: u32| function.lines.iter().any(|line| line.address == address);
    let after = line.address + line.bytes;
    let mut step = Step {
        next: Vec::new(),
        call: None,
        ends: false,
    };
    // Where no function begins, anything may be: such a way returns, and on a way that returns it
    // is an error.
    let returning = |target: u32| callee(target) != Callee::NeverReturns;
    let to = |step: &mut Step, target: u32| {
        if inside(target) {
            step.next.push(target);
        } else {
            // A call in place of the return.
            step.call = Some(target);
            step.ends = returning(target);
        }
    };
    let flow = match Flow::of(&line.mnemonic, &line.operands) {
        Ok(flow) => flow,
        // Whether a function returns is asked of all functions: there, such a jump may return.
        Err(_) if !strict => Flow::MayReturn,
        Err(error) => return Err(error),
    };
    match flow {
        Flow::Next => step.next.push(after),
        Flow::Jump(target) => to(&mut step, target),
        Flow::Branch(target) => {
            if !inside(target) {
                bail!("a branch out of the function at {:#x}", line.address);
            }
            step.next.extend([target, after]);
        }
        Flow::Call(target) => {
            step.call = Some(target);
            // Behind a call that does not return, a compiler may end the function.
            let ends_it = callee(target) == Callee::Returns && !inside(after);
            if returning(target) && !ends_it {
                step.next.push(after);
            }
        }
        Flow::Return => step.ends = true,
        Flow::MayReturn => {
            step.ends = true;
            step.next.push(after);
        }
        Flow::Table { width } => step.next = table(function, after, width)?,
        Flow::Stop => {}
        Flow::Indirect if strict => {
            bail!(
                "a call of what a register says at {:#x} in {}",
                line.address,
                function.name
            )
        }
        Flow::Indirect => step.next.push(after),
    }
    match step.call {
        Some(target) if strict && callee(target) == Callee::Unknown => bail!(
            "a call of {target:#x} at {:#x}, where no function begins",
            line.address
        ),
        _ => Ok(step),
    }
}

/// The targets of a jump table: it ends where the nearest target begins.
fn table(function: &Function, start: u32, width: u32) -> Result<Vec<u32>> {
    let byte = |at: u32| function.data.get(&at).copied().map(u32::from);
    let mut targets = Vec::new();
    let mut at = start;
    while targets.iter().all(|&target| at < target) {
        let low = byte(at).with_context(|| format!("a table that ends too soon at {at:#x}"))?;
        let high = if width == 2 {
            byte(at + 1).context("half an entry")?
        } else {
            0
        };
        targets.push(start + 2 * (low + 256 * high));
        at += width;
        if byte(at).is_none() {
            break;
        }
    }
    // A table of bytes is filled up to an even length.
    targets.retain(|&target| target >= at);
    Ok(targets)
}

/// The functions that may return.
pub fn returning(functions: &BTreeMap<u32, Function>) -> BTreeSet<u32> {
    let mut known = BTreeSet::new();
    loop {
        let before = known.len();
        for (&address, function) in functions {
            let callee = |target: u32| match functions.contains_key(&target) {
                false => Callee::Unknown,
                true if known.contains(&target) => Callee::Returns,
                true => Callee::NeverReturns,
            };
            if !known.contains(&address) && may_return(function, &callee) {
                known.insert(address);
            }
        }
        if known.len() == before {
            return known;
        }
    }
}

/// Whether a function may return, or falls through its end into what is behind it.
fn may_return(function: &Function, callee: &dyn Fn(u32) -> Callee) -> bool {
    let at: BTreeMap<u32, &Line> = function
        .lines
        .iter()
        .map(|line| (line.address, line))
        .collect();
    let mut seen = BTreeSet::new();
    let mut open = vec![function.address()];
    while let Some(address) = open.pop() {
        if !seen.insert(address) {
            continue;
        }
        let Some(line) = at.get(&address) else {
            return true;
        };
        match step(function, line, callee, false) {
            Ok(step) if !step.ends => open.extend(step.next),
            _ => return true,
        }
    }
    false
}

impl Graph {
    /// The blocks of a function that lie on a way to a return.
    ///
    /// # Errors
    /// On such a way: an instruction that is not known, an indirect jump or call, a call of what is
    /// no function. A way through the function's end; no return.
    pub fn of(function: &Function, callee: &dyn Fn(u32) -> Callee) -> Result<Self> {
        let at: BTreeMap<u32, &Line> = function
            .lines
            .iter()
            .map(|line| (line.address, line))
            .collect();
        // Not strict: what lies on no way to a return may be anything.
        let mut steps = BTreeMap::new();
        let mut open = vec![function.address()];
        while let Some(address) = open.pop() {
            if steps.contains_key(&address) {
                continue;
            }
            let line = at
                .get(&address)
                .with_context(|| format!("{}: no instruction at {address:#x}", function.name))?;
            let step = step(function, line, callee, false)?;
            open.extend(&step.next);
            steps.insert(address, step);
        }
        let alive = alive(&steps);
        if !alive.contains(&function.address()) {
            bail!("{} never returns", function.name);
        }
        let mut never_return = BTreeSet::new();
        for step in steps
            .values()
            .filter(|step| step.next.is_empty() && !step.ends)
        {
            never_return.extend(step.call);
        }
        steps.retain(|address, _| alive.contains(address));
        for (address, step) in &mut steps {
            step.next.retain(|next| alive.contains(next));
            self::step(function, at[address], callee, true)
                .with_context(|| function.name.clone())?;
        }
        let mut graph = Self::blocks(function, &steps);
        graph.never_return = never_return;
        Ok(graph)
    }

    /// Joins the instructions that follow each other alone.
    fn blocks(function: &Function, steps: &BTreeMap<u32, Step>) -> Self {
        let mut before: BTreeMap<u32, usize> = BTreeMap::new();
        for step in steps.values() {
            for &next in &step.next {
                *before.entry(next).or_default() += 1;
            }
        }
        let mut heads = BTreeSet::from([function.address()]);
        for step in steps.values() {
            let alone = step.next.len() == 1 && !step.ends;
            heads.extend(step.next.iter().filter(|next| !alone || before[next] > 1));
        }
        // The first block is that of the function's beginning.
        let mut order: Vec<u32> = heads.iter().copied().collect();
        order.sort_by_key(|&head| (head != function.address(), head));
        let number: BTreeMap<u32, usize> = order.iter().copied().zip(0..).collect();
        let mut blocks = Vec::new();
        for &head in &order {
            let mut block = Block::default();
            let mut address = head;
            loop {
                let step = &steps[&address];
                block.instructions.push(address);
                block.calls.extend(step.call);
                match step.next[..] {
                    [next] if !step.ends && !heads.contains(&next) => address = next,
                    _ => {
                        block.next = step.next.iter().map(|next| number[next]).collect();
                        block.ends = step.ends;
                        break;
                    }
                }
            }
            blocks.push(block);
        }
        Self {
            address: function.address(),
            name: function.name.clone(),
            path: function.path.clone(),
            blocks,
            never_return: BTreeSet::new(),
        }
    }
}

/// The instructions from which there is a way to a return.
fn alive(steps: &BTreeMap<u32, Step>) -> BTreeSet<u32> {
    let mut alive = BTreeSet::new();
    loop {
        let before = alive.len();
        for (&address, step) in steps.iter().rev() {
            if step.ends || step.next.iter().any(|next| alive.contains(next)) {
                alive.insert(address);
            }
        }
        if alive.len() == before {
            return alive;
        }
    }
}
