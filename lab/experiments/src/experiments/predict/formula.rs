//! The closed forms.

/// Moves per free for many live page-blocks and the packed order; `r` = P(free)/P(malloc).
///
/// One not-full page, the reservoir, absorbs all moves; the others have one hole each, and their
/// number is a walk on 0 … κ−1 with steps +1 (a free in a full page) and −1 (an allocation),
/// reflected at both ends. A free moves iff the walk is at κ−1 and the reservoir is not empty: 1 −
/// 1/π of the time.
pub(super) fn moves_per_free(blocks: u32, kappa: u32, r: f64) -> f64 {
    let has_source = 1.0 - 1.0 / f64::from(blocks);
    if (r - 1.0).abs() < 1e-9 {
        return has_source / f64::from(kappa);
    }
    let powers = |exponent: u32| r.powf(f64::from(exponent));
    has_source * powers(kappa - 1) * (r - 1.0) / (powers(kappa) - 1.0)
}

/// Not-full pages for many live page-blocks, allocations and frees in balance: the reservoir, and
/// the walk's mean.
pub(super) fn not_full(blocks: u32, kappa: u32) -> f64 {
    (1.0 - 1.0 / f64::from(blocks)) + (f64::from(kappa) - 1.0) / 2.0
}

/// κ = 1, any load: a free of one of h page-blocks moves with probability (h − h mod π)/h, if h mod
/// π ≠ 0; averaged over the frees of the process whose live page-blocks have mean `rho`.
///
/// The jump chain is in h with probability in proportion to ρ^h/h! · (ρ + h), and its next event is
/// a free with h/(ρ + h): a free finds h page-blocks with probability in proportion to ρ^h/h! · h.
pub(super) fn full_compaction(blocks: u32, rho: f64) -> f64 {
    let most = (rho + 40.0 * rho.sqrt()) as u32 + 40;
    let (mut weight, mut all, mut moving) = (1.0_f64, 0.0, 0.0);
    for live in 1..=most {
        weight *= rho / f64::from(live);
        let frees = weight * f64::from(live);
        let rest = live % blocks;
        all += frees;
        if rest != 0 {
            moving += frees * f64::from(live - rest) / f64::from(live);
        }
    }
    moving / all
}

/// The greatest of some differences; 0 if there are none.
pub(super) fn greatest(figures: &[f64]) -> f64 {
    figures.iter().copied().fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::{full_compaction, moves_per_free, not_full};

    #[test]
    fn the_closed_forms_have_the_values_worked_out_by_hand() {
        let rounded = |figure: f64| (figure * 1000.0).round() / 1000.0;
        let balanced = [1, 2, 4, 8].map(|kappa| rounded(moves_per_free(64, kappa, 1.0)));
        assert_eq!(balanced, [0.984, 0.492, 0.246, 0.123]);
        let growing = [1, 2, 4, 8].map(|kappa| rounded(moves_per_free(64, kappa, 0.4 / 0.6)));
        assert_eq!(growing, [0.984, 0.394, 0.121, 0.02]);
        let shrinking = [1, 2, 4, 8].map(|kappa| rounded(moves_per_free(64, kappa, 0.6 / 0.4)));
        assert_eq!(shrinking, [0.984, 0.591, 0.409, 0.341]);
        assert_eq!(
            [1, 2, 4, 8].map(|kappa| not_full(16, kappa)),
            [0.9375, 1.4375, 2.4375, 4.4375]
        );
    }

    #[test]
    fn full_compaction_of_many_blocks_is_one_less_one_page() {
        assert!(
            (full_compaction(4, 40.0) - 0.7125).abs() < 1e-3,
            "{}",
            full_compaction(4, 40.0)
        );
        assert!((full_compaction(16, 20.0) - 1.0).abs() > 0.1);
    }
}
