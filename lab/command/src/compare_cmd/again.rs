//! `--again`: a second run, and which answers of the first it does not confirm.

use surefit_measure::error::one_line;
use surefit_measure::judged::{SecondRun, TwoRatios};
use surefit_measure::results::TraceResults;

use super::baseline::is_beyond_spread;
use crate::screen::{fastest, short};

/// What a second run made of each trace of the first.
pub(super) fn runs(first: &[TraceResults], second: &[TraceResults]) -> Vec<SecondRun> {
    let both = first.iter().zip(second);
    both.map(|(first, second)| of_trace(first, second))
        .collect()
}

fn of_trace(first: &TraceResults, second: &TraceResults) -> SecondRun {
    let rows = first.results.iter().zip(&second.results);
    let ratios = rows.filter_map(|(row, again)| {
        let (was, is) = (row.ratio_to_baseline?, again.ratio_to_baseline?);
        Some(TwoRatios {
            allocator: row.allocator.clone(),
            first: was,
            second: is,
            is_beyond_spread: is_beyond_spread(was, is),
        })
    });
    // Of a trace that is not the program's heap nobody is called fastest.
    let named = |trace: &TraceResults| match &trace.beside_malloc {
        Some(beside) if !beside.is_malloc_only => Vec::new(),
        _ => fastest(trace),
    };
    SecondRun {
        trace: first.name.clone(),
        fastest_first: named(first),
        fastest_second: named(second),
        ratios: ratios.collect(),
    }
}

/// The same in words: a line for each trace, and one for each ratio that moved beyond both spreads.
pub(super) fn lines(runs: &[SecondRun]) -> Vec<String> {
    runs.iter().flat_map(lines_of).collect()
}

fn lines_of(run: &SecondRun) -> Vec<String> {
    let moved = run.ratios.iter().filter(|ratios| ratios.is_beyond_spread);
    let moved: Vec<_> = moved
        .map(|it| {
            let name = short(&it.allocator);
            format!("  {name}: time was {}, is {}", it.first, it.second)
        })
        .collect();
    let (was, is) = (&run.fastest_first, &run.fastest_second);
    let who = match (was.join(" or "), is.join(" or ")) {
        (was, is) if was.is_empty() && is.is_empty() => String::new(),
        (was, is) if was == is => format!("; fastest in both: {was}"),
        (was, is) => format!("; fastest was {was}, is {is}"),
    };
    let ratios = match moved.len() {
        0 => "every ratio is within both spreads".to_owned(),
        1 => "one ratio moved beyond both spreads".to_owned(),
        many => format!("{many} ratios moved beyond both spreads"),
    };
    let name = one_line(&run.trace);
    let mut lines = vec![format!("{name}, second run: {ratios}{who}.")];
    lines.extend(moved);
    lines
}

#[cfg(test)]
mod tests {
    use super::super::tests::comparison;
    use super::{lines, runs};
    use surefit_measure::results::BesideMalloc;

    #[test]
    fn a_second_run_confirms_or_says_what_moved() {
        let one = comparison(&[1.4, 1.5, 1.6]).traces;
        assert_eq!(
            lines(&runs(&one, &one)),
            ["small, second run: every ratio is within both spreads; fastest in both: tlsf."]
        );
        let mut beside = comparison(&[1.4, 1.5, 1.6]).traces;
        beside[0].beside_malloc = Some(BesideMalloc {
            grown_bytes: 1 << 30,
            recorded_bytes: 1 << 20,
            own_allocator: None,
            is_malloc_only: false,
        });
        assert_eq!(
            lines(&runs(&beside, &beside)),
            ["small, second run: every ratio is within both spreads."]
        );
        let other = comparison(&[0.6, 0.7, 0.8]).traces;
        let both = runs(&one, &other);
        assert!(both[0].ratios[0].is_beyond_spread && !both[0].ratios[1].is_beyond_spread);
        let said = lines(&both);
        assert_eq!(
            said[0],
            "small, second run: one ratio moved beyond both spreads; fastest was tlsf, is cf."
        );
        assert_eq!(
            said[1],
            "  cf: time was 1.50 [1.40-1.60], is 0.70 [0.60-0.80]"
        );
    }
}
