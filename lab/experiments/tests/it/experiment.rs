//! `surefit-experiments` from outside.

use serde_json::Value;
use surefit_testkit::{broken, error_line, schema, small_trace};

use crate::quick::{REPORTS, SEED, quick};
use crate::{experiments, printed};

/// Those that replay traces.
const REPLAYS: [&str; 5] = ["bounds", "figure-10", "figure-11", "table-3", "table-4"];

#[test]
fn every_experiment_is_listed() {
    let list = printed(&["list"]);
    for name in ["all", "automaton"].iter().chain(REPORTS) {
        assert!(list.lines().any(|line| line.starts_with(name)), "{list}");
    }
    for id in ["table 3", "figure A-15", "Cohen-Petrank"] {
        let line = format!("  {id} ");
        assert!(list.lines().any(|other| other.starts_with(&line)), "{list}");
    }
    let output = experiments().arg("teleport").output();
    let line = error_line(&output.expect("the command runs"), 2);
    assert!(line.contains("teleport"), "{line}");
}

#[test]
fn the_automaton_is_a_diagram_for_graphviz() {
    let diagram = printed(&["automaton", "--pi", "4", "--k", "2"]);
    assert!(diagram.contains("digraph"), "{diagram}");
    assert!(diagram.trim_end().ends_with('}'), "{diagram}");
}

#[test]
fn both_incremental_automata_are_diagrams_and_only_the_papers_has_emptying_pages() {
    let of = |whose| printed(&["automaton", "--pi", "3", "--k", "1", "--incremental", whose]);
    let (papers, ours) = (of("paper"), of("ours"));
    for page in ["| source ", "| emptying "] {
        assert!(papers.contains(page) && !ours.contains(page), "{page}");
    }
    assert!(papers.contains("final step") && ours.contains("commit"));
    let refused = experiments()
        .args(["automaton", "--holes", "3", "--incremental", "paper"])
        .output();
    let line = error_line(&refused.expect("the command runs"), 2);
    assert!(line.contains("--k"), "{line}");
}

#[test]
fn small_heaps_stand_beside_the_bounds_of_heaps_that_never_move() {
    assert!(quick().screen("small-heaps").contains("Robson"));
    let json = quick().report("small-heaps");
    let tables = json["tables"].as_array().expect("tables");
    let is_long = |table: &Value| table["rows"].as_array().is_some_and(|rows| rows.len() > 10);
    assert!(tables.iter().filter(|table| is_long(table)).count() > 4);
}

#[test]
fn a_larger_region_costs_fewer_moves() {
    let json = printed(&[
        "time-by-region",
        "--quick",
        "--rounds=1",
        "--format=json",
        "bundled:redis",
    ]);
    let json: Value = serde_json::from_str(&json).expect("JSON");
    let schema = schema("experiment.json");
    assert_eq!(broken(&schema, &schema, &json, "time-by-region"), None);
    let [means, times, counts] = [0, 1, 2].map(|at| {
        let rows = json["tables"][at]["rows"].as_array().expect("rows");
        assert_eq!(rows.len(), 5, "certified, 1.25, 1.5, 2 and 4 x: {rows:?}");
        rows.clone()
    });
    let figure = |row: &Value, at: usize| row[at].as_f64().expect("a figure");
    for (mean, time) in means.iter().zip(&times) {
        // of one program and one round
        let apart = figure(mean, 1) - figure(time, 2);
        assert!(apart.abs() < 1e-9, "{mean} {time}");
        assert!(mean[5].is_f64(), "talc serves it: {mean}");
    }
    let regions: Vec<_> = counts.iter().map(|row| figure(row, 2)).collect();
    assert!(regions[0] > 1.0 && regions[0] < 4.0, "{regions:?}");
    for (region, asked) in regions[1..].iter().zip([1.25, 1.5, 2.0, 4.0]) {
        assert!((region - asked).abs() < 1e-3, "{regions:?}");
    }
    for row in &counts {
        // whoever cannot do with so little is timed in a larger region
        assert!(figure(row, 6) >= figure(row, 2), "{row}");
    }
    let moves = |at: usize| figure(&counts[at], 3);
    assert!(
        moves(0) > moves(1) && moves(1) > moves(2) && moves(2) >= moves(4),
        "{counts:?}"
    );
}

#[test]
fn meshing_is_counted_on_every_trace_and_judged() {
    let traces = [small_trace(9), small_trace(10)];
    let files = traces.each_ref().map(|trace| trace.path.to_str());
    let [one, two] = files.map(|file| file.expect("a plain name"));
    let screen = printed(&["meshing", "--quick", one, two]);
    assert!(screen.contains("Powers et al. (2019)"), "{screen}");
    assert!(screen.lines().all(fits), "{screen}");
    let text = printed(&["meshing", "--format", "json", one, two]);
    let json: Value = serde_json::from_str(&text).expect("JSON");
    let rows = json["tables"][0]["rows"].as_array().expect("rows");
    let series = json["plots"][0]["series"].as_array().expect("series");
    let claim = &json["claims"][0];
    let programs = claim["programs"].as_array().expect("programs");
    assert_eq!([rows.len(), series.len(), programs.len()], [2; 3]);
    for row in rows {
        let figure = |at: usize| row[at].as_f64().expect("counted");
        let (not_full, pairs, most) = (figure(4), figure(5), figure(6));
        assert!(pairs <= most && 2.0 * most <= not_full && not_full <= figure(3));
        assert!(figure(2) >= 1.0, "no less is held than lives: {row}");
    }
    assert_eq!(claim["of"][0], "Mesh");
}

