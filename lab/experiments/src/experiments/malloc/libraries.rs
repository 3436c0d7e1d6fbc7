//! The libraries that are compared, and where they are.
//!
//! ```text
//! glibc       no library is preloaded: the C library's own malloc
//! mimalloc, jemalloc, tcmalloc, surefit    where `surefit_measure::libraries` finds them
//! more        SUREFIT_MALLOC_MORE=NAME=PATH,NAME=PATH
//! ```
//! `SUREFIT_MALLOC_ONLY=NAME,NAME` leaves out all others but glibc.
#![deny(unsafe_code)]

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use surefit_measure::libraries::{self, KNOWN, preloadable};

pub(super) use surefit_measure::libraries::OURS_IS;

/// Names further libraries.
pub(super) const MORE_ARE: &str = "SUREFIT_MALLOC_MORE";

/// Names the libraries that run.
pub(super) const ONLY_ARE: &str = "SUREFIT_MALLOC_ONLY";

/// What ours is called in tables.
const OURS: &str = "surefit";

/// What a library is here for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// What all others are divided by.
    Base,
    /// A library of others.
    Peer,
    /// Ours.
    Ours,
}

/// A malloc.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Library {
    /// What tables call it.
    pub(super) name: String,
    /// What it is here for.
    pub(super) role: Role,
    /// The file to preload; none for the C library's own.
    pub(super) file: Option<PathBuf>,
    /// Why it cannot run, and how to mend that.
    pub(super) missing: Option<String>,
}

impl Library {
    /// The C library's own malloc.
    pub(super) fn base() -> Self {
        Self {
            name: "glibc".to_owned(),
            role: Role::Base,
            file: None,
            missing: None,
        }
    }

    fn new(name: &str, role: Role, file: Option<PathBuf>, mend: &str) -> Self {
        Self {
            name: name.to_owned(),
            role,
            missing: file.is_none().then(|| mend.to_owned()),
            file,
        }
    }
}

/// All libraries, in the order of the tables: the base first, ours last.
///
/// # Errors
/// A variable names what is no file, or has another form.
pub(super) fn all() -> Result<Vec<Library>> {
    let variable = |name| env::var_os(name).filter(|value| !value.is_empty());
    let words = |name| variable(name).map(|value| value.to_string_lossy().into_owned());
    let mut libraries = vec![Library::base()];
    let mut known = known()?;
    let ours = known.pop();
    libraries.extend(known);
    libraries.extend(named(&words(MORE_ARE).unwrap_or_default())?);
    libraries.extend(ours);
    match words(ONLY_ARE) {
        Some(names) => only(libraries, &names),
        None => Ok(libraries),
    }
}

/// The base, and the libraries of these names.
fn only(libraries: Vec<Library>, names: &str) -> Result<Vec<Library>> {
    let names: Vec<_> = names.split(',').filter(|name| !name.is_empty()).collect();
    for name in &names {
        let known: Vec<_> = libraries.iter().map(|one| one.name.as_str()).collect();
        ensure!(
            known.contains(name),
            "{ONLY_ARE}: there is no library `{name}`: known are {}",
            known.join(", ")
        );
    }
    let is_kept = |one: &Library| one.role == Role::Base || names.contains(&one.name.as_str());
    Ok(libraries.into_iter().filter(is_kept).collect())
}

/// The known libraries, ours last, with their files on this machine.
fn known() -> Result<Vec<Library>> {
    let known = KNOWN.iter().map(|known| {
        let (name, role) = match known.name {
            libraries::OURS => (OURS, Role::Ours),
            name => (name, Role::Peer),
        };
        let mend = match role {
            Role::Ours => format!("{name} is not built: {}", known.mend),
            _ => format!("{name} is not installed ({})", known.mend),
        };
        Ok(Library::new(name, role, known.find()?, &mend))
    });
    known.collect()
}

/// Further libraries: `NAME=PATH`, separated by commas.
fn named(text: &str) -> Result<Vec<Library>> {
    let words = text.split(',').filter(|word| !word.is_empty());
    let named = words.map(|word| {
        let (name, path) = word
            .split_once('=')
            .with_context(|| format!("{MORE_ARE}: `{word}` is not of the form NAME=PATH"))?;
        let known = [OURS, "glibc"]
            .into_iter()
            .chain(KNOWN.map(|known| known.name));
        ensure!(
            !name.is_empty() && known.into_iter().all(|known| known != name),
            "{MORE_ARE}: `{name}` is taken or empty; choose another name"
        );
        let file = preloadable(MORE_ARE, Path::new(path))?;
        Ok(Library::new(name, Role::Peer, Some(file), ""))
    });
    let named = named.collect::<Result<Vec<_>>>()?;
    for (at, library) in named.iter().enumerate() {
        let is_first = named[..at].iter().all(|other| other.name != library.name);
        ensure!(is_first, "{MORE_ARE}: `{}` is named twice", library.name);
    }
    Ok(named)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Library, Role, all, named, only};

    #[test]
    fn further_libraries_need_a_name_and_a_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("libmesh.so");
        fs::write(&file, "").expect("a file");
        let file = file.display();
        let found = named(&format!("mesh={file},other={file},")).expect("two files");
        assert_eq!(found.len(), 2);
        assert_eq!(
            (found[0].name.as_str(), found[0].role),
            ("mesh", Role::Peer)
        );
        for (text, word) in [
            ("mesh=/no/such/lib.so".to_owned(), "no such file"),
            ("libmesh.so".to_owned(), "NAME=PATH"),
            (format!("={file}"), "empty"),
            (format!("glibc={file}"), "taken"),
            (format!("a={file},a={file}"), "twice"),
        ] {
            let error = named(&text).expect_err(&text).to_string();
            assert!(error.contains(word), "{error}");
        }
    }

    #[test]
    fn glibc_is_first_and_ours_is_last() {
        let all = all().expect("no variables");
        assert_eq!(all[0].role, Role::Base);
        assert_eq!(all[all.len() - 1].role, Role::Ours);
    }

    #[test]
    fn a_choice_of_libraries_keeps_glibc() {
        let library = |name| Library::new(name, Role::Peer, None, "");
        let all = || vec![Library::base(), library("mimalloc"), library("jemalloc")];
        let names = |chosen: &str| {
            let chosen = only(all(), chosen).expect("known names");
            let names = chosen.into_iter().map(|library| library.name);
            names.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(names("jemalloc"), "glibc jemalloc");
        assert_eq!(names("glibc,"), "glibc");
        let error = only(all(), "hoard").expect_err("unknown").to_string();
        assert!(
            error.contains("hoard") && error.contains("mimalloc"),
            "{error}"
        );
    }
}
