//! How verdicts look: a mark, the words and a colour. The mark and the words say all; the colours
//! differ for people who see colours differently too.

use crate::kit::Verdict;

/// The style of verdicts on a page.
pub(super) const STYLE: &str = ".holds{color:#0b5394}.does_not{color:#b3400a}.holds_on{color:#7a4b9a}\
    .not_comparable{color:#5b6673}.verdict{font-weight:600}\
    .claims td{white-space:normal;text-align:left;vertical-align:top}";

/// The class of a verdict in a page.
pub(super) const fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "holds",
        Verdict::DoesNot => "does_not",
        Verdict::NotComparable => "not_comparable",
        Verdict::HoldsOn { .. } => "holds_on",
    }
}

/// A mark whose shape tells verdicts apart.
pub(super) const fn mark(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "✓",
        Verdict::DoesNot => "✗",
        Verdict::NotComparable => "–",
        Verdict::HoldsOn { .. } => "◐",
    }
}

/// One of each kind, in the order in which they are counted.
pub(crate) const KINDS: [Verdict; 4] = [
    Verdict::Holds,
    Verdict::HoldsOn { programs: 0, of: 0 },
    Verdict::DoesNot,
    Verdict::NotComparable,
];

/// How many verdicts there are of each of [`KINDS`].
pub(crate) fn counts(verdicts: impl IntoIterator<Item = Verdict>) -> [usize; KINDS.len()] {
    let mut counts = [0; KINDS.len()];
    for verdict in verdicts {
        let kind = KINDS
            .iter()
            .position(|kind| kind.words() == verdict.words());
        counts[kind.expect("every kind is one of four")] += 1;
    }
    counts
}

/// The counts in words: "3 hold, 1 does not"; kinds that do not occur are left out, and no claims
/// are said so.
pub(crate) fn words(counts: [usize; KINDS.len()]) -> String {
    let kinds = KINDS.iter().zip(counts).filter(|(_, count)| *count > 0);
    let parts: Vec<_> = kinds
        .map(|(kind, count)| format!("{count} {}", plural(*kind, count)))
        .collect();
    match parts.is_empty() {
        true => "no claims".to_owned(),
        false => parts.join(", "),
    }
}

/// What so many claims do.
pub(super) const fn plural(verdict: Verdict, count: usize) -> &'static str {
    match (verdict, count) {
        (Verdict::Holds, 1) => "holds",
        (Verdict::Holds, _) => "hold",
        (Verdict::DoesNot, 1) => "does not",
        (Verdict::DoesNot, _) => "do not",
        (Verdict::NotComparable, _) => "not comparable",
        (Verdict::HoldsOn { .. }, 1) => "holds on some programs",
        (Verdict::HoldsOn { .. }, _) => "hold on some programs",
    }
}

#[cfg(test)]
mod tests {
    use super::{Verdict, counts, words};

    #[test]
    fn verdicts_are_counted_by_kind() {
        let on = |programs| Verdict::HoldsOn { programs, of: 9 };
        let verdicts = [
            Verdict::Holds,
            on(1),
            Verdict::Holds,
            on(2),
            Verdict::DoesNot,
        ];
        let counted = counts(verdicts);
        assert_eq!(counted, [2, 2, 1, 0]);
        assert_eq!(
            words(counted),
            "2 hold, 2 hold on some programs, 1 does not"
        );
        assert_eq!(words(counts([])), "no claims");
    }
}
