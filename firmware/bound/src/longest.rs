//! The longest way through a function and all that it calls, as a linear program.
//!
//! How often each edge is taken is a variable. What enters a block leaves it; a function is entered
//! as often as the blocks that call it run; a loop goes back so often as its bound says, each time
//! it is entered; facts bound how often places are entered. The most instructions under these rules
//! are a bound: each real run obeys them, and the program may only find more.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail};
use microlp::{ComparisonOp, LinearExpr, OptimizationDirection, Problem, Variable};

use crate::annotation::{Fact, Known, Place, Sources, is_about};
use crate::graph::Graph;
use crate::image::{Image, Reached};
use crate::loops::{self, Loop};

/// How far the sums of the solver may be off.
const TOLERANCE: f64 = 1e-6;

/// The longest way: N instructions, and C for each copied byte.
#[derive(Clone, Debug)]
pub struct Longest {
    /// N.
    pub instructions: u32,
    /// How often each block of each function runs.
    pub runs: Vec<Vec<f64>>,
    /// The bounds of loops that were used, by their numbers.
    pub loops: BTreeSet<usize>,
    /// What is known of how often functions are called, as far as it was used.
    pub called: BTreeSet<usize>,
}

/// The variables of one function.
struct Flows {
    /// How often the function is called.
    entered: Variable,
    /// From a block to another.
    edges: BTreeMap<(usize, usize), Variable>,
    /// Out of the function.
    exits: BTreeMap<usize, Variable>,
}

/// Finds the longest way of the first function of `reached` in a kind of call, less `per_byte`
/// instructions for each copied byte.
///
/// # Errors
/// A loop without a bound; a place that is no line.
pub fn of(
    image: &Image,
    reached: &Reached,
    known: &Known,
    event: &str,
    per_byte: f64,
) -> Result<Longest> {
    let mut sources = Sources::default();
    let mut problem = Problem::new(OptimizationDirection::Maximize);
    // What an edge back costs less, because its bytes are counted apart.
    let mut apart: BTreeMap<(usize, usize, usize), f64> = BTreeMap::new();
    let mut kept = Vec::new();
    let mut missing = Vec::new();
    let (mut loops, mut called) = (BTreeSet::new(), BTreeSet::new());
    for (number, graph) in reached.graphs.iter().enumerate() {
        for (it, which) in bounded(image, &mut sources, graph, known, &mut missing)? {
            let Some(which) = which else {
                kept.push((number, it, 0));
                continue;
            };
            let bound = known.loops[which];
            loops.insert(which);
            let back = |block: &&usize| graph.blocks[**block].next.contains(&it.head);
            for &block in it.blocks.iter().filter(back) {
                let bytes = per_byte * f64::from(bound.bytes);
                apart.insert((number, block, it.head), bytes);
            }
            kept.push((number, it, bound.most));
        }
    }
    if !missing.is_empty() {
        bail!(missing.join("\n"));
    }
    let mut flows = Vec::new();
    for (number, graph) in reached.graphs.iter().enumerate() {
        flows.push(variables(&mut problem, graph, number, &apart));
    }
    for (graph, flow) in reached.graphs.iter().zip(&flows) {
        conserve(&mut problem, graph, flow);
    }
    calls(&mut problem, reached, &flows);
    for (number, it, most) in kept {
        let graph = &reached.graphs[number];
        limit_loop(&mut problem, graph, &flows[number], &it, most);
    }
    for (number, it) in known.called.iter().enumerate() {
        for (graph, flow) in reached.graphs.iter().zip(&flows) {
            if is_about(it.events, event) && graph.path == it.function {
                let (least, most) = (f64::from(it.least), f64::from(it.most));
                problem.add_constraint([(flow.entered, 1.0)], ComparisonOp::Le, most);
                problem.add_constraint([(flow.entered, 1.0)], ComparisonOp::Ge, least);
                called.insert(number);
            }
        }
    }
    for fact in known
        .facts
        .iter()
        .filter(|fact| is_about(fact.events, event))
    {
        limit_fact(&mut problem, image, &mut sources, reached, &flows, fact)?;
    }
    let solution = problem.solve().context("the linear program")?;
    let runs = reached.graphs.iter().zip(&flows).map(|(graph, flow)| {
        let sum = |block| {
            into(graph, flow, block)
                .iter()
                .map(|it| solution[*it])
                .sum()
        };
        (0..graph.blocks.len()).map(sum).collect()
    });
    let runs = runs.collect();
    Ok(Longest {
        instructions: (solution.objective() + TOLERANCE) as u32,
        runs,
        loops,
        called,
    })
}

