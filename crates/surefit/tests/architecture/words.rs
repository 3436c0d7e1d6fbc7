//! The words of the sources: those that docs/glossary.md retires are in no identifier, what took
//! their place is explained there, and what it names is there.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::citations::section;
use crate::steps::document;

/// All Rust files of the repository, without those that builds write.
pub(crate) fn sources() -> Vec<PathBuf> {
    let mut files = Vec::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let parents = "crates lab firmware fuzz permutations sanitizers peers examples".split(' ');
    let mut folders: Vec<_> = parents.map(|parent| root.join(parent)).collect();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let entry = entry.expect("an entry");
            let name = entry.file_name().to_string_lossy().into_owned();
            if entry.file_type().expect("a type").is_dir() {
                if !name.starts_with('.') && !name.starts_with("target") {
                    folders.push(entry.path());
                }
            } else if name.ends_with(".rs") {
                files.push(entry.path());
            }
        }
    }
    assert!(files.len() > 500, "{} files", files.len());
    files
}

/// The glossary; `None` in a packaged crate, which has neither that nor all sources.
fn glossary() -> Option<String> {
    document()?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    Some(fs::read_to_string(root.join("docs/glossary.md")).expect("docs/glossary.md"))
}

/// The retired words, each with what took its place: rows of a table.
fn retired(glossary: &str) -> BTreeMap<String, String> {
    let table = section(glossary, "## Retired words");
    let rows = table.lines().filter(|line| line.starts_with("| *"));
    let cells = rows.map(|row| row.split('|').map(str::trim).collect::<Vec<_>>());
    let words = cells.map(|cells| {
        let now = cells[2].split('`').nth(1).expect("a name");
        (cells[1].trim_matches('*').to_owned(), now.to_owned())
    });
    words.collect()
}

/// The identifiers of a line of code, and their parts between underscores.
fn identifiers(line: &str) -> impl Iterator<Item = &str> {
    let code = line.split("//").next().unwrap_or_default();
    // Every second part is the contents of a string.
    let code = code.split('"').step_by(2);
    let whole = code.flat_map(|code| code.split(|c: char| !c.is_alphanumeric() && c != '_'));
    whole.flat_map(|name| {
        let parts = name.split('_').filter(|_| name.contains('_'));
        std::iter::once(name).chain(parts)
    })
}

/// The words of `OneOfThese`, each from a capital to the next, in small letters.
fn humps(name: &str) -> Vec<String> {
    let starts = name.char_indices().filter(|(_, c)| c.is_uppercase());
    let starts: Vec<_> = starts.map(|(at, _)| at).collect();
    let ends = starts.iter().skip(1).copied().chain([name.len()]);
    let parts = starts.iter().zip(ends).map(|(&at, end)| &name[at..end]);
    parts.map(str::to_lowercase).collect()
}

#[test]
fn retired_words_are_in_no_identifier() {
    let Some(glossary) = glossary() else { return };
    let retired = retired(&glossary);
    assert!(retired.len() >= 6, "{} words", retired.len());
    let explained = glossary.split("## Retired words").next().expect("a part");
    for (word, now) in &retired {
        let is_explained = explained.contains(&format!("`{now}`"));
        assert!(is_explained, "{now}, once {word}, is not explained");
    }
    for file in sources() {
        let text = fs::read_to_string(&file).expect("text");
        for (number, line) in text.lines().enumerate() {
            for name in identifiers(line) {
                let inside = humps(name).into_iter().find_map(|it| retired.get(&it));
                let now = retired.get(name).or(inside);
                let (file, number) = (file.display(), number + 1);
                assert!(now.is_none(), "{file}:{number}: {name} is {now:?} now");
            }
        }
    }
}

#[test]
fn every_name_in_the_glossary_is_an_identifier() {
    let Some(glossary) = glossary() else { return };
    let quoted = glossary.split('`').skip(1).step_by(2);
    let names = quoted.flat_map(|it| it.split(|c: char| !c.is_alphanumeric() && c != '_'));
    let mut missing: BTreeSet<_> = names.filter(|name| name.len() > 1).collect();
    assert!(missing.len() > 50, "{} names", missing.len());
    for file in sources() {
        let text = fs::read_to_string(&file).expect("text");
        for name in text.lines().flat_map(identifiers) {
            missing.remove(name);
        }
    }
    assert!(missing.is_empty(), "no identifiers: {missing:?}");
}

#[test]
fn identifiers_have_parts() {
    assert_eq!(humps("OneOfThese"), ["one", "of", "these"]);
    let found: Vec<_> = identifiers("let is_old = Word(OldWord, \"not\"); // new").collect();
    assert_eq!(
        found
            .into_iter()
            .filter(|it| !it.is_empty())
            .collect::<Vec<_>>(),
        ["let", "is_old", "is", "old", "Word", "OldWord"]
    );
}

/// The columns of a line of documentation, if words could stand in the next line instead: tables
/// and blocks of code keep their columns, and an address or a path is one word.
fn columns(line: &str) -> Option<usize> {
    let text = line.trim_start().get(3..)?.trim();
    let is_table = text.starts_with('|');
    let after_name = text
        .strip_prefix('[')
        .and_then(|text| text.split_once("]: "));
    let is_link = after_name.is_some_and(|(_, address)| !address.contains(' '));
    (!is_table && !is_link && text.contains(' ')).then(|| line.chars().count())
}

#[test]
fn documentation_has_at_most_a_hundred_columns() {
    if document().is_none() {
        return;
    }
    let mut count = 0;
    for file in sources() {
        let text = fs::read_to_string(&file).expect("text");
        let mut is_block = false;
        for (number, line) in text.lines().enumerate() {
            let start = line.trim_start();
            if !start.starts_with("///") && !start.starts_with("//!") {
                is_block = false;
                continue;
            }
            count += 1;
            if start[3..].trim_start().starts_with("```") {
                is_block = !is_block;
            }
            let columns = columns(line).filter(|_| !is_block).unwrap_or_default();
            let (file, number) = (file.display(), number + 1);
            assert!(columns <= 100, "{file}:{number}: {columns} columns");
        }
    }
    assert!(count > 10_000, "{count} lines");
}
