//! Where the traces for tests are, and their unpacked bytes.
#![allow(dead_code, reason = "each test binary uses its own part")]

pub(crate) mod graph_naive;
pub(crate) mod graph_program;

use std::path::{Path, PathBuf};

/// A bundled trace.
pub(crate) fn bundled(name: &str) -> PathBuf {
    root().join("traces").join(format!("{name}.sft.zst"))
}

/// The bundled traces, and the public ones where they lie beside the checkout.
pub(crate) fn fixture_paths() -> Vec<PathBuf> {
    let mut paths = vec![bundled("emacs"), bundled("redis-drift")];
    let beside = root().join("../shared/traces/public");
    if let Ok(entries) = beside.read_dir() {
        paths.extend(entries.flatten().map(|entry| entry.path()));
    }
    paths
}

/// The recorded object graphs: the bundled ones, and all others where they lie beside the checkout.
pub(crate) fn graph_paths() -> Vec<PathBuf> {
    let bundled = ["raytrace", "mtrt"].map(graph);
    let beside = root().join("../shared/graphs");
    let others = beside.read_dir().into_iter().flatten().flatten();
    let others = others.map(|entry| entry.path());
    let is_other = |path: &PathBuf| {
        let name = path.file_name();
        path.extension().is_some_and(|extension| extension == "zst")
            && bundled.iter().all(|bundled| bundled.file_name() != name)
    };
    let others: Vec<_> = others.filter(is_other).collect();
    bundled.iter().cloned().chain(others).collect()
}

/// A bundled object graph.
pub(crate) fn graph(name: &str) -> PathBuf {
    root().join("graphs").join(format!("{name}.sfg.zst"))
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The bytes inside a compressed trace.
pub(crate) fn unpacked(path: &Path) -> Vec<u8> {
    decode(&std::fs::read(path).expect("a readable trace"))
}

/// The bytes inside a frame.
pub(crate) fn decode(packed: &[u8]) -> Vec<u8> {
    oxiarc_zstd::decompress(packed).expect("a sound frame")
}

/// The bytes as one compressed frame with a checksum.
pub(crate) fn packed(bytes: &[u8]) -> Vec<u8> {
    surefit_trace::graph::compressed(bytes, 3).expect("memory does not fail")
}