/// A variable for each edge; it costs what the block costs to which it leads.
fn variables(
    problem: &mut Problem,
    graph: &Graph,
    number: usize,
    apart: &BTreeMap<(usize, usize, usize), f64>,
) -> Flows {
    let anything = (0.0, f64::INFINITY);
    let cost = |block: usize| graph.blocks[block].instructions.len() as f64;
    let mut edges = BTreeMap::new();
    let mut exits = BTreeMap::new();
    for (from, block) in graph.blocks.iter().enumerate() {
        for &to in &block.next {
            let apart = apart.get(&(number, from, to)).copied().unwrap_or(0.0);
            edges.insert((from, to), problem.add_var(cost(to) - apart, anything));
        }
        if block.ends {
            exits.insert(from, problem.add_var(0.0, anything));
        }
    }
    Flows {
        entered: problem.add_var(cost(0), anything),
        edges,
        exits,
    }
}

/// The variables that lead into a block.
fn into(graph: &Graph, flow: &Flows, block: usize) -> Vec<Variable> {
    let entered = (block == 0).then_some(flow.entered);
    let edges = (0..graph.blocks.len()).filter_map(|from| flow.edges.get(&(from, block)).copied());
    entered.into_iter().chain(edges).collect()
}

/// What enters a block leaves it.
fn conserve(problem: &mut Problem, graph: &Graph, flow: &Flows) {
    for (number, block) in graph.blocks.iter().enumerate() {
        let mut sum: BTreeMap<Variable, f64> = BTreeMap::new();
        for variable in into(graph, flow, number) {
            *sum.entry(variable).or_default() += 1.0;
        }
        let next = block.next.iter().map(|&next| flow.edges[&(number, next)]);
        for variable in next.chain(flow.exits.get(&number).copied()) {
            *sum.entry(variable).or_default() -= 1.0;
        }
        equal(problem, sum, 0.0);
    }
}

/// A function is entered as often as those blocks run that call it; the first one once.
fn calls(problem: &mut Problem, reached: &Reached, flows: &[Flows]) {
    for (called, callee) in reached.graphs.iter().zip(flows) {
        let mut sum = BTreeMap::from([(callee.entered, 1.0)]);
        for (graph, flow) in reached.graphs.iter().zip(flows) {
            for (block, it) in graph.blocks.iter().enumerate() {
                let times = it
                    .calls
                    .iter()
                    .filter(|call| **call == called.address)
                    .count() as f64;
                for variable in into(graph, flow, block).into_iter().filter(|_| times > 0.0) {
                    *sum.entry(variable).or_default() -= times;
                }
            }
        }
        let root = called.address == reached.graphs[0].address;
        equal(problem, sum, if root { 1.0 } else { 0.0 });
    }
}

fn equal(problem: &mut Problem, sum: BTreeMap<Variable, f64>, to: f64) {
    let mut expression = LinearExpr::empty();
    for (variable, factor) in sum {
        if factor != 0.0 {
            expression.add(variable, factor);
        }
    }
    problem.add_constraint(expression, ComparisonOp::Eq, to);
}

/// A loop goes back at most so often each time it is entered.
fn limit_loop(problem: &mut Problem, graph: &Graph, flow: &Flows, it: &Loop, most: u32) {
    let mut expression = LinearExpr::empty();
    for from in 0..graph.blocks.len() {
        let Some(&edge) = flow.edges.get(&(from, it.head)) else {
            continue;
        };
        let back = it.blocks.contains(&from);
        expression.add(edge, if back { 1.0 } else { -f64::from(most) });
    }
    if it.head == 0 {
        expression.add(flow.entered, -f64::from(most));
    }
    problem.add_constraint(expression, ComparisonOp::Le, 0.0);
}

