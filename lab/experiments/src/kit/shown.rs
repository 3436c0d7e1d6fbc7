//! What of the papers some reports hold: the claims of a figure, and the tables and plots of it.

use super::claim::Claim;
use super::papers::{self, OURS, PaperItem, Shown};
use super::report::Report;

/// The experiments that show a figure without a report: they print it.
const PRINTED: [&str; 1] = ["automaton"];

/// How the ids of the thesis's appendix begin.
const APPENDIX: &str = "figure A-";

/// A claim, and the experiment that judges it.
pub(crate) type Judged<'a> = (&'a str, &'a Claim);

/// The claims of a figure, with the experiments that judge them.
pub(crate) fn claims_of<'a>(reports: &[&'a Report], id: &str) -> Vec<Judged<'a>> {
    claims(reports, |claim| claim.of.iter().any(|of| of == id))
}

/// The claims that no paper makes, and those that do not say whose they are.
pub(crate) fn claims_of_nobody<'a>(reports: &[&'a Report]) -> Vec<Judged<'a>> {
    claims(reports, |claim| claim.of.iter().all(|of| of == OURS))
}

fn claims<'a>(reports: &[&'a Report], is_wanted: impl Fn(&Claim) -> bool) -> Vec<Judged<'a>> {
    let of = |report: &&'a Report| {
        let report: &'a Report = report;
        let claims = report.claims.iter().filter(|claim| is_wanted(claim));
        claims
            .map(|claim| (report.name.as_str(), claim))
            .collect::<Vec<_>>()
    };
    reports.iter().flat_map(of).collect()
}

/// The titles of a report's tables, plots and grid that name a figure.
pub(crate) fn titles_of<'a>(report: &'a Report, id: &str) -> Vec<&'a str> {
    let tables = report.tables.iter().map(|table| &table.title);
    let plots = report.plots.iter().map(|plot| &plot.title);
    let grid = report.grid.iter().map(|grid| &grid.title);
    let titles = tables.chain(plots).chain(grid).map(String::as_str);
    titles.filter(|title| names(title, id)).collect()
}

/// Whether a title names a figure: "figure 4-1" is not in "figure 4-14".
fn names(title: &str, id: &str) -> bool {
    let (title, id) = (title.to_lowercase(), id.to_lowercase());
    let mut found = title.match_indices(&id);
    found.any(|(at, _)| {
        let before = title[..at].chars().next_back();
        let after = title[at + id.len()..].chars().next();
        let ends = |letter: Option<char>| letter.is_none_or(|letter| !letter.is_alphanumeric());
        ends(before) && ends(after)
    }) || is_in_range(&title, &id)
}

/// Whether a title names a range of figures, and this one is in it: "figures 2-6 to 2-10".
fn is_in_range(title: &str, id: &str) -> bool {
    let chapter_and_number = |text: &str| {
        let (chapter, number) = text.split_once('-')?;
        let digits: String = number.chars().take_while(char::is_ascii_digit).collect();
        Some((chapter.to_owned(), digits.parse::<u32>().ok()?))
    };
    let range = title.split_once("figures ").and_then(|(_, range)| {
        let (from, to) = range.split_once(" to ")?;
        Some((chapter_and_number(from)?, chapter_and_number(to)?))
    });
    let asked = id.strip_prefix("figure ").and_then(chapter_and_number);
    let found = range.zip(asked);
    found.is_some_and(|(((from, first), (to, last)), (asked, number))| {
        from == asked && to == asked && (first..=last).contains(&number)
    })
}

/// The figures of which an experiment that is said to show them has no claim, table or plot, with
/// that experiment. One that has no report here is not asked, and a quick one is not asked for the
/// thesis's appendix: it has a plot of each program, and a quick run leaves programs out.
pub(crate) fn missing<'a>(reports: &[&'a Report]) -> Vec<(&'static PaperItem, &'a str)> {
    let of = |item: &'static PaperItem| {
        let names = match item.shown {
            Shown::By(names) => names,
            Shown::With(_) | Shown::Not(_) => &[],
        };
        let named = reports.iter().filter(|report| {
            let name = report.name.as_str();
            let is_left_out = report.quick && item.id.starts_with(APPENDIX);
            names.contains(&name) && !PRINTED.contains(&name) && !is_left_out
        });
        let empty = named.filter(|report| {
            claims_of(&[**report], item.id).is_empty() && titles_of(report, item.id).is_empty()
        });
        empty
            .map(|report| (item, report.name.as_str()))
            .collect::<Vec<_>>()
    };
    papers::all().flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::{claims_of, claims_of_nobody, missing, names, titles_of};
    use crate::kit::{Claim, Report, Table};

    #[test]
    fn a_title_names_a_whole_id() {
        assert!(names("Figure 4-1: allocation time", "figure 4-1"));
        assert!(names("raytrace, figure A-4", "figure A-4"));
        assert!(!names("figure 4-14: lists", "figure 4-1"));
        assert!(names("Figures 2-6 to 2-10, own: chunks", "figure 2-8"));
        assert!(!names("figures 2-6 to 2-10, own: chunks", "figure 2-5"));
        assert!(!names("figures 2-6 to 2-10, own: chunks", "figure 4-8"));
        assert!(!names("disfigure 4-1", "figure 4-1"));
    }

    #[test]
    fn what_a_report_does_not_hold_is_missing() {
        let mut report = Report::new("table-3", "t", "p", true);
        let missed = |report: &Report| {
            missing(&[report])
                .iter()
                .map(|(item, _)| item.id)
                .collect::<Vec<_>>()
        };
        assert!(missed(&report).contains(&"table 3"));
        report
            .claims
            .push(Claim::that("a").of("table 3").decide(true, "b"));
        report
            .claims
            .push(Claim::that("c").ours_alone().decide(true, "b"));
        assert!(!missed(&report).contains(&"table 3"));
        assert!(missed(&report).contains(&"partitioning"));
        report.tables.push(Table::new("partitioning: bytes", []));
        assert!(!missed(&report).contains(&"partitioning"));
        assert!(!missed(&report).contains(&"table 4"), "not its figure");
        assert_eq!(claims_of(&[&report], "table 3").len(), 1);
        assert_eq!(claims_of_nobody(&[&report])[0].1.claim, "c");
        assert_eq!(titles_of(&report, "partitioning").len(), 1);
    }
}
