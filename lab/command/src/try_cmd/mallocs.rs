//! The mallocs under which a program is tried.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail, ensure};
use surefit_measure::child;
use surefit_measure::libraries::{KNOWN, Known, named_like, preloadable};

/// What the C library's own malloc is called.
pub(super) const BASE: &str = "glibc";

/// What the C library's own malloc is called for a program that is linked with another one.
pub(super) const SYSTEM: &str = "system-glibc";

/// A malloc that a program is linked with, in a library of its own.
#[derive(Clone, Debug)]
pub(super) struct Linked {
    pub(super) name: &'static str,
    /// The C library: preloaded, its malloc comes before that of the other library.
    libc: Option<PathBuf>,
}

/// A malloc.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Malloc {
    pub(super) name: String,
    /// The library to preload; none for the C library's own.
    pub(super) library: Option<PathBuf>,
    /// Why it cannot be tried.
    pub(super) missing: Option<String>,
}

/// glibc, those that this machine has, and those that are named; with `only`, none that
/// this machine has but glibc and those. A known one that is named is the file that is named. A
/// program that is linked with another malloc is tried on the C library's as well.
///
/// # Errors
/// A name that there is not, or that is there twice; a library that cannot be preloaded.
pub(super) fn all(
    with: &[String],
    only: &[String],
    linked: Option<&Linked>,
) -> Result<Vec<Malloc>> {
    let mut added = Vec::new();
    for text in with {
        added.push(named(text, &added)?);
    }
    let mut all = vec![Malloc {
        name: BASE.to_owned(),
        library: None,
        missing: None,
    }];
    let is_added = |known: &&Known| added.iter().any(|one| one.name == known.name);
    for known in KNOWN.iter().filter(|known| !is_added(known)) {
        let library = known.find()?;
        all.push(Malloc {
            name: known.name.to_owned(),
            missing: library
                .is_none()
                .then(|| format!("not found on this machine: {}", known.mend)),
            library,
        });
    }
    for name in only {
        let names = all.iter().chain(&added).map(|one| one.name.as_str());
        let names: Vec<_> = names.collect();
        ensure!(
            names.contains(&name.as_str()),
            "--only: there is no malloc `{name}`: known are {}; --with NAME=PATH adds one",
            names.join(", ")
        );
    }
    all.retain(|one| only.is_empty() || one.name == BASE || only.contains(&one.name));
    if let Some(libc) = linked.and_then(|linked| linked.libc.clone()) {
        let system = Malloc {
            name: SYSTEM.to_owned(),
            library: Some(libc),
            missing: None,
        };
        all.insert(1, system);
    }
    all.extend(added);
    for one in &mut all {
        if let Some(library) = &one.library {
            one.missing = loaded(library).err().map(|error| format!("{error:#}"));
        }
    }
    Ok(all)
}

/// `NAME=PATH`, or a path alone, which `preload:` may stand before.
fn named(text: &str, others: &[Malloc]) -> Result<Malloc> {
    let text = text.strip_prefix("preload:").unwrap_or(text);
    let (name, path) = text.split_once('=').unwrap_or_else(|| {
        let file = text.rsplit('/').next().unwrap_or(text);
        (file, text)
    });
    let is_taken = [BASE, SYSTEM].contains(&name) || others.iter().any(|other| other.name == name);
    if name.is_empty() || is_taken {
        bail!("--with {text}: the name `{name}` is taken or empty; give another: NAME=PATH");
    }
    Ok(Malloc {
        name: name.to_owned(),
        library: Some(preloadable("--with", Path::new(path))?),
        missing: None,
    })
}

/// Whether the loader takes a library: of one that it does not, the program would run without.
fn loaded(library: &Path) -> Result<()> {
    let mut command = Command::new("true");
    command.env("LD_PRELOAD", library);
    let output = child::output(&mut command)?;
    child::succeeded("preloaded", &output).map(drop)
}

/// The known malloc that a program is linked with, as the loader lists its libraries; `None` if
/// there is none. The program itself does not run.
pub(super) fn linked(program: &OsStr) -> Option<Linked> {
    let mut command = Command::new(program);
    command.env("LD_TRACE_LOADED_OBJECTS", "1");
    command.env_remove("LD_PRELOAD");
    let listed = child::output(&mut command).ok()?.stdout;
    let listed = String::from_utf8_lossy(&listed);
    let file = |line: &'_ str| line.split_whitespace().next().map(PathBuf::from);
    let mut files = listed.lines().filter_map(file);
    let name = files.find_map(|file| Some(named_like(&file)?.name))?;
    let mut lines = listed.lines().map(str::trim_start);
    let libc = lines.find_map(|line| line.strip_prefix("libc.so.6 => "));
    let libc = libc.and_then(file).filter(|file| file.is_file());
    Some(Linked { name, libc })
}

#[cfg(test)]
mod tests {
    use super::{BASE, all, linked};

    #[test]
    fn a_program_without_a_known_malloc_is_linked_with_none() {
        assert!(linked("true".as_ref()).is_none());
        assert!(linked("/no/such/program".as_ref()).is_none());
    }

    #[test]
    fn glibc_is_always_tried_and_names_are_known_and_single() {
        let names = |with: &[String], only: &[String]| {
            let all = all(with, only, None).expect("known names");
            all.into_iter().map(|one| one.name).collect::<Vec<_>>()
        };
        let one = |text: &str| [text.to_owned()];
        assert_eq!(names(&[], &one(BASE)), [BASE]);
        assert_eq!(names(&[], &[])[0], BASE);
        assert_eq!(names(&[], &one("jemalloc")), [BASE, "jemalloc"]);
        let error = |with: &[String], only: &[String]| {
            let error = all(with, only, None).expect_err("wrong");
            error.to_string()
        };
        assert!(error(&[], &one("hoard")).contains("known are glibc, mimalloc"));
        let file = tempfile::NamedTempFile::new().expect("a file");
        let path = file.path().display();
        assert!(error(&one("mine=/no/such/lib.so"), &[]).contains("no such file"));
        for taken in [format!("glibc={path}"), format!("={path}")] {
            assert!(error(&one(&taken), &[]).contains("is taken or empty"));
        }
        let twice = [format!("mine={path}"), format!("mine={path}")];
        assert!(error(&twice, &[]).contains("is taken"));
        let mine = one(&format!("mine={path}"));
        assert_eq!(names(&mine, &one("jemalloc")), [BASE, "jemalloc", "mine"]);
        assert_eq!(names(&mine, &one(BASE)), [BASE, "mine"]);
        // A known one that is named is that file, whether this machine has another or not.
        let ours = one(&format!("surefit-malloc={path}"));
        assert_eq!(names(&ours, &one(BASE)), [BASE, "surefit-malloc"]);
        let known = ["mimalloc", "jemalloc", "tcmalloc", "surefit-malloc"];
        assert_eq!(names(&ours, &[])[1..], known);
        let given = all(&ours, &[], None).expect("a file");
        let given = given.last().and_then(|last| last.library.clone());
        assert_eq!(given, file.path().canonicalize().ok());
        // The loader says that it is no library.
        let all = all(&one(&format!("preload:{path}")), &[], None).expect("a file");
        let last = all.last().expect("the file").missing.clone();
        assert!(
            last.is_some_and(|why| why.contains("cannot preload")),
            "{all:?}"
        );
    }
}
