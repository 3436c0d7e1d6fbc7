//! `surefit experiment list`: the experiments, and for every figure, table and claim of the papers
//! the experiment that shows it, or why none does.

use std::fmt::Write as _;

use surefit_measure::wrap::paragraph;

use crate::kit::papers::{self, Paper, PaperItem};

/// Columns of an id.
const ID: usize = 26;

/// The experiments, one per line, and below them the papers' figures.
pub(crate) fn list(command: &clap::Command) -> String {
    let mut text = experiments(command);
    text += "\nWhat the papers show, and the experiments that show it\n";
    for paper in Paper::ALL {
        let _ = writeln!(text, "\n{}", paper.words());
        for item in papers::all().filter(|item| item.paper == paper) {
            text += &lines(item);
        }
    }
    text
}

/// The names and what they show, one per line, taken from the command line's own description.
fn experiments(command: &clap::Command) -> String {
    let listed = command
        .get_subcommands()
        .filter(|entry| entry.get_name() != "list" && !entry.is_hide_set());
    let listed: Vec<_> = listed.collect();
    let width = listed.iter().map(|entry| entry.get_name().len()).max();
    let width = width.unwrap_or(0);
    listed
        .iter()
        .map(|entry| {
            let about = entry.get_about().map(ToString::to_string);
            let name = format!("{:<width$} ", entry.get_name());
            let below = " ".repeat(width + 1);
            paragraph(&about.unwrap_or_default(), &name, &below)
        })
        .collect()
}

/// A figure of the papers: where it is shown, and below that what it is.
fn lines(item: &PaperItem) -> String {
    let indent = " ".repeat(ID + 2);
    let id = format!("  {:<ID$}", item.id);
    paragraph(&item.shown.to_string(), &id, &indent) + &paragraph(item.shows, &indent, &indent)
}
