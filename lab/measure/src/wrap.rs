//! Lines that fit a terminal.

use console::Term;

use crate::error::one_line;

/// The columns of a terminal if nothing says how many there are.
const USUAL: usize = 80;

/// Prose has no longer lines, however wide the terminal.
const MOST: usize = 100;

/// Nothing has shorter lines, however narrow the terminal.
const LEAST: usize = 40;

/// The columns of standard output, for tables: those of the terminal, but 40 at least; 80 for a
/// pipe or a file.
#[must_use]
pub fn columns() -> usize {
    let size = Term::stdout().size_checked();
    at_least(size.map(|(_, columns)| usize::from(columns)))
}

/// The columns of prose: [`columns()`], but 100 at most.
#[must_use]
pub fn width() -> usize {
    clamped(columns())
}

/// The columns of a table on a terminal of so many; `None` is no terminal.
fn at_least(columns: Option<usize>) -> usize {
    columns.unwrap_or(USUAL).max(LEAST)
}

/// The columns of prose beside tables of so many: from 40 to 100.
#[must_use]
pub fn clamped(columns: usize) -> usize {
    columns.clamp(LEAST, MOST)
}

/// The text with its longer lines broken at blanks, to fit [`width()`]. Each line stays a line of
/// its own; what is broken off a line is indented by two columns more. A unit stays with its
/// number. A word that is longer than a line stays whole: it may be for copying.
#[must_use]
pub fn wrapped(text: &str) -> String {
    wrapped_to(text, width())
}

/// As [`wrapped()`], to this many columns.
#[must_use]
pub fn wrapped_to(text: &str, width: usize) -> String {
    let mut lines = text.split('\n').map(|line| broken(line, width));
    let first = lines.next().unwrap_or_default();
    lines.fold(first, |text, line| text + "\n" + &line)
}

/// One paragraph in lines that fit [`width()`]: `first` stands before its first line, `then` before
/// the others. Line breaks of the text and other control characters are blanks.
#[must_use]
pub fn paragraph(text: &str, first: &str, then: &str) -> String {
    let text = one_line(text);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    filled(&words, first, then, width()) + "\n"
}

fn broken(line: &str, width: usize) -> String {
    if line.chars().count() <= width {
        return line.to_owned();
    }
    let text = line.trim_start_matches(' ');
    let first = &line[..line.len() - text.len()];
    filled(text, first, &format!("{first}  "), width)
}

/// The words of a line in lines of at most `width` columns.
pub(crate) fn filled(line: &str, first: &str, then: &str, width: usize) -> String {
    let (mut text, mut used) = (first.to_owned(), first.chars().count());
    for (number, word) in together(line).enumerate() {
        let (columns, begins) = (word.chars().count(), number == 0);
        if begins || used + 1 + columns <= width {
            text += if begins { "" } else { " " };
            text += &word;
            used += usize::from(!begins) + columns;
            continue;
        }
        let word = word.trim_start();
        text += &format!("\n{then}{word}");
        used = then.chars().count() + word.chars().count();
    }
    text
}

/// The words of a line, each with the blanks before it but one; a word that begins with a unit is
/// joined to the number before it.
fn together(line: &str) -> impl Iterator<Item = String> {
    let mut words: Vec<String> = Vec::new();
    let mut blanks = String::new();
    for word in line.split(' ') {
        if word.is_empty() {
            blanks.push(' ');
            continue;
        }
        let letters = word.trim_end_matches(['.', ',', ';', ')']);
        let is_unit = matches!(letters, "%" | "x" | "B" | "kB" | "MB" | "GB" | "k" | "M");
        match words.last_mut().filter(|_| is_unit) {
            Some(number) => *number = format!("{number} {word}"),
            None => words.push(format!("{blanks}{word}")),
        }
        blanks.clear();
    }
    words.into_iter()
}

#[cfg(test)]
mod tests {
    use super::{at_least, clamped, filled, paragraph, width, wrapped_to};

    fn words(text: &str) -> Vec<&str> {
        text.split_whitespace().collect()
    }

    #[test]
    fn no_line_is_too_long_and_no_word_is_lost() {
        let text = format!("a\n  {}\n\nb", "seven letters in a row ".repeat(40));
        for width in [40, 80, 100] {
            let lines = wrapped_to(&text, width);
            let longest = lines.lines().map(|line| line.chars().count()).max();
            assert!(longest <= Some(width), "{lines}");
            assert_eq!(words(&lines), words(&text));
            assert!(lines.starts_with("a\n  seven") && lines.ends_with("\n\nb"));
            let inner = lines.lines().skip(2).take(5);
            assert!(
                inner.into_iter().all(|line| line.starts_with("    ")),
                "{lines}"
            );
        }
    }

    #[test]
    fn a_paragraph_is_wrapped_and_loses_no_word() {
        let numbers: Vec<_> = (0..200).map(|n| n.to_string()).collect();
        let text = paragraph(&numbers.join("\n "), "- ", "  ");
        assert!(text.lines().all(|line| line.chars().count() <= width()));
        assert_eq!(words(&text[2..]), numbers);
        assert_eq!(filled("12 % of it", "> ", "  ", 6), "> 12 %\n  of\n  it");
    }

    #[test]
    fn a_unit_stays_with_its_number() {
        for start in 60..=80 {
            let lines = wrapped_to(&format!("{} 12.5 %, 1.2 x tlsf", "y".repeat(start)), 80);
            assert!(
                lines.contains("12.5 %,") && lines.contains("1.2 x"),
                "{lines}"
            );
        }
    }

    #[test]
    fn columns_stay_where_they_are_in_a_line_that_is_broken() {
        let line = format!("  free F2   at most {}", "word ".repeat(20));
        let lines = wrapped_to(&line, 80);
        assert!(lines.starts_with("  free F2   at most word"), "{lines}");
        assert!(lines.contains("\n    word"), "{lines}");
    }

    #[test]
    fn what_fits_stays_as_it_is_and_a_long_word_stays_whole() {
        let table = " name   1.0\n other 12.0\n";
        assert_eq!(wrapped_to(table, 80), table);
        let word = "x".repeat(200);
        assert_eq!(
            wrapped_to(&format!("take {word} now"), 80),
            format!("take\n  {word}\n  now")
        );
    }

    #[test]
    fn prose_has_from_40_to_100_columns_and_tables_have_all() {
        let both = |columns| (clamped(at_least(columns)), at_least(columns));
        assert_eq!(both(None), (80, 80));
        assert_eq!(both(Some(20)), (40, 40));
        assert_eq!(both(Some(90)), (90, 90));
        assert_eq!(both(Some(200)), (100, 200));
    }
}
