//! What runs: each collector in the settings that make it fastest, leanest, or leave it as it
//! comes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// One collector in one setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Point {
    /// What tables call the collector.
    pub(super) collector: &'static str,
    /// Its binary in `peers/`.
    pub(super) binary: &'static str,
    /// Features of `peers/` that its build needs.
    pub(super) features: &'static str,
    /// The binary's words `KEY=VALUE`.
    pub(super) settings: &'static str,
    /// What it is here for.
    pub(super) role: Role,
}

/// What a point is here for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A process without trees, which takes what every process takes.
    Empty,
    /// Our collector in the setting that the claims are about.
    Subject,
    /// Our collector in another setting.
    Ours,
    /// No collector: beside the claims.
    Malloc,
    /// Another collector as its authors leave it.
    AsItComes,
    /// Another collector, tuned.
    Tuned,
}

impl Role {
    /// Whether it is a collector of others.
    pub(super) const fn is_peer(self) -> bool {
        matches!(self, Self::AsItComes | Self::Tuned)
    }
}

impl Point {
    const fn new(
        collector: &'static str,
        binary: &'static str,
        settings: &'static str,
        role: Role,
    ) -> Self {
        Self {
            collector,
            binary,
            features: "",
            settings,
            role,
        }
    }

    const fn with(self, features: &'static str) -> Self {
        Self { features, ..self }
    }

    /// The collector and its settings.
    pub(super) fn name(&self) -> String {
        format!("{} {}", self.collector, self.settings)
            .trim_end()
            .to_owned()
    }

    /// Where its binary is, if it is in one of these folders.
    pub(super) fn find(&self, folders: &[PathBuf]) -> Option<PathBuf> {
        let files = folders.iter().map(|folder| folder.join(self.binary));
        files.into_iter().find(|file| file.is_file())
    }
}

/// Where release builds of `peers/` end up: in a target directory of its own, or in the one that
/// this very program is in.
pub(super) fn folders() -> Vec<PathBuf> {
    let exe = std::env::current_exe().ok();
    let target = exe.as_deref().and_then(Path::parent).and_then(Path::parent);
    let shared = target.map(|target| target.join("release"));
    let own = PathBuf::from("peers/target/release");
    [Some(own), shared].into_iter().flatten().collect()
}

/// The command that builds these points, from the root of the repository.
pub(super) fn build_command(points: &[Point]) -> String {
    let features: BTreeSet<_> = points.iter().map(|point| point.features).collect();
    let features: Vec<_> = features.into_iter().filter(|it| !it.is_empty()).collect();
    let build = "cargo build --release --manifest-path peers/Cargo.toml";
    match features.join(",").as_str() {
        "" => build.to_owned(),
        features => format!("{build} --features {features}"),
    }
}

const fn empty() -> Point {
    Point::new("no trees", "binary-trees-none", "", Role::Empty)
}

const fn surefit(settings: &'static str, role: Role) -> Point {
    Point::new("surefit", "binary-trees-surefit", settings, role)
}

const fn boxes() -> Point {
    Point::new("Box", "binary-trees-box", "", Role::Malloc)
}

const fn boxes_mimalloc() -> Point {
    let point = Point::new(
        "Box, mimalloc",
        "binary-trees-box-mimalloc",
        "",
        Role::Malloc,
    );
    point.with("mimalloc")
}

const fn arena(settings: &'static str, role: Role) -> Point {
    Point::new("gc-arena", "binary-trees-gc-arena", settings, role)
}

const fn arena_mimalloc(settings: &'static str, role: Role) -> Point {
    let binary = "binary-trees-gc-arena-mimalloc";
    Point::new("gc-arena, mimalloc", binary, settings, role).with("mimalloc")
}

const fn boehm(settings: &'static str, role: Role) -> Point {
    Point::new("Boehm", "binary-trees-boehm", settings, role).with("boehm")
}

/// The same collector in its incremental mode.
const fn boehm_incremental(settings: &'static str, role: Role) -> Point {
    Point::new("Boehm, incremental", "binary-trees-boehm", settings, role).with("boehm")
}

const fn mmtk(settings: &'static str, role: Role) -> Point {
    Point::new("MMTk MarkSweep", "binary-trees-mmtk", settings, role).with("mmtk")
}

/// All points, in the order of the tables. Heap sizes are for trees of depth 16, of which at most 6
/// MiB live at once in 24 bytes a node.
///
/// gc-arena is left as it comes by its default pacing, Boehm's collector by one call per object and
/// references into objects (both its defaults), in its incremental mode with steps of 15 ms, and
/// MMTk by as many threads as there are processors here; it has no size of its own for a heap.
pub(super) const POINTS: &[Point] = &[
    empty(),
    surefit("heap=8M", Role::Subject),
    surefit("heap=10M", Role::Ours),
    surefit("heap=16M", Role::Ours),
    boxes(),
    boxes_mimalloc(),
    arena("", Role::AsItComes),
    arena("stw=1 sleep=0.5", Role::Tuned),
    arena("stw=1 sleep=2", Role::Tuned),
    arena_mimalloc("", Role::Tuned),
    arena_mimalloc("stw=1 sleep=2", Role::Tuned),
    arena_mimalloc("stw=1 sleep=4", Role::Tuned),
    boehm("interior=1 many=0", Role::AsItComes),
    boehm("", Role::Tuned),
    boehm("divisor=30", Role::Tuned),
    boehm("initial=6M divisor=30", Role::Tuned),
    boehm("initial=12M", Role::Tuned),
    boehm("initial=16M", Role::Tuned),
    boehm_incremental("incremental=1 interior=1 many=0", Role::AsItComes),
    boehm_incremental("incremental=1", Role::Tuned),
    boehm_incremental("incremental=1 initial=12M pause_ms=1", Role::Tuned),
    boehm_incremental("incremental=1 initial=6M pause_ms=50", Role::Tuned),
    boehm_incremental("incremental=1 initial=12M pause_ms=999999", Role::Tuned),
    boehm_incremental("incremental=1 divisor=1", Role::Tuned),
    mmtk("heap=5M", Role::Tuned),
    mmtk("heap=8M", Role::Tuned),
    mmtk("heap=16M", Role::Tuned),
    mmtk("heap=32M", Role::Tuned),
    mmtk("heap=16M threads=2", Role::AsItComes),
];

#[cfg(test)]
mod tests {
    use super::{POINTS, Role, build_command};

    #[test]
    fn every_point_is_there_once_and_one_is_the_subject() {
        let names: std::collections::BTreeSet<_> = POINTS.iter().map(super::Point::name).collect();
        assert_eq!(names.len(), POINTS.len());
        let count = |role| POINTS.iter().filter(|point| point.role == role).count();
        assert_eq!([count(Role::Empty), count(Role::Subject)], [1, 1]);
    }

    #[test]
    fn what_is_missing_says_how_to_build_it() {
        let plain = POINTS.iter().filter(|point| point.features.is_empty());
        let plain = build_command(&plain.copied().collect::<Vec<_>>());
        assert!(plain.ends_with("peers/Cargo.toml"), "{plain}");
        let all = build_command(POINTS);
        assert!(all.ends_with("--features boehm,mimalloc,mmtk"), "{all}");
    }
}
