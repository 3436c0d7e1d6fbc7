//! The boundary between sizes that are too small and sizes that suffice, by halving.

/// A size that is too small and a larger one that suffices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Boundary {
    /// Too small, as was seen or is known.
    pub below: usize,
    /// Sufficient, as was seen.
    pub above: usize,
}

impl Boundary {
    /// Halves the gap until it is at most `open(above)`; sizes that are tried are multiples of
    /// `step`.
    ///
    /// `suffices` may be true for some size and false for a larger one: what is found is one
    /// boundary of those there are. It is asked log₂ of (gap ÷ open) times.
    ///
    /// # Errors
    /// The first error of `suffices`.
    ///
    /// # Panics
    /// If `step` is 0.
    pub fn narrowed<E>(
        self,
        step: usize,
        open: impl Fn(usize) -> usize,
        mut suffices: impl FnMut(usize) -> Result<bool, E>,
    ) -> Result<Self, E> {
        let Self {
            mut below,
            mut above,
        } = self;
        // A gap that rounding up to a step cannot bridge: what is tried lies inside it.
        assert!(step > 0, "sizes are multiples of some step");
        let least = (step - 1).saturating_mul(2).max(1);
        while above.saturating_sub(below) > open(above).max(least) {
            let middle = below.midpoint(above).next_multiple_of(step);
            if suffices(middle)? {
                above = middle;
            } else {
                below = middle;
            }
        }
        Ok(Self { below, above })
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::Boundary;

    const WIDE: Boundary = Boundary {
        below: 0,
        above: 100_000_000,
    };

    #[test]
    fn the_boundary_is_found_to_the_gap_that_stays_open() {
        for boundary in [10_000, 1_000_000, 77_777_777] {
            let mut tries = 0;
            let open = |above: usize| (above / 1000).max(4096);
            let found = WIDE.narrowed(8, open, |size| {
                tries += 1;
                assert_eq!(size % 8, 0);
                Ok::<_, Infallible>(size >= boundary)
            });
            let Ok(Boundary { below, above }) = found;
            assert!(below < boundary && boundary <= above, "{found:?}");
            assert!(above - below <= open(above), "{found:?} for {boundary}");
            assert!(tries <= 16);
        }
    }

    #[test]
    fn it_is_exact_where_nothing_stays_open() {
        let found = WIDE.narrowed(1, |_| 1, |size| Ok::<_, Infallible>(size >= 4711));
        let exact = Boundary {
            below: 4710,
            above: 4711,
        };
        assert_eq!(found, Ok(exact));
    }

    #[test]
    fn what_is_tried_lies_inside_the_gap() {
        for (below, above) in (0..40).flat_map(|below| (below..80).map(move |above| (below, above)))
        {
            let gap = Boundary { below, above };
            for boundary in below..above {
                let found = gap.narrowed(
                    8,
                    |_| 0,
                    |size| {
                        assert!(below < size && size < above, "{size} in {gap:?}");
                        Ok::<_, Infallible>(size > boundary)
                    },
                );
                let Ok(found) = found;
                assert!(found.below <= boundary && boundary < found.above);
                assert!(found.above - found.below <= 14);
            }
        }
    }

    #[test]
    fn equal_bounds_need_no_try_and_an_error_ends_it() {
        let equal = Boundary {
            below: 5000,
            above: 5000,
        };
        let tried = equal.narrowed(8, |_| 0, |_| Err(()));
        assert_eq!(tried, Ok(equal));
        assert_eq!(WIDE.narrowed(8, |_| 0, |_| Err("no")), Err("no"));
    }
}
