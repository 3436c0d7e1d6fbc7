//! Text that fits a terminal: short names, wrapped lines, lists in words.

use surefit_measure::error::one_line;
use surefit_measure::grid::elided;
use surefit_measure::results::{LeftOut, TraceResults};
use surefit_measure::sizes::{Size, counted};
use surefit_measure::spec::shown;

/// No line of the screen has more columns.
pub(crate) const WIDTH: usize = 100;

/// Columns of a trace's name.
const MOST_NAME: usize = 40;

/// The text in lines of at most [`WIDTH`] columns, broken at blanks; lines after the first begin
/// with two blanks. A word that is longer than a line is shortened. A unit stays with its number.
pub(crate) fn wrapped(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in together(text) {
        let word = elided(&word, WIDTH - 2);
        let line = lines.last_mut().expect("never empty");
        let used = line.chars().count();
        if line.trim().is_empty() {
            line.push_str(&word);
        } else if used + 1 + word.chars().count() <= WIDTH {
            line.push(' ');
            line.push_str(&word);
        } else {
            lines.push(format!("  {word}"));
        }
    }
    lines.join("\n")
}

/// The words of a text; one that begins with a unit is joined to the number before it.
fn together(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let letters = word.trim_end_matches(['.', ',', ';', ')']);
        let is_unit = matches!(letters, "%" | "x" | "B" | "kB" | "MB" | "GB" | "k" | "M");
        match words.last_mut().filter(|_| is_unit) {
            Some(number) => *number = format!("{number} {word}"),
            None => words.push(word.to_owned()),
        }
    }
    words
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
    use super::{WIDTH, listed, wrapped};

    #[test]
    fn no_wrapped_line_is_too_long_and_no_word_is_lost() {
        let text = "seven letters in a row ".repeat(40);
        let lines = wrapped(&text);
        assert!(
            lines.lines().all(|line| line.chars().count() <= WIDTH),
            "{lines}"
        );
        assert!(
            lines
                .lines()
                .skip(1)
                .all(|line| line.starts_with("  ") && !line.starts_with("   "))
        );
        let words = |text: &str| {
            text.split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        assert_eq!(words(&lines), words(&text));
        assert!(lines.lines().count() > 5, "{lines}");
    }

    #[test]
    fn a_unit_stays_with_its_number() {
        for start in 80..=WIDTH {
            let lines = wrapped(&format!("{} 12.5 %, 1.2 x tlsf", "y".repeat(start)));
            assert!(
                lines.contains("12.5 %,") && lines.contains("1.2 x"),
                "{lines}"
            );
        }
    }

    #[test]
    fn a_word_longer_than_a_line_is_shortened() {
        let lines = wrapped(&format!("a {} b", "x".repeat(300)));
        assert!(
            lines.lines().all(|line| line.chars().count() <= WIDTH),
            "{lines}"
        );
        assert!(lines.contains('…') && lines.ends_with('b'), "{lines}");
    }

    #[test]
    fn lists_are_read_aloud() {
        assert_eq!(listed::<&str>(&[]), "");
        assert_eq!(listed(&["a"]), "a");
        assert_eq!(listed(&["a", "b"]), "a and b");
        assert_eq!(listed(&["a", "b", "c"]), "a, b and c");
    }
}
