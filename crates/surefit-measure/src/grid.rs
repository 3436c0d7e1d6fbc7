//! A table of cells: the screen draws it with blanks, the report as HTML.

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, Table};

/// Columns of text and figures.
#[derive(Clone, Debug)]
pub struct Grid {
    /// The columns' names.
    pub header: Vec<String>,
    /// The rows, each as long as the header.
    pub rows: Vec<Vec<String>>,
    /// So many columns hold text and are aligned left; the others hold figures.
    pub text_columns: usize,
}

impl Grid {
    /// The table for a terminal: no line ends in a blank, none is wrapped.
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
}

/// A table without lines.
#[must_use]
pub fn plain_table() -> Table {
    let mut table = Table::new();
    table.load_preset(NOTHING);
    table
}
