//! The libraries that served recorded programs, as allocators to compare with.

use std::path::{Path, PathBuf};

use surefit_measure::libraries::that_served;
use surefit_measure::spec::Spec;
use surefit_trace::Facts;

/// The malloc libraries that served the programs of these traces, as far as their recordings say
/// it and this machine has them; each once.
pub(super) fn allocators(files: &[PathBuf]) -> Vec<Spec> {
    let mut specs: Vec<Spec> = Vec::new();
    for file in files {
        let facts = Facts::load(file).ok().flatten();
        let served = facts.and_then(|facts| that_served(Path::new(&facts.allocator?)));
        let spec = served.and_then(|name| Spec::parse(&name).ok());
        let is_new = |spec: &Spec| specs.iter().all(|known| known.as_str() != spec.as_str());
        if let Some(spec) = spec.filter(is_new) {
            specs.push(spec);
        }
    }
    specs
}
