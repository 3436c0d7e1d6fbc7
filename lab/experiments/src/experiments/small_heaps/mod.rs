//! Bytes that a heap needs by proof, beside the live bytes, from 4 KiB to 16 MiB: the picture of
//! the README.
//!
//! The demand: any order of allocations and frees of requests of 16 bytes and more, at most M bytes
//! of them live at once; each at most 256 bytes, or of any size.
//!
//! ```text
//! search    Compact-fit's configuration with the least certificate, as `certify` computes it: everything is counted
//! others    what is proved about heaps that never move an object: Robson's floor, o1heap's own figure, TLSF's
//! points    both for each M                served    real heaps in exactly those bytes, under programs that fragment
//! picture   docs/pictures/bytes-by-proof.svg: surefit experiment small-heaps --plot docs/pictures/bytes-by-proof.svg
//! by_region live bytes for each region size: the table of docs/firmware.md
//! fixed     one configuration for every demand: the table of docs/bounds.md, section 6
//! ```
#![deny(unsafe_code)]

mod by_region;
mod claims;
mod fixed;
mod others;
mod picture;
mod points;
mod search;
mod served;
mod tables;

use anyhow::Result;

use crate::kit::{Entry, Report, Request};
use points::{Objects, Points};
use served::Served;

/// `small-heaps`.
pub(crate) const ENTRY: Entry = Entry {
    name: "small-heaps",
    about: "Bytes needed by proof beside live bytes: Compact-fit and heaps that never move",
    takes_traces: false,
    takes_rounds: false,
    run,
};

/// Logarithms of the live bytes of heaps that are driven.
const DRIVEN_LOG2: [u32; 5] = [12, 14, 16, 18, 20];

/// How many of them, if quick.
const QUICK: usize = 2;

fn run(request: &Request) -> Result<Report> {
    let source = "Robson 1971, 1974 and 1977; the README of o1heap 2.2; docs/bounds.md, section 6";
    let mut report = Report::new(ENTRY.name, ENTRY.about, source, request.quick);
    report.setting.extend(settings());
    let points = all_points()?;
    let fixed = fixed::measure()?;
    for (objects, points) in Objects::ALL.into_iter().zip(&points) {
        report.tables.push(tables::needs(objects, points));
        report.tables.push(tables::choices(objects, points));
        report.plots.push(tables::plot(objects, points));
    }
    report.tables.push(by_region::table(&by_region::rows()?));
    report.tables.push(fixed::ratios(&fixed));
    report.tables.push(fixed::break_evens(&fixed));
    report.claims = claims::claims(&points, &driven(&points, request.quick)?)?;
    report.claims.push(fixed::claim(&fixed));
    report.notes.extend(notes());
    report.drawing = Some(picture::svg(&points));
    Ok(report)
}

fn all_points() -> Result<Points> {
    let [small, any] = Objects::ALL.map(points::points);
    Ok([small?, any?])
}

/// Drives heaps of exactly the certified bytes.
fn driven(points: &Points, quick: bool) -> Result<Vec<Served>> {
    let sizes = &DRIVEN_LOG2[..if quick { QUICK } else { DRIVEN_LOG2.len() }];
    let mut all = Vec::new();
    for (objects, points) in Objects::ALL.into_iter().zip(points) {
        let is_driven = |live: u64| sizes.iter().any(|log2| live == 1 << log2);
        for point in points.iter().filter(|point| is_driven(point.live)) {
            let requests = objects.requests(point.live);
            for best in std::iter::once(&point.cf).chain(&point.large_pieces) {
                all.push(served::served(best, requests)?);
            }
        }
    }
    Ok(all)
}

fn settings() -> [String; 3] {
    [
        "Any order of allocations and frees; requests of 16 bytes and more; at most M bytes live at once.",
        "cf: the least certificate over pages of 1 to 64 KiB, words of 2 and 4 bytes, 2 to 16 sizes in each power of \
         two, pieces of 64 bytes and more, with full compaction (k = 1: a free moves at most one page-block). Pages, \
         address table, back-references, records and class states are counted. The region begins at a multiple of a page.",
        "o1heap: its README's figure for sizing a heap, headers of 16 bytes counted (32-bit). TLSF: M(n - 2), best fit's \
         bound, which that README gives for it; floor: Robson's; both count no headers and no tables.",
    ]
    .map(str::to_owned)
}

fn notes() -> [String; 3] {
    [
        "What is proof and what is not: cf's bytes and the floor are proved; o1heap's figure is its author's; M(n - 2) is \
         an upper bound, and a program that drives TLSF to nearly as much is in surefit experiment adversary.",
        "Objects of any size are in pieces under cf, so they are not contiguous; under the others they are.",
        "From 1 MiB on cf's words have 4 bytes instead of 2, so that an object costs 8 bytes instead of 4.",
    ]
    .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::{ENTRY, all_points, picture, run};
    use crate::kit::Request;
    use crate::kit::Verdict;
    use crate::kit::draw::text;

    #[test]
    fn the_committed_picture_is_what_the_figures_draw() {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../docs/pictures/bytes-by-proof.svg"
        );
        let committed = std::fs::read_to_string(path).expect("committed");
        let drawn = picture::svg(&all_points().expect("certified"));
        assert!(
            committed == drawn,
            "draw it again: surefit experiment {} --plot docs/pictures/bytes-by-proof.svg",
            ENTRY.name
        );
    }

    #[test]
    fn the_report_shows_losses_beside_gains() {
        let quick = Request {
            quick: true,
            ..Request::default()
        };
        let report = run(&quick).expect("certified");
        let verdicts: Vec<_> = report.claims.iter().map(|claim| claim.verdict).collect();
        assert!(verdicts.contains(&Verdict::Holds) && verdicts.contains(&Verdict::DoesNot));
        let text = text::text(&report);
        assert!(text.contains("Robson") && text.lines().all(|line| line.chars().count() <= 100));
    }
}
