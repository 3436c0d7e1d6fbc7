//! The paper's table 4: clock ticks of its own machine.

use crate::shared::programs::StandsFor;

/// Larger objects are left out: the paper leaves out those over 16 KB, and its largest size-class
/// ends here.
pub(super) const LARGEST: usize = 16_200;

/// A call of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call {
    Malloc,
    Free,
}

impl Call {
    pub(super) const BOTH: [Self; 2] = [Self::Malloc, Self::Free];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Malloc => "malloc",
            Self::Free => "free",
        }
    }
}

/// Clock ticks of one allocator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ticks {
    pub(super) average: f64,
    pub(super) most: f64,
}

const fn ticks(average: f64, most: f64) -> Ticks {
    Ticks { average, most }
}

/// The paper's figures of one call: of TLSF and of Compact-fit.
#[derive(Clone, Copy, Debug)]
pub(super) struct OfCall {
    pub(super) tlsf: Ticks,
    pub(super) cf: Ticks,
}

impl OfCall {
    /// Compact-fit ÷ TLSF on average.
    pub(super) fn ratio(self) -> f64 {
        self.cf.average / self.tlsf.average
    }
}

/// The paper's figures of one program: of malloc and of free.
#[derive(Clone, Copy, Debug)]
pub(super) struct Papers([OfCall; 2]);

pub(super) const EMACS: Papers = Papers([
    OfCall {
        tlsf: ticks(228.0, 93_359.0),
        cf: ticks(260.0, 81_662.0),
    },
    OfCall {
        tlsf: ticks(153.0, 71_159.0),
        cf: ticks(279.0, 74_798.0),
    },
]);

pub(super) const HUMMINGBIRD: Papers = Papers([
    OfCall {
        tlsf: ticks(411.0, 109_079.0),
        cf: ticks(529.0, 98_820.0),
    },
    OfCall {
        tlsf: ticks(500.0, 69_192.0),
        cf: ticks(574.0, 79_914.0),
    },
]);

impl Papers {
    /// The figures of the program that one stands for.
    pub(super) fn of(program: &str) -> Option<Self> {
        StandsFor::of(program).choose(EMACS, HUMMINGBIRD)
    }

    pub(super) const fn call(self, call: Call) -> OfCall {
        match call {
            Call::Malloc => self.0[0],
            Call::Free => self.0[1],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Call, EMACS, HUMMINGBIRD};

    #[test]
    fn the_papers_own_ratios_are_what_it_calls_slightly() {
        let percent = |of: super::Papers, call| (of.call(call).ratio() * 100.0).round();
        assert_eq!(percent(EMACS, Call::Malloc), 114.0);
        assert_eq!(percent(EMACS, Call::Free), 182.0);
        assert_eq!(percent(HUMMINGBIRD, Call::Malloc), 129.0);
        assert_eq!(percent(HUMMINGBIRD, Call::Free), 115.0);
    }
}
