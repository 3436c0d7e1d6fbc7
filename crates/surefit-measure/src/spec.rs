//! How an allocator is named on the command line: `name[:key=value,…]`.

use std::fmt;
use std::path::PathBuf;

use anyhow::{Context, Result, anyhow, bail};

use crate::registry::{self, Kind};
use crate::sizes::HeapSize;
use crate::steps::Steps;
use crate::subject::HandleCost;
use crate::suggest::did_you_mean;

/// An allocator as the user named it.
#[derive(Clone, Debug)]
pub struct Spec {
    text: String,
    /// What it stands for.
    pub choice: Choice,
}

/// What a name stands for.
#[derive(Clone, Debug)]
pub enum Choice {
    /// An allocator of the registry, in this process.
    InProcess(Kind),
    /// The malloc of a shared library, in a child process that preloads it.
    Preload(PathBuf),
}

impl Spec {
    /// Reads one name.
    ///
    /// # Errors
    /// Says which names or keys there are.
    pub fn parse(text: &str) -> Result<Self> {
        let (name, rest) = match text.split_once(':') {
            Some((name, rest)) => (name, Some(rest)),
            None => (text, None),
        };
        let choice = if name == "preload" {
            Choice::Preload(library(text, rest)?)
        } else {
            let keys = Keys::parse(rest).with_context(|| format!("allocator `{text}`"))?;
            let kind =
                registry::parse(name, &keys).with_context(|| format!("allocator `{text}`"))?;
            Choice::InProcess(kind)
        };
        Ok(Self {
            text: text.to_owned(),
            choice,
        })
    }

    /// Reads a comma-separated list. A piece with `=` before any `:` continues the name on its left.
    ///
    /// # Errors
    /// As [`Spec::parse`]; an empty list; a continuation of nothing.
    pub fn parse_list(text: &str) -> Result<Vec<Self>> {
        let mut names: Vec<String> = Vec::new();
        for piece in text.split(',').map(str::trim) {
            match (continues(piece), names.last_mut()) {
                (true, Some(name)) if name.contains(':') => *name = format!("{name},{piece}"),
                (true, _) => bail!("`{piece}` continues no allocator: write name:{piece}"),
                (false, _) => names.push(piece.to_owned()),
            }
        }
        names.iter().map(|name| Self::parse(name)).collect()
    }

    /// The name as given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// What its handles cost; `None` if it hands out raw pointers.
    #[must_use]
    pub fn handles(&self) -> Option<HandleCost> {
        match &self.choice {
            Choice::InProcess(kind) => kind.handles(),
            Choice::Preload(_) => None,
        }
    }

    /// The bytes of the region it is given, if the user asks for `heap`; `None` if it lives in none.
    #[must_use]
    pub fn heap_bytes(&self, heap: HeapSize, steps: &Steps) -> Option<usize> {
        match &self.choice {
            Choice::InProcess(kind) if kind.in_region() => Some(kind.heap_bytes(heap, steps)),
            _ => None,
        }
    }

    /// Whether it lives in a region of a given size.
    #[must_use]
    pub fn in_region(&self) -> bool {
        match &self.choice {
            Choice::InProcess(kind) => kind.in_region(),
            Choice::Preload(_) => false,
        }
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn library(text: &str, path: Option<&str>) -> Result<PathBuf> {
    let path = PathBuf::from(path.filter(|path| !path.is_empty()).ok_or_else(|| {
        anyhow!("allocator `{text}`: name the library: preload:/path/to/libmalloc.so")
    })?);
    if !path.is_file() {
        bail!("allocator `{text}`: there is no such file; give the library's path");
    }
    let absolute = path.canonicalize();
    absolute.with_context(|| format!("allocator `{text}`"))
}

fn continues(piece: &str) -> bool {
    match (piece.find('='), piece.find(':')) {
        (Some(equals), Some(colon)) => equals < colon,
        (equals, None) => equals.is_some(),
        (None, Some(_)) => false,
    }
}

/// The value of a key that is given without one.
const FLAG: &str = "";

/// The keys of one name and their values, each at most once.
#[derive(Clone, Debug, Default)]
pub struct Keys(Vec<(String, String)>);

impl Keys {
    fn parse(rest: Option<&str>) -> Result<Self> {
        let mut keys: Vec<(String, String)> = Vec::new();
        for piece in rest.into_iter().flat_map(|rest| rest.split(',')) {
            let (key, value) = match piece.split_once('=') {
                Some((key, value)) if !key.is_empty() && !value.is_empty() => (key, value),
                None if !piece.is_empty() => (piece, FLAG),
                _ => bail!("`{piece}` is not key=value"),
            };
            if keys.iter().any(|(known, _)| known == key) {
                bail!("key `{key}` is given twice");
            }
            keys.push((key.to_owned(), value.to_owned()));
        }
        Ok(Self(keys))
    }

    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| known == key);
        found.map(|(_, value)| value.as_str())
    }

