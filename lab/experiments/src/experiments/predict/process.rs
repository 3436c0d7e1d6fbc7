//! The random process, played to the automaton and to the heap.
//!
//! Both draw one number for the kind of an event and one for the victim of a free, from one seed:
//! they see the same sequence of allocations and frees, and victims that are uniformly random in
//! both.

use std::alloc::Layout;

use anyhow::{Result, anyhow};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefit_compact::{Bound, Config, Geometry, GeometrySpec, Heap, PageOrder, SizeClass, Spacing};
use surefit_os::Reservation;

use crate::shared::size_class::{Order, Rules, State};

/// How the number of live page-blocks develops.
#[derive(Clone, Copy, Debug)]
pub(super) enum Load {
    /// It stays around ρ: with h live, an event is an allocation with probability ρ/(ρ + h).
    Stationary {
        /// ρ.
        rho: f64,
    },
    /// An event is an allocation with a fixed probability; it begins with as many as the run could
    /// free.
    Drifting {
        /// P(malloc).
        malloc: f64,
    },
}

/// A random process.
#[derive(Clone, Copy, Debug)]
pub(super) struct Process {
    /// Its load.
    pub(super) load: Load,
    /// Observed events.
    pub(super) steps: u64,
    /// The seed of all choices.
    pub(super) seed: u64,
}

impl Process {
    /// Page-blocks allocated before the first random event.
    fn fill(self) -> u64 {
        match self.load {
            Load::Stationary { rho } => rho as u64,
            Load::Drifting { .. } => self.steps,
        }
    }

    /// Random events before the observed ones.
    const fn unobserved(self) -> u64 {
        self.steps / 5
    }

    fn allocates(self, random: &mut ChaCha8Rng, live: u64) -> bool {
        let malloc = match self.load {
            Load::Stationary { rho } => rho / (rho + live as f64),
            Load::Drifting { malloc } => malloc,
        };
        live == 0 || random.random::<f64>() < malloc
    }

    /// More page-blocks than are ever live.
    fn most_live(self) -> u64 {
        match self.load {
            Load::Stationary { rho } => (rho + 12.0 * rho.sqrt()) as u64 + 100,
            Load::Drifting { .. } => self.fill() + self.steps + self.unobserved(),
        }
    }
}

/// What was observed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Observed {
    /// Page-blocks moved, for each free.
    pub(super) moves_per_free: f64,
    /// Not-full pages, on average over the events.
    pub(super) not_full: f64,
}

/// A size-class that the process is played to.
trait Player {
    fn allocate(&mut self) -> Result<()>;
    /// Frees the page-block that `victim`, below the number of live ones, stands for; returns the
    /// moves.
    fn free(&mut self, victim: u64) -> u64;
    fn live(&self) -> u64;
    fn not_full(&self) -> u64;
}

fn play(process: Process, player: &mut impl Player) -> Result<Observed> {
    let mut random = ChaCha8Rng::seed_from_u64(process.seed);
    for _ in 0..process.fill() {
        player.allocate()?;
    }
    let (mut frees, mut moves, mut not_full) = (0_u64, 0, 0);
    for step in 0..process.unobserved() + process.steps {
        let is_observed = u64::from(step >= process.unobserved());
        if process.allocates(&mut random, player.live()) {
            player.allocate()?;
        } else {
            let victim = random.random_range(0..player.live());
            moves += is_observed * player.free(victim);
            frees += is_observed;
        }
        not_full += is_observed * player.not_full();
    }
    Ok(Observed {
        moves_per_free: moves as f64 / frees.max(1) as f64,
        not_full: not_full as f64 / process.steps.max(1) as f64,
    })
}

/// Plays the process to the automaton.
pub(super) fn simulation(rules: Rules, process: Process) -> Observed {
    let mut player = Numbers {
        rules,
        state: State::default(),
        live: 0,
    };
    play(process, &mut player).expect("numbers never run out of memory")
}

struct Numbers {
    rules: Rules,
    state: State,
    live: u64,
}

impl Player for Numbers {
    fn allocate(&mut self) -> Result<()> {
        self.state.allocate(self.rules);
        self.live += 1;
        Ok(())
    }

    fn free(&mut self, victim: u64) -> u64 {
        self.live -= 1;
        let in_full = u64::from(self.state.full) * u64::from(self.rules.blocks);
        let page = victim.checked_sub(in_full).map(|rest| self.page_of(rest));
        u64::from(self.state.free(page, self.rules).1)
    }

    fn live(&self) -> u64 {
        self.live
    }

    fn not_full(&self) -> u64 {
        self.state.not_full.len() as u64
    }
}

impl Numbers {
    /// The not-full page that holds the used page-block of a number.
    fn page_of(&self, mut number: u64) -> usize {
        let pages = self.state.not_full.iter().position(|&used| {
            let is_here = number < u64::from(used);
            number = number.saturating_sub(u64::from(used));
            is_here
        });
        pages.expect("a victim is live")
    }
}

