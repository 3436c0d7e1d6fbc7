//! What was measured: of every library, every shape in every round.
#![deny(unsafe_code)]

use super::child::Took;
use super::libraries::{Library, Role};
use super::shapes::Shape;
use surefit_measure::ratio::{Ratio, median};

/// A figure of what a shape took.
pub(super) type Figure = fn(&Took) -> f64;

/// Time on processors.
pub(super) const CPU: Figure = |took| took.cpu_ns;
/// Time by the clock on the wall.
pub(super) const WALL: Figure = |took| took.wall_ns;
/// The most resident memory.
pub(super) const PEAK: Figure = |took| took.peak_bytes as f64;

/// One library on one shape.
#[derive(Clone, Debug, Default)]
pub(super) struct Cell {
    /// What each round took.
    pub(super) rounds: Vec<Took>,
    /// Why it does not run: once it has failed, it is left alone.
    pub(super) failed: Option<String>,
}

/// One library and its figures.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// The library.
    pub(super) library: Library,
    /// Its figures, one for each shape.
    pub(super) cells: Vec<Cell>,
    /// Instructions of a malloc with its free.
    pub(super) pair: Option<f64>,
}

/// Everything that was measured.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// The shapes.
    pub(super) shapes: Vec<&'static Shape>,
    /// The libraries, glibc first.
    pub(super) rows: Vec<Row>,
}

impl Row {
    /// Whether it was measured at all.
    pub(super) fn ran(&self) -> bool {
        self.cells.iter().any(Cell::ran)
    }

    /// The figures of a shape, round by round; nothing if it failed.
    pub(super) fn figures(&self, shape: usize, figure: Figure) -> Vec<f64> {
        let rounds = self.cells[shape].rounds.iter();
        rounds.map(figure).collect()
    }

    /// Held ÷ live after phases, at the worst, in each round.
    pub(super) fn held(&self) -> Option<Ratio> {
        let rounds = self.cells.iter().flat_map(|cell| &cell.rounds);
        Ratio::of(&rounds.filter_map(|took| took.held).collect::<Vec<_>>())
    }
}

impl Cell {
    /// Whether it ran, in all rounds.
    pub(super) fn ran(&self) -> bool {
        self.failed.is_none() && !self.rounds.is_empty()
    }

    /// Keeps why it failed, and none of its figures: they are not those of all rounds.
    pub(super) fn fail(&mut self, why: String) {
        self.rounds.clear();
        self.failed = Some(why);
    }
}

impl Found {
    /// The row of the C library's own malloc.
    pub(super) fn base(&self) -> Option<&Row> {
        self.rows.iter().find(|row| row.library.role == Role::Base)
    }

    /// Our row, if ours is there.
    pub(super) fn ours(&self) -> Option<&Row> {
        let is_ours = |row: &&Row| row.library.role == Role::Ours;
        self.rows
            .iter()
            .find(is_ours)
            .filter(|row| row.library.missing.is_none())
    }

    /// A figure of a shape ÷ glibc's in the same round.
    pub(super) fn ratio(&self, row: &Row, shape: usize, figure: Figure) -> Option<Ratio> {
        let base = self.base()?.figures(shape, figure);
        Ratio::round_by_round(&row.figures(shape, figure), &base)
    }

    /// The geometric mean over these shapes of a figure ÷ glibc's, round by round, over the shapes
    /// that both ran; `None` if there is no such shape.
    pub(super) fn mean(
        &self,
        row: &Row,
        figure: Figure,
        is_among: impl Fn(&Shape) -> bool,
    ) -> Option<Ratio> {
        let base = self.base()?;
        let shapes = self.shapes.iter().enumerate();
        let shapes = shapes
            .filter(|(at, shape)| is_among(shape) && row.cells[*at].ran() && base.cells[*at].ran());
        let logarithms = shapes.map(|(at, _)| {
            let (own, base) = (row.figures(at, figure), base.figures(at, figure));
            let ratios = own.iter().zip(&base).map(|(own, base)| (own / base).ln());
            ratios.collect::<Vec<_>>()
        });
        let logarithms: Vec<_> = logarithms.collect();
        let rounds = logarithms.iter().map(Vec::len).min()?;
        let mean = |round: usize| {
            let sum: f64 = logarithms.iter().map(|ratios| ratios[round]).sum();
            (sum / logarithms.len() as f64).exp()
        };
        Ratio::of(&(0..rounds).map(mean).collect::<Vec<_>>())
    }

