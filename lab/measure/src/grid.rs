//! A table of cells; the terminal shows it with blanks, a report as HTML.

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, Table};

/// Columns of text and figures.
#[derive(Clone, Debug)]
pub struct Grid {
    /// The columns' names.
    pub header: Vec<String>,
    /// The rows, each as long as the header.
    pub rows: Vec<Vec<String>>,
    /// How many of the first columns hold text, aligned left; the others hold figures.
    pub text_columns: usize,
}

impl Grid {
    /// The table for a terminal; no line ends in a blank, and no line is wrapped.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut table = plain_table();
        table.set_header(&self.header);
        for column in table.column_iter_mut().skip(self.text_columns) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        table.add_rows(&self.rows);
        table.trim_fmt()
    }

    /// The columns of the longest line of [`Grid::to_text`].
    #[must_use]
    pub fn width(&self) -> usize {
        // each column has a blank on its left and one on its right; the last blank is trimmed
        let columns = (0..self.header.len()).map(|column| self.width_of(column) + 2);
        columns.sum::<usize>().saturating_sub(1)
    }

    /// Takes a column out.
    ///
    /// # Panics
    /// There is no such column.
    pub fn remove(&mut self, column: usize) {
        self.header.remove(column);
        for row in &mut self.rows {
            row.remove(column);
        }
        self.text_columns -= usize::from(column < self.text_columns);
    }

    /// As [`Grid::to_text`], but no line is longer than `width` columns: the cells of the first
    /// column are shortened in the middle as far as needed, down to one column. The header may have
    /// several lines.
    #[must_use]
    pub fn to_text_within(&self, width: usize) -> String {
        // each column has a blank on its left and one on its right; the last blank is trimmed
        let others: usize = (1..self.header.len())
            .map(|column| self.width_of(column) + 2)
            .sum();
        let most = width.saturating_sub(others + 1).max(1);
        let mut shorter = self.clone();
        for row in &mut shorter.rows {
            if let Some(name) = row.first_mut() {
                *name = elided(name, most);
            }
        }
        shorter.to_text()
    }

    /// The width of a column: that of the longest line in its cells.
    pub(crate) fn width_of(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(column));
        let lines = cells
            .chain(self.header.get(column))
            .flat_map(|cell| cell.lines());
        lines.map(|line| line.chars().count()).max().unwrap_or(0)
    }
}

/// The text in at most `most` columns; the middle of a longer text is replaced by `…`.
#[must_use]
pub fn elided(text: &str, most: usize) -> String {
    let length = text.chars().count();
    if length <= most {
        return text.to_owned();
    }
    let kept = most.saturating_sub(1);
    let (start, end) = (kept - kept / 3, kept / 3);
    let start = text.chars().take(start);
    let end = text.chars().skip(length - end);
    start.chain(['…']).chain(end).collect()
}

/// An empty table without rules.
#[must_use]
pub fn plain_table() -> Table {
    let mut table = Table::new();
    table.load_preset(NOTHING);
    table
}

#[cfg(test)]
mod tests {
    use super::{Grid, elided};

    fn grid(name: &str) -> Grid {
        Grid {
            header: ["\nallocator", "time ÷ x\n[min-max]"]
                .map(str::to_owned)
                .into(),
            rows: vec![
                [name, "1.00"].map(str::to_owned).into(),
                ["b", "23.00"].map(str::to_owned).into(),
            ],
            text_columns: 1,
        }
    }

    #[test]
    fn a_long_name_is_shortened_to_the_width_and_no_more() {
        let name = "cf:classes=/a/very/long/path/to/a/file/of/classes.txt,k=1";
        for width in [30, 40, 60] {
            let text = grid(name).to_text_within(width);
            let longest = text.lines().map(|line| line.chars().count()).max();
            assert_eq!(longest, Some(width), "{text}");
            assert!(text.contains(",k=1") && text.contains('…'), "{text}");
        }
        assert!(grid(name).to_text_within(100).contains(name));
    }

    #[test]
    fn a_header_of_two_lines_stands_above_its_column() {
        let text = grid("a").to_text_within(100);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[1], " allocator  [min-max]", "{text}");
        assert_eq!(lines[3], " b              23.00", "{text}");
    }

    #[test]
    fn the_middle_of_a_long_name_is_left_out() {
        assert_eq!(elided("cf:pieces=off", 13), "cf:pieces=off");
        let short = elided("cf:pieces=off,page=64K", 13);
        assert_eq!(
            (short.as_str(), short.chars().count()),
            ("cf:piece…=64K", 13)
        );
        assert_eq!(elided("ééééé", 3), "éé…");
    }
}
