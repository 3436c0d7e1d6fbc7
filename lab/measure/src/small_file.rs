//! Reads files that people write: demands, size-classes, scripts. Such files are small, so the size
//! is limited; an endless input is refused.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use anyhow::{Result, anyhow, bail};

/// The most bytes of such a file: 16 MiB.
const MOST: u64 = 16 << 20;

/// Reads a whole file of at most 16 MiB.
///
/// # Errors
/// One line that names the file and the remedy.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    let name = path.display();
    let bytes = read_some(path, MOST + 1).map_err(|cause| {
        anyhow!("{name}: cannot be read: {cause}; check the path and its permissions")
    })?;
    if bytes.len() as u64 > MOST {
        bail!("{name}: has more than 16 MiB; name another file");
    }
    Ok(bytes)
}

fn read_some(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}
