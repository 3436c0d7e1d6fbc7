//! The first part of the page of all experiments: every figure, table and claim of the papers, with
//! its verdict, the papers' figure, ours, and the command that shows it.
//!
//! ```text
//! counts          claims by verdict, figures shown and not shown, experiments that failed
//! questions       the four of the talk, each with the claims that answer it
//! a paper         figure | verdict | claim | paper | ours        a row per claim, figures in the papers' order
//! ours            claims that no paper makes
//! runs            experiment | seconds | verdicts
//! ```
//! In a narrow window a row becomes a block: one line per column.

use std::fmt::Write as _;

use super::verdicts::{KINDS, class, counts, mark, plural, words};
use crate::kit::papers::{self, Paper, PaperItem, Shown};
use crate::kit::record::Machine;
use crate::kit::shown::{Judged, claims_of, claims_of_nobody, titles_of};
use crate::kit::{Report, Run, Verdict};
use surefit_measure::html::escaped;

/// Whole rows that become blocks where the window is narrow.
pub(super) const STYLE: &str = ".index{width:100%;table-layout:fixed}.index td{padding:.35rem .6rem}\
    .index td:first-child,.index th:first-child{position:static;max-width:none}\
    .index th{text-align:left}.index .figure{width:19%}.index .of-verdict{width:11%}\
    .index .of-claim{width:20%}.index .of-paper{width:17%}\
    .index small{display:block;color:#4a5866}.index code,.runs code{font-size:.8rem;overflow-wrap:anywhere}\
    .index tbody{border-top:2px solid #c3cdd7}.counts{display:flex;flex-wrap:wrap;gap:.6rem;padding:0;list-style:none}\
    .counts li{border:1px solid #d5dde5;border-radius:.4rem;padding:.4rem .9rem}\
    .counts b{font-size:1.4rem;display:block}.failed{color:#b3400a;font-weight:600}\
    @media(max-width:52rem){.index,.index tbody,.index tr,.index td{display:block;width:auto!important;border:0}\
    .index thead{display:none}.index tbody{border-top:2px solid #c3cdd7;padding:.4rem 0}\
    .index tr{padding:.3rem 0}.index td{padding:.05rem .2rem}\
    .index td[data-is]::before{content:attr(data-is)\": \";color:#4a5866}}";

/// Appends it.
pub(super) fn index(page: &mut String, runs: &[Run]) {
    let reports: Vec<_> = runs
        .iter()
        .filter_map(|run| run.outcome.as_ref().ok())
        .collect();
    counted(page, runs, &reports);
    questions(page, &reports);
    for paper in Paper::ALL {
        let _ = writeln!(page, "<h2>{}</h2>", escaped(paper.words()));
        begin(page);
        let of_paper = papers::all().filter(|item| item.paper == paper);
        for item in of_paper.filter(|item| !papers::is_question(item)) {
            of_item(page, &reports, item);
        }
        page.push_str("</table>\n");
    }
    let ours = claims_of_nobody(&reports);
    if !ours.is_empty() {
        page.push_str("<h2>Ours: claims that no paper makes</h2>\n");
        begin(page);
        for report in &reports {
            let claims: Vec<_> = ours
                .iter()
                .filter(|(name, _)| *name == report.name)
                .collect();
            if !claims.is_empty() {
                let claims: Vec<_> = claims.into_iter().copied().collect();
                group(page, &command_cell(&[report.name.as_str()]), &claims);
            }
        }
        page.push_str("</table>\n");
    }
    ran(page, runs);
}

/// The four questions of the talk, each with the claims that answer it.
fn questions(page: &mut String, reports: &[&Report]) {
    page.push_str("<h2>The four questions of the talk</h2>\n");
    begin(page);
    for item in papers::all().filter(|item| papers::is_question(item)) {
        of_item(page, reports, item);
    }
    page.push_str("</table>\n");
}

/// Claims by verdict, and figures that are shown.
fn counted(page: &mut String, runs: &[Run], reports: &[&Report]) {
    let claims = reports.iter().flat_map(|report| &report.claims);
    let all = counts(claims.map(|claim| claim.verdict));
    page.push_str("<ul class=\"counts\">\n");
    for (kind, count) in KINDS.into_iter().zip(all) {
        let _ = writeln!(
            page,
            "<li class=\"{}\"><b>{} {count}</b> {}</li>",
            class(kind),
            mark(kind),
            plural(kind, count)
        );
    }
    let shown = papers::all().filter(|item| !matches!(item.shown, Shown::Not(_)));
    let _ = writeln!(
        page,
        "<li><b>{} of {}</b> figures, tables and claims of the papers are shown; the others say \
         why not</li>",
        shown.count(),
        papers::all().count()
    );
    let failed = runs.iter().filter(|run| run.outcome.is_err()).count();
    let _ = writeln!(
        page,
        "<li{}><b>{}</b> experiments ran, {failed} failed</li>\n</ul>",
        if failed > 0 { " class=\"failed\"" } else { "" },
        runs.len()
    );
    if reports.iter().any(|report| report.quick) {
        page.push_str(
            "<p><b>Quick:</b> smaller programs and fewer rounds than figures to quote need.</p>\n",
        );
    }
}

