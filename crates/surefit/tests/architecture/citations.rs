//! What ARCHITECTURE.md and docs/glossary.md cite exists: files, functions, types, crates.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::steps::document;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The folders of all crates: those of the library, and those of the laboratory.
fn crate_folders() -> Vec<PathBuf> {
    let parents = ["crates", "lab"].map(|parent| fs::read_dir(root().join(parent)));
    let entries = parents
        .into_iter()
        .flat_map(|folder| folder.expect("a folder"));
    let folders = entries.map(|entry| entry.expect("an entry").path());
    folders
        .filter(|folder| folder.join("Cargo.toml").exists())
        .collect()
}

/// Where a package of the workspace lies, from its root.
fn folder_of(package: &str) -> String {
    let in_lab = package.strip_prefix("surefit-").unwrap_or(package);
    let in_lab = if in_lab == "lab" { "command" } else { in_lab };
    let folders = [format!("crates/{package}"), format!("lab/{in_lab}")];
    let mut folders = folders.into_iter();
    let found = folders.find(|folder| root().join(folder).join("Cargo.toml").exists());
    found.unwrap_or_else(|| panic!("no crate {package}"))
}

/// What stands between backticks, outside of blocks of code.
fn cited(text: &str) -> Vec<String> {
    let prose = text.split("```").step_by(2);
    let cited = prose.flat_map(|prose| prose.split('`').skip(1).step_by(2));
    cited.map(str::to_owned).collect()
}

/// The lines of a section, from its heading to the next one of its level.
pub(crate) fn section<'t>(text: &'t str, heading: &str) -> &'t str {
    let start = text.find(heading).unwrap_or_else(|| panic!("no {heading}"));
    let rest = &text[start + heading.len()..];
    rest.split("\n## ").next().expect("a part")
}

/// All Rust files below a folder.
fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            rust_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// The names that the sources of all crates define, and all their words.
struct Names {
    defined: BTreeSet<String>,
    words: BTreeSet<String>,
}

impl Names {
    fn read() -> Self {
        let mut files = Vec::new();
        for folder in crate_folders() {
            let sources = folder.join("src");
            if sources.is_dir() {
                rust_files(&sources, &mut files);
            }
        }
        let (mut defined, mut words) = (BTreeSet::new(), BTreeSet::new());
        for file in files {
            let text = fs::read_to_string(file).expect("text");
            let code = text
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"));
            for line in code {
                defined.extend(field(line).map(str::to_owned));
                let is_part = |c: char| c.is_alphanumeric() || c == '_';
                let of_line: Vec<_> = line
                    .split(|c| !is_part(c))
                    .filter(|it| !it.is_empty())
                    .collect();
                for pair in of_line.windows(2) {
                    let keywords = ["fn", "struct", "enum", "trait", "mod", "const", "type"];
                    if keywords.contains(&pair[0]) {
                        defined.insert(pair[1].to_owned());
                    }
                }
                words.extend(of_line.into_iter().map(str::to_owned));
            }
        }
        Self { defined, words }
    }

    /// Whether `Type::name`, or `name`, is something of the sources: what has a path is defined,
    /// what stands alone may be a field or a variant as well.
    fn know(&self, path: &str) -> bool {
        let parts: Vec<_> = path.split("::").collect();
        match parts[..] {
            [name] => self.words.contains(name),
            [.., last] => {
                let is_variant = last.starts_with(char::is_uppercase) && self.words.contains(last);
                parts[..parts.len() - 1]
                    .iter()
                    .all(|part| self.defined.contains(*part))
                    && (self.defined.contains(last) || is_variant)
            }
            [] => false,
        }
    }
}

/// The name of the field that a line declares, if it declares one.
fn field(line: &str) -> Option<&str> {
    let (name, rest) = line.split_once(':')?;
    let name = name.split_whitespace().last()?;
    let is_field = !rest.starts_with(':') && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    is_field.then_some(name)
}

/// The identifiers of a citation: all of `a::b`, the function of `a.b(c)`, the name of
/// `#[derive(Name)]`.
fn path_of(citation: &str) -> Option<String> {
    let call = citation.split('(').next()?;
    let path = call.rsplit('.').next()?.trim_start_matches('&');
    let is_name = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    path.split("::").all(is_name).then(|| path.to_owned())
}

#[test]
fn what_the_architecture_cites_exists() {
    let Some(text) = document() else { return };
    let names = Names::read();
    let (mut files, mut functions) = (0, 0);
    for citation in cited(&text) {
        let bases = ["", "crates", "lab", "crates/surefit-core/src"];
        let is_file =
            citation.contains('/') && !citation.contains(['{', ':']) && !citation.contains(".rs");
        if is_file {
            let exists = bases
                .iter()
                .any(|base| root().join(base).join(&citation).exists());
            assert!(exists, "no {citation}");
            files += 1;
        } else if let Some(path) = path_of(&citation).filter(|path| path.contains(['_', ':'])) {
            assert!(names.know(&path), "nothing is called {citation}");
            functions += 1;
        }
    }
    assert!(
        files >= 7 && functions >= 25,
        "{files} files, {functions} names"
    );
}

#[test]
fn a_wrong_citation_is_noticed() {
    if document().is_none() {
        return;
    }
    let names = Names::read();
    let known = [
        "Heap::insert",
        "automaton::malloc",
        "credit",
        "Bound::Pages",
        "take_free",
    ];
    assert!(known.iter().all(|name| names.know(name)));
    let unknown = [
        "Heap::inserted",
        "automata::malloc",
        "no_such_name",
        "Bound::NoPages",
    ];
    assert!(unknown.iter().all(|name| !names.know(name)));
    assert_eq!(path_of("heap.free(handle)").as_deref(), Some("free"));
    assert_eq!(path_of("k=N"), None);
    assert_eq!(cited("a `b` c\n```text\n`d`\n```\n`e`"), ["b", "e"]);
}

