//! `--again`: a second run, and which answers of the first it does not confirm.

use surefit_measure::error::one_line;
use surefit_measure::results::{AllocatorResult, TraceResults};

use super::baseline::is_beyond_spread;
use crate::screen::{fastest, short};

/// What changed from the first run to the second: a line for each trace, and one for each ratio
/// that moved beyond both spreads.
pub(super) fn lines(first: &[TraceResults], second: &[TraceResults]) -> Vec<String> {
    first
        .iter()
        .zip(second)
        .flat_map(|(first, second)| of_trace(first, second))
        .collect()
}

fn of_trace(first: &TraceResults, second: &TraceResults) -> Vec<String> {
    let moved: Vec<_> = first
        .results
        .iter()
        .zip(&second.results)
        .filter_map(|(first, second)| moved(first, second))
        .collect();
    let name = one_line(&first.name);
    let (was, is) = (fastest(first), fastest(second));
    let who = if was == is {
        format!("fastest in both: {}", was.join(" or "))
    } else {
        format!("fastest was {}, is {}", was.join(" or "), is.join(" or "))
    };
    let ratios = match moved.len() {
        0 => "every ratio is within both spreads".to_owned(),
        1 => "one ratio moved beyond both spreads".to_owned(),
        many => format!("{many} ratios moved beyond both spreads"),
    };
    let mut lines = vec![format!("{name}, second run: {ratios}; {who}.")];
    lines.extend(moved);
    lines
}

fn moved(first: &AllocatorResult, second: &AllocatorResult) -> Option<String> {
    let (was, is) = (first.ratio_to_baseline?, second.ratio_to_baseline?);
    is_beyond_spread(was, is)
        .then(|| format!("  {}: time was {was}, is {is}", short(&first.allocator)))
}

#[cfg(test)]
mod tests {
    use super::super::tests::comparison;
    use super::lines;

    #[test]
    fn a_second_run_confirms_or_says_what_moved() {
        let one = comparison(&[1.4, 1.5, 1.6]).traces;
        assert_eq!(
            lines(&one, &one),
            ["small, second run: every ratio is within both spreads; fastest in both: tlsf."]
        );
        let other = comparison(&[0.6, 0.7, 0.8]).traces;
        let said = lines(&one, &other);
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
