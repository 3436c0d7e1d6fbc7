//! The claims about table 3, each for the paper's Compact-fit and for ours of the same kind.

use super::found::{ALLOCATORS, COMPACTING, OnProgram, ratio};
use super::published::Papers;
use crate::kit::{Claim, OnProgram as Judged};

/// Ratios of memory that differ by less than this are the paper's: the text rounds to 1 %, and what
/// stands for its programs has the same sizes in other orders.
const CLOSE: f64 = 0.05;

/// Memory that differs by less than this is the same: the paper's own two columns differ by 0.3 %,
/// and a page for each of the four classes below 32 bytes is 0.3 % of the smaller program.
const SAME: f64 = 0.02;

/// Memory has to be more by this part to be more: a smallest region is known to 0.1 %.
const MORE: f64 = 0.002;

/// Bytes of one page for each of the published size-classes: what any of the heaps may hold beyond
/// what its program needs, however small the program is.
const PAGE_PER_CLASS: u64 = 51 * (16 << 10);

/// A program decides something if a page for each class is at most this part of what is live.
const MOST_PAGES: f64 = CLOSE;

/// A system that is judged: its name, and its rows with smallest page-blocks of 16 and 32 bytes.
type System = (&'static str, [usize; 2]);

/// The paper's system, and ours without moves and handles.
const SYSTEMS: [System; 2] = [("cf-paper", [1, 2]), ("cf-direct", [3, 4])];

/// Two figures of one system: with smallest page-blocks of 16 and of 32 bytes.
type Both = [f64; 2];

/// Why a program may decide nothing.
const UNDECIDED: &str =
    "a program decides nothing if a page for each size-class is more than 5 % of its live bytes";

pub(super) fn all(programs: &[OnProgram]) -> Vec<Claim> {
    let mut claims = Vec::new();
    for system in SYSTEMS {
        claims.extend([
            needs_more(system, programs),
            as_much_more(system, programs),
            little_size_class(system, programs),
            partitioning_dominates(system, programs),
            smallest_hardly_matters(system, programs),
        ]);
    }
    claims
}

/// A figure of both rows of a system.
fn of_both((_, rows): System, figure: impl Fn(usize) -> Option<f64>) -> Option<Both> {
    let [small, large] = rows.map(figure);
    small.zip(large).map(|(small, large)| [small, large])
}

/// Each program with the test of its two figures; `test` also gets the program.
fn judged(
    programs: &[OnProgram],
    both: impl Fn(&OnProgram) -> Option<Both>,
    test: impl Fn(&OnProgram, Both) -> Option<bool>,
) -> Vec<Judged> {
    programs
        .iter()
        .map(|on| {
            let figures = both(on).filter(|_| is_large_enough(on));
            Judged {
                name: on.name.clone(),
                test: figures.and_then(|figures| test(on, figures)),
                ratio: None,
                shown: shown(both(on)),
            }
        })
        .collect()
}

fn is_large_enough(on: &OnProgram) -> bool {
    PAGE_PER_CLASS as f64 <= MOST_PAGES * on.live_bytes as f64
}

fn shown(both: Option<Both>) -> String {
    surefit_measure::ratio::or_not_measured(
        both.map(|[small, large]| format!("16 B {small:.3}, 32 B {large:.3}")),
    )
}

/// What the paper's two programs show.
fn papers(figure: impl Fn(Papers) -> Both) -> String {
    use super::published::{EMACS, HUMMINGBIRD};
    let one = |name: &str, papers| format!("{name} {}", shown(Some(figure(papers))));
    [one("Emacs", EMACS), one("Hummingbird", HUMMINGBIRD)].join("; ")
}

/// The rows of the compacting heap, which is shown and not judged.
fn compacting(programs: &[OnProgram]) -> String {
    let all = programs.iter().map(|on| {
        let both = of_both(("", [5, 6]), |row| on.to_tlsf(row));
        format!("{} {}", on.name, shown(both))
    });
    let name = ALLOCATORS[COMPACTING].split(',').next();
    format!(
        "{} (not judged) {}",
        name.unwrap_or_default(),
        all.collect::<Vec<_>>().join(", ")
    )
}

fn needs_more(system: System, programs: &[OnProgram]) -> Claim {
    let to_tlsf = |on: &OnProgram| of_both(system, |row| on.to_tlsf(row));
    Claim::that(format!("{} needs more memory than TLSF", system.0))
        .of("table 3")
        .papers(papers(Papers::to_tlsf))
        .ours(compacting(programs))
        .over(
            judged(programs, to_tlsf, |_, both| {
                Some(both.iter().all(|ratio| *ratio > 1.0 + MORE))
            }),
            format!("memory ÷ tlsf, both with 16 B and with 32 B, is more than 1 by over 0.2 %; {UNDECIDED}"),
        )
}

fn as_much_more(system: System, programs: &[OnProgram]) -> Claim {
    let to_tlsf = |on: &OnProgram| of_both(system, |row| on.to_tlsf(row));
    Claim::that(format!(
        "{} needs 35 % more memory than TLSF on Emacs and 21 % more on Hummingbird",
        system.0
    ))
    .of("table 3")
    .papers(papers(Papers::to_tlsf))
    .over(
        judged(programs, to_tlsf, |on, both| {
            let theirs = Papers::of(&on.name)?.to_tlsf();
            let mut pairs = both.iter().zip(theirs);
            Some(pairs.all(|(own, theirs)| (own - theirs).abs() <= CLOSE))
        }),
        format!(
            "memory ÷ tlsf is within 0.05 of the paper's for the same program, with 16 B and with 32 B; a program that \
             stands for neither decides nothing; {UNDECIDED}"
        ),
    )
}

fn little_size_class(system: System, programs: &[OnProgram]) -> Claim {
    Claim::that(format!(
        "{}: only 1.3 % of the memory is size-class fragmentation on Emacs, and 4.6 % on Hummingbird",
        system.0
    ))
    .of("table 3")
    .papers(papers(Papers::size_class_share))
    .over(
        judged(
            programs,
            |on| of_both(system, |row| size_class_share(on, row)),
            |on, both| {
                let theirs = Papers::of(&on.name)?.size_class_share();
                let most = theirs[0].max(theirs[1]);
                Some(both.iter().all(|share| *share <= most))
            },
        ),
        format!(
            "size-class fragmentation ÷ memory is at most the greater of the paper's two for the same program; a program \
             that stands for neither decides nothing; {UNDECIDED}"
        ),
    )
}

fn size_class_share(on: &OnProgram, row: usize) -> Option<f64> {
    ratio(on.rows[row].size_class, on.rows[row].memory)
}

fn partitioning_dominates(system: System, programs: &[OnProgram]) -> Claim {
    let of = |on: &OnProgram| {
        of_both(system, |row| {
            ratio(on.rows[row].size_class, on.rows[row].partitioning)
        })
    };
    Claim::that(format!(
        "{}: fragmentation through partitioning dominates size-class fragmentation",
        system.0
    ))
    .of("table 3")
    .of("partitioning")
    .papers("SCF is 0.46 of 8.9 MB more than TLSF (Emacs, 16 B), 11.4 of 42.2 MB (Hummingbird, 32 B)")
    .ours("size-class ÷ partitioning")
    .over(
        judged(programs, of, |_, both| {
            Some(both.iter().all(|share| *share < 1.0))
        }),
        format!(
            "size-class fragmentation is less than page-block-internal and page-internal fragmentation together, at the \
             peak of live bytes, with 16 B and with 32 B; {UNDECIDED}"
        ),
    )
}

fn smallest_hardly_matters(system: System, programs: &[OnProgram]) -> Claim {
    let (name, [small, large]) = system;
    let change = |on: &OnProgram| ratio(on.rows[large].memory, on.rows[small].memory);
    let judged = programs.iter().map(|on| {
        let change = change(on);
        let decided = change.filter(|_| is_large_enough(on));
        let rounds = change.map(|change| [change]);
        Judged {
            shown: surefit_measure::ratio::or_not_measured(
                change.map(|change| format!("{change:.3}")),
            ),
            ..Judged::timed(
                on.name.clone(),
                decided.map(|change| (change - 1.0).abs() <= SAME),
                rounds.as_ref().map_or(&[], |one| one.as_slice()),
            )
        }
    });
    Claim::that(format!(
        "{name}: a smallest page-block of 32 B instead of 16 B hardly changes the memory"
    ))
    .of("table 3")
    .papers("32 B ÷ 16 B: Emacs 0.997, Hummingbird 1.002")
    .over(
        judged.collect(),
        format!("memory with 32 B is within 2 % of that with 16 B; {UNDECIDED}"),
    )
}

#[cfg(test)]
mod tests {
    use super::super::found::Row;
    use super::{ALLOCATORS, OnProgram, all};
    use crate::kit::Verdict;

    /// A program on which every Compact-fit needs so many bytes with 16 B and 32 B, of which so
    /// many are size-class fragmentation and partitioning; TLSF needs 1000.
    fn program(name: &str, memory: [u64; 2], size_class: u64, partitioning: u64) -> OnProgram {
        let mut rows = vec![
            Row {
                memory: Some(1000),
                ..Row::default()
            };
            ALLOCATORS.len()
        ];
        for (at, row) in rows.iter_mut().enumerate().skip(1) {
            row.memory = Some(memory[(at + 1) % 2]);
            row.size_class = Some(size_class);
            row.partitioning = Some(partitioning);
        }
        OnProgram {
            name: name.to_owned(),
            live_bytes: 25_700_000,
            rows,
        }
    }

    fn verdicts(programs: &[OnProgram]) -> Vec<Verdict> {
        all(programs).iter().map(|claim| claim.verdict).collect()
    }

    #[test]
    fn figures_like_the_papers_let_every_claim_hold() {
        let emacs = program("emacs-paper", [1346, 1342], 17, 300);
        let proxy = program("hummingbird-paper", [1204, 1207], 50, 150);
        assert_eq!(verdicts(&[emacs, proxy]), [Verdict::Holds; 10]);
    }

    #[test]
    fn other_figures_let_none_hold() {
        let programs = [program("emacs-paper", [1000, 1100], 500, 400)];
        assert_eq!(verdicts(&programs), [Verdict::DoesNot; 10]);
    }

    #[test]
    fn what_is_too_small_or_not_measured_decides_nothing() {
        let small = OnProgram {
            live_bytes: 1_600_000,
            ..program("emacs-paper", [1346, 1342], 17, 300)
        };
        let mut none = program("emacs-paper", [1346, 1342], 17, 300);
        none.rows.fill(Row::default());
        assert_eq!(verdicts(&[small, none]), [Verdict::NotComparable; 10]);
    }

    #[test]
    fn a_program_of_ours_is_not_compared_with_the_papers_figures() {
        let redis = program("redis", [1100, 1101], 1, 90);
        let [more, as_much, little, dominates, smallest] = verdicts(&[redis])[..5] else {
            panic!("five claims for each system");
        };
        assert_eq!([more, dominates, smallest], [Verdict::Holds; 3]);
        assert_eq!([as_much, little], [Verdict::NotComparable; 2]);
    }
}
