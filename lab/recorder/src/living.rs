//! The processes that have a recorder in them.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// A process that runs.
#[derive(Debug)]
pub struct Living {
    /// The process.
    pub pid: u32,
    /// The program, as it was called.
    pub program: String,
}

/// Those into which a library is loaded, as far as the system lets us see it. The library's name is
/// that of no other file.
#[must_use]
pub fn with(library: &Path) -> Vec<Living> {
    let folders = fs::read_dir("/proc").into_iter().flatten().flatten();
    folders
        .filter_map(|folder| {
            let pid = folder.file_name().to_str()?.parse().ok()?;
            let mappings = fs::read(folder.path().join("maps")).ok()?;
            let is_loaded = mappings
                .split(|byte| *byte == b'\n')
                .any(|line| file_of(line) == Some(library.as_os_str()));
            is_loaded.then(|| Living {
                pid,
                program: called(&folder.path()),
            })
        })
        .collect()
}

/// The file of `START-END PERMISSIONS OFFSET DEVICE INODE    FILE`.
fn file_of(line: &[u8]) -> Option<&OsStr> {
    let at = line.iter().position(|byte| *byte == b'/')?;
    Some(OsStr::from_bytes(&line[at..]))
}

/// The first of the arguments of a process, or what the system calls it.
fn called(folder: &Path) -> String {
    let first = |file, end: u8| {
        let text = fs::read(folder.join(file)).unwrap_or_default();
        let name = text.split(|byte| *byte == end).next().unwrap_or_default();
        String::from_utf8_lossy(name).into_owned()
    };
    let name = first("cmdline", 0);
    if name.is_empty() {
        first("comm", b'\n')
    } else {
        name
    }
}

#[cfg(test)]
mod tests {
    use super::{OsStr, Path, file_of, with};

    #[test]
    fn a_process_has_the_files_that_it_maps() {
        let line = b"7f00-7f01 r-xp 00000000 00:22 57 /tmp/a b/library.so";
        assert_eq!(file_of(line), Some(OsStr::new("/tmp/a b/library.so")));
        assert_eq!(file_of(b"7f00-7f01 rw-p 00000000 00:00 0"), None);
        let ours = std::env::current_exe().expect("a program");
        let own = with(&ours).into_iter();
        let own: Vec<_> = own.filter(|it| it.pid == std::process::id()).collect();
        assert!(
            matches!(&own[..], [it] if !it.program.is_empty()),
            "{own:?}"
        );
        assert!(with(Path::new("/no/such/library.so")).is_empty());
    }
}
