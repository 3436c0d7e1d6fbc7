//! The page of `report` in a browser: what is cut, covered, too small or wider than its window.
//!
//! `ci/report.sh` runs these tests. They need Chromium, and say so in a line `NOT RUN` without it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::common::{SmallTrace, small_trace, small_trace_with_call_sites, surefit};

/// The names that Chromium has.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// The widths of windows, in pixels.
const WIDTHS: [u32; 4] = [320, 390, 768, 1280];

/// What looks at a page in a frame of each width, and writes into the document what it found.
const LOOK: &str = r#"
const found = {};
const inside = (box, width) => box.left >= -1 && box.right <= width + 1;
const overlap = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
function look(frame, width) {
  const page = frame.contentDocument, faults = [];
  const root = page.documentElement;
  if (root.scrollWidth > width) faults.push('the page is ' + root.scrollWidth + ' wide');
  const shown = element => element.getClientRects().length > 0;
  const all = selector => [...page.querySelectorAll(selector)].filter(shown);
  const texts = all('.ys span,.xs span,.x,.n,.v,.legend li,figcaption,summary,h1,h2,main>p,main>ul>li,dd,dt');
  for (const text of texts) {
    const box = text.getBoundingClientRect();
    if (!inside(box, width)) faults.push('outside: ' + text.textContent.slice(0, 40));
    if (text.scrollWidth > text.clientWidth + 1 && text.clientWidth > 0) faults.push('cut: ' + text.textContent.slice(0, 40));
    const size = parseFloat(frame.contentWindow.getComputedStyle(text).fontSize);
    if (size < 11) faults.push(size + ' px: ' + text.textContent.slice(0, 40));
  }
  for (const axis of all('.ys,.xs')) {
    const boxes = [...axis.children].map(label => label.getBoundingClientRect());
    boxes.forEach((box, at) => boxes.slice(at + 1).forEach(other => {
      if (overlap(box, other)) faults.push('labels overlap: ' + axis.textContent);
    }));
  }
  for (const row of all('.bars')) {
    const boxes = [...row.children].map(cell => cell.getBoundingClientRect());
    for (let at = 0; at + 2 < boxes.length; at += 3) {
      if (overlap(boxes[at], boxes[at + 1]) || overlap(boxes[at + 1], boxes[at + 2])) faults.push('a bar is covered');
      if (boxes[at + 1].width < 40) faults.push('a bar has ' + boxes[at + 1].width + ' px');
    }
  }
  for (const figure of all('figure')) {
    const picture = figure.querySelector('[role=img][aria-label]');
    if (!picture) faults.push('a figure without a picture that has a name');
    const box = picture.getBoundingClientRect();
    if (box.width < 200 || box.height < 20) faults.push('a picture of ' + box.width + ' x ' + box.height);
  }
  const details = all('details');
  details.forEach(it => { it.open = true; });
  for (const it of details) {
    const table = it.querySelector('[tabindex="0"] table');
    if (!table || !shown(table)) faults.push('no table in: ' + it.textContent.slice(0, 40));
  }
  if (root.scrollWidth > width) faults.push('with open tables the page is ' + root.scrollWidth + ' wide');
  const loaded = frame.contentWindow.performance.getEntriesByType('resource').length;
  if (loaded > 0) faults.push('it loads ' + loaded + ' things');
  return { figures: all('figure').length, tables: details.length, faults: [...new Set(faults)] };
}
for (const width of WIDTHS) {
  const frame = document.createElement('iframe');
  frame.style = 'border:0;width:' + width + 'px;height:900px';
  frame.onload = () => {
    found[width] = look(frame, width);
    document.getElementById('found').textContent = JSON.stringify(found);
  };
  frame.srcdoc = PAGE;
  document.body.append(frame);
}
"#;

/// The browser; `None`, with a line that says so, if there is none.
fn browser() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<_> = std::env::split_paths(&path).collect();
    let found = BROWSERS.iter().find_map(|name| {
        let mut places = folders.iter().map(|folder| folder.join(name));
        places.find(|place| place.is_file())
    });
    if found.is_none() {
        println!(
            "NOT RUN: the page of report in a browser (no chromium: apt-get install chromium)"
        );
    }
    found
}

/// Runs the browser, with a fresh profile.
fn browse(browser: &Path, arguments: &[&str], page: &Path) -> Vec<u8> {
    let profile = tempfile::tempdir().expect("a directory");
    let mut command = Command::new(browser);
    command.args([
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--virtual-time-budget=20000",
    ]);
    command.arg(format!("--user-data-dir={}", profile.path().display()));
    let output = command.args(arguments).arg(page).output();
    let output = output.expect("the browser starts");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    output.stdout
}

