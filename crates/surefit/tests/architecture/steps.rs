//! The named steps of ARCHITECTURE.md.

use std::fs;
use std::path::Path;
use std::thread::panicking;
use std::vec::IntoIter;

/// The sections with numbered steps; each has a test that takes them.
const WALKS: [&str; 10] = [
    "One allocation",
    "When a page or an entry is missing",
    "One compacting free",
    "A free under a bound in pages",
    "One free by one of many threads",
    "One pin",
    "Objects in pieces",
    "One collection",
    "Moving and growing before a collection",
    "One object of a Rust program",
];

/// The document; `None` in a packaged crate.
pub(crate) fn document() -> Option<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let is_repository = root.join("ci").is_dir();
    let text = fs::read_to_string(root.join("ARCHITECTURE.md"));
    assert!(text.is_ok() || !is_repository, "ARCHITECTURE.md is missing");
    text.ok()
}

/// A section of the document, from its heading to the next one.
struct Section {
    title: String,
    steps: Vec<String>,
}

/// The sections of a document, outside of blocks of code.
fn sections(text: &str) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    let mut is_code = false;
    for line in text.lines() {
        is_code ^= line.starts_with("```");
        if is_code {
            continue;
        }
        if line.starts_with('#') {
            let title = line.trim_start_matches('#').trim().to_owned();
            let steps = Vec::new();
            sections.push(Section { title, steps });
        } else if let (Some(section), Some(step)) = (sections.last_mut(), step(line)) {
            section.steps.push(step);
        }
    }
    sections
}

/// The name of the step that a line begins, if it begins one.
fn step(line: &str) -> Option<String> {
    let (number, rest) = line.trim_start().split_once(". ")?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number {
        return None;
    }
    let name = rest
        .strip_prefix("**")
        .and_then(|rest| rest.split_once(".**"));
    let (name, _) = name.unwrap_or_else(|| panic!("a step without a name in bold: {line}"));
    Some(name.to_owned())
}

/// A walk-through: the steps of a section that are not taken yet.
pub(crate) struct Walk {
    title: &'static str,
    steps: Option<IntoIter<String>>,
}

impl Walk {
    /// The walk-through of a section.
    pub(crate) fn of(title: &'static str) -> Self {
        assert!(WALKS.contains(&title), "{title} is missing in WALKS");
        let steps = document().map(|text| {
            let mut sections = sections(&text).into_iter();
            let section = sections.find(|section| section.title == title);
            let section =
                section.unwrap_or_else(|| panic!("ARCHITECTURE.md has no section {title}"));
            section.steps.into_iter()
        });
        Self { title, steps }
    }

    /// Takes the next step, which has this name.
    #[track_caller]
    pub(crate) fn step(&mut self, name: &str) {
        if let Some(steps) = &mut self.steps {
            assert_eq!(steps.next().as_deref(), Some(name), "{}", self.title);
        }
    }
}

/// All steps were taken.
impl Drop for Walk {
    fn drop(&mut self) {
        if let (Some(steps), false) = (&mut self.steps, panicking()) {
            assert_eq!(steps.next(), None, "{}: not taken", self.title);
        }
    }
}

#[test]
fn every_section_with_steps_has_a_test() {
    let Some(text) = document() else { return };
    let with_steps = sections(&text)
        .into_iter()
        .filter(|section| !section.steps.is_empty());
    let titles: Vec<_> = with_steps.map(|section| section.title).collect();
    assert_eq!(titles, WALKS);
}

#[test]
fn a_changed_document_is_noticed() {
    let text =
        "# A\n\n```text\n1. not a step\n```\n## B\n1. **First.** Words.\n   2. **Second.** More.\n";
    let found = sections(text);
    assert!(found[0].steps.is_empty());
    assert_eq!((found[1].title.as_str(), found[1].steps.len()), ("B", 2));
    let taken = |names: &[&str]| {
        let mut walk = Walk {
            title: "B",
            steps: Some(sections(text).remove(1).steps.into_iter()),
        };
        names.iter().for_each(|name| walk.step(name));
    };
    taken(&["First", "Second"]);
    for wrong in [
        &["First"][..],
        &["Second", "First"],
        &["First", "Second", "Third"],
    ] {
        assert!(
            std::panic::catch_unwind(|| taken(wrong)).is_err(),
            "{wrong:?}"
        );
    }
    assert!(std::panic::catch_unwind(|| step("1. no name")).is_err());
}
