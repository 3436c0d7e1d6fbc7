//! Binary trees on `gc-arena`: a tree is built in one mutation, and the debt is paid between two
//! trees.
//!
//! Settings: `stw=1` stops the world as soon as the collector wakes, and else it collects in steps;
//! `sleep=F` is how much may be allocated, as a share of what survived, before it wakes again.

use gc_arena::metrics::Pacing;
use gc_arena::{Arena, Collect, Gc, Mutation, Rootable};

use crate::program::Trees;
use crate::settings::Settings;

/// Two references, 16 bytes.
#[derive(Collect)]
#[collect(no_drop)]
struct Node<'gc> {
    left: Option<Gc<'gc, Node<'gc>>>,
    right: Option<Gc<'gc, Node<'gc>>>,
}

#[derive(Collect, Default)]
#[collect(no_drop)]
struct Root<'gc> {
    kept: Option<Gc<'gc, Node<'gc>>>,
}

/// Trees in one arena.
#[expect(missing_debug_implementations, reason = "an arena has none")]
pub struct Arenas(Arena<Rootable![Root<'_>]>);

impl Default for Arenas {
    fn default() -> Self {
        Self(Arena::new(|_| Root::default()))
    }
}

impl Arenas {
    /// An arena paced as the settings say.
    ///
    /// # Errors
    /// A value is no number.
    pub fn new(settings: &mut Settings) -> Result<Self, String> {
        let is_stop_the_world = settings.number::<u8>("stw")?.unwrap_or(0) != 0;
        let usual = if is_stop_the_world {
            Pacing::STOP_THE_WORLD
        } else {
            Pacing::DEFAULT
        };
        let sleep_factor = settings.number("sleep")?.unwrap_or(usual.sleep_factor);
        let arenas = Self::default();
        let pacing = Pacing {
            sleep_factor,
            ..usual
        };
        arenas.0.metrics().set_pacing(pacing);
        Ok(arenas)
    }
}

impl Trees for Arenas {
    fn build_and_count(&mut self, depth: u32) -> Result<u64, String> {
        let nodes = self.0.mutate(|mutation, _| count(build(mutation, depth)));
        self.0.collect_debt();
        Ok(nodes)
    }

    fn build_and_keep(&mut self, depth: u32) -> Result<(), String> {
        self.0
            .mutate_root(|mutation, root| root.kept = Some(build(mutation, depth)));
        self.0.collect_debt();
        Ok(())
    }

    fn count_kept(&mut self) -> u64 {
        self.0.mutate(|_, root| root.kept.map_or(0, count))
    }
}

fn build<'gc>(mutation: &Mutation<'gc>, depth: u32) -> Gc<'gc, Node<'gc>> {
    let child = || (depth > 0).then(|| build(mutation, depth - 1));
    let (left, right) = (child(), child());
    Gc::new(mutation, Node { left, right })
}

fn count(node: Gc<'_, Node<'_>>) -> u64 {
    1 + node.left.map_or(0, count) + node.right.map_or(0, count)
}
