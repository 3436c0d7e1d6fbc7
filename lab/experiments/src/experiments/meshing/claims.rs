//! Whether meshing would save enough to be built.

use super::survey::Seen;
use crate::kit::{Claim, OnProgram};

/// What meshing must save of the held bytes to be worth its calls of the kernel.
const TENTH: f64 = 0.1;

/// What was seen of a program.
#[derive(Clone, Debug)]
pub(super) struct Program {
    /// Its name.
    pub(super) name: String,
    pub(super) seen: Seen,
}

/// Whether so much is saved, if the shares that were found, and that are possible at most, say so.
fn test(found: f64, most: f64) -> Option<bool> {
    let (yes, no) = (found >= TENTH, most < TENTH);
    (yes || no).then_some(yes)
}

fn on(program: &Program) -> OnProgram {
    let peak = program.seen.peak();
    let all = peak.all();
    let (found, most) = (peak.share(all.found), peak.share(all.most));
    OnProgram {
        name: program.name.clone(),
        test: test(found, most),
        ratio: None,
        shown: format!("{:.1} % (at most {:.1} %)", 100.0 * found, 100.0 * most),
    }
}

/// The claim on which it depends whether meshing is built.
pub(super) fn saves_a_tenth(programs: &[Program]) -> Claim {
    Claim::that("meshing saves a tenth of the memory that raw pointers hold, when they hold most")
        .of("Mesh")
        .papers("Firefox 16 %, Redis 39 %")
        .ours("pages saved ÷ held bytes")
        .over(
            programs.iter().map(on).collect(),
            "at the first moment where most is held, the pairs of pages found to fit are a tenth of the held bytes; it \
             does not if even the most pairs that live page-blocks leave room for are less; else not comparable",
        )
}

#[cfg(test)]
mod tests {
    use super::super::pairs::Pairs;
    use super::super::survey::{Moment, Seen};
    use super::{Program, saves_a_tenth};
    use crate::kit::Verdict;

    fn program(found: u64, most: u64) -> Program {
        let pairs = Pairs {
            pages: 100,
            not_full: 2 * most,
            found,
            most,
        };
        let moment = |event, held_bytes, pairs| Moment {
            event,
            live_bytes: 1,
            held_bytes,
            classes: vec![(48, pairs)],
        };
        // later, half of the little that is held could be saved: that decides nothing
        let after = Pairs { found: 50, ..pairs };
        let moments = vec![
            moment(1, 100 * 8192, pairs),
            moment(2, 100 * 8192 - 1, after),
        ];
        Program {
            name: "t".to_owned(),
            seen: Seen { moments, peak: 0 },
        }
    }

    #[test]
    fn the_peak_decides_and_only_what_is_sure() {
        let verdict = |found, most| saves_a_tenth(&[program(found, most)]).verdict;
        assert_eq!(verdict(10, 30), Verdict::Holds);
        assert_eq!(verdict(9, 9), Verdict::DoesNot);
        assert_eq!(verdict(9, 10), Verdict::NotComparable);
        assert_eq!(verdict(0, 0), Verdict::DoesNot);
        assert_eq!(saves_a_tenth(&[]).verdict, Verdict::NotComparable);
        assert!(program(0, 0).seen.most_share() > 0.5);
    }
}
