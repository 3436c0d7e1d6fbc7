//! All experiments in their quick form, run once for all tests that look at them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde_json::Value;
use surefit_testkit::small_trace;

use crate::printed;

/// The experiments that yield a report.
pub(crate) const REPORTS: &[&str] = &[
    "bounds",
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

/// What `all --quick` wrote.
pub(crate) struct Quick {
    /// The trace that was replayed; beside it is what was written.
    trace: PathBuf,
    /// What it printed.
    pub(crate) summary: String,
}

static QUICK: LazyLock<Quick> = LazyLock::new(Quick::run);

/// The one run.
pub(crate) fn quick() -> &'static Quick {
    &QUICK
}

impl Quick {
    /// Runs them in a folder of the build, which stays until the next run.
    fn run() -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("quick");
        if folder.exists() {
            fs::remove_dir_all(&folder).expect("removed");
        }
        fs::create_dir(&folder).expect("a new folder");
        let trace = folder.join("small.sft");
        fs::copy(small_trace(7).path, &trace).expect("copied");
        let [place, page] = ["new/results", "page.html"].map(|name| folder.join(name));
        let [place, page, file] = [&place, &page, &trace].map(|it| plain(it));
        let summary = printed(&["all", "--quick", "-o", place, "--report", page, file]);
        Self { trace, summary }
    }

    /// The file of the trace that was replayed.
    pub(crate) fn trace(&self) -> &str {
        plain(&self.trace)
    }

    /// The page of all reports, at the place that was asked for.
    pub(crate) fn page(&self) -> String {
        read(&self.trace.with_file_name("page.html"))
    }

    /// A file that was written.
    pub(crate) fn file(&self, name: &str) -> String {
        read(&self.trace.with_file_name("new").join("results").join(name))
    }

    /// The report of an experiment as it is on a screen.
    pub(crate) fn screen(&self, experiment: &str) -> String {
        self.file(&format!("{experiment}.txt"))
    }

    /// The report of an experiment.
    pub(crate) fn report(&self, experiment: &str) -> Value {
        serde_json::from_str(&self.file(&format!("{experiment}.json"))).expect("JSON")
    }
}

fn plain(path: &Path) -> &str {
    path.to_str().expect("a plain name")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
