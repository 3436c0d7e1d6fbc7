//! Statistics of the heap as text, JSON or malloc's XML, written without allocating.
#![deny(unsafe_code)]

use core::fmt::{self, Display, Formatter};

use surefit_direct::shared::{ClassStats, SharedDirectStats};

/// The numbers that have a name, in the order of every report.
fn numbers(stats: &SharedDirectStats) -> [(&'static str, u64); 16] {
    let wide = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
    [
        ("allocated", wide(stats.allocated)),
        ("active", wide(stats.active)),
        ("peak_active", wide(stats.peak_active)),
        ("dirty", wide(stats.dirty)),
        ("clean", wide(stats.clean)),
        ("mapped", wide(stats.mapped)),
        ("metadata", wide(stats.metadata)),
        ("large_objects", wide(stats.large_objects)),
        ("large_bytes", wide(stats.large_bytes)),
        ("mixed", wide(stats.mixed)),
        ("free_runs", wide(stats.free_runs)),
        ("largest_free", wide(stats.largest_free)),
        ("purges", stats.purges),
        ("refused", stats.refused),
        ("instances", wide(stats.instances)),
        ("idle_instances", wide(stats.idle_instances)),
    ]
}

/// The size-classes that have page-blocks or pages.
fn classes(stats: &SharedDirectStats) -> impl Iterator<Item = &ClassStats> {
    stats
        .classes
        .iter()
        .filter(|class| class.pages > 0 || class.used > 0)
}

/// Lines for people.
pub(crate) struct Lines<'s>(pub(crate) &'s SharedDirectStats, pub(crate) i32);

impl Display for Lines<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "surefit-malloc: statistics of process {}", self.1)?;
        for (name, number) in numbers(self.0) {
            writeln!(f, "  {name:<14} {number:>16}")?;
        }
        let heads = ("page-block", "per page", "used", "pages", "not full");
        let (block, blocks, used, pages, not_full) = heads;
        writeln!(
            f,
            "  {block:>10} {blocks:>8} {used:>12} {pages:>10} {not_full:>10}"
        )?;
        for class in classes(self.0) {
            writeln!(
                f,
                "  {:>10} {:>8} {:>12} {:>10} {:>10}",
                class.block_bytes, class.blocks, class.used, class.pages, class.not_full_pages
            )?;
        }
        Ok(())
    }
}

/// One line of JSON.
pub(crate) struct Json<'s>(pub(crate) &'s SharedDirectStats, pub(crate) i32);

impl Display for Json<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{{\"process\":{}", self.1)?;
        for (name, number) in numbers(self.0) {
            write!(f, ",\"{name}\":{number}")?;
        }
        f.write_str(",\"classes\":[")?;
        for (index, class) in classes(self.0).enumerate() {
            let comma = if index > 0 { "," } else { "" };
            write!(
                f,
                "{comma}{{\"block_bytes\":{},\"blocks\":{},\"used\":{},\"pages\":{},\"not_full_pages\":{}}}",
                class.block_bytes, class.blocks, class.used, class.pages, class.not_full_pages
            )?;
        }
        f.write_str("]}\n")
    }
}

/// The document of `malloc_info`: the elements that glibc's has, and the size-classes.
pub(crate) struct Xml<'s>(pub(crate) &'s SharedDirectStats);

impl Display for Xml<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let stats = self.0;
        f.write_str("<malloc version=\"1\">\n<heap nr=\"0\">\n<sizes>\n")?;
        for class in classes(stats) {
            writeln!(
                f,
                "<size from=\"{0}\" to=\"{0}\" total=\"{1}\" count=\"{2}\"/>",
                class.block_bytes,
                class.block_bytes * class.used,
                class.used
            )?;
        }
        let (rest, free) = (
            stats.active - stats.allocated.min(stats.active),
            stats.dirty,
        );
        writeln!(f, "</sizes>\n</heap>")?;
        writeln!(f, "<total type=\"fast\" count=\"0\" size=\"{rest}\"/>")?;
        writeln!(
            f,
            "<total type=\"rest\" count=\"{}\" size=\"{free}\"/>",
            stats.free_runs
        )?;
        let (objects, large) = (stats.large_objects, stats.large_bytes);
        writeln!(
            f,
            "<total type=\"mmap\" count=\"{objects}\" size=\"{large}\"/>"
        )?;
        let (current, most) = (stats.active + stats.dirty, stats.peak_active);
        writeln!(f, "<system type=\"current\" size=\"{current}\"/>")?;
        writeln!(f, "<system type=\"max\" size=\"{most}\"/>")?;
        writeln!(f, "<aspace type=\"total\" size=\"{}\"/>", stats.mapped)?;
        writeln!(
            f,
            "<aspace type=\"mprotect\" size=\"{}\"/>\n</malloc>",
            stats.mapped
        )
    }
}
