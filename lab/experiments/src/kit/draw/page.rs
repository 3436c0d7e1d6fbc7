//! The page of experiments: one section each, with its plots, tables and verdicts.

use std::fmt::Write as _;

use anyhow::Result;

use super::text::grid as cells;
use super::{grid, index, plot, verdicts};
use crate::kit::{Claim, Report, Run};
use surefit_measure::html::{STYLE, escaped, table};

/// Pixels between a grid and the plots below it.
const GAP: usize = 24;

/// The page of some reports.
///
/// # Errors
/// A plot that cannot be drawn.
pub(crate) fn page(reports: &[&Report]) -> Result<String> {
    let mut page = begun("surefit experiment");
    for report in reports {
        section(&mut page, report)?;
    }
    Ok(page + "</body></html>\n")
}

/// The page of all experiments: first what of the papers they show, with each verdict, then the
/// reports.
///
/// # Errors
/// A plot that cannot be drawn.
pub(crate) fn all(runs: &[Run]) -> Result<String> {
    let mut page = begun("surefit: what the papers say, and what is found here");
    index::index(&mut page, runs);
    for report in runs.iter().filter_map(|run| run.outcome.as_ref().ok()) {
        section(&mut page, report)?;
    }
    Ok(page + "</body></html>\n")
}

/// A page up to its title.
fn begun(title: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>{title}</title>\
         <style>{STYLE}{}{}</style></head>\n<body><h1>{title}</h1>\n",
        verdicts::STYLE,
        index::STYLE
    )
}

/// What of a report is drawn, as one `svg` element: its own drawing, or else its grid, and below it
/// its plots; `None` if it has none of them.
///
/// # Errors
/// A plot that cannot be drawn.
pub(crate) fn picture(report: &Report) -> Result<Option<String>> {
    if report.drawing.is_some() {
        return Ok(report.drawing.clone());
    }
    let plots = (!report.plots.is_empty()).then_some(report.plots.as_slice());
    let plots = plots.map(|plots| plot::svg(plots).map(|picture| (plot::size(plots), picture)));
    Ok(match (&report.grid, plots.transpose()?) {
        (None, None) => None,
        (None, Some((_, picture))) => Some(picture),
        (Some(cells), None) => Some(grid::svg(cells)),
        (Some(cells), Some(((width, height), picture))) => {
            let above = grid::height(cells) + GAP;
            let (width, height) = (
                grid::width(cells).max(width as usize),
                above + height as usize,
            );
            let below = picture.replacen("<svg ", &format!("<svg y=\"{above}\" "), 1);
            Some(format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
                 viewBox=\"0 0 {width} {height}\">\n{}{below}</svg>\n",
                grid::svg(cells)
            ))
        }
    })
}

fn section(page: &mut String, report: &Report) -> Result<()> {
    let _ = writeln!(
        page,
        "<h2>{}: {}</h2>\n<p>Source: {}.</p>",
        escaped(&report.name),
        escaped(&report.title),
        escaped(&report.source)
    );
    if report.quick {
        page.push_str(
            "<p><b>Quick:</b> smaller programs and fewer rounds than figures to quote need.</p>\n",
        );
    }
    paragraphs(page, &report.setting);
    claims(page, &report.claims);
    if let Some(picture) = picture(report)? {
        let _ = writeln!(page, "<figure>{picture}</figure>");
    }
    for one in &report.tables {
        let _ = writeln!(page, "<h3>{}</h3>", escaped(&one.title));
        table(page, &cells(one));
    }
    paragraphs(page, &report.notes);
    Ok(())
}

fn paragraphs(page: &mut String, lines: &[String]) {
    for line in lines {
        let _ = writeln!(page, "<p>{}</p>", escaped(line));
    }
}

