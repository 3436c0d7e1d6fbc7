//! The shapes: what programs ask of malloc, each as a fixed amount of work.
//!
//! ```text
//! random   churn          one thread replaces small objects
//!          large          one thread replaces large objects
//! server   server         each generation of threads gets the objects of the one before, as in larson
//!          pipeline       producers allocate, consumers free
//!          short threads  threads that live briefly and leave half of their objects to another
//! sharing  active         threads write to small objects of their own: are two in one cache line?
//!          passive        the same, and each thread begins with an object of another
//! services documents      workers build trees of small objects, read them, and drop each other's
//!          cache          eight phases of a cache, whose entries are several objects each
//! growing  growing        buffers that realloc makes longer
//! phases   phases         ten phases of other sizes: what is held for what lives
//! recorded emacs, …       recorded programs
//! ```
//! Every byte of every object is written, and both ends are read when it is freed. All numbers are
//! seeded, so every library gets the same requests and yields the same checksum.
#![deny(unsafe_code)]

mod growing;
mod phases;
mod random;
pub(super) mod recorded;
mod server;
mod services;
mod sharing;

use anyhow::Result;

use super::watch::Watch;
use super::work::Work;
use recorded::Recording;

/// What a shape is played by.
#[derive(Clone, Copy, Debug)]
pub(super) enum Play {
    /// By this function, which returns the checksum.
    Made(fn(Work, &mut Watch) -> Result<u64>),
    /// From the bundled trace of this name.
    Recorded(&'static str),
}

/// A shape.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// Its name.
    pub(super) name: &'static str,
    /// Its play.
    pub(super) play: Play,
}

impl Shape {
    const fn made(name: &'static str, play: fn(Work, &mut Watch) -> Result<u64>) -> Self {
        let play = Play::Made(play);
        Self { name, play }
    }

    const fn recorded(name: &'static str, trace: &'static str) -> Self {
        let play = Play::Recorded(trace);
        Self { name, play }
    }

    /// Whether it replays a program.
    pub(super) const fn is_recorded(&self) -> bool {
        matches!(self.play, Play::Recorded(_))
    }

    /// Whether it runs without a recording or has this one; those that need it have it.
    ///
    /// # Errors
    /// What the shape fails with; a shape that needs a recording has none.
    pub(super) fn run(
        &self,
        work: Work,
        recording: Option<&Recording>,
        watch: &mut Watch,
    ) -> Result<u64> {
        match (self.play, recording) {
            (Play::Made(play), _) => play(work, watch),
            (Play::Recorded(_), Some(recording)) => recording.replay(watch),
            (Play::Recorded(trace), None) => anyhow::bail!("{trace} needs its recording"),
        }
    }
}

/// All of them, in the order of the tables.
pub(super) const SHAPES: &[Shape] = &[
    Shape::made("churn", random::churn),
    Shape::made("server", server::server),
    Shape::made("pipeline", server::pipeline),
    Shape::made("short threads", server::short_threads),
    Shape::made("active sharing", sharing::active),
    Shape::made("passive sharing", sharing::passive),
    Shape::made("documents", services::documents),
    Shape::made("cache", services::cache),
    Shape::made("large", random::large),
    Shape::made("growing", growing::growing),
    Shape::made("phases", phases::phases),
    Shape::recorded("python", "bundled:python-a"),
    Shape::recorded("emacs", "bundled:emacs"),
    Shape::recorded("redis", "bundled:redis"),
    Shape::recorded("redis-drift", "bundled:redis-drift"),
];

/// The shape of a name.
pub(super) fn find(name: &str) -> Option<&'static Shape> {
    SHAPES.iter().find(|shape| shape.name == name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Play, SHAPES, Watch, Work, find};

    const SMALL: Work = Work {
        part: 2000,
        threads: 3,
    };

    fn checksum(name: &str, work: Work) -> u64 {
        let shape = find(name).expect("a shape");
        let mut watch = Watch::default();
        let checksum = shape.run(work, None, &mut watch).expect("it runs");
        assert!(watch.wall_ns() > 0.0, "{name} measures its work");
        checksum
    }

    #[test]
    fn every_shape_frees_the_same_objects_again() {
        let made = SHAPES
            .iter()
            .filter(|shape| matches!(shape.play, Play::Made(_)));
        let mut checksums = BTreeSet::new();
        for shape in made {
            let (one, other) = (checksum(shape.name, SMALL), checksum(shape.name, SMALL));
            assert_eq!(one, other, "{}", shape.name);
            assert!(checksums.insert(one), "{}: as another shape", shape.name);
        }
    }

    #[test]
    fn another_amount_of_work_has_another_checksum() {
        for name in ["churn", "server", "pipeline", "short threads", "growing"] {
            let more = Work { part: 50, ..SMALL };
            assert_ne!(checksum(name, SMALL), checksum(name, more), "{name}");
        }
    }

    #[test]
    fn names_are_unique_and_programs_need_their_recording() {
        let names: BTreeSet<_> = SHAPES.iter().map(|shape| shape.name).collect();
        assert_eq!(names.len(), SHAPES.len());
        let program = SHAPES.iter().find(|shape| shape.is_recorded());
        let missing = program
            .expect("one")
            .run(SMALL, None, &mut Watch::default());
        assert!(missing.expect_err("none").to_string().contains("recording"));
    }
}
