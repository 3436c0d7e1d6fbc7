//! `surefit report`, from outside.

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::common::{error_line, small_trace, small_trace_with_call_sites, surefit};

/// Runs `report` with quick settings for small traces.
fn report(arguments: &[&Path], options: &[&str]) -> Output {
    let mut command = surefit();
    command.arg("report").args(arguments).args(options);
    command.output().expect("the command runs")
}

const QUICK: [&str; 6] = [
    "--rounds",
    "1",
    "--heap",
    "1M",
    "--allocators",
    "cf,tlsf,system",
];

fn with_output<'a>(options: &[&'a str], page: &'a Path) -> Vec<&'a str> {
    let page = page.to_str().expect("a plain name");
    [options, &["-o", page]].concat()
}

#[test]
fn a_trace_becomes_one_page_with_every_figure() {
    let trace = small_trace(31);
    let page = trace.path.with_extension("html");
    let output = report(&[&trace.path], &with_output(&QUICK, &page));
    let said = String::from_utf8(output.stdout).expect("text");
    assert!(
        output.status.success() && said.contains("small.html: 1 program"),
        "{said}"
    );
    let html = fs::read_to_string(&page).expect("the page");
    assert!(html.starts_with("<!DOCTYPE html>") && html.ends_with("</html>\n"));
    for title in [
        "Memory over time",
        "Where the bytes are",
        "Heap map of cf",
        "Heap map of tlsf",
        "Pages of each size-class of cf",
        "How long single calls take",
        "What the program asks for",
    ] {
        let table = format!("<summary>Table: {title}</summary>");
        assert_eq!(html.matches(&table).count(), 1, "{title}");
    }
    assert!(
        !html.contains("<script") && !html.contains("http"),
        "{html}"
    );
    assert!(html.len() < 1_000_000, "{}", html.len());
}

/// The rank and the share of each row of the table of call sites.
fn ranks(html: &str) -> Vec<(usize, f64)> {
    let table =
        html.split("<summary>Table: Call sites by fragmentation in cf without moves</summary>");
    let table = table.last().and_then(|rest| rest.split("</table>").next());
    let rows = table.expect("a table").split("<tr><td").skip(1);
    rows.map(|row| {
        let cells = row.split("<td").map(|cell| {
            let text = cell.split('>').nth(1).unwrap_or_default();
            text.split('<').next().unwrap_or_default()
        });
        let cells: Vec<_> = cells.collect();
        let share = cells[3].trim_end_matches(" %").parse().expect("a share");
        (cells[0].parse().expect("a rank"), share)
    })
    .collect()
}

#[test]
fn a_trace_with_call_sites_says_who_keeps_pages_from_being_empty() {
    let trace = small_trace_with_call_sites(36);
    let output = report(&[&trace.path], &with_output(&QUICK, Path::new("-")));
    let html = String::from_utf8(output.stdout).expect("text");
    assert!(
        html.contains("(anonymous)::Index&lt;…\u{2060}&gt;::insert_"),
        "{html}"
    );
    let ranks = ranks(&html);
    assert!(ranks.len() > 12, "{ranks:?}");
    let sum: f64 = ranks.iter().map(|(_, share)| share).sum();
    assert!((sum - 100.0).abs() < 2.0, "{ranks:?}");
    let is_sorted = ranks
        .windows(2)
        .all(|pair| pair[0].0 + 1 == pair[1].0 && pair[0].1 >= pair[1].1);
    assert!(is_sorted, "{ranks:?}");
    // Who has no holes that are known of, or no call sites, has no such figure.
    let others = [&QUICK[..4], &["--allocators", "tlsf", "-o", "-"]].concat();
    let output = report(&[&trace.path], &others);
    let html = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success() && !html.contains("Call sites by"));
}

#[test]
fn saved_results_become_a_page_and_two_of_them_are_side_by_side() {
    let trace = small_trace(32);
    let saved = trace.path.with_extension("json");
    let mut command = surefit();
    command.args(["compare", "--format", "json", "--find-min-heap"]);
    let output = command.args(QUICK).arg(&trace.path).output();
    fs::write(&saved, output.expect("the command runs").stdout).expect("a file");

    let one = report(&[&saved], &["-o", "-"]);
    let one = String::from_utf8(one.stdout).expect("text");
    assert!(one.contains("These are saved results"), "{one}");
    assert!(one.contains("Memory over time") && one.contains("How long single calls take"));

    let two = report(&[&saved, &saved], &["-o", "-"]);
    let two = String::from_utf8(two.stdout).expect("text");
    for line in [
        "cf: smallest heap: the same; certified: the same;",
        "tlsf: smallest heap: the same;",
        "time of all calls: too few rounds",
    ] {
        assert!(two.contains(line), "{line}: {two}");
    }
    assert!(
        two.contains("<b>A: Memory over time.</b>") && two.contains("<b>B: Memory over time.</b>")
    );
}

#[test]
fn a_folder_stands_for_its_files_and_nothing_is_side_by_side() {
    let trace = small_trace(33);
    let folder = trace.path.parent().expect("a folder");
    fs::copy(&trace.path, folder.join("again.sft")).expect("a copy");
    let output = report(
        &[folder],
        &[&QUICK[..4], &["--allocators", "tlsf", "-o", "-"]].concat(),
    );
    let page = String::from_utf8(output.stdout).expect("text");
    assert_eq!(page.matches("<h2 id=\"program").count(), 2, "{page}");
    assert!(!page.contains("side by side"), "{page}");
}

#[test]
fn what_cannot_become_a_page_is_refused_in_one_line() {
    let trace = small_trace(34);
    let folder = trace.path.parent().expect("a folder");
    let results = folder.join("r.json");
    fs::write(
        &results,
        r#"{"schema":1,"rounds":1,"baseline":"cf","clock_ns":1,"traces":[]}"#,
    )
    .expect("a file");
    let trace = trace.path.as_path();
    for (file, options, words) in [
        (
            trace,
            &["-o", "/no/such/place/r.html"][..],
            "cannot be written",
        ),
        (Path::new("/no/such.sft"), &["-o", "-"], "/no/such.sft"),
        (&results, &["-o", "-"], "has no results"),
        (trace, &["-o", "-", "--allocators", "nosuch"], "nosuch"),
        (
            trace,
            &["-o", "-", "--baseline", "dl"],
            "not among the allocators",
        ),
        (trace, &["-o", "-", "--rounds", "0"], "--rounds"),
        (trace, &[], "--output"),
    ] {
        let output = report(&[file], options);
        assert!(output.stdout.is_empty(), "{words}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(words), "{words}: {said}");
    }
    let output = report(&[trace, &results], &["-o", "-"]);
    assert!(error_line(&output, 2).contains("r.json"));
}

#[test]
fn options_that_measure_are_refused_where_nothing_is_measured() {
    let trace = small_trace(35);
    let saved = trace.path.with_extension("json");
    let mut command = surefit();
    command.args([
        "compare",
        "--format",
        "json",
        "--allocators",
        "tlsf",
        "--rounds",
        "1",
    ]);
    let output = command.args(["--heap", "1M"]).arg(&trace.path).output();
    fs::write(&saved, output.expect("the command runs").stdout).expect("a file");
    let output = report(&[&saved], &["-o", "-", "--rounds", "3"]);
    let line = error_line(&output, 2);
    assert!(line.contains("--rounds: nothing is measured"), "{line}");
    assert!(line.contains("leave it out"), "{line}");
}
