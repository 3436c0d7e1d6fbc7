//! Plays a drifting and a steady load against caches, each a process of its own, and compares their
//! memory, processor time and latency.
//!
//! ```text
//! main        options, rounds
//!   subject     a server: how to start it, its memory, its processor time
//!   play        the two loads, phase by phase
//!     client      one connection: batches of commands, replies that are checked
//!   report      what was measured: a table, JSON
//!     plot        resident memory along the drifting load
//! ```

mod client;
mod play;
mod plot;
mod report;
mod subject;

use std::fs;
use std::path::PathBuf;

use anyhow::bail;
use clap::{Parser, ValueEnum};

use crate::play::Load;
use crate::report::Report;
use crate::subject::Subject;

/// How long the loads are.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Size {
    /// Seconds: shows that everything works; its numbers mean little.
    Smoke,
    /// One to three minutes per server and round, and memory for two gigabytes.
    Full,
}

/// Compares caches under a load whose sizes drift, and under a steady one.
#[derive(Debug, Parser)]
#[command(name = "surefit-cache-load", version)]
struct Options {
    /// How long the loads are.
    #[arg(long, value_enum, default_value_t = Size::Smoke)]
    size: Size,
    /// Interleaved rounds; the table shows medians.
    #[arg(long, default_value_t = 1)]
    rounds: usize,
    /// The seed of keys, sizes and order.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The mean length of values in the first phase, in bytes. Each phase multiplies it by 1.7.
    #[arg(long, default_value_t = 240)]
    first_bytes: usize,
    /// The payload that each phase fills up to, in MiB; by default that of the size.
    #[arg(long)]
    budget_mb: Option<usize>,
    /// Only these servers, as in surefit,std.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Another Redis, as in 'mine=/opt/redis-server --activedefrag yes'. May be given more than
    /// once.
    #[arg(long, value_name = "NAME=PROGRAM ARGUMENT…")]
    redis: Vec<String>,
    /// This example on std's containers with a library that stands in for malloc, as in
    /// 'mine=target/release/libsurefit_malloc.so'. May be given more than once.
    #[arg(long, value_name = "NAME=FILE")]
    preload: Vec<String>,
    /// The program of the rows surefit and std, as one that is linked statically; by default, and
    /// for what is preloaded always, surefit-cache beside this one.
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// How long a server may give memory back before it is measured, in milliseconds, at most: it
    /// is measured when its memory has stayed the same for half of that time, but not earlier than
    /// the size says. A Redis that defragments may pause for seconds.
    #[arg(long)]
    settle_ms: Option<u64>,
    /// A folder for load.json, load.txt (the table) and load.svg, written anew after each server.
    #[arg(long)]
    out: Option<PathBuf>,
}

impl Options {
    fn load(&self) -> Load {
        let (budget_mb, steady, settle_ms) = match self.size {
            Size::Smoke => (2, 20_000, 50),
            Size::Full => (512, 200_000, 1_500),
        };
        Load {
            seed: self.seed,
            budget: self.budget_mb.unwrap_or(budget_mb) << 20,
            first_bytes: self.first_bytes,
            steady,
            stable_ms: self
                .settle_ms
                .map_or(settle_ms, |most| settle_ms.max(most / 2)),
            settle_ms: self.settle_ms.unwrap_or(settle_ms),
        }
    }

    fn subjects(&self) -> anyhow::Result<Vec<Subject>> {
        let is_wanted =
            |subject: &Subject| self.only.is_empty() || self.only.contains(&subject.name);
        let known = Subject::all(self.program.as_deref());
        let known = known.into_iter().filter(is_wanted).map(Ok);
        let named = self.redis.iter().map(|text| Subject::redis(text));
        let preloaded = self.preload.iter().map(|text| Subject::preloaded(text));
        known.chain(preloaded).chain(named).collect()
    }

    /// Writes what was measured until now, if there is a folder for it.
    fn write(&self, report: &Report) -> anyhow::Result<()> {
        let Some(folder) = &self.out else {
            return Ok(());
        };
        fs::create_dir_all(folder)?;
        fs::write(folder.join("load.json"), report.json()?)?;
        fs::write(folder.join("load.txt"), report.table())?;
        fs::write(folder.join("load.svg"), plot::svg(report)?)?;
        Ok(())
    }
}

fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    let (load, subjects) = (options.load(), options.subjects()?);
    let mut report = Report::new(load.clone(), options.rounds);
    let mut left = Vec::new();
    for subject in &subjects {
        match subject.missing() {
            Some(missing) => println!("NOT RUN: {} ({missing})", subject.name),
            None => left.push(subject),
        }
    }
    let mut failed = Vec::new();
    for _ in 0..options.rounds {
        // Who fails once is left out from then on: the others' rounds are not lost.
        let mut ends = Vec::new();
        for subject in left {
            match play::play(subject, &load) {
                Ok(run) => {
                    report.add(&subject.name, run);
                    ends.push(subject);
                    options.write(&report)?;
                }
                Err(error) => {
                    println!("FAILED: {}: {error:#}", subject.name);
                    failed.push(subject.name.as_str());
                }
            }
        }
        left = ends;
    }
    print!("{}", report.table());
    if !failed.is_empty() {
        bail!("the load against {}", failed.join(", "));
    }
    Ok(())
}
