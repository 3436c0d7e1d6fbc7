//! `--report` of `compare`: one HTML page with everything in it: text, tables, and charts as SVG.
//!
//! Every text that comes from a file, a trace or the command line is escaped; the page loads
//! nothing.

mod chart;
mod over_time;

use std::fmt::Write as _;

use crate::screen::{self, Notes, Setting};
use surefit_measure::html::{STYLE, escaped, table};
use surefit_measure::results::{AllocatorResult, Comparison, Ratio, TraceResults};

use chart::{Bar, Chart};

/// What the figures are: a name, and how it was measured.
const FIGURES: [(&str, &str); 8] = [
    (
        "time",
        "Allocation, first write and free, less an empty replay of the same trace: the median of interleaved rounds, as \
         a ratio to the baseline that is taken inside each round. The thin line spans the rounds. In all charts the \
         dashed line marks 1, and a pale bar is cut short.",
    ),
    (
        "with access",
        "The same with eight accesses of live objects after each event, so that it includes the price of handles. The \
         objects are chosen at random, with the same seed for all. On a long trace a sample of the events has accesses, \
         unless --rounds is given.",
    ),
    (
        "free: p99.99 / max",
        "Each free is timed on its own; the clock's own cost is taken off. 99.99 % of the frees take no longer than the \
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
        "pointer",
        "Raw: the program holds the object's address. Handle: it holds a name of the object, and the heap may move it.",
    ),
];