fn claims(page: &mut String, claims: &[Claim]) {
    if claims.is_empty() {
        return;
    }
    page.push_str("<table class=\"claims\">\n<tr>");
    for name in ["verdict", "claim", "paper", "ours", "because"] {
        let _ = write!(page, "<th class=\"text\">{name}</th>");
    }
    page.push_str("</tr>\n");
    // a rule that decides several claims in a row is said once
    for same in claims.chunk_by(|one, next| one.because == next.because) {
        for (row, claim) in same.iter().enumerate() {
            let (class, words) = (verdicts::class(claim.verdict), index::shown(claim.verdict));
            let _ = write!(page, "<tr><td class=\"verdict {class}\">{words}</td>");
            for text in [&claim.claim, &claim.papers_figure, &claim.ours] {
                let _ = write!(page, "<td>{}</td>", escaped(text));
            }
            if row == 0 {
                let (rows, because) = (same.len(), escaped(&claim.because));
                let _ = write!(page, "<td rowspan=\"{rows}\">{because}</td>");
            }
            page.push_str("</tr>\n");
        }
    }
    page.push_str("</table>\n");
}

#[cfg(test)]
mod tests {
    use super::{all, page};
    use crate::kit::{Axis, Claim, Plot, Report, Run, Series, Verdict};

    #[test]
    fn the_page_shows_claims_and_plots_and_escapes_text() {
        let mut report = Report::new("figure-0", "<b>", "a paper", false);
        report.claims.push(
            Claim::that("a < b")
                .papers("1")
                .ours("2")
                .judged(Verdict::DoesNot, "2 > 1"),
        );
        report.plots.push(Plot {
            title: "t".to_owned(),
            x: Axis::new("x"),
            y: Axis::new("y"),
            series: vec![Series::new("s", [(0.0, 1.0), (1.0, 2.0)])],
        });
        let page = page(&[&report]).expect("drawn");
        assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
        assert!(
            page.contains("a &lt; b") && page.contains("does not") && page.contains("&lt;b&gt;")
        );
        assert_eq!(page.matches("<svg").count(), 1);
        for word in ["https:", "src=", "href", "<script", "<b>:"] {
            assert!(!page.contains(word), "{word}");
        }
    }

    #[test]
    fn a_rule_that_decides_several_claims_is_said_once() {
        let mut report = Report::new("overview", "chart", "slides", false);
        for (claim, rule) in [("a", "one rule"), ("b", "one rule"), ("c", "another")] {
            let claim = Claim::that(claim).of("chart");
            report.claims.push(claim.decide(true, rule));
        }
        let page = page(&[&report]).expect("drawn");
        assert_eq!(page.matches("one rule").count(), 1);
        assert!(page.contains("<td rowspan=\"2\">one rule</td>"), "{page}");
        assert!(page.contains("<td rowspan=\"1\">another</td>"), "{page}");
    }

    #[test]
    fn the_page_of_all_begins_with_the_papers_figures_and_their_verdicts() {
        let mut report = Report::new("table-3", "memory", "a paper", true);
        let claim = Claim::that("35 % more").of("table 3").papers("35 %");
        report
            .claims
            .push(claim.ours("<40 %").decide(false, "40 > 35"));
        let claim = Claim::that("ours is small").ours_alone();
        report.claims.push(claim.decide(true, "counted"));
        let failed = Run {
            name: "table-4",
            outcome: Err("no <memory>".to_owned()),
            seconds: 1.0,
        };
        let ran = Run {
            name: "table-3",
            outcome: Ok(report),
            seconds: 2.0,
        };
        let page = all(&[ran, failed]).expect("drawn");
        let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text}: {page}"));
        let order = [
            "1 failed",
            "The four questions of the talk",
            "question 4",
            "surefit experiment table-3",
            "✗ does not",
            "&lt;40 %",
            "table 3-1",
            "Ours: claims",
            "ours is small",
            "failed: no &lt;memory&gt;",
            "<h2>table-3: memory",
        ];
        let places = order.map(place);
        assert!(places.is_sorted(), "{places:?}");
        for word in ["https:", "src=", "href", "<script", "<memory>"] {
            assert!(!page.contains(word), "{word}");
        }
    }
}