fn report(arguments: &[&Path], page: &Path) -> String {
    let mut command = surefit();
    command.arg("report").args(arguments).arg("-o").arg(page);
    command.args(["--rounds", "3", "--heap", "1M"]);
    command.args([
        "--allocators",
        "cf,tlsf,cf:pieces=off,page=1K,peer-dlmalloc,system",
    ]);
    let output = command.output().expect("the command runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    fs::read_to_string(page).expect("the page")
}

/// What the browser finds in a page at each width.
fn looked_at(browser: &Path, html: &str, beside: &SmallTrace) -> Value {
    let page = serde_json::to_string(html).expect("JSON");
    let page = page.replace('<', "\\u003c");
    let harness = beside.path.with_extension("harness.html");
    let document = format!(
        "<!DOCTYPE html><meta charset=\"utf-8\"><pre id=\"found\"></pre><script>\
         const WIDTHS = {WIDTHS:?};\nconst PAGE = {page};\n{LOOK}</script>"
    );
    fs::write(&harness, document).expect("a file");
    let dom = browse(
        browser,
        &["--window-size=1400,1000", "--dump-dom"],
        &harness,
    );
    let dom = String::from_utf8(dom).expect("text");
    let found = dom.split("<pre id=\"found\">").nth(1);
    let found = found.and_then(|rest| rest.split("</pre>").next());
    let found = found
        .expect("a finding")
        .replace("&lt;", "<")
        .replace("&gt;", ">");
    serde_json::from_str(&found.replace("&amp;", "&")).expect("the look wrote its findings")
}

fn assert_sound(found: &Value, least_figures: u64) {
    for width in WIDTHS {
        let found = &found[width.to_string()];
        assert_eq!(
            found["faults"],
            serde_json::json!([]),
            "{width} px: {found}"
        );
        let figures = found["figures"].as_u64().expect("a count");
        assert!(figures >= least_figures, "{width} px: {found}");
        assert!(found["tables"].as_u64() >= Some(5), "{width} px: {found}");
    }
}

#[test]
#[ignore = "it needs a browser: ci/report.sh"]
fn a_page_is_readable_at_every_width_and_on_paper() {
    let Some(browser) = browser() else { return };
    let trace = small_trace_with_call_sites(21);
    let page = trace.path.with_extension("html");
    let html = report(&[&trace.path], &page);
    assert!(html.contains("Call sites by fragmentation in cf without moves"));
    assert_sound(&looked_at(&browser, &html, &trace), 10);
    let pdf = trace.path.with_extension("pdf");
    let print = format!("--print-to-pdf={}", pdf.display());
    browse(&browser, &[&print, "--no-pdf-header-footer"], &page);
    let pdf = fs::read(pdf).expect("the page on paper");
    assert!(
        pdf.starts_with(b"%PDF") && pdf.len() > 20_000,
        "{}",
        pdf.len()
    );
}

#[test]
#[ignore = "it needs a browser: ci/report.sh"]
fn two_programs_side_by_side_are_readable_at_every_width() {
    let Some(browser) = browser() else { return };
    let (before, after) = (
        small_trace_with_call_sites(22),
        small_trace_with_call_sites(23),
    );
    let page = before.path.with_extension("html");
    let html = report(&[&before.path, &after.path], &page);
    assert_sound(&looked_at(&browser, &html, &before), 17);
}

#[test]
#[ignore = "it needs a browser: ci/report.sh"]
fn a_page_that_is_cut_is_noticed() {
    let Some(browser) = browser() else { return };
    let trace = small_trace(24);
    let page = trace.path.with_extension("html");
    let html = report(&[&trace.path], &page);
    for (fault, broken) in [
        ("wide", html.replace("max-width:68rem", "min-width:80rem")),
        (
            "px: ",
            html.replace("figcaption{", "figcaption{font-size:6px!important;"),
        ),
        (
            "labels overlap",
            html.replace(
                ".xs span{position:absolute;",
                ".xs span{position:absolute;left:0!important;",
            ),
        ),
        ("no table", html.replace("<table>", "<table hidden>")),
    ] {
        assert_ne!(broken, html, "{fault}");
        let found = looked_at(&browser, &broken, &trace).to_string();
        assert!(found.contains(fault), "{fault}: {found}");
    }
}
