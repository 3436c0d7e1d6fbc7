//! Malloc libraries that many machines have: what people call them, and where they are.
//!
//! ```text
//! mimalloc, jemalloc, tcmalloc    in the folders of the system
//! surefit-malloc                  SUREFIT_MALLOC_LIBRARY=PATH; beside this program, or where a build
//!                                 puts it; in the folders of the system
//! ```
//! The current directory is not looked into: it may be somebody else's.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use object::read::elf::ElfFile64;
use object::{Endianness, Object as _, ObjectSymbol as _};

/// A malloc that people install as a library of its own.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// What people call it, on the command line too.
    pub name: &'static str,
    /// How to get it.
    pub mend: &'static str,
    /// The files that hold it, in order of preference.
    files: &'static [&'static str],
}

/// What ours is called.
pub const OURS: &str = "surefit-malloc";

/// Names our library.
pub const OURS_IS: &str = "SUREFIT_MALLOC_LIBRARY";

/// All of them, ours last.
pub const KNOWN: [Known; 4] = [
    Known {
        name: "mimalloc",
        mend: "Debian's package libmimalloc2.0",
        files: &[
            "libmimalloc.so.3",
            "libmimalloc.so.2",
            "libmimalloc.so.2.0",
            "libmimalloc.so",
        ],
    },
    Known {
        name: "jemalloc",
        mend: "Debian's package libjemalloc2",
        files: &["libjemalloc.so.2", "libjemalloc.so"],
    },
    Known {
        name: "tcmalloc",
        mend: "Debian's package libtcmalloc-minimal4",
        files: &[
            "libtcmalloc_minimal.so.4",
            "libtcmalloc_minimal.so",
            "libtcmalloc.so.4",
        ],
    },
    Known {
        name: OURS,
        mend: "cargo build --profile preload -p surefit-malloc --example surefit_malloc, \
               then SUREFIT_MALLOC_LIBRARY=target/preload/examples/libsurefit_malloc.so",
        files: &["libsurefit_malloc.so"],
    },
];

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

/// The library of this name; `None` if the name is none of [`KNOWN`].
#[must_use]
pub fn known(name: &str) -> Option<&'static Known> {
    KNOWN.iter().find(|known| known.name == name)
}

impl Known {
    /// Where it is on this machine; `None` if it is not found.
    ///
    /// # Errors
    /// The variable [`OURS_IS`] names what cannot be preloaded.
    pub fn find(&self) -> Result<Option<PathBuf>> {
        let folders = FOLDERS.map(Path::new);
        if self.name != OURS {
            return Ok(self.find_in(&folders));
        }
        if let Some(file) = env::var_os(OURS_IS).filter(|value| !value.is_empty()) {
            return preloadable(OURS_IS, Path::new(&file)).map(Some);
        }
        let exe = env::current_exe().unwrap_or_default();
        let built = exe.parent().and_then(|folder| self.built(folder));
        Ok(built.or_else(|| self.find_in(&folders)))
    }

    /// Its best file in these folders.
    #[must_use]
    pub fn find_in(&self, folders: &[&Path]) -> Option<PathBuf> {
        let files = self.files.iter();
        let mut files = files.flat_map(|file| folders.iter().map(move |folder| folder.join(file)));
        files.find(|file| file.is_file())
    }

    /// Where a build of this project puts it, seen from the folder of this program.
    #[must_use]
    pub fn built(&self, folder: &Path) -> Option<PathBuf> {
        let target = folder.parent()?;
        self.find_in(&[folder, &target.join("preload/examples")])
    }
}

/// The known library whose file is called so, wherever it lies.
#[must_use]
pub fn named_like(file: &Path) -> Option<&'static Known> {
    let name = file.file_name()?.to_str()?;
    let is_it = |known: &&Known| known.files.iter().any(|file| name.starts_with(file));
    KNOWN.iter().find(is_it)
}

/// The known library whose file is called so; `None` if there is none, or if it is not on this
/// machine. Only the name of the file counts, and the library is the one that [`Known::find`]
/// finds: a file that somebody else names is never taken.
#[must_use]
pub fn called_like(file: &Path) -> Option<&'static Known> {
    let known = named_like(file)?;
    matches!(known.find(), Ok(Some(_))).then_some(known)
}

