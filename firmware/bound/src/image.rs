//! The compiled image: its functions, and the lines that its instructions come from.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use addr2line::Loader;
use anyhow::{Context, Result, anyhow, bail};

use crate::annotation::{At, Known, Place, Sources, is_about};
use crate::graph::{self, Callee, Graph};
use crate::instruction::Flow;
use crate::listing::{self, Function, Line};

/// An image.
#[derive(Clone)]
pub struct Image {
    functions: BTreeMap<u32, Function>,
    returning: BTreeSet<u32>,
    frames: BTreeMap<u32, Vec<At>>,
}

/// Functions and how they call each other; the first is the one that was asked for.
#[derive(Debug)]
pub struct Reached {
    /// Each function's blocks.
    pub graphs: Vec<Graph>,
    /// Which of the functions that are said not to be called were left out, by their numbers.
    pub left_out: BTreeSet<usize>,
}

impl Reached {
    /// The functions that are called and never return.
    pub fn never_return(&self) -> impl Iterator<Item = u32> {
        self.graphs
            .iter()
            .flat_map(|graph| graph.never_return.iter().copied())
    }
}

impl Image {
    /// Reads a listing of `objdump -d`; without lines of the source.
    ///
    /// # Errors
    /// A line that cannot be read.
    pub fn of(listing: &str) -> Result<Self> {
        let functions: BTreeMap<u32, Function> = listing::read(listing)?
            .into_iter()
            .map(|function| (function.address(), function))
            .collect();
        let returning = graph::returning(&functions);
        Ok(Self {
            functions,
            returning,
            frames: BTreeMap::new(),
        })
    }

    /// The functions of a name: whole, without the arguments of types, or its last parts.
    pub fn named(&self, name: &str) -> impl Iterator<Item = &Function> {
        self.functions().filter(move |it| it.is_named(name))
    }

    /// The only function of which the name has all these parts.
    ///
    /// # Errors
    /// None, or several.
    pub fn find(&self, parts: &[&str]) -> Result<&Function> {
        let mut all = self
            .functions
            .values()
            .filter(|function| parts.iter().all(|part| function.name.contains(part)));
        match (all.next(), all.next()) {
            (Some(function), None) => Ok(function),
            (None, _) => bail!("no function {parts:?}"),
            (Some(one), Some(two)) => bail!("{parts:?}: {} and {}", one.name, two.name),
        }
    }

    /// All functions that a function calls, directly and through others, and itself; the ways to
    /// those that a kind of call does not call are left out.
    ///
    /// # Errors
    /// Recursion; a function that cannot be followed.
    pub fn reached(&self, root: &Function, known: &Known, event: &str) -> Result<Reached> {
        let left_out = RefCell::new(BTreeSet::new());
        let graph = |function: &Function| {
            Graph::of(function, &|address| {
                let Some(target) = self.functions.get(&address) else {
                    return Callee::Unknown;
                };
                for (number, not) in known.not_called.iter().enumerate() {
                    let from = not.from.is_empty() || function.path == not.from;
                    if is_about(not.events, event) && from && target.path == not.function {
                        left_out.borrow_mut().insert(number);
                        return Callee::NeverReturns;
                    }
                }
                match self.returning.contains(&address) {
                    true => Callee::Returns,
                    false => Callee::NeverReturns,
                }
            })
        };
        let mut graphs = vec![graph(root)?];
        let mut number = 0;
        while number < graphs.len() {
            let calls = graphs[number]
                .blocks
                .iter()
                .flat_map(|block| block.calls.clone());
            for call in calls.collect::<Vec<_>>() {
                if graphs.iter().all(|graph| graph.address != call) {
                    graphs.push(graph(self.at(call)?)?);
                }
            }
            number += 1;
        }
        acyclic(&graphs)?;
        Ok(Reached {
            graphs,
            left_out: left_out.into_inner(),
        })
    }

    /// Looks up the lines of all instructions of some functions.
    ///
    /// # Errors
    /// The image has no debug information.
    pub fn look_up(&mut self, file: &Path, reached: &Reached) -> Result<()> {
        let loader = load(file)?;
        let blocks = reached.graphs.iter().flat_map(|graph| &graph.blocks);
        for &address in blocks.flat_map(|block| &block.instructions) {
            if self.frames.contains_key(&address) {
                continue;
            }
            self.frames.insert(address, lines(&loader, address)?);
        }
        Ok(())
    }

    /// The line of an instruction, and those into which it was inlined; the innermost first.
    pub fn frames(&self, address: u32) -> &[At] {
        self.frames.get(&address).map_or(&[], Vec::as_slice)
    }

    /// The lines of the source that instructions come from: in files of this repository, or in
    /// others if there are none.
    pub fn lines(&self, instructions: &[u32]) -> Vec<String> {
        let (mut ours, mut others) = (Vec::new(), Vec::new());
        for (path, line) in instructions.iter().flat_map(|&it| self.frames(it)) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let line = format!("{name}:{line}");
            let mut parts = path.components().map(std::path::Component::as_os_str);
            let lines = match parts.any(|part| part == "crates" || part == "firmware") {
                true => &mut ours,
                false => &mut others,
            };
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        if ours.is_empty() { others } else { ours }
    }

