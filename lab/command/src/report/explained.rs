//! What the figures of a page are, and how they were measured.

use std::fmt::Write as _;

use surefit_measure::html::escaped;

use super::input::Section;
use crate::screen;

/// A name, and how it was measured.
const FIGURES: [(&str, &str); 9] = [
    (
        "time",
        "Allocation, first write and free, less an empty replay of the same trace: the median of interleaved rounds, as \
         a ratio to the baseline that is taken inside each round. The thin line spans the rounds. Where bars are ratios, \
         the dashed line marks 1, and a bar that ends in a point is cut short.",
    ),
    (
        "with access",
        "The same with eight accesses of live objects after each event, so that it includes the price of handles. The \
         objects are chosen at random, with the same seed for all. On a long trace a sample of the events has accesses, \
         unless --rounds is given.",
    ),
    (
        "free: p99.99 / max",
        "Each call is timed on its own; the clock's own cost is taken off. 99.99 % of the frees take no longer than the \
         first figure. The maximum includes interrupts.",
    ),
    (
        "min heap ÷ live",
        "The smallest region in which the trace completes, divided by the peak of live requests.",
    ),
    (
        "certified ÷ live",
        "The bytes that provably suffice for the trace's joint demand in any order of calls, divided by the peak of live \
         requests. The joint demand is the most page-blocks, and the most bytes of them, that are live at once.",
    ),
    (
        "resident ÷ live",
        "What is resident, in samples over the trace: the sum of all samples, divided by that of the live requests. In a \
         region, all pages touched so far are resident, as the kernel counts them. An allocator without a region runs in \
         a process of its own, and what this process grew by is resident: with malloc, and with cf-os, which gives pages \
         back to the system.",
    ),
    (
        "moved B / free",
        "Bytes that compaction copied, divided by the frees of the trace.",
    ),
    (
        "where the bytes are",
        "Page-block-internal: what page-blocks or chunks hold beyond the request. Page-internal: what the partitioning of \
         a page leaves over. Size-class: free page-blocks of pages that are not full. Transient: page-blocks of moves that \
         are not finished. Ends of runs: what the pages of a large object have beyond it. Administrative: tables, headers, \
         handles, back-references.",
    ),
    (
        "pointer",
        "Raw: the program holds the object's address. Handle: it holds a name of the object, and the heap may move it.",
    ),
];

/// Appends the explanations.
pub(super) fn write(page: &mut String, sections: &[Section<'_>]) {
    page.push_str("<h2 id=\"measured\">What was measured</h2>\n<dl>\n");
    for (name, how) in FIGURES {
        let _ = writeln!(page, "<dt>{name}</dt><dd>{how}</dd>");
    }
    let lines = sections
        .iter()
        .filter_map(|section| screen::region_line(&section.notes));
    if let Some(line) = lines.max_by_key(String::len) {
        let _ = writeln!(page, "<dt>page faults</dt><dd>{}</dd>", escaped(&line));
    }
    let costs = sections
        .iter()
        .filter_map(|section| section.notes.handle_cost());
    if let Some(cost) = costs.into_iter().next() {
        let line = escaped(&screen::handle_line(cost));
        let _ = writeln!(page, "<dt>*</dt><dd>With a handle, {line}</dd>");
    }
    page.push_str("</dl>\n");
}