/// The bounds of all loops of a function, by their numbers; none of a loop that only retries an
/// exclusive store.
///
/// # Errors
/// A loop without a bound, or with two: then two loops of the source may be one. One bound for two
/// loops: then one of them may be another loop, in a function that was inlined into the line.
fn bounded(
    image: &Image,
    sources: &mut Sources,
    graph: &Graph,
    known: &Known,
    missing: &mut Vec<String>,
) -> Result<Vec<(Loop, Option<usize>)>> {
    let bounds = known.loops;
    let mut all: Vec<(Loop, Option<usize>)> = Vec::new();
    for it in loops::of(graph)? {
        let own = it.blocks.difference(&it.inner);
        let own: Vec<u32> = own
            .flat_map(|&b| graph.blocks[b].instructions.clone())
            .collect();
        if !known.retries.is_empty() && it.inner.is_empty() && image.only_retries(&own) {
            all.push((it, None));
            continue;
        }
        let mut places = Vec::new();
        for (number, bound) in bounds.iter().enumerate() {
            if any_at(image, sources, bound.place, &own)? {
                places.push(number);
            }
        }
        let head = graph.blocks[it.head].instructions[0];
        let lines = image.lines(&own).join(" ");
        let bound = match places[..] {
            [bound] => bound,
            [] => {
                let name = &graph.name;
                missing.push(format!(
                    "no bound of the loop at {head:#x} of {name}, from {lines}"
                ));
                continue;
            }
            _ => bail!(
                "several bounds of the loop at {head:#x} of {}, from {lines}: {:?}",
                graph.name,
                Vec::from_iter(places.iter().map(|&it| bounds[it].place.text))
            ),
        };
        if all.iter().any(|&(_, other)| other == Some(bound)) {
            bail!(
                "{:?} is in two loops of {}, one from {lines}",
                bounds[bound].place.text,
                graph.name
            );
        }
        let place = bounds[bound].place;
        if bounds[bound].begins && !at_places(image, sources, graph, &[place])?[it.head] {
            bail!(
                "the loop at {head:#x} of {} does not begin at {:?}",
                graph.name,
                place.text
            );
        }
        all.push((it, Some(bound)));
    }
    Ok(all)
}

/// Whether one of some instructions comes from a place.
fn any_at(image: &Image, sources: &mut Sources, place: Place, addresses: &[u32]) -> Result<bool> {
    for &address in addresses {
        if is_at(image, sources, place, address)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_at(image: &Image, sources: &mut Sources, place: Place, address: u32) -> Result<bool> {
    for frame in image.frames(address) {
        if sources.is_at(place, frame)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The blocks of a function of which every instruction comes from one of the places. A branch at
/// the end may come from anywhere.
fn at_places(
    image: &Image,
    sources: &mut Sources,
    graph: &Graph,
    places: &[Place],
) -> Result<Vec<bool>> {
    let mut all = Vec::new();
    for block in &graph.blocks {
        let own = match &block.instructions[..] {
            [own @ .., _] if !own.is_empty() => own,
            own => own,
        };
        let mut inside = true;
        for &address in own {
            let mut found = false;
            for &place in places {
                found = found || is_at(image, sources, place, address)?;
            }
            inside = inside && found;
        }
        all.push(inside);
    }
    Ok(all)
}

fn limit_fact(
    problem: &mut Problem,
    image: &Image,
    sources: &mut Sources,
    reached: &Reached,
    flows: &[Flows],
    fact: &Fact,
) -> Result<()> {
    let mut expression = LinearExpr::empty();
    let mut found = false;
    for (graph, flow) in reached.graphs.iter().zip(flows) {
        let inside = at_places(image, sources, graph, fact.places)?;
        if inside[0] {
            expression.add(flow.entered, 1.0);
            found = true;
        }
        for (&(from, to), &edge) in &flow.edges {
            if !inside[from] && inside[to] {
                expression.add(edge, 1.0);
                found = true;
            }
        }
    }
    if !found {
        bail!("no block comes from {:?}", fact.places);
    }
    problem.add_constraint(expression, ComparisonOp::Le, f64::from(fact.most));
    Ok(())
}
