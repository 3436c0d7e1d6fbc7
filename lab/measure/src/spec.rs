//! The name of an allocator on the command line: `name[:key=value,…]`.

use std::fmt;
use std::path::PathBuf;

use anyhow::{Context, Result, anyhow, bail};

use crate::config_file;
use crate::keys::Keys;
use crate::libraries::{self, Known};
use crate::registry::{self, Kind};
use crate::sizes::HeapSize;
use crate::steps::Steps;
use crate::subject::HandleCost;

/// An allocator as the user named it.
#[derive(Clone, Debug)]
pub struct Spec {
    text: String,
    /// The allocator that the name stands for.
    pub choice: Choice,
}

/// The allocator that a name stands for.
#[derive(Clone, Debug)]
pub enum Choice {
    /// An allocator of the registry, in this process.
    InProcess(Kind),
    /// The malloc of a shared library, in a child process that preloads it.
    Preload(PathBuf),
}

impl Spec {
    /// Reads one name. That of a known malloc library stands for the file on this machine.
    ///
    /// # Errors
    /// An unknown name or key; the error lists the known ones. A library that is not found.
    pub fn parse(text: &str) -> Result<Self> {
        let (name, rest) = match text.split_once(':') {
            Some((name, rest)) => (name, Some(rest)),
            None => (text, None),
        };
        let choice = if name == "preload" {
            Choice::Preload(library(text, rest)?)
        } else if let (Some(known), None) = (libraries::known(name), rest) {
            Choice::Preload(installed(known)?)
        } else {
            let keys = Keys::parse(rest).and_then(|keys| config_file::with_file(name, keys));
            let kind = keys.and_then(|keys| registry::parse(name, &keys));
            Choice::InProcess(kind.with_context(|| format!("allocator `{text}`"))?)
        };
        Ok(Self {
            text: text.to_owned(),
            choice,
        })
    }

