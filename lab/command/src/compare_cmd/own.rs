//! The libraries that served recorded programs, as allocators to compare with.
//!
//! A trace may come from anybody, so what it says loads nothing: it can only point to a library
//! that this command knows, and that this machine has. Any other is named for the user to add.

use std::path::{Path, PathBuf};

use surefit_measure::error::{complain, one_line};
use surefit_measure::libraries::called_like;
use surefit_measure::recorded;
use surefit_measure::spec::Spec;

/// The known malloc libraries that served the programs of these traces, as far as their recordings
/// say it and this machine has them; each once. A line on standard error names each other library,
/// and how to add it.
pub(super) fn allocators(files: &[PathBuf]) -> Vec<Spec> {
    let mut specs: Vec<Spec> = Vec::new();
    for file in files {
        let Some(library) = recorded::sound_facts(file).and_then(|facts| facts.allocator) else {
            continue;
        };
        let known = called_like(Path::new(&library)).and_then(|it| Spec::parse(it.name).ok());
        match known {
            None => complain(&one_line(&left_to_the_user(file, &library))),
            Some(spec) if specs.iter().any(|it| it.as_str() == spec.as_str()) => {}
            Some(spec) => specs.push(spec),
        }
    }
    specs
}

/// The path is the trace's: it goes into words to type only if a shell takes it as it is.
fn left_to_the_user(file: &Path, library: &str) -> String {
    let file = file.display();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._+-".contains(letter);
    if Path::new(library).is_file() && library.chars().all(is_plain) {
        return format!(
            "{file}: its malloc was that of {library}, which is not loaded because a trace names \
             it; if you trust it, --allocators cf,tlsf,system,preload:{library} compares with it"
        );
    }
    format!(
        "{file}: its malloc was that of {library:?}, which this machine does not have; \
         --allocators …,preload:PATH compares with a library that you trust"
    )
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::left_to_the_user;

    #[test]
    fn only_a_plain_path_of_this_machine_goes_into_words_to_type() {
        let folder = tempfile::tempdir().expect("a folder");
        let said = |name: &str| {
            let library = folder.path().join(name);
            fs::write(&library, "").expect("a file");
            left_to_the_user(Path::new("t"), library.to_str().expect("plain"))
        };
        assert!(said("libmine.so").contains("libmine.so compares with it"));
        let odd = said("x;touch y");
        assert!(
            odd.contains("preload:PATH") && !odd.contains("preload:/"),
            "{odd}"
        );
        let gone = left_to_the_user(Path::new("t"), "/no/such/libmine.so");
        assert!(gone.contains("does not have"), "{gone}");
    }
}
