//! The files that a page is made of: traces, or what `compare --format json` wrote.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};

use surefit_measure::results::{Comparison, SCHEMA};
use surefit_measure::small_file;
use surefit_measure::source::Source;

/// How the names of files end that a folder stands for.
const ENDINGS: [&str; 3] = [".json", ".sft", ".sft.zst"];

/// Bytes of a file that are looked at to see what it is.
const LOOKED_AT: u64 = 64;

/// A file, loaded.
#[derive(Debug)]
pub(super) struct Given {
    /// Which of the arguments named it.
    pub(super) file: usize,
    /// Its name.
    pub(super) origin: String,
    /// What it holds.
    pub(super) what: What,
}

/// What a file holds.
#[derive(Debug)]
pub(super) enum What {
    /// A trace.
    Trace(Box<Source>),
    /// Saved results.
    Results(Box<Comparison>),
}

/// Loads the files of all arguments.
///
/// # Errors
/// One line that names the file, the position and the mend.
pub(super) fn load(arguments: &[PathBuf], largest: Option<usize>) -> Result<Vec<Given>> {
    let mut given = Vec::new();
    for (file, argument) in arguments.iter().enumerate() {
        for path in expanded(argument)? {
            given.push(Given {
                file,
                origin: path.display().to_string(),
                what: load_one(&path, largest)?,
            });
        }
    }
    Ok(given)
}

/// The files that an argument stands for: itself, or those of a folder, by name.
fn expanded(argument: &Path) -> Result<Vec<PathBuf>> {
    if !argument.is_dir() {
        return Ok(vec![argument.to_owned()]);
    }
    let name = argument.display();
    let unreadable = || format!("{name}: cannot be read; check the path and its permissions");
    let mut files = Vec::new();
    for entry in argument.read_dir().with_context(unreadable)? {
        let path = entry.with_context(unreadable)?.path();
        let ends = |ending: &&str| path.to_string_lossy().ends_with(*ending);
        if path.is_file() && ENDINGS.iter().any(ends) {
            files.push(path);
        }
    }
    files.sort();
    if files.is_empty() {
        bail!("{name}: has no file that ends in .json, .sft or .sft.zst; name a trace");
    }
    Ok(files)
}

fn load_one(path: &Path, largest: Option<usize>) -> Result<What> {
    if is_json(path) {
        return results(path).map(|found| What::Results(Box::new(found)));
    }
    Source::load(path, largest).map(|source| What::Trace(Box::new(source)))
}

/// Whether a regular file begins as JSON does. What is none, or cannot be read, is taken for a
/// trace: what is wrong with it is said when it is loaded.
fn is_json(path: &Path) -> bool {
    let mut first = Vec::new();
    let read = || {
        let file = File::open(path).ok()?;
        file.take(LOOKED_AT).read_to_end(&mut first).ok()
    };
    path.is_file()
        && { read }().is_some()
        && matches!(first.trim_ascii_start().first(), Some(b'{' | b'['))
}

fn results(path: &Path) -> Result<Comparison> {
    let name = path.display();
    let bytes = small_file::read(path)?;
    let version = serde_json::from_slice::<serde_json::Value>(&bytes).ok();
    let version = version.and_then(|value| value.get("schema")?.as_u64());
    if let Some(version) = version.filter(|version| *version != u64::from(SCHEMA)) {
        bail!(
            "{name}: has schema {version}, and this command reads {SCHEMA}; save the results again"
        );
    }
    let comparison: Comparison = serde_json::from_slice(&bytes).map_err(|error| {
        anyhow!(
            "{name}: is not what surefit compare --format json writes: {error}; save it again, or name a trace"
        )
    })?;
    if comparison
        .traces
        .iter()
        .all(|trace| trace.results.is_empty())
    {
        bail!("{name}: has no results; save them again with surefit compare --format json");
    }
    Ok(comparison)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::{expanded, is_json, load};

    fn refusal(text: &str) -> String {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("x.json");
        fs::write(&path, text).expect("a file");
        let error = load(&[path], None).expect_err("refused").to_string();
        assert_eq!(error.lines().count(), 1, "{error}");
        error
    }

    #[test]
    fn json_that_holds_no_results_is_refused_with_a_mend() {
        let empty = r#"{"schema":1,"rounds":1,"baseline":"cf","clock_ns":2,"traces":[]}"#;
        for (text, word) in [
            ("{", "is not what surefit compare"),
            ("[]", "is not what surefit compare"),
            (r#"{"schema":7}"#, "has schema 7"),
            (r#"{"schema":1,"surprise":2}"#, "unknown field"),
            (empty, "has no results"),
            (&empty.replace("2", "-2"), "invalid value"),
        ] {
            assert!(refusal(text).contains(word), "{text}: {}", refusal(text));
        }
        assert!(refusal("no JSON").contains("x.json"), "taken for a trace");
    }

    #[test]
    fn a_folder_stands_for_its_files() {
        let directory = tempfile::tempdir().expect("a directory");
        let at = |name: &str| directory.path().join(name);
        assert!(expanded(directory.path()).is_err(), "it is empty");
        for name in ["b.json", "a.sft.zst", "c.txt", "d.sft"] {
            fs::write(at(name), "").expect("a file");
        }
        let files = expanded(directory.path()).expect("files");
        assert_eq!(files, [at("a.sft.zst"), at("b.json"), at("d.sft")]);
        let one = Path::new("bundled:redis");
        assert_eq!(expanded(one).expect("a name"), [one]);
        assert!(!is_json(&at("b.json")), "it is empty");
    }
}
