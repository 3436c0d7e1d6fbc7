//! The lifetime of a page: its kinds, and what leads from one to another.
//!
//! The slides draw it: a page is free, then not-full and full; while objects move it is a source
//! page, or an emptying one. Every edge is a decision of the papers' automaton for some page, so
//! what is drawn is what decides.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use surefit_models::papers::automaton::{
    ClassCounts, Counting, Free, Kind, PageCounts, departed, ended, free, gives, kind,
};

/// An edge: the kinds before and after, and what happens.
type Edge = (Kind, Kind, &'static str);

/// All edges of a page of so many blocks.
fn edges(blocks: u32) -> BTreeSet<Edge> {
    let counts =
        (0..=blocks).flat_map(|used| (0..=blocks - used).map(move |sources| (used, sources)));
    counts
        .map(|(used, sources)| PageCounts {
            used,
            sources,
            blocks,
        })
        .flat_map(|page| {
            allocated(page)
                .into_iter()
                .chain(freed(page))
                .chain(moved(page))
        })
        .collect()
}

/// What an allocation makes of a page.
fn allocated(page: PageCounts) -> Option<Edge> {
    let before = kind(page);
    let serves = matches!(before, Kind::Free | Kind::NotFull);
    let after = PageCounts {
        used: page.used + 1,
        ..page
    };
    serves.then(|| (before, kind(after), "malloc"))
}

/// What a free in a page makes of it, with fewer not-full pages than κ and with κ of them.
fn freed(page: PageCounts) -> Vec<Edge> {
    let before = kind(page);
    if page.used == 0 {
        return Vec::new();
    }
    let less = PageCounts {
        used: page.used - 1,
        ..page
    };
    let of = |not_full| {
        let class = ClassCounts {
            not_full,
            sources: 0,
        };
        match free(Counting::Original, 1, class, page) {
            Free::Move => (
                before,
                before,
                "free, n ≥ κ: its block becomes the target of a move",
            ),
            Free::Loosen => (before, kind(less), "free, n < κ"),
            Free::Release | Free::Clear | Free::Empty => (before, kind(less), "free"),
        }
    };
    vec![of(0), of(1)]
}

/// What a move out of a page makes of it: its first step, and its last.
fn moved(page: PageCounts) -> Vec<Edge> {
    let before = kind(page);
    let class = ClassCounts {
        not_full: u32::from(before == Kind::NotFull),
        sources: u32::from(before == Kind::Source),
    };
    let mut edges = Vec::new();
    if page.used > 0 && gives(class) == Some(before) {
        let begun = kind(departed(page));
        edges.push((before, begun, "a move of one of its blocks begins"));
    }
    if page.sources > 0 {
        edges.push((before, kind(ended(page)), "final step of a move"));
    }
    edges
}

/// The name of a kind.
const fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::Free => "free",
        Kind::NotFull => "not-full",
        Kind::Full => "full",
        Kind::Source => "source",
        Kind::Emptying => "emptying",
    }
}

/// Whether a page has blocks that moves leave.
const fn is_transient(kind: Kind) -> bool {
    matches!(kind, Kind::Source | Kind::Emptying)
}

/// The diagram as Graphviz text.
pub(super) fn dot(blocks: u32) -> String {
    let mut text = format!(
        "digraph page {{\n  label=\"The lifetime of a page of {blocks} page-blocks.\\n\
         Dashed: while objects move, its source blocks are transient fragmentation.\";\n  \
         rankdir=LR; node [shape=box, style=rounded];\n"
    );
    for kind in [
        Kind::Free,
        Kind::NotFull,
        Kind::Full,
        Kind::Source,
        Kind::Emptying,
    ] {
        let style = if is_transient(kind) {
            "rounded,dashed"
        } else {
            "rounded"
        };
        let _ = writeln!(text, "  \"{}\" [style=\"{style}\"];", name(kind));
    }
    // one arrow between two kinds, however many events lead there: labels of several would overlap
    let mut events: BTreeMap<(Kind, Kind), Vec<&str>> = BTreeMap::new();
    for (from, to, label) in edges(blocks) {
        events.entry((from, to)).or_default().push(label);
    }
    for ((from, to), labels) in events {
        let is_dashed = is_transient(from) || is_transient(to);
        let style = if is_dashed { ", style=dashed" } else { "" };
        let (from, to, label) = (name(from), name(to), labels.join("\\n"));
        let _ = writeln!(text, "  \"{from}\" -> \"{to}\" [label=\"{label}\"{style}];");
    }
    text + "}\n"
}

#[cfg(test)]
mod tests {
    use super::{Kind, dot, edges};
    use std::collections::BTreeSet;

    #[test]
    fn a_page_goes_through_all_kinds_and_back() {
        let edges = edges(4);
        let pairs: BTreeSet<_> = edges.iter().map(|&(from, to, _)| (from, to)).collect();
        for pair in [
            (Kind::Free, Kind::NotFull),
            (Kind::NotFull, Kind::Full),
            (Kind::Full, Kind::NotFull),
            (Kind::NotFull, Kind::Free),
            (Kind::NotFull, Kind::Source),
            (Kind::NotFull, Kind::Emptying),
            (Kind::Source, Kind::NotFull),
            (Kind::Source, Kind::Emptying),
            (Kind::Emptying, Kind::Free),
        ] {
            assert!(pairs.contains(&pair), "{pair:?}: {edges:?}");
        }
        for never in [(Kind::Source, Kind::Full), (Kind::Emptying, Kind::NotFull)] {
            assert!(!pairs.contains(&never), "{never:?}: {edges:?}");
        }
    }

    #[test]
    fn a_page_of_one_block_is_never_not_full() {
        let has = |(from, to, _): &(Kind, Kind, &str)| [*from, *to].contains(&Kind::NotFull);
        assert!(!edges(1).iter().any(has));
        let text = dot(4);
        assert!(
            text.starts_with("digraph page {") && text.ends_with("}\n"),
            "{text}"
        );
        assert!(text.contains("\"emptying\" -> \"free\""), "{text}");
    }
}