/// The whole path of a malloc library that the loader can preload: it splits names at spaces and
/// colons. `what` named it. What is no library is left to the loader.
///
/// # Errors
/// There is no such file; its path has a space or a colon; it exports no malloc.
pub fn preloadable(what: &str, file: &Path) -> Result<PathBuf> {
    if !file.is_file() {
        let file = file.display();
        bail!("{what}: {file}: no such file; give the library's path");
    }
    let file = file.canonicalize()?;
    let text = file.to_string_lossy();
    ensure!(
        !text.contains([' ', ':']),
        "{what}: {text}: the loader takes no path with a space or a colon; link it elsewhere"
    );
    let bytes = fs::read(&file).with_context(|| format!("{what}: {text}: cannot be read"))?;
    ensure!(
        exports_malloc(&bytes),
        "{what}: {text} exports no malloc; name a malloc library"
    );
    Ok(file)
}

/// Whether a library defines malloc for others; also if the file is no library.
fn exports_malloc(bytes: &[u8]) -> bool {
    let Ok(file) = ElfFile64::<Endianness>::parse(bytes) else {
        return true;
    };
    let is_malloc = |name: &[u8]| name == b"malloc" || name.starts_with(b"malloc@");
    file.dynamic_symbols()
        .any(|symbol| symbol.is_definition() && symbol.name_bytes().is_ok_and(is_malloc))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::{KNOWN, OURS, called_like, known, preloadable};

    #[test]
    fn the_best_file_of_the_first_folder_is_taken_and_others_are_missing() {
        let folder = tempfile::tempdir().expect("a folder");
        for file in ["libjemalloc.so", "libjemalloc.so.2"] {
            fs::write(folder.path().join(file), "").expect("a file");
        }
        let folders = [Path::new("/no/such/folder"), folder.path()];
        for library in KNOWN {
            let found = library.find_in(&folders);
            let expected =
                (library.name == "jemalloc").then(|| folders[1].join("libjemalloc.so.2"));
            assert_eq!(found, expected, "{library:?}");
        }
    }

    #[test]
    fn ours_is_found_where_a_build_puts_it() {
        let ours = known(OURS).expect("known");
        let target = tempfile::tempdir().expect("a folder");
        let release = target.path().join("release");
        let examples = target.path().join("preload/examples");
        fs::create_dir_all(&release).expect("a folder");
        fs::create_dir_all(&examples).expect("a folder");
        assert_eq!(ours.built(&release), None);
        let file = examples.join("libsurefit_malloc.so");
        fs::write(&file, "").expect("a file");
        assert_eq!(ours.built(&release), Some(file));
    }

    #[test]
    fn a_file_stands_for_a_library_that_this_machine_has_and_is_never_taken_itself() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["libhoard.so.3", "jemalloc", "libjemalloc"] {
            let file = folder.path().join(name);
            fs::write(&file, "").expect("a file");
            assert!(called_like(&file).is_none(), "{name}");
        }
        for known in KNOWN {
            let is_here = matches!(known.find(), Ok(Some(_)));
            let file = folder.path().join(format!("{}.7", known.files[0]));
            let found = called_like(&file).map(|known| known.name);
            assert_eq!(found, is_here.then_some(known.name));
        }
    }

    #[test]
    fn a_library_without_a_malloc_is_refused_by_name() {
        // A program is such a file as well; it brings no malloc.
        let own = std::env::current_exe().expect("a program");
        let error = preloadable("x", &own).expect_err("refused").to_string();
        let own = own.display().to_string();
        assert!(
            error.contains(&own) && error.contains("exports no malloc"),
            "{error}"
        );
        let file = tempfile::NamedTempFile::new().expect("a file");
        assert!(preloadable("x", file.path()).is_ok());
    }

    #[test]
    fn a_path_that_the_loader_would_split_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("a malloc.so");
        let error = |file: &Path| preloadable("x", file).expect_err("refused").to_string();
        assert!(error(&file).contains("no such file"));
        fs::write(&file, "").expect("a file");
        assert!(error(&file).contains("a space or a colon"));
    }
}
