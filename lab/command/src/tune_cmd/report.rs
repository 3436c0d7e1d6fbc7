//! What was found and how it was judged, as output.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surefit_measure::error::one_line;
use surefit_measure::grid::Grid;
use surefit_measure::output::grouped;
use surefit_measure::wrap::{columns, width};

use super::judged::Judged;
use crate::screen::wrapped;

/// What stands above the judgement.
const JUDGED: &str = "Judged on traces it was not tuned on: min heap ÷ live. The last column is \
    tuned ÷ the better of tlsf and rlsf:";

/// What `tune` prints.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Report {
    /// The version of this format.
    pub(crate) schema: u32,
    /// The traces that it was tuned on.
    pub(crate) traces: Vec<String>,
    /// The configuration, as a name of an allocator.
    pub(crate) allocator: String,
    /// Its size-classes, in bytes of a page-block; absent if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) classes: Option<Vec<u32>>,
    /// The smallest region in which the traces complete, over their live bytes; the mean.
    pub(crate) min_heap_over_live: f64,
    /// How many configurations were compared.
    pub(crate) configurations: u64,
    /// For each value of each choice, the fewest bytes with it.
    pub(crate) choices: Vec<Chosen>,
    /// How a configuration fares on traces that it was not tuned on.
    pub(crate) judged: Vec<Judged>,
}

/// One value of one choice.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Chosen {
    /// The value, as a key of the allocator.
    pub(crate) choice: String,
    /// The fewest bytes with it, over live bytes: the mean over the traces.
    pub(crate) over_live: f64,
    /// What one free or resize copies on average, in bytes; only for bounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) moved_bytes_per_free: Option<f64>,
}

impl Chosen {
    pub(super) fn new(choice: &str, over_live: f64) -> Self {
        Self {
            choice: choice.to_owned(),
            over_live,
            moved_bytes_per_free: None,
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, keys) = without_classes(&self.allocator);
        let traces = one_line(&self.traces.join(", "));
        writeln!(
            f,
            "{}",
            wrapped(&format!("Tuned on {traces}: {name}{keys}"))
        )?;
        if let Some(classes) = &self.classes {
            let sizes: Vec<_> = classes.iter().map(u32::to_string).collect();
            let count = sizes.len();
            writeln!(f, "  {count} size-classes, bytes of a page-block:")?;
            in_lines(f, &sizes)?;
        }
        writeln!(
            f,
            "  min heap ÷ live: {:.3}; {} configurations compared",
            self.min_heap_over_live,
            grouped(self.configurations)
        )?;
        self.choices(f)?;
        self.judgement(f)
    }
}

impl Report {
    fn choices(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let moved = |chosen: &Chosen| {
            let moved = chosen.moved_bytes_per_free;
            moved.map_or(String::new(), |bytes| format!("{bytes:.1}"))
        };
        let row = |chosen: &Chosen| {
            let over_live = format!("{:.3}", chosen.over_live);
            vec![chosen.choice.clone(), over_live, moved(chosen)]
        };
        let grid = Grid {
            header: ["choice", "bytes ÷ live", "one free copies, B"]
                .map(str::to_owned)
                .into(),
            rows: self.choices.iter().map(row).collect(),
            text_columns: 1,
        };
        if grid.rows.is_empty() {
            return Ok(());
        }
        write!(
            f,
            "\nEach choice, the others chosen best:\n{}\n",
            grid.to_text_across(columns())
        )
    }

    fn judgement(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.judged.is_empty() {
            return writeln!(
                f,
                "\nNot judged on another run: give --judge FILE, several traces, or --judge-halves."
            );
        }
        let default = self.allocator.split(':').next().unwrap_or_default();
        let header = ["trace", "tuned", default, "tlsf", "rlsf", "÷ better"];
        let grid = Grid {
            header: header.map(str::to_owned).into(),
            rows: self.judged.iter().map(Judged::row).collect(),
            text_columns: 1,
        };
        writeln!(f, "\n{}", wrapped(JUDGED))?;
        writeln!(f, "{}", grid.to_text_across(columns()))?;
        for judged in &self.judged {
            writeln!(f, "{}", wrapped(&judged.to_string()))?;
        }
        Ok(())
    }
}

/// The name of an allocator and its keys, less the list of size-classes.
fn without_classes(spec: &str) -> (&str, String) {
    let (name, keys) = spec.split_once(':').unwrap_or((spec, ""));
    let keys = keys.split(',').filter(|key| !key.starts_with("classes=["));
    (name, keys.map(|key| format!(" {key}")).collect())
}

/// Words in indented lines.
fn in_lines(f: &mut fmt::Formatter<'_>, words: &[String]) -> fmt::Result {
    let mut line = String::from("   ");
    for word in words {
        if line.len() + word.len() >= width() {
            writeln!(f, "{line}")?;
            line = String::from("   ");
        }
        line.push(' ');
        line.push_str(word);
    }
    writeln!(f, "{line}")
}

#[cfg(test)]
mod tests {
    use super::Report;
    use surefit_measure::schema::is_committed;

    #[test]
    fn the_committed_schema_is_that_of_the_type() {
        is_committed::<Report>("tune.json");
    }
}