    /// Whether instructions have an exclusive store, and no other access to memory than it and its
    /// load: a loop of them tries again until the store succeeds.
    pub fn only_retries(&self, addresses: &[u32]) -> bool {
        let functions = addresses.first().into_iter();
        let functions = functions.filter_map(|&it| self.functions.range(..=it).next_back());
        let lines = functions.flat_map(|(_, it)| &it.lines);
        let all = lines.filter(|line| addresses.contains(&line.address));
        let (mut stores, mut others) = (false, false);
        for line in all {
            let is = |names: &[&str]| names.iter().any(|it| line.mnemonic.starts_with(it));
            stores |= is(&["strex"]);
            others |= is(&["ldr", "ldm", "str", "stm", "push", "pop", "bl"])
                && !is(&["ldrex", "strex", "bls", "blt", "ble"]);
        }
        stores && !others
    }

    /// Whether a function returns.
    pub fn returns(&self, address: u32) -> bool {
        self.returning.contains(&address)
    }

    /// Notes the line of an instruction.
    #[cfg(test)]
    pub fn note(&mut self, address: u32, at: At) {
        self.frames.entry(address).or_default().push(at);
    }

    /// What is known of the function at an address.
    pub fn callee(&self, address: u32) -> Callee {
        match self.functions.contains_key(&address) {
            false => Callee::Unknown,
            true if self.returns(address) => Callee::Returns,
            true => Callee::NeverReturns,
        }
    }

    /// The functions that one calls directly.
    pub fn calls(&self, function: &Function) -> BTreeSet<u32> {
        let target = |line: &Line| match Flow::of(&line.mnemonic, &line.operands) {
            Ok(Flow::Call(target) | Flow::Jump(target)) => Some(target),
            _ => None,
        };
        let targets = function.lines.iter().filter_map(target);
        targets
            .filter(|it| self.functions.contains_key(it))
            .collect()
    }

    /// The name of the function at an address, without the arguments of types.
    pub fn path(&self, address: u32) -> &str {
        let function = self.functions.get(&address);
        function.map_or("?", |function| &function.path)
    }

    /// All functions.
    pub fn functions(&self) -> impl Iterator<Item = &Function> {
        self.functions.values()
    }

    /// The name of the function at an address.
    pub fn name(&self, address: u32) -> &str {
        self.functions
            .get(&address)
            .map_or("?", |function| &function.name)
    }
}

/// The instructions of a measured call, from one reading of the timer to the next.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// The function that is called.
    pub call: u32,
    /// The instructions around the call.
    pub around: u32,
}

impl Image {
    /// What a function does between two readings of the timer: one call, and nothing that jumps.
    ///
    /// # Errors
    /// It is not so.
    pub fn window(&self, function: &Function, file: &Path, timer: Place) -> Result<Window> {
        let loader = load(file)?;
        let mut sources = Sources::default();
        let mut readings = Vec::new();
        for (number, line) in function.lines.iter().enumerate() {
            let mut reads = line.mnemonic.starts_with("ldr");
            if reads {
                let mut at = false;
                for frame in lines(&loader, line.address)? {
                    at = at || sources.is_at(timer, &frame)?;
                }
                reads = at;
            }
            if reads {
                readings.push(number);
            }
        }
        let [first, second] = readings[..] else {
            bail!(
                "{}: {} readings of the timer, not two",
                function.name,
                readings.len()
            );
        };
        let mut calls = Vec::new();
        for line in &function.lines[first + 1..=second] {
            match Flow::of(&line.mnemonic, &line.operands)? {
                Flow::Next => {}
                Flow::Call(target) => calls.push(target),
                _ => bail!(
                    "{}: a jump between the readings of the timer",
                    function.name
                ),
            }
        }
        match calls[..] {
            [call] => Ok(Window {
                call,
                around: (second - first) as u32,
            }),
            _ => bail!(
                "{}: not one call between the readings of the timer",
                function.name
            ),
        }
    }

    /// The function at an address.
    ///
    /// # Errors
    /// None begins there.
    pub fn at(&self, address: u32) -> Result<&Function> {
        let function = self.functions.get(&address);
        function.with_context(|| format!("no function at {address:#x}"))
    }
}

fn load(file: &Path) -> Result<Loader> {
    Loader::new(file).map_err(|error| anyhow!("{}: {error}", file.display()))
}

/// The line of an instruction, and those into which it was inlined.
fn lines(loader: &Loader, address: u32) -> Result<Vec<At>> {
    let mut at = Vec::new();
    let mut frames = loader
        .find_frames(u64::from(address))
        .map_err(|error| anyhow!("{address:#x}: {error}"))?;
    while let Some(frame) = frames.next()? {
        if let Some(place) = frame.location {
            at.extend(place.file.map(Into::into).zip(place.line));
        }
    }
    Ok(at)
}

/// Whether no function calls itself, also not through others.
fn acyclic(graphs: &[Graph]) -> Result<()> {
    let mut open: BTreeSet<usize> = (0..graphs.len()).collect();
    let calls = |from: usize, to: usize| {
        let mut calls = graphs[from].blocks.iter().flat_map(|block| &block.calls);
        calls.any(|call| *call == graphs[to].address)
    };
    while !open.is_empty() {
        // A function that calls none of the others, or that none of the others calls.
        let free = open.iter().copied().find(|&it| {
            open.iter().all(|&to| !calls(it, to)) || open.iter().all(|&from| !calls(from, it))
        });
        let Some(free) = free else {
            let names: Vec<&str> = open.iter().map(|&it| graphs[it].name.as_str()).collect();
            bail!("recursion: {}", names.join("; "));
        };
        open.remove(&free);
    }
    Ok(())
}
