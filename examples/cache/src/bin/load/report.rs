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
        quantile(&mut values, 0.5)
    }

    /// Quartiles and median of what this server needed, over what another one needed in the same
    /// round.
    fn shares(&self, base: &Self, value: impl Fn(&Run) -> f64) -> [f64; 3] {
        let rounds = self.runs.iter().zip(&base.runs);
        let mut shares: Vec<f64> = rounds.map(|(run, base)| value(run) / value(base)).collect();
        [0.25, 0.5, 0.75].map(|part| quantile(&mut shares, part))
    }
}

/// A quantile, between two values where it falls between them.
fn quantile(values: &mut [f64], part: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let place = part * (values.len() - 1) as f64;
    let (low, high) = (
        values[place.floor() as usize],
        values[place.ceil() as usize],
    );
    low + (high - low) * place.fract()
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
        self.verdicts(&mut text);
        text
    }

    /// Whether the goals are met, beside the figures that decide it.
    fn verdicts(&self, text: &mut String) {
        let row = |name: &str| self.rows.iter().find(|row| row.name == name);
        let mut say = |what: &str, value: f64, most: f64| {
            let verdict = if value <= most { "MET" } else { "MISSED" };
            let _ = writeln!(text, "{what:<52}{value:>6.2}, goal {most:.2}: {verdict}");
        };
        let Some(ours) = row("surefit") else {
            return;
        };
        let goal = match self.load.budget >> 20 {
            512.. => Some(1.20),
            64.. => Some(1.25),
            _ => None,
        };
        if let Some(goal) = goal {
            let end = |phase| ours.median(|run: &Run| ratio(run.drifting.end[phase], 0));
            let worst = (0..PHASES).map(end).fold(0.0, f64::max);
            say(
                "surefit: resident ÷ payload, worst phase's end",
                worst,
                goal,
            );
        }
        let Some(base) = row("std").filter(|_| self.load.budget >> 20 >= 64) else {
            return;
        };
        let loads: [(&str, Which); 2] = [
            ("drifting", |run| &run.drifting),
            ("steady", |run| &run.steady),
        ];
        for (name, played) in loads {
            let [_, share, _] = ours.shares(base, |run| played(run).cpu_ns);
            say(
                &format!("surefit: processor time ÷ std's, {name}"),
                share,
                1.05,
            );
        }
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
                "{title:<32}{:>10}{:>17}{:>8}{:>7}{:>7}{:>8}{:>9}",
                "cpu µs/op", "÷ std [¼-¾]", "resid.", "p50 µs", "p99", "p99.99", "max"
            );
            let base = self.rows.iter().find(|row| row.name == "std");
            for row in &self.rows {
                let of = |value: fn(&Played) -> f64| row.median(|run| value(played(run)));
                let share = base.map_or("–".into(), |base| {
                    let [low, middle, high] = row.shares(base, |run| played(run).cpu_ns);
                    format!("{middle:.2} [{low:.2}-{high:.2}]")
                });
                let _ = writeln!(
                    text,
                    "  {:<30}{:>10.2}{share:>17}{:>8.2}{:>7.0}{:>7.0}{:>8.0}{:>9.0}",
                    row.name,
                    of(|run| run.cpu_ns) / 1e3,
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
