//! The experiments with several threads, from outside.

use serde_json::Value;

use crate::printed;
use crate::quick::quick;

fn verdict<'a>(report: &'a Value, words: &str) -> &'a str {
    let claims = report["claims"].as_array().expect("claims");
    let claim = claims.iter().find(|claim| {
        claim["claim"]
            .as_str()
            .is_some_and(|claim| claim.contains(words))
    });
    claim.expect(words)["verdict"].as_str().expect("a verdict")
}

#[test]
fn page_locks_take_more_acquisitions_than_class_locks() {
    let report = quick().report("throughput-locks");
    assert_eq!(verdict(&report, "page locks take more"), "holds");
    assert_eq!(
        report["tables"][0]["rows"].as_array().map(Vec::len),
        Some(9)
    );
    assert!(!report["plots"].as_array().expect("plots").is_empty());
}

#[test]
fn scalability_has_three_parts_and_counts_what_cores_do_not_change() {
    let report = quick().report("scalability");
    let tables = report["tables"].as_array().expect("tables");
    assert_eq!(tables.len(), 3);
    let rows = tables[0]["rows"].as_array().expect("rows");
    for row in rows {
        let locks = (row[4].as_f64(), row[5].as_f64());
        assert!(locks.0 >= Some(1.0) && locks.1 >= Some(1.0), "{row}");
    }
    // one thread meets nobody
    for row in rows.iter().filter(|row| row[1] == 1) {
        assert_eq!(
            (row[6].as_f64(), row[7].as_f64()),
            (Some(0.0), Some(0.0)),
            "{row}"
        );
    }
    // raw heaps have no locks and no lines that are shared
    let raw = tables[1]["rows"]
        .as_array()
        .expect("rows")
        .last()
        .expect("a row");
    assert_eq!(
        (raw[4].as_f64(), raw[8].as_f64()),
        (Some(0.0), Some(0.0)),
        "{raw}"
    );
    let shared = tables[2]["rows"].as_array().expect("rows");
    assert_eq!(shared.len(), 39);
    // a raw group takes its lock in every call, a raw instance of a thread's own only the pool's
    let locks = |row: &Value| [5, 6].map(|at| row[at].as_f64().expect("counted"));
    let named = |name: &str| -> Vec<_> {
        let rows = shared.iter().filter(|row| row[0] == name);
        rows.map(locks).collect()
    };
    let (groups, own) = (named("raw, groups"), named("raw n-CF(∞,∞)"));
    assert_eq!((groups.len(), own.len()), (12, 3));
    assert!(
        groups.iter().flatten().all(|each| *each >= 1.0),
        "{groups:?}"
    );
    assert!(own.iter().flatten().all(|each| *each < 0.5), "{own:?}");
    assert_eq!(report["claims"].as_array().map(Vec::len), Some(14));
}

#[test]
fn figure_12_has_three_parts_within_their_bounds() {
    let report = quick().report("figure-12");
    assert_eq!(report["tables"].as_array().map(Vec::len), Some(3));
    assert_eq!(verdict(&report, "system latency follows"), "holds");
    assert_eq!(
        verdict(&report, "transient fragmentation stays within"),
        "holds"
    );
    assert_eq!(report["plots"].as_array().map(Vec::len), Some(4));
}

#[test]
fn what_is_counted_by_one_thread_is_the_same_again() {
    let text = printed(&["complexity", "--quick", "--format", "json"]);
    let again: Value = serde_json::from_str(&text).expect("JSON");
    let first = quick().report("complexity");
    // the last one is of real threads
    for table in 0..6 {
        assert_eq!(first["tables"][table], again["tables"][table]);
    }
}