    /// Whether a key that takes no value is given.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Refuses keys that an allocator does not know; `known` lists them as `key=values`, or `key` if it takes no value.
    ///
    /// # Errors
    /// Names the key and the ones there are.
    pub fn only(&self, known: &[&str]) -> Result<()> {
        for (key, value) in &self.0 {
            let form = known
                .iter()
                .find(|form| form.split('=').next() == Some(key));
            match form {
                Some(form) if form.contains('=') == (value != FLAG) => {}
                Some(form) if value == FLAG => bail!("`{key}` needs a value: write {form}"),
                Some(_) => bail!("`{key}` takes no value: write {key}"),
                None if known.is_empty() => bail!("there is no key `{key}`: it has no keys"),
                None => {
                    let names = known.iter().filter_map(|form| form.split('=').next());
                    let hint = did_you_mean(key, &names.collect::<Vec<_>>());
                    bail!(
                        "there is no key `{key}`: known are {}{hint}",
                        known.join(", ")
                    )
                }
            }
        }
        Ok(())
    }

    /// The value of a key as a number.
    ///
    /// # Errors
    /// Names the key, the value and the form.
    pub fn number(&self, key: &str) -> Result<Option<u32>> {
        let Some(value) = self.get(key) else {
            return Ok(None);
        };
        let number = value.parse();
        let number = number.map_err(|_| anyhow!("{key}={value}: write a whole number"));
        number.map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::{Choice, Spec};
    use crate::registry::Kind;

    fn names(text: &str) -> Vec<String> {
        let specs = Spec::parse_list(text).expect("valid");
        specs.iter().map(Spec::to_string).collect()
    }

    fn error(text: &str) -> String {
        format!("{:#}", Spec::parse_list(text).expect_err("invalid"))
    }

    #[test]
    fn a_piece_with_an_equals_sign_continues_the_name_on_its_left() {
        let text = "cf:k=8,order=original,tlsf, cf:holes=4,frac=1/8,peer-rlsf";
        let expected = [
            "cf:k=8,order=original",
            "tlsf",
            "cf:holes=4,frac=1/8",
            "peer-rlsf",
        ];
        assert_eq!(names(text), expected);
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let text = error("tlsf,mimalloc");
        assert!(text.contains("mimalloc"), "{text}");
        assert!(
            text.contains("peer-talc") && text.contains("preload:PATH"),
            "{text}"
        );
        assert!(error("tslf").ends_with("did you mean `tlsf`?"));
    }

    #[test]
    fn one_subject_may_be_called_by_the_papers_name() {
        for text in ["dl", "peer-dlmalloc"] {
            let spec = Spec::parse(text).expect("an allocator");
            assert!(matches!(
                spec.choice,
                Choice::InProcess(Kind::PeerDlmalloc(()))
            ));
        }
        assert!(Spec::parse("dl:k=1").is_err());
    }

    #[test]
    fn an_unknown_key_lists_the_known_ones() {
        let text = error("cf:kappa=3");
        assert!(text.contains("kappa") && text.contains("k=N|inf"), "{text}");
        assert!(error("tlsf:k=3").contains("no keys"));
        assert!(error("cf:pages=4K").ends_with("did you mean `page`?"));
    }

    #[test]
    fn malformed_keys_are_refused() {
        for text in [
            "",
            "cf:",
            "cf:k",
            "cf:k=",
            "cf:=1",
            "k=3,cf",
            "cf,k=1",
            "cf:k=1,k=2",
            "cf:k=x",
        ] {
            assert!(Spec::parse_list(text).is_err(), "{text}");
        }
    }

    #[test]
    fn impossible_configurations_are_refused() {
        for text in [
            "cf:k=0",
            "cf:k=3,holes=2",
            "cf:frac=3/4",
            "cf:page=3000",
            "cf:page=1M",
            "cf:pieces=5000",
            "cf:order=original",
            "cf:width=64",
            "cf:classes=/no/such/file",
            "cf:keys=yes",
            "cf:keys,width=16",
            "tlsf:keys",
            "cf:min=12",
            "cf:min=0",
            "cf-direct:min=12",
            "cf-direct:min=4096",
            "cf-direct:k=1",
            "segregated:index=table",
            "segregated:coalesce=late",
            "segregated:last=list",
            "segregated:lists=100",
            "segregated:lists=8192",
            "jamaica:block=24",
            "jamaica:arrays=some",
        ] {
            assert!(Spec::parse_list(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_preloaded_library_must_exist() {
        assert!(error("preload:").contains("name the library"));
        assert!(error("preload:/no/such/lib.so").contains("no such file"));
    }
}
