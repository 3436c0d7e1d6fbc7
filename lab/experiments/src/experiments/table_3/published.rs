//! The paper's table 3, and what its text says of it.

use super::found::{ALLOCATORS, COMPACTING};
use crate::shared::programs::StandsFor;

/// The paper's table for one program, in MB.
#[derive(Clone, Copy, Debug)]
pub(super) struct Papers {
    pub(super) tlsf: f64,
    /// With smallest page-blocks of 16 and 32 bytes: memory, size-class fragmentation.
    pub(super) cf: [(f64, f64); 2],
}

pub(super) const EMACS: Papers = Papers {
    tlsf: 25.7,
    cf: [(34.6, 0.46), (34.5, 0.38)],
};

pub(super) const HUMMINGBIRD: Papers = Papers {
    tlsf: 203.7,
    cf: [(245.3, 8.3), (245.9, 11.4)],
};

impl Papers {
    /// The figures of the program that one stands for.
    pub(super) fn of(program: &str) -> Option<Self> {
        StandsFor::of(program).choose(EMACS, HUMMINGBIRD)
    }

    /// Memory and size-class fragmentation in a row of ours; `None` if the paper's table has no
    /// such system. The paper has one Compact-fit, beside which ours without moves and handles
    /// stand.
    pub(super) fn row(self, at: usize) -> Option<(f64, Option<f64>)> {
        match at {
            0 => Some((self.tlsf, None)),
            COMPACTING.. => None,
            _ => {
                let is_32 = ALLOCATORS[at].ends_with("min=32");
                let (memory, fragmentation) = self.cf[usize::from(is_32)];
                Some((memory, Some(fragmentation)))
            }
        }
    }

    /// Memory ÷ that of TLSF.
    pub(super) fn to_tlsf(self) -> [f64; 2] {
        self.cf.map(|(memory, _)| memory / self.tlsf)
    }

    /// Size-class fragmentation ÷ memory.
    pub(super) fn size_class_share(self) -> [f64; 2] {
        self.cf.map(|(memory, own)| own / memory)
    }
}

#[cfg(test)]
mod tests {
    use super::{ALLOCATORS, COMPACTING, EMACS, HUMMINGBIRD};

    #[test]
    fn the_rows_are_those_of_the_papers_table() {
        assert_eq!(EMACS.row(0), Some((25.7, None)));
        for (at, name) in ALLOCATORS.iter().enumerate().skip(1) {
            let papers = match name {
                name if name.starts_with("cf:") => None,
                name if name.contains("min=16") => Some((34.6, Some(0.46))),
                _ => Some((34.5, Some(0.38))),
            };
            assert_eq!(EMACS.row(at), papers, "{name}");
        }
        assert!(ALLOCATORS[COMPACTING].starts_with("cf:"));
    }

    /// As SYSTEMS §8 computes them again.
    #[test]
    fn the_shares_are_those_of_the_papers_text() {
        let percent = |share: f64| (share * 1000.0).round() / 10.0;
        assert_eq!(percent(EMACS.to_tlsf()[0]), 134.6);
        assert_eq!(percent(EMACS.size_class_share()[0]), 1.3);
        assert_eq!(percent(HUMMINGBIRD.to_tlsf()[1]), 120.7);
        assert_eq!(percent(HUMMINGBIRD.size_class_share()[1]), 4.6);
    }
}
