//! Imports go one way: experiments know what is shared and the kit, and nothing below knows what is
//! above.

use std::fs;
use std::path::{Path, PathBuf};

/// All source files below a folder of the crate.
fn files(folder: &str) -> Vec<PathBuf> {
    let mut folders = vec![
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("src")
            .join(folder),
    ];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push(path);
            }
        }
    }
    assert!(!files.is_empty(), "{folder}");
    files
}

/// The lines of a file in which a path of the crate occurs.
fn lines_with<'a>(text: &'a str, path: &str) -> Vec<&'a str> {
    text.lines().filter(|line| line.contains(path)).collect()
}

#[test]
fn nothing_shared_knows_an_experiment() {
    for folder in ["kit", "shared"] {
        for file in files(folder) {
            let text = fs::read_to_string(&file).expect("text");
            for above in ["crate::experiments", "crate::chosen", "crate::all"] {
                let found = lines_with(&text, above);
                assert!(found.is_empty(), "{}: {found:?}", file.display());
            }
        }
    }
    for file in files("kit") {
        let text = fs::read_to_string(&file).expect("text");
        let found = lines_with(&text, "crate::shared");
        assert!(found.is_empty(), "{}: {found:?}", file.display());
    }
}

#[test]
fn no_experiment_knows_another() {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/experiments");
    for file in files("experiments") {
        let below = file.strip_prefix(&all).expect("below experiments");
        let own = below.iter().next().expect("a name").to_string_lossy();
        if own == "mod.rs" {
            continue;
        }
        let text = fs::read_to_string(&file).expect("text");
        for line in lines_with(&text, "crate::experiments") {
            let is_own = line.contains(&format!("crate::experiments::{own}"));
            assert!(is_own, "{}: {line}", file.display());
        }
    }
}
