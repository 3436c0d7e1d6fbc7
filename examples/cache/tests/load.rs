//! The load in its smallest form, against this cache alone: a table, JSON, a plot.

use std::fs;
use std::process::Command;

#[test]
fn the_load_reports_every_server() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = |name: &str| {
        let out = folder.path().join(name);
        let output = Command::new(env!("CARGO_BIN_EXE_surefit-cache-load"))
            .args(["--budget-mb", "1", "--only", "surefit,std", "--out"])
            .arg(&out)
            .output()
            .expect("it runs");
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let json = fs::read_to_string(out.join("load.json")).expect("JSON");
        let json: serde_json::Value = serde_json::from_str(&json).expect("valid");
        (String::from_utf8(output.stdout).expect("text"), json, out)
    };
    let (table, first, out) = run("first");
    let (_, second, _) = run("second");
    assert!(
        table.lines().all(|line| line.chars().count() <= 100),
        "{table}"
    );
    let svg = fs::read_to_string(out.join("load.svg")).expect("a plot");
    for (row, name) in ["surefit", "std"].iter().enumerate() {
        assert!(table.contains(&format!("  {name} ")) && svg.contains(name));
        assert_eq!(first["rows"][row]["name"], *name);
        // The same commands and the same payload, whenever it is played.
        for phase in 0..8 {
            for field in ["commands", "payload"] {
                let at = |run: &serde_json::Value| {
                    run["rows"][row]["runs"][0]["drifting"]["end"][phase][field].clone()
                };
                assert!(at(&first).as_u64() > Some(0));
                assert_eq!(at(&first), at(&second));
            }
        }
    }
}
