//! All experiments in their quick form, run once for all tests that look at them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use serde_json::Value;
use surefit_testkit::small_trace;

use crate::printed;

/// The experiments that yield a report.
pub(crate) const REPORTS: &[&str] = &[
    "bounds",
    "time-by-region",
    "figure-10",
    "figure-11",
    "table-3",
    "table-4",
    "predict",
    "pin",
    "throughput-locks",
    "scalability",
    "figure-12",
    "complexity",
    "memory-threads",
    "malloc",
    "meshing",
    "nht",
    "adversary",
    "overview",
    "gc-visits",
    "gc-times",
    "gc-lua",
    "gc-lua-collectors",
    "gc-binary-trees",
    "gc-compact-fit",
    "gc-size-classes",
    "gc-free-chunks",
    "gc-table-updates",
    "gc-lists",
    "gc-mmu",
    "gc-incremental",
    "small-heaps",
];

/// What `all --quick` wrote; the files are gone.
pub(crate) struct Quick {
    /// What it printed.
    pub(crate) summary: String,
    /// The page of all reports, at the place that was asked for.
    pub(crate) page: String,
    /// The files of the results, by name.
    files: BTreeMap<String, String>,
}

/// The seed of the trace that is replayed.
pub(crate) const SEED: u64 = 7;

static QUICK: LazyLock<Quick> = LazyLock::new(Quick::run);

/// The one run.
pub(crate) fn quick() -> &'static Quick {
    &QUICK
}

impl Quick {
    fn run() -> Self {
        let trace = small_trace(SEED);
        let folder = tempfile::tempdir().expect("a directory");
        let place = folder.path().join("new").join("results");
        let page = folder.path().join("page.html");
        let [to, page_to, file] = [&place, &page, &trace.path].map(|path| plain(path));
        // One round: nothing here is said of times.
        let summary = printed(&[
            "all", "--quick", "--rounds", "1", "-o", to, "--report", page_to, file,
        ]);
        let entries = fs::read_dir(&place).expect("results");
        let files = entries.map(|entry| {
            let path = entry.expect("an entry").path();
            let name = path.file_name().and_then(|name| name.to_str());
            (name.expect("a plain name").to_owned(), read(&path))
        });
        Self {
            summary,
            page: read(&page),
            files: files.collect(),
        }
    }

    /// A file of the results.
    pub(crate) fn file(&self, name: &str) -> &str {
        self.files.get(name).expect(name)
    }

    /// The report of an experiment as it is on a screen.
    pub(crate) fn screen(&self, experiment: &str) -> &str {
        self.file(&format!("{experiment}.txt"))
    }

    /// The report of an experiment.
    pub(crate) fn report(&self, experiment: &str) -> Value {
        serde_json::from_str(self.file(&format!("{experiment}.json"))).expect("JSON")
    }
}

fn plain(path: &Path) -> &str {
    path.to_str().expect("a plain name")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
