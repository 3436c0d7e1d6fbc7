//! One time over another, round by round.
#![deny(unsafe_code)]

use surefit_clients::java::Finds;

/// A lookup in tables and claims, in the thesis's words.
pub(super) const fn lookup(finds: Finds) -> &'static str {
    match finds {
        Finds::Scan => "walk",
        Finds::NextHitTable => "table",
        Finds::Bitmap => "bitmap",
    }
}

/// Each round's ratio; none if something took no time.
pub(super) fn over(own: &[f64], base: &[f64]) -> Vec<f64> {
    let took_time = own.iter().chain(base).all(|ns| *ns > 0.0);
    let rounds = own.iter().zip(base).filter(|_| took_time);
    rounds.map(|(own, base)| own / base).collect()
}

/// The geometric mean, round by round, of those that have rounds.
pub(super) fn geometric_mean(all: &[Vec<f64>]) -> Vec<f64> {
    let all: Vec<_> = all.iter().filter(|rounds| !rounds.is_empty()).collect();
    let rounds = all.iter().map(|rounds| rounds.len()).min().unwrap_or(0);
    let mean = |round: usize| {
        let logarithms = all.iter().map(|rounds| rounds[round].ln()).sum::<f64>();
        (logarithms / all.len() as f64).exp()
    };
    (0..rounds).map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::{geometric_mean, over};

    #[test]
    fn what_took_no_time_has_no_ratio() {
        assert_eq!(over(&[4.0, 9.0], &[2.0, 3.0]), [2.0, 3.0]);
        assert_eq!(over(&[4.0, 9.0], &[2.0, 0.0]), Vec::<f64>::new());
    }

    #[test]
    fn the_mean_is_geometric_and_leaves_out_what_has_no_rounds() {
        let all = [vec![1.0, 4.0], vec![], vec![4.0, 9.0]];
        assert_eq!(geometric_mean(&all), [2.0, 6.0]);
        assert_eq!(geometric_mean(&[]), Vec::<f64>::new());
    }
}
