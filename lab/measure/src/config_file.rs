//! An allocator in a TOML file, as `surefit tune` writes it: the keys of its name, one a line.
//!
//! ```toml
//! allocator = "cf"
//! page = 8192
//! k = 1
//! classes = [8, 16, 24, 1024]
//! ```
//! `cf:config=FILE` takes the keys from the file. A key that the command line gives replaces that
//! of the file, and those that say the same thing differently: `k` replaces `holes` and `frac`.

use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use toml::{Table, Value};

use crate::keys::Keys;
use crate::small_file;

/// The key of the file's name.
pub const KEY: &str = "config";

/// The key that names the allocator in a file.
const ALLOCATOR: &str = "allocator";

/// Keys that say the same thing differently.
const GROUPS: [&[&str]; 4] = [
    &["k", "holes", "frac"],
    &["width", "keys", "branded"],
    &["classes", "spacing", "min"],
    &["pieces", "large"],
];

/// The name of an allocator whose keys are in a file: `SPEC` with the key `config`, or the
/// allocator that the file names if there is no `SPEC`.
///
/// # Errors
/// The file cannot be read or is not such a file; its path has a comma.
pub fn spec(file: &Path, allocator: Option<&str>) -> Result<String> {
    let path = file.to_str().filter(|path| !path.contains(','));
    let path = path.ok_or_else(|| {
        anyhow!(
            "{}: a configuration's path must be UTF-8 without commas; copy the file",
            file.display()
        )
    })?;
    let (named, _) = read(file)?;
    let allocator = allocator.unwrap_or(&named);
    let mark = if allocator.contains(':') { ',' } else { ':' };
    Ok(format!("{allocator}{mark}{KEY}={path}"))
}

/// The keys of an allocator, with those of the file that they name with `config`.
///
/// # Errors
/// The file cannot be read, is not such a file, or is for another allocator.
pub(crate) fn with_file(name: &str, keys: Keys) -> Result<Keys> {
    let Some(file) = keys.get(KEY) else {
        return Ok(keys);
    };
    if file.is_empty() {
        bail!("`{KEY}` needs a value: write {KEY}=FILE");
    }
    let (named, of_file) = read(Path::new(file))?;
    if named != name {
        bail!("{KEY}={file}: is for the allocator `{named}`; write {named}:{KEY}={file}");
    }
    let mut all = keys.without(KEY);
    for (key, value) in of_file {
        let group = GROUPS.iter().find(|group| group.contains(&key.as_str()));
        let group = group.copied().unwrap_or(&[]);
        if !keys
            .names()
            .any(|given| given == key || group.contains(&given))
        {
            all.add(&key, &value);
        }
    }
    Ok(all)
}

/// The allocator of a file, and its keys with their values as on the command line.
fn read(file: &Path) -> Result<(String, Vec<(String, String)>)> {
    let name = file.display();
    let text = String::from_utf8(small_file::read(file)?);
    let text = text.map_err(|_| anyhow!("{name}: is not text; write a TOML file"))?;
    let table: Table = text
        .parse()
        .with_context(|| format!("{name}: is no configuration in TOML"))?;
    let Some(Value::String(allocator)) = table.get(ALLOCATOR) else {
        bail!("{name}: names no allocator; write {ALLOCATOR} = \"cf\" in its first line");
    };
    let mut keys = Vec::new();
    for (key, value) in table.iter().filter(|(key, _)| *key != ALLOCATOR) {
        if key == KEY {
            bail!("{name}: no key `{KEY}` goes into a file: write the keys of that file here");
        }
        let value = value_text(value).ok_or_else(|| {
            anyhow!("{name}: {key}: write a whole number, a text, true, or a list of whole numbers")
        })?;
        keys.push((key.clone(), value));
    }
    Ok((allocator.clone(), keys))
}