/// Plays the process to a heap of one size-class.
///
/// # Errors
/// No page-block size has so many a page; no memory.
pub(super) fn heap(rules: Rules, process: Process) -> Result<Observed> {
    let (geometry, block_bytes) = geometry(rules.blocks)?;
    let class = geometry
        .class_for(block_bytes, 8)
        .ok_or_else(|| anyhow!("the geometry's own size"))?;
    let page = geometry.page_bytes();
    let config = config(geometry, rules)?;
    let pages = process.most_live().div_ceil(u64::from(rules.blocks)) + 64;
    let bytes = pages as usize * page * 2 + process.most_live() as usize * 16 + (1 << 20);
    let mut region = Reservation::new(bytes)?;
    let heap: Heap<'_> = Heap::new(region.memory(), &config)?;
    let layout = Layout::from_size_align(block_bytes, 8)?;
    play(
        process,
        &mut Played {
            heap,
            class,
            layout,
            objects: Vec::new(),
        },
    )
}

/// A geometry with a size-class of exactly so many page-blocks per page, and the size of these.
fn geometry(blocks: u32) -> Result<(Geometry, usize)> {
    let default = GeometrySpec::DEFAULT;
    let sizes = (1..=default.page_bytes / 8)
        .map(|eighths| eighths as u32 * 8)
        .rev();
    for size in sizes {
        let only = [size];
        let spec = GeometrySpec {
            spacing: Spacing::Explicit(&only),
            ..default
        };
        let fits = size * blocks <= default.page_bytes as u32;
        if let Some(geometry) = fits.then(|| Geometry::new(&spec).ok()).flatten() {
            let class = geometry.class_for(size as usize, 8);
            if class.is_some_and(|class| u32::from(geometry.layout(class).blocks) == blocks) {
                return Ok((geometry, size as usize));
            }
        }
    }
    Err(anyhow!(
        "no page-block size has {blocks} page-blocks a page"
    ))
}

fn config(geometry: Geometry, rules: Rules) -> Result<Config> {
    let config = Config::new(geometry, rules.bound)?.with_pieces(None)?;
    match (rules.order, rules.bound) {
        (Order::Original, Bound::Pages(_)) => Ok(config.with_order(PageOrder::Original)?),
        (Order::Newest, _) => Ok(config),
        (Order::Original | Order::Packed, _) => Err(anyhow!("no heap keeps this order")),
    }
}

struct Played<'m> {
    heap: Heap<'m>,
    class: SizeClass,
    layout: Layout,
    objects: Vec<surefit_compact::Bytes<std::mem::MaybeUninit<u8>>>,
}

impl Player for Played<'_> {
    fn allocate(&mut self) -> Result<()> {
        self.objects.push(self.heap.alloc(self.layout)?);
        Ok(())
    }

    fn free(&mut self, victim: u64) -> u64 {
        let before = self.heap.stats().moves_total;
        self.heap
            .free_bytes(self.objects.swap_remove(victim as usize));
        // The chain has no page-blocks that a heap keeps with their entries.
        self.heap.compact(0);
        self.heap.stats().moves_total - before
    }

    fn live(&self) -> u64 {
        self.objects.len() as u64
    }

    fn not_full(&self) -> u64 {
        u64::from(self.heap.details().class_counts(self.class).not_full)
    }
}

#[cfg(test)]
mod tests {
    use super::{Load, Order, Process, Rules, geometry, heap, simulation};
    use surefit_compact::{Bound, Fraction};

    #[test]
    fn every_number_of_page_blocks_of_the_experiment_has_a_size() {
        for blocks in [4, 16, 64] {
            assert!(geometry(blocks).is_ok(), "{blocks}");
        }
    }

    #[test]
    fn automaton_and_heap_do_the_same_to_the_same_process() {
        // With full compaction h alone decides the state, so that the two have the same not-full
        // pages at every event; which frees move depends on the victims.
        let process = Process {
            load: Load::Stationary { rho: 30.0 },
            steps: 3000,
            seed: 9,
        };
        let bounds = [
            Bound::Pages(1),
            Bound::Holes {
                base: 0,
                fraction: Fraction::ZERO,
            },
        ];
        for bound in bounds {
            let rules = Rules {
                bound,
                order: Order::Newest,
                blocks: 4,
            };
            let (simulated, real) = (
                simulation(rules, process),
                heap(rules, process).expect("memory"),
            );
            assert!(
                (simulated.not_full - real.not_full).abs() < 1e-9,
                "{simulated:?} {real:?}"
            );
            assert!(
                (simulated.moves_per_free - real.moves_per_free).abs() < 0.05,
                "{simulated:?} {real:?}"
            );
        }
    }
}