/// The page of a comparison.
pub(crate) fn page(comparison: &Comparison, setting: &Setting, notes: &Notes) -> String {
    let mut page =
        String::from("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
    let _ = writeln!(
        page,
        "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><title>surefit compare</title><style>{STYLE}</style></head>\n\
         <body><h1>surefit compare</h1>\n<p>{}; baseline {}; the clock costs {} ns.</p>",
        escaped(&screen::setting(setting)),
        escaped(&screen::short(&comparison.baseline)),
        comparison.clock_ns
    );
    for trace in &comparison.traces {
        section(&mut page, trace, notes);
    }
    figures(&mut page, notes);
    page + "</body></html>\n"
}

fn section(page: &mut String, trace: &TraceResults, notes: &Notes) {
    let _ = writeln!(
        page,
        "<h2>{}</h2>\n<p>{}.</p>",
        escaped(&screen::name(trace)),
        escaped(&screen::contents(trace))
    );
    list(page, &screen::lines(trace, notes));
    page.push_str("<div class=\"charts\">\n");
    for chart in charts(trace, &notes.baseline) {
        if chart.bars.iter().any(|bar| bar.value.is_some()) {
            let _ = writeln!(
                page,
                "<figure><figcaption>{}</figcaption>{}</figure>",
                escaped(&chart.caption),
                chart.to_svg()
            );
        }
    }
    page.push_str("</div>\n");
    if let Some(plot) = over_time::plot(trace) {
        let _ = writeln!(
            page,
            "<figure><figcaption>{}</figcaption>{plot}</figure>",
            over_time::CAPTION
        );
    }
    table(page, &screen::all_columns(trace, notes));
}

fn charts(trace: &TraceResults, baseline: &str) -> [Chart; 4] {
    let short = screen::short(baseline);
    let base = trace.results.iter().find(|row| row.allocator == baseline);
    let base = base.and_then(|row| row.access_pair_ns_mean);
    let live = trace.peak_live_bytes.max(1) as f64;
    let chart = |caption: String, bar: &dyn Fn(&AllocatorResult) -> Bar| Chart {
        caption,
        bars: trace.results.iter().map(bar).collect(),
    };
    let plain = |row: &AllocatorResult, value| Bar {
        name: screen::short(&row.allocator),
        value,
        range: None,
    };
    let of_live = |bytes: Option<u64>| bytes.map(|bytes| bytes as f64 / live);
    [
        chart(format!("time ÷ {short} (less is better)"), &|row| Bar {
            range: row
                .ratio_to_baseline
                .map(|Ratio { min, max, .. }| (min, max)),
            ..plain(row, row.ratio_to_baseline.map(|ratio| ratio.median))
        }),
        chart(
            format!("time with access ÷ {short} (less is better)"),
            &|row| {
                let both = row.access_pair_ns_mean.zip(base);
                plain(row, both.map(|(own, base)| own / base))
            },
        ),
        chart("min heap ÷ live (less is better)".to_owned(), &|row| {
            plain(row, of_live(row.min_heap_bytes))
        }),
        chart("pages touched ÷ live (less is better)".to_owned(), &|row| {
            plain(
                row,
                of_live(row.peak_footprint_bytes.or(row.peak_resident_bytes)),
            )
        }),
    ]
}

fn list(page: &mut String, lines: &[String]) {
    page.push_str("<ul>\n");
    for line in lines {
        let _ = writeln!(page, "<li>{}</li>", escaped(line));
    }
    page.push_str("</ul>\n");
}

fn figures(page: &mut String, notes: &Notes) {
    page.push_str("<h2>What was measured</h2>\n<dl>\n");
    for (name, how) in FIGURES {
        let _ = writeln!(page, "<dt>{name}</dt><dd>{how}</dd>");
    }
    if let Some(line) = screen::region_line(notes) {
        let _ = writeln!(page, "<dt>page faults</dt><dd>{}</dd>", escaped(&line));
    }
    if let Some(cost) = notes.handle_cost() {
        let line = escaped(&screen::handle_line(cost));
        let _ = writeln!(page, "<dt>handle*</dt><dd>With a handle, {line}</dd>");
    }
    page.push_str("</dl>\n");
}

#[cfg(test)]
mod tests {
    use super::page;
    use crate::screen::{Notes, Setting};
    use surefit_measure::html::escaped;
    use surefit_measure::results::{AllocatorResult, Comparison, Ratio, SCHEMA, TraceResults};
    use surefit_measure::sizes::HeapSize;
    use surefit_measure::spec::Spec;

    const SETTING: Setting = Setting {
        traces: 1,
        rounds: (1, 1),
        heap: HeapSize::DEFAULT,
    };

    fn comparison(name: &str) -> Comparison {
        let row = AllocatorResult {
            allocator: "cf".to_owned(),
            completed: true,
            ratio_to_baseline: Some(Ratio {
                median: 1.0,
                min: 0.9,
                max: 1.1,
            }),
            min_heap_bytes: Some(1100),
            ..AllocatorResult::default()
        };
        Comparison {
            schema: SCHEMA,
            rounds: 1,
            baseline: "cf".to_owned(),
            clock_ns: 20,
            traces: vec![TraceResults {
                name: name.to_owned(),
                events: 10,
                objects: 5,
                threads: 1,
                peak_live_bytes: 1000,
                left_out: None,
                rounds: 1,
                ablation: None,
                results: vec![row],
            }],
        }
    }

    #[test]
    fn the_page_is_whole_and_loads_nothing() {
        let specs = Spec::parse_list("cf-direct").expect("an allocator");
        let page = page(&comparison("emacs"), &SETTING, &Notes::new(&specs, "cf"));
        assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
        assert!(
            page.matches("<svg").count() == 2 && page.contains("1.100"),
            "{page}"
        );
        for word in ["http:", "https:", "src=", "href", "<script", "NaN", "inf\""] {
            let plain = page.replace("http://www.w3.org/2000/svg", "");
            assert!(!plain.contains(word), "{word}");
        }
        for tag in ["table", "div", "figure", "svg", "ul", "dl", "h2", "body"] {
            let opened = page.matches(&format!("<{tag}>")).count();
            let opened = opened + page.matches(&format!("<{tag} ")).count();
            assert_eq!(opened, page.matches(&format!("</{tag}>")).count(), "{tag}");
        }
    }

    #[test]
    fn a_traces_name_cannot_break_out() {
        let specs = Spec::parse_list("cf-direct").expect("an allocator");
        let name = "<script>alert('x')</script>\u{7}";
        let page = page(&comparison(name), &SETTING, &Notes::new(&specs, "cf"));
        assert!(!page.contains("<script") && page.contains("&lt;script&gt;"));
        assert_eq!(escaped("a\"b'&"), "a&quot;b&#39;&amp;");
    }
}
