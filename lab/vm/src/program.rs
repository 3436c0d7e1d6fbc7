//! Where classes come from: a jar or a folder, and the class library that is part of this crate.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use crate::jar::{self, Jar};
use crate::stop::Refusal;

/// The class library, as `java/build.sh` makes it.
static LIBRARY: &[u8] = include_bytes!("../java/library.jar");

/// The most bytes of one class file.
const LARGEST: usize = 1 << 24;

/// The classes of a program.
#[derive(Debug)]
pub struct Program {
    library: Jar<'static>,
    own: Own,
    main: Option<String>,
}

#[derive(Debug)]
enum Own {
    Jar(PathBuf, Jar<'static>),
    Folder(PathBuf),
    Memory(HashMap<String, Vec<u8>>),
}

impl Program {
    /// The classes of a jar or of a folder.
    ///
    /// # Errors
    /// The file cannot be read, or is no jar.
    pub fn open(path: &Path) -> Result<Self, Refusal> {
        let unreadable = |error: &dyn ToString| Refusal::unreadable(path, error.to_string());
        if path.is_dir() {
            return Ok(Self::of(Own::Folder(path.to_owned()), None));
        }
        let bytes = fs::read(path).map_err(|error| unreadable(&error))?;
        Self::of_bytes(path.to_owned(), bytes)
    }

    /// The classes of a jar that was read already.
    ///
    /// # Errors
    /// The bytes are no jar.
    pub fn of_jar(bytes: Vec<u8>) -> Result<Self, Refusal> {
        Self::of_bytes(PathBuf::from("the jar"), bytes)
    }

    fn of_bytes(path: PathBuf, bytes: Vec<u8>) -> Result<Self, Refusal> {
        let jar = Jar::open(Cow::Owned(bytes));
        let jar = jar.map_err(|what| Refusal::unreadable(&path, what))?;
        let main = jar.read("META-INF/MANIFEST.MF", LARGEST).ok().flatten();
        let main = main.and_then(|bytes| jar::main_class(&bytes));
        Ok(Self::of(Own::Jar(path, jar), main))
    }

    /// Class files by the names of their classes: `Main`, `game/Board`.
    #[must_use]
    pub fn of_classes(classes: HashMap<String, Vec<u8>>) -> Self {
        Self::of(Own::Memory(classes), None)
    }

    fn of(own: Own, main: Option<String>) -> Self {
        let library = Jar::open(Cow::Borrowed(LIBRARY)).expect("the class library is a jar");
        Self { library, own, main }
    }

    /// The class that the jar's manifest names as the one to run: `game/Main`.
    #[must_use]
    pub fn main_class(&self) -> Option<&str> {
        self.main.as_deref()
    }

    /// Whether the class library has a class of this name: no program can replace it.
    pub(crate) fn is_of_library(&self, name: &str) -> bool {
        self.library.has(&format!("{name}.class"))
    }

    /// The bytes of a class: `java/lang/Object`.
    ///
    /// # Errors
    /// There is no such class, or it cannot be read.
    pub fn class(&self, name: &str) -> Result<Cow<'_, [u8]>, Refusal> {
        let file = format!("{name}.class");
        if let Ok(Some(bytes)) = self.library.read(&file, LARGEST) {
            return Ok(bytes);
        }
        let missing = || Refusal::Missing(format!("class {name}"));
        match &self.own {
            Own::Jar(path, jar) => {
                let found = jar.read(&file, LARGEST);
                let found =
                    found.map_err(|what| Refusal::unreadable(path, format!("{file}: {what}")))?;
                found.ok_or_else(missing)
            }
            Own::Folder(path) => {
                // A name with `..` or of another root is that of no class.
                let is_plain = Path::new(&file)
                    .components()
                    .all(|part| matches!(part, std::path::Component::Normal(_)));
                if !is_plain {
                    return Err(missing());
                }
                match contents(&path.join(&file)) {
                    Ok(bytes) => Ok(Cow::Owned(bytes)),
                    Err(error) if is_missing(&error) => Err(missing()),
                    Err(error) => Err(Refusal::unreadable(path, format!("{file}: {error}"))),
                }
            }
            Own::Memory(classes) => {
                let found = classes.get(name).map(|bytes| Cow::Borrowed(&bytes[..]));
                found.ok_or_else(missing)
            }
        }
    }
}

/// Whether there is no such file, be it that a folder on the way to it is none.
fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// The bytes of a class file, at most [`LARGEST`].
fn contents(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut file = File::open(path)?.take(LARGEST as u64 + 1);
    file.read_to_end(&mut bytes)?;
    match bytes.len() <= LARGEST {
        true => Ok(bytes),
        false => Err(io::Error::other("it is too large")),
    }
}
