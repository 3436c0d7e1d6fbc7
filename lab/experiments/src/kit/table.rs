//! Tables of figures: columns, rows and cells.
//!
//! # Invariants
//! - X1 Every row of a table is as long as its columns ([`Table::row`] panics else: a mistake in an
//!   experiment).
//! - X2 What was not measured is [`Cell::Absent`], never zero.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::whose::Whose;
use surefit_measure::ratio::Ratio;

/// Figures in rows.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table {
    /// What the rows show.
    pub(crate) title: String,
    /// The columns.
    pub(crate) columns: Vec<Column>,
    /// The rows, each as long as `columns`.
    pub(crate) rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table without rows.
    pub(crate) fn new(title: impl Into<String>, columns: impl Into<Vec<Column>>) -> Self {
        Self {
            title: title.into(),
            columns: columns.into(),
            rows: Vec::new(),
        }
    }

    /// A table with a row for each of `rows`; its columns are declared one by one, each with its
    /// cell of a row.
    ///
    /// ```text
    /// Table::of("heaps", &heaps).text("heap", |heap| heap.name).figure("MB", 1, |heap| heap.bytes / 1e6).table()
    /// ```
    pub(crate) fn of<R>(title: impl Into<String>, rows: impl IntoIterator<Item = R>) -> TableOf<R> {
        let rows: Vec<_> = rows.into_iter().collect();
        let mut table = Self::new(title, []);
        table.rows = rows.iter().map(|_| Vec::new()).collect();
        TableOf { table, rows }
    }

    /// Adds a row.
    ///
    /// # Panics
    /// If it is not as long as the columns (X1).
    pub(crate) fn row(&mut self, cells: impl Into<Vec<Cell>>) {
        let cells = cells.into();
        assert_eq!(cells.len(), self.columns.len(), "X1: {}", self.title);
        self.rows.push(cells);
    }
}

/// A table whose rows are known, and whose columns are being declared.
#[derive(Clone, Debug)]
#[must_use = "a table is made of it"]
pub(crate) struct TableOf<R> {
    table: Table,
    rows: Vec<R>,
}

impl<R> TableOf<R> {
    /// A column of words, and its cell of a row.
    pub(crate) fn text<C: Into<Cell>>(self, name: &str, cell: impl Fn(&R) -> C) -> Self {
        self.column(Column::text(name), cell)
    }

    /// A column of our figures, shown with `digits` digits after the point, and its cell of a row.
    pub(crate) fn figure<C: Into<Cell>>(
        self,
        name: impl Into<String>,
        digits: u32,
        cell: impl Fn(&R) -> C,
    ) -> Self {
        self.column(Column::figure(name, digits), cell)
    }

    /// A column of the papers' figures, shown with `digits` digits after the point, and its cell of
    /// a row.
    pub(crate) fn papers<C: Into<Cell>>(
        self,
        name: impl Into<String>,
        digits: u32,
        cell: impl Fn(&R) -> C,
    ) -> Self {
        self.column(Column::papers(name, digits), cell)
    }

    /// Three columns of ours: the median of ratios over rounds, the least, and the greatest.
    pub(crate) fn ratios(
        self,
        name: impl Into<String>,
        digits: u32,
        ratio: impl Fn(&R) -> Option<Ratio>,
    ) -> Self {
        self.figure(name, digits, |row| ratio(row).map(|ratio| ratio.median))
            .figure("least", digits, |row| ratio(row).map(|ratio| ratio.min))
            .figure("greatest", digits, |row| ratio(row).map(|ratio| ratio.max))
    }

    fn column<C: Into<Cell>>(mut self, column: Column, cell: impl Fn(&R) -> C) -> Self {
        self.table.columns.push(column);
        for (cells, row) in self.table.rows.iter_mut().zip(&self.rows) {
            cells.push(cell(row).into());
        }
        self
    }

    /// The table.
    pub(crate) fn table(self) -> Table {
        self.table
    }
}

/// A column of a table.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Column {
    /// What it holds, with its unit.
    pub(crate) name: String,
    /// Whether it holds words, which are aligned left.
    pub(crate) is_text: bool,
    /// Digits after the point that people are shown; programs get all there are.
    pub(crate) digits: u32,
    /// Whose figures they are.
    pub(crate) whose: Whose,
}

impl Column {
    /// Words.
    pub(crate) fn text(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            is_text: true,
            digits: 0,
            whose: Whose::Ours,
        }
    }

    /// Our figures; people see `digits` digits after the point.
    pub(crate) fn figure(name: impl Into<String>, digits: u32) -> Self {
        Self {
            name: name.into(),
            is_text: false,
            digits,
            whose: Whose::Ours,
        }
    }

    /// Figures of the papers.
    pub(crate) fn papers(name: impl Into<String>, digits: u32) -> Self {
        Self {
            whose: Whose::Papers,
            ..Self::figure(name, digits)
        }
    }
}

/// One figure or word of a table.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum Cell {
    /// A count.
    Count(u64),
    /// A figure.
    Figure(f64),
    /// Words.
    Text(String),
    /// Not measured, or without meaning here.
    Absent,
}

impl Cell {
    /// The cell as people see it.
    pub(crate) fn shown(&self, digits: u32) -> String {
        match self {
            Self::Count(count) => surefit_measure::output::grouped(*count),
            Self::Figure(figure) if figure.is_finite() => {
                format!("{figure:.*}", digits as usize)
            }
            Self::Text(text) => surefit_measure::error::one_line(text),
            Self::Figure(_) | Self::Absent => "-".to_owned(),
        }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<u64> for Cell {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

impl From<u32> for Cell {
    fn from(count: u32) -> Self {
        Self::Count(u64::from(count))
    }
}

impl From<f64> for Cell {
    fn from(figure: f64) -> Self {
        Self::Figure(figure)
    }
}

impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(cell: Option<T>) -> Self {
        cell.map_or(Self::Absent, Into::into)
    }
}

#[cfg(test)]
mod tests {
    use super::{Cell, Column, Table};

    #[test]
    fn cells_keep_all_digits_and_show_some() {
        assert_eq!(Cell::from(1.0 / 3.0).shown(2), "0.33");
        assert_eq!(Cell::from(1_234_567_u64).shown(0), "1,234,567");
        assert_eq!(Cell::from(None::<f64>).shown(1), "-");
        assert_eq!(Cell::from(f64::NAN).shown(1), "-");
        let json = serde_json::to_string(&[Cell::from(2_u32), Cell::from(0.5), Cell::Absent]);
        assert_eq!(json.expect("JSON"), "[2,0.5,null]");
    }

    #[test]
    fn a_column_is_declared_with_its_cells() {
        let of = Table::of("t", [1_u32, 2]).text("a", |row| format!("{row}!"));
        let table = of.figure("b", 1, |row| f64::from(*row) / 2.0).table();
        let names: Vec<_> = table.columns.iter().map(|column| &column.name).collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(table.rows[1], ["2!".into(), Cell::from(1.0)]);
    }

    #[test]
    #[should_panic(expected = "X1")]
    fn a_row_of_another_length_is_a_mistake() {
        Table::new("t", [Column::text("a"), Column::figure("b", 1)]).row([Cell::Absent]);
    }
}
