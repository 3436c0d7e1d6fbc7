//! A table for a terminal that is narrower than the table: the heads of its columns in several
//! lines, then its first columns too, and at last its columns in parts, one below the other.

use crate::error::one_line;
use crate::grid::Grid;
use crate::wrap::filled;

/// A column of words is not made narrower than that.
const LEAST: usize = 20;

/// Heads that say nothing without the head before them: no part begins with one.
const CONTINUED: [&str; 7] = [
    "least", "greatest", "most", "min", "max", "mean", "paper to",
];

/// A comma of a word that is too long: a line may end here, and a blank is only for that.
const BREAK: &str = ",\u{1} ";

impl Grid {
    /// As [`Grid::to_text`], in lines of at most `width` columns, as far as single words and
    /// figures allow. If the table is too wide, its heads have several lines, and then the widest
    /// column of text, too. If that is not enough, the columns of figures stand in parts, one below
    /// the other; each part begins with the columns of text.
    #[must_use]
    pub fn to_text_across(&self, width: usize) -> String {
        if self.width() <= width {
            return self.to_text();
        }
        let mut table = self.clone();
        table.break_heads();
        table.break_words(width);
        let parts = table.parts(width);
        let parts = parts.iter().map(|columns| table.only(columns).to_text());
        parts.collect::<Vec<_>>().join("\n\n")
    }

