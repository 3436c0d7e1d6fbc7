//! Whether a program can be recorded, as far as its file says.

use std::env;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::own;
use object::read::elf::{ElfFile64, FileHeader, ProgramHeader};
use object::{Endianness, Object as _, ObjectSymbol as _, elf};

/// Why a program cannot be recorded.
#[derive(Debug, thiserror::Error)]
pub enum Unrecordable {
    /// There is no such program.
    #[error("no program {0}: give a path, or a name that a folder of PATH has")]
    Missing(String),
    /// There is such a file, but nobody may execute it.
    #[error("{} is not executable: chmod +x it, or give its interpreter first", .0.display())]
    NotExecutable(PathBuf),
    /// Its file cannot be read.
    #[error("cannot read {}", .0.display())]
    Unreadable(PathBuf, #[source] std::io::Error),
    /// It runs with another user's rights, so that the system preloads nothing.
    #[error("{} runs with its owner's rights, and the system preloads nothing into such a program: record it as its owner", .0.display())]
    Setuid(PathBuf),
    /// It has no dynamic linker.
    #[error("{} is linked statically, so nothing can stand in for its malloc: link it dynamically", .0.display())]
    Static(PathBuf),
    /// It is for another processor, or another number of bits.
    #[error("{} is for another kind of machine: record it there", .0.display())]
    Machine(PathBuf),
    /// It is linked with another C library.
    #[error("{} is linked with the C library of {}, and the recorder with GNU's: record it where it is built for that", .0.display(), .1)]
    Library(PathBuf, String),
    /// It exports its own malloc.
    #[error("{} exports a malloc of its own, and nothing can stand in for that: build it without", .0.display())]
    OwnMalloc(PathBuf),
    /// It is in Rust, and its allocator is another than malloc: a function of that is named.
    #[error("{} brings an allocator of its own ({}), and nothing can stand in for that: take a build that allocates by malloc (in Rust: `#[global_allocator] static A: std::alloc::System = std::alloc::System;`)", .0.display(), .1)]
    OwnAllocator(PathBuf, String),
}

/// Finds a program as a shell does, and checks it.
///
/// # Errors
/// Why it cannot be recorded.
pub fn check(command: &OsStr) -> Result<PathBuf, Unrecordable> {
    let path = find(command).ok_or_else(|| missing(command))?;
    check_file(&path, 0)?;
    Ok(path)
}

/// Why a program is not found: the file that is named may not be executable.
fn missing(command: &OsStr) -> Unrecordable {
    let path = PathBuf::from(command);
    if command.as_bytes().contains(&b'/') && path.is_file() {
        Unrecordable::NotExecutable(path)
    } else {
        Unrecordable::Missing(command.to_string_lossy().into())
    }
}

fn find(command: &OsStr) -> Option<PathBuf> {
    let is_program = |path: &Path| {
        fs::metadata(path).is_ok_and(|file| file.is_file() && file.mode() & 0o111 != 0)
    };
    if command.as_bytes().contains(&b'/') {
        return Some(PathBuf::from(command)).filter(|path| is_program(path));
    }
    let folders = env::var_os("PATH")?;
    env::split_paths(&folders)
        .map(|folder| folder.join(command))
        .find(|path| is_program(path))
}

/// Interpreters that lead to each other: as many as the kernel follows.
const MOST_INTERPRETERS: u32 = 4;

fn check_file(path: &Path, depth: u32) -> Result<(), Unrecordable> {
    let unreadable = |error| Unrecordable::Unreadable(path.into(), error);
    let file = fs::metadata(path).map_err(unreadable)?;
    let foreign = file.uid() != rustix::process::geteuid().as_raw() && file.mode() & 0o4000 != 0
        || file.gid() != rustix::process::getegid().as_raw() && file.mode() & 0o2000 != 0;
    if foreign {
        return Err(Unrecordable::Setuid(path.into()));
    }
    let mut start = Vec::new();
    let head = File::open(path).and_then(|file| file.take(256).read_to_end(&mut start));
    head.map_err(unreadable)?;
    if let Some(line) = start.strip_prefix(b"#!") {
        let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let interpreter = line
            .split(|byte| byte.is_ascii_whitespace())
            .find(|word| !word.is_empty());
        return match interpreter {
            Some(interpreter) if depth < MOST_INTERPRETERS => {
                check_file(Path::new(OsStr::from_bytes(interpreter)), depth + 1)
            }
            _ => Ok(()),
        };
    }
    if !start.starts_with(&elf::ELFMAG) {
        // A script without a first line: the shell runs it.
        return Ok(());
    }
    check_elf(path, &fs::read(path).map_err(unreadable)?)
}

fn check_elf(path: &Path, bytes: &[u8]) -> Result<(), Unrecordable> {
    let machine = || Unrecordable::Machine(path.into());
    let file = ElfFile64::<Endianness>::parse(bytes).map_err(|_| machine())?;
    let endian = file.endian();
    let ours = if cfg!(target_arch = "x86_64") {
        elf::EM_X86_64
    } else {
        elf::EM_AARCH64
    };
    if file.elf_header().e_machine(endian) != ours {
        return Err(machine());
    }
    let interpreter = file
        .elf_program_headers()
        .iter()
        .find_map(|part| part.interpreter(endian, bytes).ok().flatten());
    let Some(interpreter) = interpreter else {
        return Err(Unrecordable::Static(path.into()));
    };
    if interpreter.windows(4).any(|part| part == b"musl") {
        return Err(Unrecordable::Library(path.into(), "musl".into()));
    }
    let own = file
        .dynamic_symbols()
        .any(|symbol| symbol.is_definition() && symbol.name_bytes() == Ok(b"malloc"));
    if own {
        return Err(Unrecordable::OwnMalloc(path.into()));
    }
    match own::allocator(&file) {
        Some(function) => Err(Unrecordable::OwnAllocator(path.into(), function)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Unrecordable, check};
    use std::ffi::OsStr;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn what_can_be_recorded_is_found_and_the_rest_is_named() {
        assert!(check(OsStr::new("sh")).is_ok());
        let missing = check(OsStr::new("no-such-program-anywhere")).expect_err("there is none");
        assert!(missing.to_string().contains("no-such-program-anywhere"));
        let folder = tempfile::tempdir().expect("a folder");
        let script = folder.path().join("script");
        fs::write(&script, "#!/no/such/interpreter -x\n").expect("written");
        assert!(matches!(
            check(script.as_os_str()),
            Err(Unrecordable::NotExecutable(path)) if path == script
        ));
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("allowed");
        assert!(
            matches!(check(script.as_os_str()), Err(Unrecordable::Unreadable(path, _)) if path.ends_with("interpreter"))
        );
        let foreign = folder.path().join("foreign");
        fs::write(&foreign, b"\x7fELF\x01\x01\x01 of 32 bits").expect("written");
        fs::set_permissions(&foreign, fs::Permissions::from_mode(0o755)).expect("allowed");
        assert!(matches!(
            check(foreign.as_os_str()),
            Err(Unrecordable::Machine(_))
        ));
    }
}
