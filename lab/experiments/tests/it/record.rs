//! The page of record: its claims are those of the code.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::quick::{REPORTS, quick};

/// The most bytes that the record may have.
const MOST_BYTES: u64 = 1 << 20;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/record")
}

/// What of a claim is not measured: whose it is, its words, and its rule.
fn said(claims: &Value) -> BTreeSet<String> {
    let claims = claims.as_array().expect("claims").iter();
    claims.map(plain).collect()
}

/// Without digits: a number of threads, or a bound that is computed, differs between a quick run
/// and a full one. So does a program before a κ.
fn plain(claim: &Value) -> String {
    let words = claim["claim"].as_str().expect("words");
    let words = words.find(", κ=").map_or(words, |end| &words[end..]);
    let said = format!("{} {words} {}", claim["of"], claim["because"]);
    said.chars()
        .filter(|letter| !letter.is_ascii_digit())
        .collect()
}

#[test]
fn the_record_has_the_claims_of_the_code() {
    let text = std::fs::read_to_string(folder().join("claims.json")).expect("the record");
    let record: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(record["quick"], false, "a record is of full size");
    for name in REPORTS {
        let experiments = record["experiments"].as_array().expect("a list").iter();
        let recorded = experiments
            .filter(|one| one["name"] == **name)
            .map(|one| said(&one["claims"]));
        let recorded: BTreeSet<_> = recorded.flatten().collect();
        let now = said(&quick().report(name)["claims"]);
        let gone: Vec<_> = recorded.difference(&now).collect();
        let new: Vec<_> = now.difference(&recorded).collect();
        assert!(
            gone.is_empty() && new.is_empty(),
            "{name}: docs/record is of other claims: renew it as CONTRIBUTING.md says\n\
             only in the record: {gone:#?}\nonly in the code: {new:#?}"
        );
    }
    assert!(
        folder().join("index.html.gz").exists(),
        "the page of the same run"
    );
    let bytes = std::fs::read_dir(folder()).expect("the record");
    let bytes: u64 = bytes
        .map(|file| file.expect("a file").metadata().expect("its size").len())
        .sum();
    assert!(bytes <= MOST_BYTES, "docs/record has {bytes} bytes");
}

#[test]
fn a_run_writes_its_claims_and_names_its_machine() {
    let written: Value = serde_json::from_str(quick().file("claims.json")).expect("JSON");
    assert_eq!(written["quick"], true);
    assert!(written["machine"]["cores"].as_u64() >= Some(1));
    let experiments = written["experiments"].as_array().expect("a list");
    assert_eq!(experiments.len(), REPORTS.len());
    for one in experiments {
        let name = one["name"].as_str().expect("a name");
        assert_eq!(one["claims"], quick().report(name)["claims"], "{name}");
    }
}