    /// The library of others that is fastest on a shape, by its median.
    pub(super) fn best_peer(&self, shape: usize) -> Option<&Row> {
        let peers = self
            .rows
            .iter()
            .filter(|row| row.library.role == Role::Peer);
        let timed = peers.filter_map(|row| Some((row, median(&row.figures(shape, CPU))?)));
        let best = timed.min_by(|(_, one), (_, other)| one.total_cmp(other));
        best.map(|(row, _)| row)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::child::Took;
    use super::super::libraries::{Library, Role};
    use super::super::shapes::SHAPES;
    use super::{CPU, Cell, Found, PEAK, Row};

    /// A library that took this in every round of every shape.
    pub(in super::super) fn row(name: &str, role: Role, took: Took) -> Row {
        let cell = Cell {
            rounds: vec![took; 3],
            failed: None,
        };
        Row {
            library: Library {
                name: name.to_owned(),
                role,
                file: None,
                missing: None,
            },
            cells: vec![cell; SHAPES.len()],
            pair: Some(took.cpu_ns),
        }
    }

    pub(in super::super) fn took(cpu_ns: f64, peak_bytes: u64) -> Took {
        Took {
            cpu_ns,
            wall_ns: 2.0 * cpu_ns,
            peak_bytes,
            checksum: 1,
            held: Some(cpu_ns / 50.0),
        }
    }

    /// glibc takes 100, a peer 80, ours so much.
    pub(in super::super) fn found(ours: Took) -> Found {
        let rows = vec![
            row("glibc", Role::Base, took(100.0, 1000)),
            row("mimalloc", Role::Peer, took(80.0, 1500)),
            row("surefit", Role::Ours, ours),
        ];
        let shapes = SHAPES.iter().collect();
        Found { shapes, rows }
    }

    #[test]
    fn means_are_geometric_and_of_what_both_ran() {
        let mut found = found(took(50.0, 1000));
        for (at, cell) in found.rows[2].cells.iter_mut().enumerate() {
            if at % 2 == 1 {
                cell.rounds = vec![took(200.0, 1000); 3];
            }
        }
        let last = SHAPES.len() - 1;
        assert_eq!(last % 2, 0, "as many fast as slow ones, and the last");
        found.rows[2].cells[last].fail("no".to_owned());
        let ours = found.ours().expect("it is there");
        let mean = found.mean(ours, CPU, |_| true).expect("ratios");
        assert!((mean.median - 1.0).abs() < 1e-9, "{mean}");
        assert!(found.ratio(ours, last, CPU).is_none());
        let ratio = found.ratio(ours, 1, PEAK).expect("it ran");
        assert_eq!((ratio.min, ratio.max), (1.0, 1.0));
        assert!(found.mean(ours, CPU, |_| false).is_none());
    }

    #[test]
    fn the_best_peer_is_of_others_and_ran() {
        let mut found = found(took(1.0, 1));
        found.rows.push(row("jemalloc", Role::Peer, took(70.0, 1)));
        let name = |found: &Found| found.best_peer(0).map(|row| row.library.name.clone());
        assert_eq!(name(&found).as_deref(), Some("jemalloc"));
        found.rows[3].cells[0].fail("no".to_owned());
        assert_eq!(name(&found).as_deref(), Some("mimalloc"));
        found.rows.truncate(1);
        assert_eq!(name(&found), None);
    }
}
