//! The claims, each over all clients: no paper puts Compact-fit under a collector, so all are ours.
#![deny(unsafe_code)]

use surefit_clients::java::MinHeap;

use super::measure::{Found, HEAPS, InHeap, Row};
use crate::kit::{Claim, OnProgram, Verdict};
use crate::shared::threads::figures::ratio;
use surefit_measure::output::grouped;

/// The claim about times is one about heaps up to so many times what is live.
const SMALL: f64 = 1.25;

/// All of them.
pub(super) fn all(found: &[Found]) -> Vec<Claim> {
    let mut claims = vec![keeps_what_lives(found), never_fragmented(found)];
    claims.extend([fastest_when_small(found), needs_least(found)]);
    claims
}

/// All heaps of some rows in which the program completes.
fn in_heaps<'f>(rows: impl Iterator<Item = &'f Row>) -> impl Iterator<Item = &'f InHeap> {
    rows.flat_map(|row| row.heaps.iter().flatten())
}

fn keeps_what_lives(found: &[Found]) -> Claim {
    let all = || in_heaps(found.iter().flat_map(|one| &one.rows));
    let to_freed: u64 = all().map(|in_heap| in_heap.to_freed).sum();
    let replays = all().count();
    Claim::that("no space frees an object to which a recording refers")
        .ours_alone()
        .papers("none: ours")
        .ours(format!("{to_freed} such references in {replays} replays"))
        .decide(
            (replays > 0).then_some(to_freed == 0),
            "every reference of a recording is looked up when it is stored",
        )
}

fn never_fragmented(found: &[Found]) -> Claim {
    let of = |compact_fit| in_heaps(found.iter().flat_map(move |one| one.of(compact_fit)));
    let sum = |compact_fit, count: fn(&InHeap) -> u64| of(compact_fit).map(count).sum::<u64>();
    let counts = |compact_fit| {
        (
            sum(compact_fit, |in_heap| in_heap.with_bytes),
            sum(compact_fit, |in_heap| in_heap.collections),
        )
    };
    let fragmented: Option<Vec<u64>> = of(true).map(|in_heap| in_heap.fragmented).collect();
    let fragmented = fragmented.map(|counts| counts.iter().sum::<u64>());
    let (moving, all_moving) = counts(true);
    let (staying, all_staying) = counts(false);
    Claim::that("no collection over Compact-fit is caused by fragmentation")
        .ours_alone()
        .papers("none: ours; the papers bound fragmentation")
        .ours(format!(
            "{} of {}; enough bytes were free before {} of them, in page-blocks of \
             other classes among them, and before {} of the {} collections of all \
             other spaces",
            fragmented.map_or("-".to_owned(), grouped),
            grouped(all_moving),
            grouped(moving),
            grouped(staying),
            grouped(all_staying)
        ))
        .decide(
            fragmented
                .filter(|_| all_moving > 0)
                .map(|fragmented| fragmented == 0),
            "before every collection it is asked whether moving page-blocks would \
             serve the request, by the same count of free page-blocks that moves are \
             decided by",
        )
}

/// Where Compact-fit stands in one heap.
struct Contest {
    /// Whether it is the fastest; `None` if rounds disagree.
    wins: Option<bool>,
    words: String,
}

/// The best of Compact-fit against the best of all others in a heap; `None` if no space completes.
fn contest(found: &Found, at: usize) -> Option<Contest> {
    let ms = |in_heap: &InHeap| in_heap.median_ns().unwrap_or_default() / 1e6;
    let heap = HEAPS[at];
    let (wins, words) = match (found.fastest(true, at), found.fastest(false, at)) {
        (None, None) => return None,
        (Some((row, _)), None) => (
            Some(true),
            format!("{heap}x: only Compact-fit completes, {}", row.choice),
        ),
        (None, Some((row, in_heap))) => {
            let (name, ms) = (row.choice, ms(in_heap));
            (
                Some(false),
                format!("{heap}x: Compact-fit does not complete, {name} takes {ms:.2} ms"),
            )
        }
        (Some((row, ours)), Some((other, theirs))) => {
            let over = ratio(&theirs.management_ns(), &ours.management_ns());
            let (name, against) = (row.choice, other.choice);
            let words = format!("{heap}x: {against} ÷ {name} {}", over);
            (Verdict::is_greater(over), words)
        }
    };
    Some(Contest { wins, words })
}

