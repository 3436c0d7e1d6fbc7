//! A random sequence of calls. It is a few numbers, so that it can be changed a little.

use crate::random::Random;
use crate::stage::Stage;
use crate::subject::Subject;

const PHASES: usize = 6;

/// Which object a call takes.
#[derive(Clone, Copy, Debug)]
enum Order {
    /// Any.
    Random,
    /// The first slot.
    First,
    /// The last slot.
    Last,
    /// Every other one.
    Alternating,
}

/// Calls of one mix.
#[derive(Clone, Copy, Debug)]
struct Phase {
    /// Allocations, in percent.
    allocations: usize,
    shortest: usize,
    longest: usize,
    order: Order,
    /// Calls, in percent of the objects that may live.
    calls: usize,
}

/// What a program may ask for.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    /// The longest object, in bytes.
    pub largest: usize,
}

/// A sequence of phases.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    phases: [Phase; PHASES],
    seed: u64,
}

impl Phase {
    fn random(random: &mut Random, scale: Scale) -> Self {
        let (one, other) = (length(random, scale), length(random, scale));
        Self {
            allocations: [0, 10, 40, 50, 60, 90, 100][random.below(7)],
            shortest: one.min(other),
            longest: one.max(other),
            order: [Order::Random, Order::First, Order::Last, Order::Alternating][random.below(4)],
            calls: 10 + random.below(140),
        }
    }

    fn length(&self, random: &mut Random) -> usize {
        self.shortest + random.below(self.longest - self.shortest + 1)
    }
}

/// A length; short ones are as likely as long ones.
fn length(random: &mut Random, scale: Scale) -> usize {
    let bound = (scale.largest >> random.below(6)).max(8);
    1 + random.below(bound)
}

impl Program {
    /// A program of a seed.
    pub fn random(random: &mut Random, scale: Scale) -> Self {
        let mut phases = [Phase {
            allocations: 100,
            shortest: 1,
            longest: scale.largest,
            order: Order::Random,
            calls: 100,
        }; PHASES];
        for phase in &mut phases[1..] {
            *phase = Phase::random(random, scale);
        }
        let seed = random.below(1 << 30) as u64;
        Self { phases, seed }
    }

    /// The program with one phase, or the seed of its lengths, changed.
    pub fn mutated(mut self, random: &mut Random, scale: Scale) -> Self {
        match random.below(PHASES + 1) {
            PHASES => self.seed = random.below(1 << 30) as u64,
            phase => self.phases[phase] = Phase::random(random, scale),
        }
        self
    }

    /// Runs the program; the heap is empty afterwards.
    pub fn run<S: Subject>(&self, stage: &mut Stage<'_, S>) {
        let mut random = Random(self.seed);
        let mut cursor = 0;
        for phase in &self.phases {
            for _ in 0..stage.slots() * phase.calls / 100 {
                cursor = step(stage, phase, &mut random, cursor);
            }
        }
        stage.empty();
    }
}

/// One call; the cursor of the next one.
fn step<S: Subject>(
    stage: &mut Stage<'_, S>,
    phase: &Phase,
    random: &mut Random,
    cursor: usize,
) -> usize {
    let slots = stage.slots();
    let from = match phase.order {
        Order::Random => random.below(slots),
        Order::First => 0,
        Order::Last => stage.last().unwrap_or(0),
        Order::Alternating => (cursor + 2) % slots,
    };
    let len = phase.length(random);
    let allocates = stage.live() == 0 || random.below(100) < phase.allocations;
    match stage.find(from, !allocates) {
        Some(slot) if allocates => {
            stage.allocate(slot, len);
        }
        Some(slot) => match random.below(8) {
            0 => stage.access(slot),
            1 => stage.resize(slot, len),
            _ => stage.free(slot),
        },
        None => {}
    }
    from
}