/// A value as the command line has it; a key without a value is `true`.
fn value_text(value: &Value) -> Option<String> {
    match value {
        Value::Integer(number) => Some(number.to_string()),
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Boolean(true) => Some(String::new()),
        Value::Array(list) => {
            let list = list.iter().map(|item| item.as_integer());
            let list: Option<Vec<_>> = list.map(|it| Some(it?.to_string())).collect();
            Some(format!("[{}]", list?.join(" ")))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::path::Path;

    use super::spec;
    use crate::registry::Kind;
    use crate::spec::{Choice, Spec};
    use surefit_compact::Bound;

    const FILE: &str = "# a comment\nallocator = \"cf\"\npage = 8192\nwidth = 24\n\
        holes = 2\nfrac = \"1/8\"\npieces = 1024\nlarge = 8192\nclasses = [8, 16, 1024]\n";

    fn file(text: &str) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(text.as_bytes()).expect("room");
        file
    }

    fn parsed(text: &str, keys: &str) -> anyhow::Result<Spec> {
        let file = file(text);
        Spec::parse(&format!("cf:config={}{keys}", file.path().display()))
    }

    fn config(spec: &Spec) -> &surefit_compact::Config {
        match &spec.choice {
            Choice::InProcess(Kind::Cf(options)) => &options.config,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_key_of_a_file_counts() {
        let spec = parsed(FILE, "").expect("valid");
        let config = config(&spec);
        let geometry = config.geometry();
        let sizes = geometry.classes().map(|it| geometry.layout(it).block_bytes);
        assert_eq!(sizes.collect::<Vec<_>>(), [8, 16, 1024, 8192]);
        assert_eq!(config.piece_bytes(), Some(1024));
        assert_eq!(config.division().large_bytes(), 8192);
        assert!(matches!(config.bound(), Bound::Holes { base: 2, .. }));
        assert_eq!(spec.handles().expect("handles").bytes_per_object, 6);
    }

    #[test]
    fn the_command_line_replaces_what_says_the_same() {
        let spec = parsed(FILE, ",k=3,pieces=512,spacing=1/4").expect("valid");
        let config = config(&spec);
        assert_eq!(config.bound(), Bound::Pages(3));
        assert_eq!(config.piece_bytes(), Some(512));
        assert_eq!(config.division().large_bytes(), 512);
        assert!(config.geometry().class_count() > 20);
        assert_eq!(config.geometry().page_bytes(), 8192);
    }

    #[test]
    fn a_wrong_file_is_one_line_that_names_it() {
        for (text, expected) in [
            ("", "names no allocator"),
            ("allocator = 3", "names no allocator"),
            ("allocator = \"tlsf\"", "write tlsf:config="),
            (
                "allocator = \"cf\"\npage = 1.5",
                "page: write a whole number",
            ),
            ("allocator = \"cf\"\npages = 1024", "no key `pages`"),
            ("allocator = \"cf\"\nclasses = [8, \"x\"]", "classes: write"),
            ("allocator = \"cf\"\nclasses = []", "names no size"),
            (
                "allocator = \"cf\"\nclasses = [9]",
                "multiple of the granule",
            ),
            ("allocator = \"cf\"\nkeys = false", "keys: write"),
            ("allocator = \"cf\"\nconfig = \"x\"", "no key `config`"),
            ("allocator = ", "is no configuration in TOML"),
        ] {
            let error = format!("{:#}", parsed(text, "").expect_err(text));
            assert!(error.contains(expected), "{text:?}: {error}");
        }
        assert!(parsed(FILE, ",config=x").is_err());
    }

    #[test]
    fn a_file_stands_for_a_spec() {
        let file = file(FILE);
        let path = file.path().display();
        let of = |allocator| spec(file.path(), allocator).expect("a file");
        assert_eq!(of(None), format!("cf:config={path}"));
        assert_eq!(of(Some("cf:k=1")), format!("cf:k=1,config={path}"));
        assert!(spec(Path::new("/no/such/file"), None).is_err());
        assert!(spec(Path::new("a,b"), None).is_err());
    }
}