fn fastest_when_small(found: &[Found]) -> Claim {
    Claim::that(format!(
        "up to {SMALL} times what is live, Compact-fit has the lowest heap management time"
    ))
    .ours_alone()
    .papers("none: ours")
    .over(
        found.iter().map(on_times).collect(),
        "best setting against best other space, in every such heap in which any completes; where \
         rounds disagree, the clock decides nothing",
    )
}

/// One client's part of it.
fn on_times(found: &Found) -> OnProgram {
    let small = (0..HEAPS.len()).filter(|at| HEAPS[*at] <= SMALL);
    let contests: Vec<_> = small.filter_map(|at| contest(found, at)).collect();
    let mut shown: Vec<_> = contests
        .iter()
        .map(|contest| contest.words.clone())
        .collect();
    if contests.iter().any(|contest| contest.wins == Some(false)) {
        shown.push(why(found));
    }
    if contests.is_empty() {
        shown.push(format!("no space completes up to {SMALL}x"));
    }
    OnProgram {
        name: found.client.clone(),
        test: wins_all(&contests),
        ratio: None,
        shown: shown.join(", "),
    }
}

/// Whether all are won; `None` if there are none, or the clock does not decide one and none is
/// lost.
fn wins_all(contests: &[Contest]) -> Option<bool> {
    if contests.iter().any(|contest| contest.wins == Some(false)) {
        return Some(false);
    }
    let is_decided = !contests.is_empty() && contests.iter().all(|contest| contest.wins.is_some());
    is_decided.then_some(true)
}

fn needs_least(found: &[Found]) -> Claim {
    Claim::that("Compact-fit completes in the smallest heap")
        .ours_alone()
        .papers("none: ours")
        .over(
            found.iter().map(on_heaps).collect(),
            "best setting against best other space; heaps that differ by what the search leaves \
             open are the same, and decide nothing. The mean is of Compact-fit's ÷ the other's",
        )
}

/// One client's part of it.
fn on_heaps(found: &Found) -> OnProgram {
    let (moving, staying) = (found.smallest(true), found.smallest(false));
    let words = |best: Option<(&Row, usize)>| match best {
        Some((row, bytes)) => format!("{} {:.2}x", row.choice, found.times_live(bytes)),
        None => "none".to_owned(),
    };
    let both = moving
        .zip(staying)
        .map(|(moving, staying)| (moving.1, staying.1));
    let is_smaller = both.map(|(moving, staying)| is_smaller(moving, staying));
    let is_smaller =
        is_smaller.unwrap_or((moving.is_some() != staying.is_some()).then_some(moving.is_some()));
    let mut shown = format!("{}, of the others {}", words(moving), words(staying));
    if is_smaller == Some(false) {
        shown = format!("{shown}, {}", why(found));
    }
    let ratio = both.map(|(moving, staying)| moving as f64 / staying as f64);
    let on = OnProgram::timed(found.client.as_str(), is_smaller, ratio.as_slice());
    OnProgram { shown, ..on }
}

/// Whether one heap is smaller than another; `None` if they differ by no more than the search
/// leaves open.
fn is_smaller(ours: usize, theirs: usize) -> Option<bool> {
    (ours.abs_diff(theirs) > MinHeap::open_bytes(ours.max(theirs))).then_some(ours < theirs)
}

/// What Compact-fit spends more bytes on than free lists do.
fn why(found: &Found) -> String {
    let usage = |compact_fit| {
        let best = found.smallest(compact_fit).map(|(row, _)| row);
        best.and_then(|row| row.usage)
    };
    let (Some(moving), Some(staying)) = (usage(true), usage(false)) else {
        return "there is no room for what is live in twice as much".to_owned();
    };
    let internal = |bytes: usize| grouped(bytes.saturating_sub(found.live as usize) as u64);
    format!(
        "what is live takes {} B for entries, bits and tables ({} B on lists), {} B inside page-blocks ({} B inside chunks), \
         {} B of not-full pages and page ends",
        grouped(moving.administrative_bytes as u64),
        grouped(staying.administrative_bytes as u64),
        internal(moving.block_bytes),
        internal(staying.block_bytes),
        grouped((moving.size_class_bytes + moving.page_internal_bytes) as u64)
    )
}