    /// Reads a comma-separated list. A piece with `=` before any `:` continues the name on its
    /// left.
    ///
    /// # Errors
    /// As [`Spec::parse`]; the list is empty; the first piece is an option without an allocator.
    pub fn parse_list(text: &str) -> Result<Vec<Self>> {
        let mut names: Vec<String> = Vec::new();
        for piece in text.split(',').map(str::trim) {
            match (continues(piece), names.last_mut()) {
                (true, Some(name)) if name.contains(':') => *name = format!("{name},{piece}"),
                (true, _) => {
                    bail!("`{piece}` is an option without an allocator: write name:{piece}")
                }
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

    /// The same allocator, told the demand of a trace in memory.
    #[must_use]
    pub fn told(&self, steps: &Steps) -> Self {
        Self {
            text: self.text.clone(),
            choice: match &self.choice {
                Choice::InProcess(kind) => Choice::InProcess(kind.told(steps)),
                Choice::Preload(library) => Choice::Preload(library.clone()),
            },
        }
    }

    /// The cost of its handles; `None` if it hands out raw pointers.
    #[must_use]
    pub fn handles(&self) -> Option<HandleCost> {
        match &self.choice {
            Choice::InProcess(kind) => kind.handles(),
            Choice::Preload(_) => None,
        }
    }

    /// The size of its region in bytes, if the user requests `heap` bytes; `None` if it has no
    /// region.
    #[must_use]
    pub fn heap_bytes(&self, heap: HeapSize, steps: &Steps) -> Option<usize> {
        match &self.choice {
            Choice::InProcess(kind) if kind.in_region() => Some(kind.heap_bytes(heap, steps)),
            _ => None,
        }
    }

    /// Whether it is the malloc of the process, which serves any number of threads.
    #[must_use]
    pub fn is_malloc(&self) -> bool {
        is_malloc(&self.text)
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
    libraries::preloadable(&format!("allocator `{text}`"), &path)
}

/// The file of a known library.
fn installed(known: &Known) -> Result<PathBuf> {
    let Known { name, mend, .. } = known;
    known.find()?.ok_or_else(|| {
        anyhow!(
            "allocator `{name}`: it is a library, and is not found ({mend}); name its file: \
             preload:/path/to/libmalloc.so"
        )
    })
}

/// An allocator as tables and sentences call it: a preloaded library by the name of its file, the
/// crates of others without `peer-`, any other as it was given.
#[must_use]
pub fn shown(allocator: &str) -> &str {
    match allocator.strip_prefix("preload:") {
        Some(path) => path.rsplit('/').next().unwrap_or(path),
        None => allocator.strip_prefix("peer-").unwrap_or(allocator),
    }
}

/// Whether a word means this allocator: the name that was given, or as it is shown.
#[must_use]
pub fn is_called(allocator: &str, word: &str) -> bool {
    allocator == word || shown(allocator) == shown(word)
}

/// The place of the allocator that a word means: the one of exactly this name, or, if there is
/// none, the first that is called so.
#[must_use]
pub fn place_of(names: &[&str], word: &str) -> Option<usize> {
    let exactly = names.iter().position(|name| *name == word);
    exactly.or_else(|| names.iter().position(|name| is_called(name, word)))
}

/// Whether a name means the malloc of a process: the platform's, or that of a library that is
/// preloaded.
#[must_use]
pub fn is_malloc(allocator: &str) -> bool {
    allocator == "system" || is_preloaded(allocator)
}

/// Whether a name means the malloc of a library that is preloaded.
#[must_use]
pub fn is_preloaded(allocator: &str) -> bool {
    allocator.starts_with("preload:") || libraries::known(allocator).is_some()
}

fn continues(piece: &str) -> bool {
    match (piece.find('='), piece.find(':')) {
        (Some(equals), Some(colon)) => equals < colon,
        (equals, None) => equals.is_some(),
        (None, Some(_)) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{Choice, Spec, is_called, is_preloaded, place_of, shown};
    use crate::libraries::KNOWN;
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
        let text = error("tlsf,rpmalloc");
        assert!(text.contains("rpmalloc"), "{text}");
        assert!(
            text.contains("peer-talc") && text.contains("preload:PATH"),
            "{text}"
        );
        assert!(error("tslf").ends_with("did you mean `tlsf`?"));
    }

    #[test]
    fn an_allocator_answers_to_the_name_that_tables_show() {
        for (allocator, name) in [
            ("peer-rlsf", "rlsf"),
            ("preload:/usr/lib/libx.so.2", "libx.so.2"),
            ("cf:k=1", "cf:k=1"),
            ("jemalloc", "jemalloc"),
        ] {
            assert_eq!(shown(allocator), name);
            assert!(is_called(allocator, name) && is_called(allocator, allocator));
            assert!(is_called(name, allocator));
        }
        assert!(!is_called("tlsf", "rlsf"));
        for name in ["rlsf", "talc", "dlmalloc"] {
            let (short, long) = (Spec::parse(name), Spec::parse(&format!("peer-{name}")));
            let kind = |spec: anyhow::Result<Spec>| match spec.expect("an allocator").choice {
                Choice::InProcess(kind) => std::mem::discriminant(&kind),
                Choice::Preload(_) => panic!("{name} is in this process"),
            };
            assert_eq!(kind(short), kind(long));
        }
    }

    #[test]
    fn of_two_libraries_with_one_file_name_the_whole_name_says_which() {
        let names = ["tlsf", "preload:/a/libx.so", "preload:/b/libx.so"];
        let place = |word: &str| place_of(&names, word);
        assert_eq!(place("preload:/b/libx.so"), Some(2));
        assert_eq!(place("libx.so"), Some(1));
        assert_eq!(place("rlsf"), None);
    }

    #[test]
    fn a_known_library_is_found_or_its_package_is_named() {
        for known in KNOWN {
            assert!(is_preloaded(known.name));
            match Spec::parse(known.name) {
                Ok(spec) => assert!(matches!(spec.choice, Choice::Preload(_)), "{spec}"),
                Err(error) => {
                    let error = error.to_string();
                    assert!(
                        error.contains(known.mend) && error.contains("preload:/"),
                        "{error}"
                    );
                }
            }
        }
        assert!(error("jemalloc:k=1").contains("no such allocator"));
    }

    #[test]
    fn one_subject_may_be_called_by_the_papers_name() {
        for text in ["dl", "dlmalloc", "peer-dlmalloc"] {
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
            "cf:keys,width=24",
            "cf:width=25",
            "cf:branded,width=16",
            "cf:keys,branded",
            "cf:branded=yes",
            "cf-os:limit=1K",
            "cf-os:width=16",
            "cf-os:delay=x",
            "tlsf:keys",
            "cf:min=12",
            "cf:min=0",
            "cf-direct:min=12",
            "cf-direct:min=4096",
            "cf-direct:k=1",
            "cf-paper:min=24",
            "cf-paper:k=1",
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
