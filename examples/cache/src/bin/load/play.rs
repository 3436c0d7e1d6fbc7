//! The two loads. Both are decided by the seed alone, whatever the server answers and however long
//! it takes.
//!
//! ```text
//! drifting    eight phases: fill up to the budget with values of the phase's mean length, read a
//!             tenth of the keys, delete a random 80 %, wait; the next phase's mean is 1.7 times
//!             larger
//! steady      fill up to the budget; then four reads for each replacement of a value, of the
//!             same mean length; then the same one command at a time, for the latency
//! ```

use std::thread;
use std::time::Duration;

use hdrhistogram::Histogram;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use crate::client::{Client, Item};
use crate::subject::{Server, Subject};

/// The phases of the drifting load.
pub(crate) const PHASES: usize = 8;

/// What sizes are multiplied with from one phase to the next.
const DRIFT: f64 = 1.7;

/// Commands that are sent at once where processor time counts.
const DEPTH: usize = 16;

/// Milliseconds after which a server that is to settle is looked at again.
const STEP: u64 = 250;

/// Bytes by which resident memory that is stable may change within a step.
const SAME: usize = 16 << 10;

/// Samples of resident memory while a phase fills, and while it deletes.
const SAMPLES: usize = 8;

/// What is played.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Load {
    pub(crate) seed: u64,
    /// Bytes of keys and values when a phase is full.
    pub(crate) budget: usize,
    /// The mean length of values in the first phase.
    pub(crate) first_bytes: usize,
    /// Commands of the steady load.
    pub(crate) steady: usize,
    /// For how long the memory of a server stays the same before it is measured, in milliseconds.
    pub(crate) stable_ms: u64,
    /// How long it is waited for that, in milliseconds, at most.
    pub(crate) settle_ms: u64,
}

/// Memory at one moment.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Sample {
    /// Commands so far.
    pub(crate) commands: u64,
    /// Bytes of the keys and values that live.
    pub(crate) payload: usize,
    /// Resident bytes of the process.
    pub(crate) resident: usize,
}

/// Nanoseconds of latency.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Latency {
    pub(crate) p50: u64,
    pub(crate) p99: u64,
    pub(crate) p9999: u64,
    pub(crate) max: u64,
}

impl Latency {
    fn of(histogram: &Histogram<u64>) -> Self {
        Self {
            p50: histogram.value_at_quantile(0.5),
            p99: histogram.value_at_quantile(0.99),
            p9999: histogram.value_at_quantile(0.9999),
            max: histogram.max(),
        }
    }
}

/// What one server did under one load.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Played {
    /// Resident bytes of the empty server.
    pub(crate) empty: usize,
    /// Processor time of the server per command, in nanoseconds.
    pub(crate) cpu_ns: f64,
    pub(crate) latency: Latency,
    /// When each phase was full.
    pub(crate) full: Vec<Sample>,
    /// At each phase's end.
    pub(crate) end: Vec<Sample>,
    /// In between too.
    pub(crate) samples: Vec<Sample>,
}

/// One server under both loads, each in a new process.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Run {
    pub(crate) drifting: Played,
    pub(crate) steady: Played,
}

/// Plays both loads.
pub(crate) fn play(subject: &Subject, load: &Load) -> anyhow::Result<Run> {
    Ok(Run {
        drifting: Player::new(subject, load)?.drift()?,
        steady: Player::new(subject, load)?.stay()?,
    })
}

/// A load that is being played.
struct Player<'a> {
    load: &'a Load,
    server: Server,
    client: Client,
    random: ChaCha8Rng,
    live: Vec<Item>,
    payload: usize,
    next_number: u64,
    empty: usize,
    cpu_at_start: u64,
    samples: Vec<Sample>,
}

impl<'a> Player<'a> {
    fn new(subject: &Subject, load: &'a Load) -> anyhow::Result<Self> {
        let server = subject.start(load.budget)?;
        let mut client = Client::new(server.address, load.seed)?;
        client.purge()?;
        client.depth = DEPTH;
        Ok(Self {
            load,
            client,
            random: ChaCha8Rng::seed_from_u64(load.seed),
            live: Vec::new(),
            payload: 0,
            next_number: 0,
            empty: server.resident()?,
            cpu_at_start: server.cpu_ns()?,
            server,
            samples: Vec::new(),
        })
    }

