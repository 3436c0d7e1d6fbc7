//! What was measured: a table of 100 columns, and JSON.

use std::fmt::Write;

use serde::Serialize;

use crate::play::{Load, PHASES, Played, Run, Sample};

/// All runs of one server.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) runs: Vec<Run>,
}

impl Row {
    /// The median over the rounds.
    fn median(&self, value: impl Fn(&Run) -> f64) -> f64 {
        let mut values: Vec<f64> = self.runs.iter().map(value).collect();
        values.sort_by(f64::total_cmp);
        let middle = values.len() / 2;
        if values.len() % 2 == 1 {
            values[middle]
        } else {
            (values[middle - 1] + values[middle]) / 2.0
        }
    }
}

/// All servers.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    load: Load,
    rounds: usize,
    pub(crate) rows: Vec<Row>,
}

/// Resident bytes per byte of payload, with or without what the empty server holds.
fn ratio(sample: Sample, without: usize) -> f64 {
    sample.resident.saturating_sub(without) as f64 / sample.payload as f64
}

/// What a table shows of a run, by phase.
type Cell = fn(&Played, usize) -> f64;

/// One of a run's loads.
type Which = fn(&Run) -> &Played;

impl Report {
    pub(crate) fn new(load: Load, rounds: usize) -> Self {
        Self {
            load,
            rounds,
            rows: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, name: &str, run: Run) {
        match self.rows.iter_mut().find(|row| row.name == name) {
            Some(row) => row.runs.push(run),
            None => self.rows.push(Row {
                name: name.into(),
                runs: vec![run],
            }),
        }
    }

    pub(crate) fn json(&self) -> anyhow::Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    pub(crate) fn table(&self) -> String {
        let mut text = String::new();
        let _ = writeln!(
            text,
            "Drifting load: payload up to {} MiB, values from {} bytes on; medians of {} round(s).\n",
            self.load.budget >> 20,
            self.load.first_bytes,
            self.rounds
        );
        self.phases(
            &mut text,
            "Resident ÷ payload, phase full",
            |run, phase| ratio(run.full[phase], 0),
        );
        self.phases(
            &mut text,
            "Resident ÷ payload, phase's end",
            |run, phase| ratio(run.end[phase], 0),
        );
        self.phases(
            &mut text,
            "The same without the empty server",
            |run, phase| ratio(run.end[phase], run.empty),
        );
        self.costs(&mut text);
        text
    }

    /// A table with a column for each phase.
    fn phases(&self, text: &mut String, title: &str, cell: Cell) {
        let _ = write!(text, "{title:<34}");
        for phase in 1..=PHASES {
            let _ = write!(text, "{phase:>7}");
        }
        let _ = writeln!(text, "{:>8}", "worst");
        for row in &self.rows {
            let _ = write!(text, "  {:<32}", row.name);
            let mut worst: f64 = 0.0;
            for phase in 0..PHASES {
                let value = row.median(|run| cell(&run.drifting, phase));
                worst = worst.max(value);
                let _ = write!(text, "{value:>7.2}");
            }
            let _ = writeln!(text, "{worst:>8.2}");
        }
        text.push('\n');
    }

    /// Processor time and latency of both loads.
    fn costs(&self, text: &mut String) {
        let loads: [(&str, Which); 2] = [
            ("Drifting, 16 at once", |run| &run.drifting),
            ("Steady, 16 at once; latency: 1", |run| &run.steady),
        ];
        for (title, played) in loads {
            let _ = writeln!(
                text,
                "{title:<34}{:>9}{:>10}{:>8}{:>8}{:>8}{:>9}{:>10}",
                "cpu µs/op", "÷ malloc", "resid.", "p50 µs", "p99", "p99.99", "max"
            );
            let base = self.rows.iter().find(|row| row.name == "malloc");
            let base = base.map(|row| row.median(|run| played(run).cpu_ns));
            for row in &self.rows {
                let of = |value: fn(&Played) -> f64| row.median(|run| value(played(run)));
                let cpu = of(|run| run.cpu_ns);
                let share = base.map_or("–".into(), |base| format!("{:.3}", cpu / base));
                let _ = writeln!(
                    text,
                    "  {:<32}{:>9.2}{share:>10}{:>8.2}{:>8.0}{:>8.0}{:>9.0}{:>10.0}",
                    row.name,
                    cpu / 1e3,
                    of(|run| ratio(run.end[run.end.len() - 1], 0)),
                    of(|run| run.latency.p50 as f64 / 1e3),
                    of(|run| run.latency.p99 as f64 / 1e3),
                    of(|run| run.latency.p9999 as f64 / 1e3),
                    of(|run| run.latency.max as f64 / 1e3),
                );
            }
            text.push('\n');
        }
    }
}
