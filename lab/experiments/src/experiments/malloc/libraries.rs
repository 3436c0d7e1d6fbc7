//! The libraries that are compared, and where they are.
//!
//! ```text
//! glibc       no library is preloaded: the C library's own malloc
//! mimalloc, jemalloc, tcmalloc    in the folders of the system
//! more        SUREFIT_MALLOC_MORE=NAME=PATH,NAME=PATH
//! surefit     SUREFIT_MALLOC_LIBRARY=PATH, or beside this program, where a build puts it
//! ```
//! `SUREFIT_MALLOC_ONLY=NAME,NAME` leaves out all others but glibc.
#![deny(unsafe_code)]

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

/// Names our library.
pub(super) const OURS_IS: &str = "SUREFIT_MALLOC_LIBRARY";

/// Names further libraries.
pub(super) const MORE_ARE: &str = "SUREFIT_MALLOC_MORE";

/// Names the libraries that run.
pub(super) const ONLY_ARE: &str = "SUREFIT_MALLOC_ONLY";

/// What ours is called in tables.
const OURS: &str = "surefit";

/// The file that holds ours.
const OUR_FILE: &str = "libsurefit_malloc.so";

/// The command that builds ours.
const BUILD: &str = "cargo build --profile preload -p surefit-malloc --example surefit_malloc";

/// Where systems keep libraries.
const FOLDERS: [&str; 7] = [
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/lib64",
    "/usr/local/lib",
    "/usr/local/lib64",
];

/// The libraries of others: name, Debian's package, files in order of preference.
const PEERS: [(&str, &str, &[&str]); 3] = [
    (
        "mimalloc",
        "libmimalloc2.0",
        &[
            "libmimalloc.so.3",
            "libmimalloc.so.2",
            "libmimalloc.so.2.0",
            "libmimalloc.so",
        ],
    ),
    (
        "jemalloc",
        "libjemalloc2",
        &["libjemalloc.so.2", "libjemalloc.so"],
    ),
    (
        "tcmalloc",
        "libtcmalloc-minimal4",
        &[
            "libtcmalloc_minimal.so.4",
            "libtcmalloc_minimal.so",
            "libtcmalloc.so.4",
        ],
    ),
];

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
    let ours = variable(OURS_IS).map(PathBuf::from);
    let exe = env::current_exe().unwrap_or_default();
    let mut libraries = vec![Library::base()];
    libraries.extend(peers(&FOLDERS.map(Path::new)));
    libraries.extend(named(&words(MORE_ARE).unwrap_or_default())?);
    libraries.push(own(ours, exe.parent())?);
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

/// The libraries of others, from these folders.
fn peers(folders: &[&Path]) -> Vec<Library> {
    let found = |files: &[&str]| {
        let files = files
            .iter()
            .flat_map(|file| folders.iter().map(move |folder| folder.join(file)));
        files.into_iter().find(|file| file.is_file())
    };
    let peers = PEERS.iter().map(|(name, package, files)| {
        let mend = format!("{name} is not installed (Debian's package {package})");
        Library::new(name, Role::Peer, found(files), &mend)
    });
    peers.collect()
}

/// Further libraries: `NAME=PATH`, separated by commas.
fn named(text: &str) -> Result<Vec<Library>> {
    let words = text.split(',').filter(|word| !word.is_empty());
    let named = words.map(|word| {
        let (name, path) = word
            .split_once('=')
            .with_context(|| format!("{MORE_ARE}: `{word}` is not of the form NAME=PATH"))?;
        let known = [OURS, "glibc"].into_iter().chain(PEERS.map(|peer| peer.0));
        ensure!(
            !name.is_empty() && known.into_iter().all(|known| known != name),
            "{MORE_ARE}: `{name}` is taken or empty; choose another name"
        );
        let file = existing(MORE_ARE, Path::new(path))?;
        Ok(Library::new(name, Role::Peer, Some(file), ""))
    });
    let named = named.collect::<Result<Vec<_>>>()?;
    for (at, library) in named.iter().enumerate() {
        let is_first = named[..at].iter().all(|other| other.name != library.name);
        ensure!(is_first, "{MORE_ARE}: `{}` is named twice", library.name);
    }
    Ok(named)
}

/// Ours: as named, or beside this program.
fn own(named: Option<PathBuf>, beside: Option<&Path>) -> Result<Library> {
    let file = match named {
        Some(file) => Some(existing(OURS_IS, &file)?),
        None => beside.and_then(built),
    };
    let mend = format!("surefit is not built: {BUILD}, or name it by {OURS_IS}=PATH");
    Ok(Library::new(OURS, Role::Ours, file, &mend))
}

/// Where a build puts ours, seen from the folder of this program.
fn built(folder: &Path) -> Option<PathBuf> {
    let target = folder.parent()?;
    let folders = [folder.to_owned(), target.join("preload/examples")];
    let files = folders.map(|folder| folder.join(OUR_FILE));
    files.into_iter().find(|file| file.is_file())
}

/// A file that exists. The loader splits names at spaces and colons.
fn existing(variable: &str, file: &Path) -> Result<PathBuf> {
    ensure!(
        file.is_file(),
        "{variable}: {}: no such file",
        file.display()
    );
    let file = file.canonicalize()?;
    let text = file.to_string_lossy();
    ensure!(
        !text.contains([' ', ':']),
        "{variable}: {text}: the loader takes no path with a space or a colon; link it elsewhere"
    );
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::{Library, OUR_FILE, PEERS, Role, all, named, only, own, peers};

    #[test]
    fn the_best_file_of_the_first_folder_is_taken_and_others_are_missing() {
        let folder = tempfile::tempdir().expect("a folder");
        for file in ["libjemalloc.so", "libjemalloc.so.2"] {
            fs::write(folder.path().join(file), "").expect("a file");
        }
        let found = peers(&[Path::new("/no/such/folder"), folder.path()]);
        assert_eq!(found.len(), PEERS.len());
        for library in found {
            let is_here = library.name == "jemalloc";
            assert_eq!(library.missing.is_none(), is_here, "{library:?}");
            let file = library.file.map(|file| file.ends_with("libjemalloc.so.2"));
            assert_eq!(file, is_here.then_some(true));
        }
    }

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
    fn ours_is_found_where_a_build_puts_it() {
        let target = tempfile::tempdir().expect("a folder");
        let release = target.path().join("release");
        let examples = target.path().join("preload/examples");
        fs::create_dir_all(&release).expect("a folder");
        fs::create_dir_all(&examples).expect("a folder");
        let missing = own(None, Some(&release)).expect("no variable");
        assert!(
            missing
                .missing
                .is_some_and(|why| why.contains("cargo build"))
        );
        fs::write(examples.join(OUR_FILE), "").expect("a file");
        let found = own(None, Some(&release)).expect("no variable");
        assert_eq!(found.file, Some(examples.join(OUR_FILE)));
        let named = own(Some(examples.join(OUR_FILE)), None).expect("a file");
        assert_eq!((named.role, named.missing), (Role::Ours, None));
        let error = own(Some("/no/such/lib.so".into()), None).expect_err("no file");
        assert!(error.to_string().contains("SUREFIT_MALLOC_LIBRARY"));
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