/// The crates that the document lists, from the top.
fn listed_crates(text: &str) -> Vec<&str> {
    let list = section(text, "```text\nlab/").split("```").next();
    let names = list
        .expect("a part")
        .lines()
        .filter_map(|line| line.split_whitespace().next());
    names.filter(|name| name.starts_with("surefit")).collect()
}

/// The crates of the workspace that a crate depends on, not only for its tests.
fn dependencies(of: &str) -> Vec<String> {
    let manifest = fs::read_to_string(root().join(folder_of(of)).join("Cargo.toml"));
    let manifest = manifest.expect("a manifest");
    let (_, rest) = manifest
        .split_once("\n[dependencies]\n")
        .unwrap_or_default();
    let lines = rest.lines().take_while(|line| !line.starts_with('['));
    let names = lines.filter_map(|line| line.split(['.', ' ', '=']).next());
    names
        .filter(|name| name.starts_with("surefit"))
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_listed_crates_are_those_of_the_workspace() {
    let Some(text) = document() else { return };
    let listed = listed_crates(&text).into_iter().map(folder_of);
    let listed: BTreeSet<_> = listed.map(|folder| root().join(folder)).collect();
    let folders: BTreeSet<_> = crate_folders().into_iter().collect();
    assert_eq!(folders, listed);
}

#[test]
fn a_crate_uses_only_crates_that_are_listed_below_it() {
    let Some(text) = document() else { return };
    let (listed, mut count) = (listed_crates(&text), 0);
    for (place, name) in listed
        .iter()
        .enumerate()
        .filter(|(_, name)| **name != "surefit-testkit")
    {
        for used in dependencies(name) {
            let is_below = listed[place + 1..].contains(&used.as_str());
            assert!(is_below, "{name} uses {used}");
            count += 1;
        }
    }
    assert!(count > 20, "{count} dependencies");
}

#[test]
fn the_modules_of_compact_fit_are_those_of_its_sources() {
    let Some(text) = document() else { return };
    let table = section(&text, "## The modules of `surefit-compact`")
        .split("```")
        .nth(1);
    let sources = root().join("crates/surefit-compact/src");
    let mut listed = BTreeSet::new();
    // The folder at the end of the last line that is not indented: those below it are its parts.
    let mut parent = String::new();
    for line in table.expect("a block").lines() {
        let is_part = line.starts_with(' ') && line.trim_start().contains("/ ");
        let files = line.split_whitespace();
        for name in files.filter(|name| name.ends_with(".rs") || name.ends_with('/')) {
            let folder = if is_part { &parent } else { "" };
            assert!(
                sources.join(folder).join(name).exists(),
                "no {folder}{name}"
            );
            listed.insert(format!("{folder}{name}"));
            if !is_part && name.ends_with('/') {
                parent = name.to_owned();
            }
        }
    }
    // The others are parts of what is listed, or stand behind it.
    let not_listed = [
        "check/",
        "certify/",
        "handle.rs",
        "layout.rs",
        "lib.rs",
        "bounds.rs",
    ];
    for entry in fs::read_dir(&sources).expect("a folder") {
        let entry = entry.expect("an entry");
        let mut name = entry.file_name().into_string().expect("a name");
        if entry.path().is_dir() {
            name.push('/');
        }
        let is_known = listed.contains(&name) || not_listed.contains(&name.as_str());
        assert!(is_known, "{name} is not listed");
    }
    assert!(listed.len() > 25, "{} files", listed.len());
}

/// `a/{b,c}.rs` as `a/b.rs` and `a/c.rs`.
fn expanded(path: &str) -> Vec<String> {
    let Some((before, rest)) = path.split_once('{') else {
        return vec![path.to_owned()];
    };
    let (names, after) = rest.split_once('}').expect("a closing brace");
    names
        .split(',')
        .map(|name| format!("{before}{name}{after}"))
        .collect()
}

#[test]
fn every_file_with_unsafe_is_named() {
    let Some(text) = document() else { return };
    let mut named = BTreeSet::new();
    let unsafe_section = section(&text, "## Where `unsafe` lives");
    for item in unsafe_section.split("\n- **`").skip(1) {
        let (name, rest) = item.split_once('`').expect("a crate");
        let folder = match name {
            "firmware" | "firmware/flash" | "firmware/flight" | "firmware/sensor" => {
                name.to_owned()
            }
            package => folder_of(package),
        };
        let item = rest.split("\n\n").next().expect("a part");
        let files = item
            .split('`')
            .skip(1)
            .step_by(2)
            .filter(|it| it.ends_with(".rs"));
        named.extend(
            files
                .flat_map(expanded)
                .map(|file| format!("{folder}/src/{file}")),
        );
    }
    let script = fs::read_to_string(root().join("ci/unsafe.sh")).expect("ci/unsafe.sh");
    let listed: BTreeSet<_> = script
        .lines()
        .filter(|line| line.ends_with(".rs"))
        .map(str::to_owned)
        .collect();
    assert!(listed.len() > 40, "{} files", listed.len());
    assert_eq!(named, listed);
}

#[test]
fn what_the_glossary_cites_exists() {
    if document().is_none() {
        return;
    }
    let text = fs::read_to_string(root().join("docs/glossary.md")).expect("docs/glossary.md");
    let names = Names::read();
    let mut count = 0;
    for citation in cited(&text) {
        let path = path_of(&citation).unwrap_or_else(|| panic!("not a name: {citation}"));
        assert!(names.know(&path), "nothing is called {citation}");
        count += 1;
    }
    assert!(count > 40, "{count} names");
}
