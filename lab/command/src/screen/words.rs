//! Text that fits a terminal: short names, wrapped lines, lists in words.

use surefit_measure::error::one_line;
use surefit_measure::grid::elided;
use surefit_measure::results::{LeftOut, TraceResults};
use surefit_measure::sizes::{Size, counted};
use surefit_measure::spec::shown;
use surefit_measure::wrap;

/// Columns of a trace's name.
const MOST_NAME: usize = 40;

/// The text in lines that fit a terminal, broken at blanks; lines after the first begin with two
/// blanks. A word that is longer than a line is shortened. A unit stays with its number.
pub(crate) fn wrapped(text: &str) -> String {
    wrapped_to(text, wrap::width())
}

/// As [`wrapped()`], to this many columns.
pub(crate) fn wrapped_to(text: &str, width: usize) -> String {
    let words = text.split(' ').map(|word| elided(word, width - 2));
    wrap::wrapped_to(&words.collect::<Vec<_>>().join(" "), width)
}

/// An allocator in a sentence or the name of a column: as it is shown, but not too long.
pub(crate) fn short(allocator: &str) -> String {
    elided(shown(allocator), 24)
}

/// `a`, `a and b`, `a, b and c`.
pub(crate) fn listed<T: AsRef<str>>(names: &[T]) -> String {
    match names {
        [] => String::new(),
        [one] => one.as_ref().to_owned(),
        [most @ .., last] => {
            let most: Vec<_> = most.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", most.join(", "), last.as_ref())
        }
    }
}

/// The name of a trace, short and in one line.
pub(crate) fn name(trace: &TraceResults) -> String {
    elided(&one_line(&trace.name), MOST_NAME)
}

/// What `--largest` took off a trace.
pub(super) fn left_out(left_out: LeftOut) -> String {
    format!(
        "{} over {}, {} live at their peak",
        counted(left_out.objects, "object"),
        Size(left_out.larger_than_bytes),
        Size(left_out.peak_live_bytes)
    )
}

#[cfg(test)]
mod tests {
    use super::{listed, wrapped_to};

    #[test]
    fn a_word_longer_than_a_line_is_shortened() {
        for width in [40, 80, 100] {
            let lines = wrapped_to(&format!("a {} b", "x".repeat(300)), width);
            let longest = lines.lines().map(|line| line.chars().count()).max();
            assert_eq!(longest, Some(width), "{lines}");
            assert!(lines.contains('…') && lines.ends_with('b'), "{lines}");
        }
    }

    #[test]
    fn lists_are_read_aloud() {
        assert_eq!(listed::<&str>(&[]), "");
        assert_eq!(listed(&["a"]), "a");
        assert_eq!(listed(&["a", "b"]), "a and b");
        assert_eq!(listed(&["a", "b", "c"]), "a, b and c");
    }
}