    /// Each head in as few columns as its cells and its longest word need. The last lines of all
    /// heads stand beside each other.
    fn break_heads(&mut self) {
        let heads = self.header.iter().enumerate().map(|(column, head)| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            let words = head.split(' ').chain(cells.map(String::as_str));
            let most = words.map(|word| word.chars().count()).max();
            filled(head, "", "", most.unwrap_or(0))
        });
        let heads: Vec<_> = heads.collect();
        let height = |head: &String| head.lines().count();
        let highest = heads.iter().map(height).max().unwrap_or(0);
        let low = |head: String| "\n".repeat(highest - height(&head)) + &head;
        self.header = heads.into_iter().map(low).collect();
    }

    /// The cells of the widest column of text in several lines, if the table then fits as a whole,
    /// or if one figure would not fit beside the text. A word that is too long is broken after
    /// its commas.
    fn break_words(&mut self, width: usize) {
        let widths = self.widths();
        let text = widths.iter().take(self.text_columns).enumerate();
        let Some((column, widest)) = text.max_by_key(|(_, width)| **width) else {
            return;
        };
        let beside = self.width() - widest;
        let figure = widths[self.text_columns..].iter().max();
        let words: usize = widths[..self.text_columns].iter().map(|it| it + 2).sum();
        let alone = words + figure.map_or(0, |it| it + 2) - widest - 1;
        let most = match width.saturating_sub(beside) {
            most if most >= LEAST => most,
            _ => width.saturating_sub(alone).max(LEAST),
        };
        for row in &mut self.rows {
            if let Some(cell) = row.get_mut(column) {
                let words = cell
                    .split(' ')
                    .map(|word| match word.chars().count() > most {
                        true => word.replace(',', BREAK),
                        false => word.to_owned(),
                    });
                let words = words.collect::<Vec<_>>().join(" ");
                let lines = filled(&words, "", "", most);
                *cell = lines.replace(BREAK, ",").replace(BREAK.trim_end(), ",");
            }
        }
    }

    /// The columns of each part.
    fn parts(&self, width: usize) -> Vec<Vec<usize>> {
        let widths = self.widths();
        let words: Vec<_> = (0..self.text_columns).collect();
        let of = |columns: &[usize]| columns.iter().map(|it| widths[*it] + 2).sum::<usize>();
        let mut parts = vec![words.clone()];
        for group in self.groups() {
            let last = parts.last_mut().expect("one part at least");
            let is_empty = last.len() == words.len();
            if is_empty || of(last) + of(&group) <= width + 1 {
                last.extend(group);
            } else {
                parts.push([words.clone(), group].concat());
            }
        }
        parts
    }

    /// The columns of figures; those that continue the one before them stand with it.
    fn groups(&self) -> Vec<Vec<usize>> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for column in self.text_columns..self.header.len() {
            let head = one_line(&self.header[column]);
            let continues = CONTINUED.contains(&head.as_str()) || head.starts_with('÷');
            match groups.last_mut().filter(|_| continues) {
                Some(group) => group.push(column),
                None => groups.push(vec![column]),
            }
        }
        groups
    }

    /// Some of the columns; no head of theirs begins with a line that is empty in all.
    fn only(&self, columns: &[usize]) -> Self {
        let of = |row: &Vec<String>| columns.iter().map(|it| row[*it].clone()).collect();
        let mut header: Vec<String> = of(&self.header);
        let empty = header
            .iter()
            .map(|head| head.len() - head.trim_start_matches('\n').len());
        let empty = empty.min().unwrap_or(0);
        header.iter_mut().for_each(|head| drop(head.drain(..empty)));
        Self {
            header,
            rows: self.rows.iter().map(of).collect(),
            text_columns: self.text_columns,
        }
    }

    fn widths(&self) -> Vec<usize> {
        (0..self.header.len()).map(|it| self.width_of(it)).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::grid::Grid;

    fn grid(heads: &[&str], rows: &[&[&str]]) -> Grid {
        let of = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        Grid {
            header: of(heads),
            rows: rows.iter().map(|row| of(row)).collect(),
            text_columns: 1,
        }
    }

    #[test]
    fn what_fits_stays_as_it_is() {
        let table = grid(&["heap", "peak bytes"], &[&["a", "1"]]);
        assert_eq!(table.to_text_across(17), table.to_text());
    }

    #[test]
    fn heads_are_broken_first_and_end_in_one_line() {
        let table = grid(&["heap", "peak bytes", "ns"], &[&["a", "1", "2"]]);
        let expected = "        peak\n heap  bytes  ns\n a         1   2";
        let text = table.to_text_across(17);
        let lines = |text: &str| {
            text.lines()
                .map(str::trim_end)
                .collect::<Vec<_>>()
                .join("\n")
        };
        assert_eq!(lines(&text), lines(expected));
    }

    #[test]
    fn words_are_broken_if_the_table_then_fits() {
        let words = "one row of a table has a long name";
        let text = grid(&["row", "ns"], &[&[words, "2"]]).to_text_across(30);
        assert!(text.contains("one row of a table has a"), "{text}");
        assert_eq!(text.matches("ns").count(), 1, "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 30));
    }

    #[test]
    fn a_long_word_is_broken_after_its_commas_and_stays_what_is_typed() {
        let spec = "cf:k=1,pieces=off,width=16,page=1K";
        let text = grid(&["spec", "ns"], &[&[&format!("{spec} or"), "2"]]).to_text_across(26);
        assert!(
            text.lines().all(|line| line.chars().count() <= 26),
            "{text}"
        );
        let words = text
            .lines()
            .skip(1)
            .map(|line| line.trim_end_matches('2').trim());
        let joined: String = words.collect();
        assert!(joined.starts_with(spec), "{text}");
    }

    #[test]
    fn parts_repeat_the_words_and_none_begins_with_a_head_that_continues() {
        let heads = [
            "row", "millions", "billions", "least", "greatest", "÷ glibc",
        ];
        let cells = [
            "a",
            "1,000,000",
            "2,000,000",
            "1,500,000",
            "2,500,000",
            "1.25",
        ];
        let table = grid(&heads, &[&cells]);
        for width in 44..55 {
            let text = table.to_text_across(width);
            let parts: Vec<_> = text.split("\n\n").collect();
            assert_eq!(parts.len(), 2, "{text}");
            assert!(parts[1].contains("billions") && parts[1].contains("glibc"));
            assert!(!text.starts_with(['\n', ' ']) || text.starts_with(" row"));
            assert!(parts.iter().all(|part| part.contains("\n a ")), "{text}");
            assert!(
                text.lines().all(|line| line.chars().count() <= width),
                "{text}"
            );
        }
        assert!(
            cells
                .iter()
                .all(|cell| table.to_text_across(20).contains(cell))
        );
    }
}
