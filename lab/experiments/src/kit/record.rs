//! A run of all experiments for the record: what claims were judged, and how, on which machine.

use std::fmt;

use serde::Serialize;

use super::claim::Claim;
use super::entry::Run;

/// The machine of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Machine {
    /// The processor's name; absent where the system does not say.
    pub(crate) processor: Option<String>,
    /// Processors that the system lets this process use.
    pub(crate) cores: usize,
    /// Memory, in MiB; absent where the system does not say.
    pub(crate) memory_mib: Option<u64>,
    /// The system and its version.
    pub(crate) system: String,
}

impl Machine {
    /// This one.
    pub(crate) fn this() -> Self {
        let read = |file: &str| std::fs::read_to_string(file).unwrap_or_default();
        let release = read("/proc/sys/kernel/osrelease");
        Self {
            processor: field(&read("/proc/cpuinfo"), "model name"),
            cores: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            memory_mib: field(&read("/proc/meminfo"), "MemTotal")
                .and_then(|kib| kib.split(' ').next()?.parse::<u64>().ok())
                .map(|kib| kib / 1024),
            system: format!("{} {}", std::env::consts::OS, release.trim())
                .trim()
                .to_owned(),
        }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let processor = self
            .processor
            .as_deref()
            .unwrap_or("a processor without a name");
        write!(f, "{processor}, cores: {}", self.cores)?;
        if let Some(mib) = self.memory_mib {
            write!(f, ", {mib} MiB")?;
        }
        write!(f, ", {}", self.system)
    }
}

/// The value of the first line `name : value`.
fn field(text: &str, name: &str) -> Option<String> {
    let lines = text.lines().filter_map(|line| line.split_once(':'));
    let mut found = lines.filter(|(key, _)| key.trim() == name);
    found.next().map(|(_, value)| value.trim().to_owned())
}

/// All claims of a run.
#[derive(Debug, Serialize)]
pub(crate) struct Record<'a> {
    /// Whether it ran on smaller programs than it should.
    quick: bool,
    machine: Machine,
    /// Of all experiments.
    seconds: f64,
    experiments: Vec<Recorded<'a>>,
}

/// The claims of one experiment.
#[derive(Debug, Serialize)]
struct Recorded<'a> {
    name: &'a str,
    seconds: f64,
    /// Why it failed, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<&'a str>,
    claims: &'a [Claim],
}

impl<'a> Record<'a> {
    /// Of these runs, on this machine.
    pub(crate) fn of(runs: &'a [Run], quick: bool) -> Self {
        let experiments = runs.iter().map(|run| Recorded {
            name: run.name,
            seconds: run.seconds.round(),
            failed: run.outcome.as_ref().err().map(String::as_str),
            claims: run.outcome.as_ref().map_or(&[], |report| &report.claims),
        });
        Self {
            quick,
            machine: Machine::this(),
            seconds: runs.iter().map(|run| run.seconds).sum::<f64>().round(),
            experiments: experiments.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Machine, Record, field};
    use crate::kit::{Claim, Report, Run};

    #[test]
    fn fields_are_those_of_the_first_processor() {
        let text = "processor\t: 0\nmodel name\t: A 1\nmodel name\t: B 2\nMemTotal:   2048 kB\n";
        assert_eq!(field(text, "model name").as_deref(), Some("A 1"));
        assert_eq!(field(text, "MemTotal").as_deref(), Some("2048 kB"));
        assert_eq!(field(text, "none"), None);
        let machine = Machine {
            processor: None,
            cores: 2,
            memory_mib: Some(512),
            system: "linux 6".to_owned(),
        };
        assert_eq!(
            machine.to_string(),
            "a processor without a name, cores: 2, 512 MiB, linux 6"
        );
    }

    #[test]
    fn a_record_has_the_claims_of_every_experiment_and_what_failed() {
        let mut report = Report::new("table-3", "memory", "a paper", false);
        let claim = Claim::that("it is small").of("table 3");
        report.claims.push(claim.decide(true, "counted"));
        let run = |name, outcome, seconds| Run {
            name,
            outcome,
            seconds,
        };
        let runs = [
            run("table-3", Ok(report), 2.4),
            run("table-4", Err("no memory".to_owned()), 1.0),
        ];
        let json = serde_json::to_value(Record::of(&runs, false)).expect("JSON");
        assert_eq!(json["seconds"], 3.0);
        assert_eq!(json["experiments"][0]["claims"][0]["claim"], "it is small");
        assert_eq!(json["experiments"][0].get("failed"), None);
        assert_eq!(json["experiments"][1]["failed"], "no memory");
        assert!(json["machine"]["cores"].as_u64() >= Some(1));
    }
}
