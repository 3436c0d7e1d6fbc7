//! Arrows between classes of states, as Graphviz text.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use anyhow::Result;

/// An edge: the names of the classes of states before and after, and what happens, with its guard.
pub(super) type Edge = (String, String, String);

/// Symbolic edges as Graphviz text, dashed where page-blocks move: one arrow between two classes of
/// states, and one for what moves from one to the other, because labels of several would overlap.
///
/// # Errors
/// Never: a string grows.
pub(super) fn drawn(title: &str, edges: BTreeSet<Edge>, moves: fn(&str) -> bool) -> Result<String> {
    let mut text = format!(
        "digraph symbolic {{\n  label=\"{title}\";\n  rankdir=LR; node [shape=box, style=rounded];\n"
    );
    let mut events: BTreeMap<(String, String, bool), Vec<String>> = BTreeMap::new();
    for (from, to, label) in edges {
        let moves = moves(&label) && from != to;
        events.entry((from, to, moves)).or_default().push(label);
    }
    for ((from, to, moves), labels) in events {
        let style = if moves { ", style=dashed" } else { "" };
        let label = labels.join("\\n");
        writeln!(text, "  \"{from}\" -> \"{to}\" [label=\"{label}\"{style}];")?;
    }
    Ok(text + "}\n")
}
