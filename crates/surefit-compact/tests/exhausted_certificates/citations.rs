//! Every file and function that docs/bounds.md names exists, and so does every section to which it
//! or a source refers.

use std::fs;
use std::path::{Path, PathBuf};

const CRATE: &str = env!("CARGO_MANIFEST_DIR");

/// The text between backticks, outside blocks of code.
fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// Where a path that the document names may begin.
fn bases() -> [PathBuf; 5] {
    let crate_ = Path::new(CRATE);
    let root = crate_.join("../..");
    let parents = ["crates", "lab", ""].map(|parent| root.join(parent));
    let [crates, lab, root] = parents;
    [crate_.into(), crate_.join("src"), crates, lab, root]
}

/// The crates whose code and tests the document names without a path.
const CRATES: [&str; 2] = [".", "../surefit-classes"];

/// The folders of this name of these crates.
fn folders(name: &str) -> [PathBuf; CRATES.len()] {
    CRATES.map(|folder| Path::new(CRATE).join(folder).join(name))
}

fn find(path: &str) -> Option<PathBuf> {
    let paths = bases().map(|base| base.join(path));
    paths.into_iter().find(|path| path.exists())
}

/// Whether a token is meant as a path.
fn is_path(token: &str) -> bool {
    let file = token.split("::").next().unwrap_or(token);
    let is_plain = file
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || "_./-".contains(c));
    is_plain
        && (file.ends_with(".rs")
            || file.starts_with("tests/")
            || file.starts_with("permutations/"))
}

/// Whether a Rust file below a folder defines a name.
fn defines(folder: &Path, name: &str) -> bool {
    let entries = fs::read_dir(folder).expect("a folder");
    entries
        .map(|entry| entry.expect("an entry").path())
        .any(|path| {
            if path.is_dir() {
                return defines(&path, name);
            }
            let is_rust = path.extension().is_some_and(|extension| extension == "rs");
            is_rust && has_definition(&fs::read_to_string(&path).expect("text"), name)
        })
}

fn has_definition(text: &str, name: &str) -> bool {
    let ends = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    ["fn ", "struct ", "enum ", "mod ", "trait ", "const "]
        .iter()
        .flat_map(|keyword| {
            let definition = format!("{keyword}{name}");
            text.match_indices(&definition)
                .map(|(at, found)| ends(&text[at + found.len()..]))
                .collect::<Vec<_>>()
        })
        .any(|is_whole| is_whole)
}

#[test]
fn every_file_and_function_named_in_the_bounds_exists() {
    let bounds = Path::new(CRATE).join("docs/bounds.md");
    let text = fs::read_to_string(bounds).expect("docs/bounds.md");
    let (mut files, mut functions) = (0, 0);
    for token in quoted(&text) {
        let (first, last) = (token.split("::").next(), token.rsplit("::").next());
        let (first, last) = (first.expect("a part"), last.expect("a part"));
        if is_path(token) {
            let path = find(first).unwrap_or_else(|| panic!("no file {first}"));
            files += 1;
            if token.contains("::") {
                let text = fs::read_to_string(&path).expect("text");
                assert!(has_definition(&text, last), "no {last} in {first}");
                functions += 1;
            }
            continue;
        }
        let is_name = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let is_qualified = token.contains("::") && token.split("::").all(is_name);
        // Names of tests are sentences.
        let is_test = is_name(token) && token.matches('_').count() > 4;
        if is_qualified || is_test {
            let all = ["src", "tests"].map(folders);
            let is_defined = all.as_flattened().iter().any(|it| defines(it, last));
            assert!(is_defined, "nothing is called {token}");
            functions += 1;
        }
    }
    println!("{files} files, {functions} names");
    assert!(files > 50 && functions > 40, "the document was read");
}

/// The name by which a link reaches a heading, both in rustdoc and where the file is shown by
/// itself.
fn anchor(heading: &str) -> String {
    let heading = heading.trim_start_matches('#').trim().to_lowercase();
    let letters = heading.chars().filter_map(|c| match c {
        ' ' => Some('-'),
        c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
        _ => None,
    });
    letters.collect()
}

/// What follows `before` up to a closing parenthesis, everywhere in a text.
fn linked<'a>(text: &'a str, before: &'a str) -> impl Iterator<Item = &'a str> {
    let parts = text.split(before).skip(1);
    parts.filter_map(|rest| rest.split(')').next())
}

/// All text of the Rust files below a folder.
fn sources(folder: &Path) -> String {
    let entries = fs::read_dir(folder).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let texts = paths.map(|path| {
        if path.is_dir() {
            sources(&path)
        } else {
            fs::read_to_string(&path).expect("text")
        }
    });
    texts.collect()
}

#[test]
fn every_section_that_is_referred_to_exists() {
    let bounds = Path::new(CRATE).join("docs/bounds.md");
    let text = fs::read_to_string(bounds).expect("docs/bounds.md");
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let anchors: Vec<_> = headings.map(anchor).collect();
    let source = folders("src").map(|folder| sources(&folder)).concat();
    let inside = linked(&text, "](#");
    let from_code = linked(&source, "crate::bounds#");
    let from_below = linked(&source, "surefit_compact/bounds/index.html#");
    let mut links = 0;
    for link in inside.chain(from_code).chain(from_below) {
        assert!(anchors.iter().any(|anchor| anchor == link), "no #{link}");
        links += 1;
    }
    assert!(links > 30, "{links} links were read");
}