#[test]
fn bounds_cost_moves_and_save_certified_bytes() {
    let trace = small_trace(1);
    let file = trace.path.to_str().expect("a plain name");
    let text = printed(&["bounds", "--rounds", "1", "--format", "json", file]);
    let json: Value = serde_json::from_str(&text).expect("JSON");
    let tables = [0, 1].map(|at| {
        let rows = json["tables"][at]["rows"].as_array().expect("rows");
        rows.clone()
    });
    let expected = [
        "cf:k=1",
        "cf:k=8",
        "cf:k=8,order=original",
        "cf:k=inf",
        "cf:holes=32,frac=0",
        "cf",
    ];
    for rows in &tables {
        let names: Vec<_> = rows.iter().filter_map(|row| row[0].as_str()).collect();
        assert_eq!(names, expected);
    }
    // a cell by its bound and by the name of its column
    let of = |table: usize, row: usize, name: &str| {
        let columns = json["tables"][table]["columns"]
            .as_array()
            .expect("columns");
        let column = columns.iter().position(|column| column["name"] == name);
        &tables[table][row][column.expect(name)]
    };
    let moves = |row| of(0, row, "moves/free").as_f64().expect("measured");
    assert!(moves(0) > moves(5));
    assert_eq!(moves(3), 0.0);
    let bytes = |row, name| of(1, row, name).as_u64().expect("measured");
    assert!(bytes(0, "certified, B") < bytes(3, "certified, B"));
    for (row, name) in expected.iter().enumerate() {
        assert_eq!(of(0, row, "completes"), "yes", "{name}");
        assert!(
            bytes(row, "certified, B") >= bytes(row, "min heap, B"),
            "{name}"
        );
    }
    assert_eq!(json["claims"][0]["verdict"], "holds", "{}", json["claims"]);
    let schema = schema("experiment.json");
    assert_eq!(broken(&schema, &schema, &json, "bounds"), None);
    assert!(quick().screen("bounds").contains("Quick:"));
}

#[test]
fn a_report_of_traces_names_its_source() {
    for name in REPLAYS {
        let screen = quick().screen(name).replace("\n  ", " ");
        let source = match name {
            "bounds" => "Staudinger, A Compacting Real-Time Memory Management System (2008), ",
            _ => {
                "Sokolova, Concurrency and Scalability versus Fragmentation and Compaction with \
                  Compact-fit (2009), "
            }
        };
        assert!(screen.contains(source), "{screen}");
    }
}

fn fits(line: &str) -> bool {
    line.trim_end() == line && line.chars().count() <= 80
}

#[test]
fn plots_and_pages_are_written_beside_the_text() {
    let trace = small_trace(3);
    let file = trace.path.to_str().expect("a plain name");
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| {
        directory
            .path()
            .join(name)
            .to_str()
            .expect("a plain name")
            .to_owned()
    };
    let (plot, page) = (path("plot.svg"), path("page.html"));
    printed(&[
        "figure-11",
        "--quick",
        "--plot",
        &plot,
        "--report",
        &page,
        file,
    ]);
    let (plot, page) = (std::fs::read_to_string(plot), std::fs::read_to_string(page));
    let (plot, page) = (plot.expect("a picture"), page.expect("a page"));
    assert!(
        plot.starts_with("<svg") && plot.contains("not-full pages"),
        "{plot}"
    );
    assert!(
        page.contains("<svg") && page.contains("class=\"verdict"),
        "{page}"
    );
    let none = experiments()
        .args(["table-3", "--quick", "--plot", &path("none.svg"), file])
        .output();
    assert!(error_line(&none.expect("the command runs"), 2).contains("no plots"));
    let output = experiments()
        .args(["predict", "--quick", "--plot", "/no/such/place.svg"])
        .output();
    assert!(error_line(&output.expect("the command runs"), 2).contains("/no/such/place.svg"));
}

#[test]
fn what_is_counted_is_the_same_again() {
    let trace = small_trace(4);
    let figure = ["figure-11", trace.path.to_str().expect("a plain name")];
    assert_eq!(printed(&figure), printed(&figure));
    let trace = small_trace(SEED);
    let file = trace.path.to_str().expect("a plain name");
    let table = printed(&["table-3", "--quick", file]);
    assert_eq!(table, quick().screen("table-3"));
    assert_eq!(printed(&["predict", "--quick"]), quick().screen("predict"));
}