    fn drift(mut self) -> anyhow::Result<Played> {
        let (mut full, mut end) = (Vec::new(), Vec::new());
        let mut mean = self.load.first_bytes as f64;
        let mut cpu = 0;
        for _ in 0..PHASES {
            let before = self.server.cpu_ns()?;
            self.fill(mean)?;
            for _ in 0..self.live.len() / 10 {
                let item = self.live[self.random.random_range(0..self.live.len())];
                self.client.get(item)?;
            }
            self.client.flush()?;
            full.push(self.sample()?);
            self.delete_most()?;
            end.push(self.settled()?);
            cpu += self.server.cpu_ns()? - before;
            mean *= DRIFT;
        }
        let latency = Latency::of(&self.client.latency);
        Ok(self.played(cpu, latency, full, end))
    }

    fn stay(mut self) -> anyhow::Result<Played> {
        let mean = self.load.first_bytes as f64;
        self.fill(mean)?;
        let full = vec![self.sample()?];
        (self.cpu_at_start, self.client.commands) = (self.server.cpu_ns()?, 0);
        self.replace(self.load.steady)?;
        let cpu = self.server.cpu_ns()? - self.cpu_at_start;
        let commands = self.client.commands;
        self.client.depth = 1;
        self.client.latency.reset();
        self.replace(self.load.steady / 4)?;
        let latency = Latency::of(&self.client.latency);
        let end = vec![self.settled()?];
        self.client.commands = commands; // those that the processor time is of
        Ok(self.played(cpu, latency, full, end))
    }

    fn played(self, cpu: u64, latency: Latency, full: Vec<Sample>, end: Vec<Sample>) -> Played {
        Played {
            empty: self.empty,
            cpu_ns: cpu as f64 / self.client.commands as f64,
            latency,
            full,
            end,
            samples: self.samples,
        }
    }

    /// Adds keys until the payload is the budget.
    fn fill(&mut self, mean: f64) -> anyhow::Result<()> {
        let start = self.payload;
        let mut next_sample = 1;
        while self.payload < self.load.budget {
            let item = Item {
                number: self.next_number,
                len: self.random_len(mean),
            };
            self.next_number += 1;
            self.client.set(item)?;
            self.live.push(item);
            self.payload += item.payload();
            if self.payload - start > (self.load.budget - start) / SAMPLES * next_sample {
                self.sample()?;
                next_sample += 1;
            }
        }
        self.client.flush()
    }

    /// Uniform between half of the mean and one and a half.
    fn random_len(&mut self, mean: f64) -> usize {
        (mean * self.random.random_range(0.5..1.5)) as usize
    }

    /// Deletes a random 80 % of the keys.
    fn delete_most(&mut self) -> anyhow::Result<()> {
        self.live.shuffle(&mut self.random);
        let kept = self.live.len() / 5;
        let gone = self.live.split_off(kept);
        for (number, item) in gone.iter().enumerate() {
            self.client.delete(*item)?;
            self.payload -= item.payload();
            if number % (gone.len() / SAMPLES + 1) == 0 {
                self.sample()?;
            }
        }
        self.client.flush()
    }

    /// Four reads for each replacement.
    fn replace(&mut self, commands: usize) -> anyhow::Result<()> {
        for number in 0..commands {
            let at = self.random.random_range(0..self.live.len());
            if number % 5 > 0 {
                self.client.get(self.live[at])?;
                continue;
            }
            let len = self.random_len(self.load.first_bytes as f64);
            self.payload = self.payload - self.live[at].len + len;
            self.live[at].len = len;
            self.client.set(self.live[at])?;
        }
        self.client.flush()
    }

    fn sample(&mut self) -> anyhow::Result<Sample> {
        let sample = Sample {
            commands: self.client.commands,
            payload: self.payload,
            resident: self.server.resident()?,
        };
        self.samples.push(sample);
        Ok(sample)
    }

    /// Waits until resident memory is stable, but not for ever.
    fn settle(&self) -> anyhow::Result<()> {
        let (mut waited, mut stable, mut last) = (0, 0, self.server.resident()?);
        let step = self.load.stable_ms.clamp(1, STEP);
        while waited < self.load.settle_ms && stable < self.load.stable_ms {
            thread::sleep(Duration::from_millis(step));
            waited += step;
            let now = self.server.resident()?;
            stable = match now.abs_diff(last) <= SAME {
                true => stable + step,
                false => 0,
            };
            last = now;
        }
        Ok(())
    }

    /// Memory after the server was asked to give back what it can, and had time for it.
    fn settled(&mut self) -> anyhow::Result<Sample> {
        let commands = self.client.commands;
        let latency = self.client.latency.clone();
        self.client.purge()?;
        self.settle()?;
        (self.client.commands, self.client.latency) = (commands, latency);
        self.sample()
    }
}
