//! The pages of `report` and of `compare --report`: one HTML page with everything in it: text,
//! tables, and figures as SVG.
//!
//! Every text that comes from a file, a trace or the command line is escaped; the page loads
//! nothing, and has no script.
//!
//! | module | holds |
//! | --- | --- |
//! | `input` | what a page is made of |
//! | `figures` | the kinds of figures, one file each |
//! | `side_by_side`, `change` | two programs beside each other, and whether a change helped |
//! | `figure`, `plot`, `bars`, `axis`, `colours`, `style` | how figures are drawn |

mod axis;
mod bars;
mod call_sites;
mod change;
mod colours;
mod explained;
mod figure;
mod figures;
mod fragmentation;
mod heap_map;
mod input;
mod latency;
mod memory;
mod occupancy;
mod plot;
mod program;
mod ratios;
mod side_by_side;
mod style;
mod tails;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use crate::screen;
use surefit_measure::html::{STYLE, escaped, table};
use surefit_measure::sizes::{Size, counted};

use colours::Colours;
use input::{Scale, View};
use side_by_side::Pair;

pub(crate) use input::{Details, Holes, Keeper, Section};

/// A page.
#[derive(Debug)]
pub(crate) struct Page<'a> {
    /// Its title: the verb that makes it.
    pub(crate) title: &'static str,
    /// The programs.
    pub(crate) sections: Vec<Section<'a>>,
    /// The pairs of sections that are drawn side by side, by number.
    pub(crate) pairs: Vec<(usize, usize)>,
}

impl Page<'_> {
    /// The page as HTML.
    pub(crate) fn html(&self) -> String {
        let mut page = begun(self.title);
        let rows = self
            .sections
            .iter()
            .flat_map(|section| &section.trace.results);
        let allocators: Vec<_> = rows.map(|row| row.allocator.as_str()).collect();
        let colours = Colours::new(&allocators);
        self.contents(&mut page);
        for (number, pair) in self.pairs.iter().enumerate() {
            self.pair(&mut page, number, *pair, &colours);
        }
        for (number, section) in self.sections.iter().enumerate() {
            let view = View {
                section,
                colours: &colours,
                scale: Scale::of(section),
            };
            let pairs = self.pairs.iter();
            let is_drawn = pairs
                .flat_map(|(a, b)| [a, b])
                .any(|drawn| *drawn == number);
            self.section(&mut page, number, view, is_drawn);
        }
        explained::write(&mut page, &self.sections);
        page + "</main></body></html>\n"
    }

    /// Links to the programs, if there are several.
    fn contents(&self, page: &mut String) {
        if self.sections.len() < 2 {
            return;
        }
        page.push_str("<nav aria-label=\"Programs\"><ul>");
        for number in 0..self.pairs.len() {
            let _ = write!(
                page,
                "<li><a href=\"#pair{number}\">{}</a></li>",
                self.pair_title(number)
            );
        }
        for (number, section) in self.sections.iter().enumerate() {
            let title = escaped(&self.title_of(number, section));
            let _ = write!(page, "<li><a href=\"#program{number}\">{title}</a></li>");
        }
        page.push_str("<li><a href=\"#measured\">What was measured</a></li></ul></nav>\n");
    }

    fn pair_title(&self, number: usize) -> String {
        let (_, after) = self.pairs[number];
        let name = screen::name(self.sections[after].trace);
        escaped(&format!("{name}: A and B side by side"))
    }

    /// The title of a section; in a pair it says which of the two it is.
    fn title_of(&self, number: usize, section: &Section<'_>) -> String {
        let name = screen::name(section.trace);
        let role = self.pairs.iter().find_map(|(a, b)| {
            let role = (*a == number).then_some("A");
            role.or((*b == number).then_some("B"))
        });
        match role {
            Some(role) => format!("{role}: {name}"),
            None => name,
        }
    }

    fn pair(&self, page: &mut String, number: usize, (a, b): (usize, usize), colours: &Colours) {
        let (a, b) = (&self.sections[a], &self.sections[b]);
        let scale = Scale::of(a).with(Scale::of(b));
        let view = |section| View {
            section,
            colours,
            scale,
        };
        let _ = writeln!(
            page,
            "<h2 id=\"pair{number}\">{}</h2>",
            self.pair_title(number)
        );
        let pair = Pair {
            a: view(a),
            b: view(b),
        };
        pair.write(page);
    }

    fn section(&self, page: &mut String, number: usize, view: View<'_>, is_drawn: bool) {
        let section = view.section;
        let _ = writeln!(
            page,
            "<h2 id=\"program{number}\">{}</h2>\n<p>{}.</p>",
            escaped(&self.title_of(number, section)),
            escaped(&about(section))
        );
        page.push_str("<ul>\n");
        for line in screen::lines(section.trace, &section.notes) {
            let _ = writeln!(page, "<li>{}</li>", escaped(&line));
        }
        page.push_str("</ul>\n");
        table(page, &screen::all_columns(section.trace, &section.notes));
        ratios::charts(page, view);
        let figures = if is_drawn {
            Vec::new()
        } else {
            figures::of(view)
        };
        for figure in figures.into_iter().flatten() {
            figure.write(page);
        }
        if section.details.is_none() {
            let _ = writeln!(page, "<p>{NO_TRACE}</p>");
        }
    }
}

/// What a page of results cannot show.
const NO_TRACE: &str = "These are saved results. What only the trace tells (sizes, lifetimes, pages of size-classes, the \
    heap map) is on the page of <code>surefit report TRACE -o FILE.html</code>.";

fn begun(title: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><title>{title}</title>\
         <style>{STYLE}{}</style></head>\n<body><main><h1>{title}</h1>\n",
        style::STYLE
    )
}

/// What a trace holds, and how it was measured.
fn about(section: &Section<'_>) -> String {
    let trace = section.trace;
    let heap = trace.results.iter().filter_map(|row| row.heap_bytes).max();
    let heap = heap.map_or_else(String::new, |bytes| {
        let times = bytes as f64 / trace.peak_live_bytes.max(1) as f64;
        format!(", heap {} ({times:.2} × the peak)", Size(bytes))
    });
    format!(
        "{}. From {}; {}{heap}, baseline {}; the clock costs {} ns, which are taken off",
        screen::contents(trace),
        section.origin,
        counted(u64::from(trace.rounds), "interleaved round"),
        screen::short(&section.notes.baseline),
        section.clock_ns
    )
}