#[test]
fn more_not_full_pages_are_counted_for_a_greater_kappa() {
    let trace = small_trace(6);
    let file = trace.path.to_str().expect("a plain name");
    let json: Value =
        serde_json::from_str(&printed(&["figure-11", "--format", "json", file])).expect("JSON");
    let plots = json["plots"].as_array().expect("plots");
    let not_full = plots
        .iter()
        .find(|plot| plot["title"] == "small: not-full pages")
        .expect("a plot");
    let mean = |name: &str| {
        let series = not_full["series"].as_array().expect("series");
        let series = series
            .iter()
            .find(|series| series["name"] == name)
            .expect("a series");
        let points = series["points"].as_array().expect("points");
        assert!(points.len() >= 200, "{}", points.len());
        points
            .iter()
            .map(|point| point[1].as_f64().expect("a count"))
            .sum::<f64>()
            / points.len() as f64
    };
    assert!(mean("κ=1") < mean("κ=∞"));
}

#[test]
fn predictions_hold_in_the_automaton_and_in_the_heap() {
    let json = quick().report("predict");
    let claims = json["claims"].as_array().expect("claims");
    assert!(claims.len() >= 7);
    for claim in claims {
        assert_eq!(claim["verdict"], "holds", "{claim}");
    }
}

#[test]
fn an_overview_without_valgrind_says_so_and_has_the_rest() {
    let trace = small_trace(8);
    let file = trace.path.to_str().expect("a plain name");
    let mut command = experiments();
    command.args(["overview", "--quick", "--format", "json", file]);
    let output = command.env("PATH", "").output().expect("the command runs");
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let schema = schema("experiment.json");
    assert_eq!(broken(&schema, &schema, &report, "overview"), None);
    let notes = report["notes"].as_array().expect("notes");
    let has_note = |note: &Value| note.as_str().is_some_and(|note| note.contains("valgrind"));
    assert!(notes.iter().any(has_note), "{notes:?}");
    let claims = report["claims"].as_array().expect("claims");
    let verdict = |words: &str| {
        let claim = claims.iter().find(|claim| {
            let claim = claim["claim"].as_str();
            claim.is_some_and(|claim| claim.contains(words))
        });
        claim.expect(words)["verdict"].as_str().expect("a verdict")
    };
    assert_eq!(verdict("FF (first-fit): malloc"), "not_comparable");
    assert_eq!(verdict("its formula in every order"), "holds");
    assert_ne!(verdict("better than Half-fit"), "not_comparable");
}

#[test]
fn what_an_experiment_cannot_use_is_refused() {
    for (args, word) in [
        (["predict", "x.sft"], "traces"),
        (["predict", "--rounds=3"], "rounds"),
        (["figure-11", "gen:vi"], "hummingbird-paper"),
        (["figure-11", "bundled:vi"], "emacs"),
        (["gc-mmu", "x.sft"], ".sfg"),
        (["gc-lists", "x.sfg"], "traces"),
    ] {
        let output = experiments().args(args).output();
        let line = error_line(&output.expect("the command runs"), 2);
        assert!(line.contains(word), "{line}");
    }
}

/// Whether a report, as JSON and as a screen, names itself and whose its claims are, and is no
/// broader than a screen.
fn check_report(name: &str, json: &Value, screen: &str) {
    assert_eq!(json["name"], *name);
    for claim in json["claims"].as_array().expect("claims") {
        let of = claim["of"].as_array().is_some_and(|of| !of.is_empty());
        assert!(of, "{name}: whose claim is it? {claim}");
    }
    let broad: Vec<_> = screen.lines().filter(|line| !fits(line)).collect();
    assert!(screen.starts_with(name) && broad.is_empty(), "{broad:#?}");
}

#[test]
fn all_experiments_go_into_one_directory() {
    let all = quick();
    let summary = &all.summary;
    assert!(
        summary.contains("holds") && summary.contains("index.html"),
        "{summary}"
    );
    for name in REPORTS {
        check_report(name, &all.report(name), all.screen(name));
    }
    let missing: Vec<_> = summary
        .lines()
        .filter(|line| line.starts_with("nothing of "))
        .collect();
    assert!(missing.is_empty(), "{missing:#?}");
    for name in ["figure-10.svg", "figure-11.svg", "predict.svg"] {
        assert!(all.file(name).starts_with("<svg"), "{name}");
    }
    assert!(all.file("automaton.dot").contains("digraph"));
    let page = &all.page;
    assert_eq!(page, all.file("index.html"));
    assert!(summary.contains(" 0 failed; "), "{summary}");
    let first = page.find("<h2>bounds:").expect("the first report");
    for id in ["table 3", "figure 4-1", "figure A-15", "Robson"] {
        let id = format!("<b>{id}</b>");
        assert!(page.find(&id).is_some_and(|at| at < first), "{id}");
    }
    assert!(
        REPORTS
            .iter()
            .all(|name| page.contains(&format!("<h2>{name}:"))),
        "{page}"
    );
}
