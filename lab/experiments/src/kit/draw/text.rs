//! A report for people: tables, and claims that fit a terminal.

use std::fmt::Write as _;

use surefit_measure::grid::Grid;
use surefit_measure::wrap::{columns, paragraph};

use crate::kit::{Claim, Placed, Report, Table, Whose};

/// What a quick report says of itself.
const QUICK: &str =
    "Quick: smaller programs and fewer rounds; for figures to quote, run it without --quick.";

/// The report's text.
pub(crate) fn text(report: &Report) -> String {
    let mut text = paragraph(&format!("{}: {}", report.name, report.title), "", "  ");
    text += &paragraph(&format!("Source: {}.", report.source), "", "  ");
    if report.quick {
        text += &paragraph(QUICK, "", "  ");
    }
    for line in &report.setting {
        text += &paragraph(line, "", "  ");
    }
    if let Some(grid) = &report.grid {
        text += &cells_text(grid);
    }
    for table in &report.tables {
        let _ = write!(
            text,
            "\n{}{}\n",
            paragraph(&table.title, "", "  "),
            grid(table).to_text_across(columns())
        );
    }
    if !report.claims.is_empty() {
        text += "\nClaims\n";
        report
            .claims
            .iter()
            .for_each(|claim| text += &claim_text(claim));
    }
    if !report.notes.is_empty() {
        text.push('\n');
        report
            .notes
            .iter()
            .for_each(|note| text += &paragraph(note, "", "  "));
    }
    text
}

/// A table as cells; figures of the papers are marked in the header.
pub(crate) fn grid(table: &Table) -> Grid {
    let header = table.columns.iter().map(|column| match column.whose {
        Whose::Ours => column.name.clone(),
        Whose::Papers => format!("paper {}", column.name),
    });
    let rows = table.rows.iter().map(|row| {
        let cells = row.iter().zip(&table.columns);
        cells
            .map(|(cell, column)| cell.shown(column.digits))
            .collect()
    });
    Grid {
        header: header.collect(),
        rows: rows.collect(),
        text_columns: table
            .columns
            .iter()
            .take_while(|column| column.is_text)
            .count(),
    }
}

/// The filled cells of a grid, one below the other: what was found there, and what the papers have
/// there.
fn cells_text(grid: &crate::kit::Grid) -> String {
    let mut text = format!("\n{}", paragraph(&grid.title, "", "  "));
    for row in &grid.rows {
        let cells = row.cells.iter().zip(&grid.columns);
        for (cell, column) in cells.filter(|(cell, _)| !cell.is_empty()) {
            text += &paragraph(&format!("{}, {column}", row.name), "  ", "  ");
            text += &names_text(cell, Whose::Ours, "    measured: ");
            text += &names_text(cell, Whose::Papers, "    paper:    ");
        }
    }
    if !grid.aside.is_empty() {
        text += &paragraph(&grid.aside, "  across the side, paper: ", "    ");
    }
    text
}

fn names_text(cell: &[Placed], whose: Whose, first: &str) -> String {
    let of = cell.iter().filter(|placed| placed.whose == whose);
    let name = |placed: &Placed| match placed.verdict {
        None => placed.name.clone(),
        Some(verdict) => format!("{} [{}]", placed.name, verdict),
    };
    let names: Vec<_> = of.map(name).collect();
    if names.is_empty() {
        return String::new();
    }
    paragraph(&names.join("; "), first, &" ".repeat(first.len()))
}

fn claim_text(claim: &Claim) -> String {
    let verdict = format!("  {:<18}", claim.verdict);
    let under = " ".repeat(verdict.len());
    let mut text = paragraph(&claim.claim, &verdict, &under);
    for (who, what) in [
        ("paper", &claim.papers_figure),
        ("ours", &claim.ours),
        ("because", &claim.because),
    ] {
        if !what.is_empty() {
            text += &paragraph(what, &format!("{under}{who}: "), &format!("{under}  "));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::text;
    use crate::kit::{Claim, Column, Report, Table};

    #[test]
    fn a_report_shows_tables_and_verdicts() {
        let mut report = Report::new("figure-0", "a title", "a paper", true);
        let mut table = Table::new(
            "rows",
            [
                Column::text("who"),
                Column::figure("MB", 1),
                Column::papers("MB", 1),
            ],
        );
        table.row(["a".into(), 1.26.into(), 2.0.into()]);
        report.tables.push(table);
        report.claims.push(
            Claim::that("it is small")
                .papers("2.0")
                .ours("1.3")
                .decide(1.26 < 2.0, "1.3 < 2.0"),
        );
        let text = text(&report);
        for part in [
            "figure-0: a title",
            "Quick",
            "paper MB",
            "1.3",
            "holds  ",
            "because: 1.3 < 2.0",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