fn begin(page: &mut String) {
    page.push_str(
        "<table class=\"claims index\"><thead><tr><th class=\"figure\">figure</th>\
         <th class=\"of-verdict\">verdict</th><th class=\"of-claim\">claim</th>\
         <th class=\"of-paper\">paper</th><th>ours</th></tr></thead>\n",
    );
}

/// A figure of the papers: its claims, or what else shows it, or why nothing does.
fn of_item(page: &mut String, reports: &[&Report], item: &PaperItem) {
    let mut first = format!(
        "<b>{}</b><small>{}</small>",
        escaped(item.id),
        escaped(item.shows)
    );
    if let Shown::By(names) = item.shown {
        first += &command_cell(names);
    }
    let claims = claims_of(reports, item.id);
    if !claims.is_empty() {
        group(page, &first, &claims);
        return;
    }
    let (class, words) = match item.shown {
        Shown::With(_) => ("", item.shown.to_string()),
        Shown::Not(_) => ("not_comparable", item.shown.to_string()),
        Shown::By(names) => ("", pictures(reports, item.id, names)),
    };
    let _ = writeln!(
        page,
        "<tbody><tr><td>{first}</td><td class=\"{class}\" colspan=\"4\">{}</td></tr></tbody>",
        escaped(&words)
    );
}

/// The tables and plots of a figure without claims, in the reports of its experiments.
fn pictures(reports: &[&Report], id: &str, names: &[&str]) -> String {
    let of = reports
        .iter()
        .filter(|report| names.contains(&report.name.as_str()));
    let of: Vec<_> = of.collect();
    let titles: Vec<_> = of.iter().flat_map(|report| titles_of(report, id)).collect();
    match (titles.is_empty(), of.is_empty()) {
        (false, _) => format!("no claim; shown by: {}", titles.join("; ")),
        (true, false) => "no claim, table or plot of this run names it".to_owned(),
        (true, true) => "no report of this run: see the command".to_owned(),
    }
}

/// The claims of one figure.
fn group(page: &mut String, first: &str, claims: &[Judged<'_>]) {
    page.push_str("<tbody>\n");
    let has_one = claims.windows(2).all(|pair| pair[0].0 == pair[1].0);
    for (row, (name, claim)) in claims.iter().enumerate() {
        page.push_str("<tr>");
        if row == 0 {
            let _ = write!(page, "<td rowspan=\"{}\">{first}</td>", claims.len());
        }
        let by = match has_one {
            true => String::new(),
            false => format!("<small>{}</small>", escaped(name)),
        };
        let _ = write!(
            page,
            "<td class=\"verdict {}\">{}{by}</td>",
            class(claim.verdict),
            shown(claim.verdict)
        );
        for (name, text) in [
            ("claim", &claim.claim),
            ("paper", &claim.papers_figure),
            ("ours", &claim.ours),
        ] {
            let _ = write!(page, "<td data-is=\"{name}\">{}</td>", escaped(text));
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</tbody>\n");
}

/// A verdict with its mark.
pub(super) fn shown(verdict: Verdict) -> String {
    format!("{} {verdict}", mark(verdict))
}

fn command_cell(names: &[&str]) -> String {
    let commands = names.iter().map(|name| {
        let name = escaped(name);
        format!("<small><code>surefit experiment {name}</code></small>")
    });
    commands.collect()
}

/// What ran, how long it took, and what failed.
fn ran(page: &mut String, runs: &[Run]) {
    let seconds: f64 = runs.iter().map(|run| run.seconds).sum();
    let machine = Machine::this().to_string();
    let _ = writeln!(
        page,
        "<h2>Runs</h2>\n<p>{seconds:.0} s in all, on one machine: {}.</p>",
        escaped(&machine)
    );
    page.push_str(
        "<div class=\"wide\"><table class=\"runs\"><tr><th class=\"text\">experiment</th>\
         <th>seconds</th><th class=\"text\">verdicts</th></tr>\n",
    );
    for run in runs {
        let words = match &run.outcome {
            Ok(report) => escaped(&words(counts(
                report.claims.iter().map(|claim| claim.verdict),
            ))),
            Err(why) => format!("<span class=\"failed\">failed: {}</span>", escaped(why)),
        };
        let _ = writeln!(
            page,
            "<tr><td class=\"text\"><code>{}</code></td><td>{:.1}</td><td class=\"text\">{words}</td></tr>",
            escaped(run.name),
            run.seconds
        );
    }
    page.push_str("</table></div>\n");
}