#[cfg(test)]
mod tests {
    use super::super::measure::{Found, HEAPS, InHeap, Row};
    use super::super::spaces::ALL;
    use super::{fastest_when_small, is_smaller, keeps_what_lives, needs_least, never_fragmented};
    use crate::kit::Verdict;

    /// Compact-fit with one time and smallest heap, the others with another; 0 does not complete.
    fn found(moving: (f64, usize), staying: (f64, usize)) -> Found {
        let rows = ALL.map(|choice| {
            let moves = choice.is_compact_fit();
            let (ms, smallest) = if moves { moving } else { staying };
            let in_heap = InHeap {
                collections: 7,
                with_bytes: 3,
                fragmented: moves.then_some(0),
                allocation_ns: vec![ms * 1e6; 3],
                collection_ns: vec![ms * 1e6; 3],
                ..InHeap::default()
            };
            let completes = smallest > 0;
            Row {
                choice,
                smallest: completes.then_some(smallest),
                usage: None,
                heaps: vec![completes.then_some(in_heap); HEAPS.len()],
            }
        });
        Found {
            client: "c".to_owned(),
            live: 1 << 20,
            rows: rows.to_vec(),
        }
    }

    #[test]
    fn the_verdict_on_times_comes_out_every_way() {
        let cases = [
            ((1.0, 9), (2.0, 9), Verdict::Holds),
            ((2.0, 9), (1.0, 9), Verdict::DoesNot),
            ((1.0, 9), (1.0, 9), Verdict::DoesNot),
            ((1.0, 9), (1.0, 0), Verdict::Holds),
            ((1.0, 0), (1.0, 9), Verdict::DoesNot),
            ((1.0, 0), (1.0, 0), Verdict::NotComparable),
        ];
        for (moving, staying, verdict) in cases {
            let claim = fastest_when_small(&[found(moving, staying)]);
            assert_eq!(claim.verdict, verdict, "{moving:?} {staying:?}");
        }
    }

    #[test]
    fn a_loss_in_one_heap_loses_the_claim() {
        let mut found = found((1.0, 9), (2.0, 9));
        for row in found
            .rows
            .iter_mut()
            .filter(|row| row.choice.is_compact_fit())
        {
            row.heaps[0] = None;
        }
        assert_eq!(fastest_when_small(&[found]).verdict, Verdict::DoesNot);
    }

    #[test]
    fn the_verdict_on_smallest_heaps_comes_out_every_way() {
        let verdict = |ours, theirs| needs_least(&[found((1.0, ours), (1.0, theirs))]).verdict;
        assert_eq!(verdict(1_000_000, 1_100_000), Verdict::Holds);
        assert_eq!(verdict(1_100_000, 1_000_000), Verdict::DoesNot);
        assert_eq!(verdict(1_000_000, 1_000_500), Verdict::NotComparable);
        assert_eq!(verdict(0, 1_000_000), Verdict::DoesNot);
        assert_eq!(verdict(1_000_000, 0), Verdict::Holds);
        assert_eq!(verdict(0, 0), Verdict::NotComparable);
        assert_eq!(is_smaller(4_000_000, 4_003_000), None);
    }

    #[test]
    fn one_reference_to_a_freed_object_refutes_the_claim() {
        let mut found = [found((1.0, 9), (1.0, 9))];
        assert_eq!(keeps_what_lives(&found).verdict, Verdict::Holds);
        let last = found[0].rows.last_mut().expect("rows");
        last.heaps[2].as_mut().expect("completes").to_freed = 1;
        assert_eq!(keeps_what_lives(&found).verdict, Verdict::DoesNot);
        assert_eq!(keeps_what_lives(&[]).verdict, Verdict::NotComparable);
    }

    #[test]
    fn one_collection_that_moves_would_have_spared_refutes_the_claim() {
        let mut found = [found((1.0, 9), (1.0, 9))];
        assert_eq!(never_fragmented(&found).verdict, Verdict::Holds);
        let last = found[0].rows.last_mut().expect("rows");
        last.heaps[2].as_mut().expect("completes").fragmented = Some(1);
        assert_eq!(never_fragmented(&found).verdict, Verdict::DoesNot);
        assert_eq!(never_fragmented(&[]).verdict, Verdict::NotComparable);
    }
}
