//! The load of a flight: a text. `build.rs` reads it for the image, and refuses what is impossible;
//! the program on an operating system reads any file.

use core::fmt;

/// How many processes there are.
pub const PROCESSES: usize = 5;

/// Their names, in the order of their priorities.
pub const NAMES: [&str; PROCESSES] = ["controller", "mission", "telemetry", "log", "guest"];

/// The process that may be on a collector.
#[cfg(feature = "collector")]
pub const MISSION: usize = 1;

/// The process whose radio interrupts.
pub const TELEMETRY: usize = 2;

/// The process with the script.
pub const GUEST: usize = 4;

/// The most lines of a script.
const STEPS: usize = 16;

/// Stands for `-`: as many as the quota holds.
pub const BY_QUOTA: u32 = u32::MAX;

/// Bytes of a page of the heap, and of the longest object.
pub const PAGE: u32 = 1 << 10;

/// What one process may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process {
    /// Periods from one release to the next.
    pub every: u32,
    /// The most objects live at once, or [`BY_QUOTA`].
    pub objects: u32,
    /// The most bytes of these objects, or [`BY_QUOTA`].
    pub bytes: u32,
    /// Bytes of the longest object.
    pub longest: u32,
    /// The most bytes of pages.
    pub quota: u32,
    /// The most calls of the heap in one release.
    pub calls: u32,
    /// The most bytes that the heap may have to copy for these calls.
    pub copied: u32,
}

impl Process {
    /// Whether its demand is what its quota holds.
    pub const fn is_by_quota(&self) -> bool {
        self.objects == BY_QUOTA || self.bytes == BY_QUOTA
    }
}

#[cfg(not(target_os = "none"))]
impl Process {
    /// The figures in the order of the fields.
    const fn of(figures: [u32; 7]) -> Self {
        let [every, objects, bytes, longest, quota, calls, copied] = figures;
        Self {
            every,
            objects,
            bytes,
            longest,
            quota,
            calls,
            copied,
        }
    }

    /// What is impossible in its figures, and the number that would do.
    const fn fault(&self) -> Option<(&'static str, Option<usize>)> {
        if self.every == 0 || self.objects == 0 || self.bytes == 0 || self.longest == 0 {
            return Some(("it needs a line whose first four figures are above 0", None));
        }
        if self.longest > PAGE {
            let page = Some(PAGE as usize);
            return Some(("its longest object must fit a page", page));
        }
        if self.bytes < self.longest {
            let longest = Some(self.longest as usize);
            return Some(("its bytes must hold its longest object", longest));
        }
        if self.calls < 2 {
            return Some(("it must be allowed as many calls", Some(2)));
        }
        None
    }
}

/// What the guest does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Nothing.
    Rest,
    /// Allocates so many objects of changing lengths in each release, and frees them in the next.
    Burst(u32),
    /// Asks for an object of so many bytes in each release, and never frees it.
    Ask(u32),
    /// Is destroyed.
    End,
}

/// The load of a flight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Load {
    /// The seed of everything that is random.
    pub seed: u32,
    /// The most bytes of the heap's region.
    pub ram: u32,
    /// Instructions of a period.
    pub period: u32,
    /// Instructions from the controller's release to its deadline.
    pub deadline: u32,
    /// What each process may do.
    pub processes: [Process; PROCESSES],
    /// The guest's script: from which period on it does what; so many steps.
    pub script: [(u32, Verb); STEPS],
    /// As above.
    pub steps: usize,
    /// The script begins anew after so many periods.
    pub repeat: u32,
}

/// Why a load is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// The line of the text; 0 if it is not one line.
    pub line: u32,
    /// The process that is concerned.
    pub process: Option<usize>,
    /// What is wrong, and how to mend it.
    pub what: &'static str,
    /// The number that would do.
    pub needed: Option<usize>,
}

impl Invalid {
    /// Something is wrong with the load as a whole, or with a process.
    pub const fn new(process: Option<usize>, what: &'static str, needed: Option<usize>) -> Self {
        Self {
            line: 0,
            process,
            what,
            needed,
        }
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "line {}: ", self.line)?;
        }
        if let Some(process) = self.process {
            write!(f, "process {}: ", NAMES[process])?;
        }
        f.write_str(self.what)?;
        match self.needed {
            Some(needed) => write!(f, ": {needed}"),
            None => Ok(()),
        }
    }
}

impl Load {
    /// What the guest does in a period.
    pub fn verb(&self, period: u32) -> Verb {
        let at = period % self.repeat;
        let mut begun = self.script[..self.steps].iter().filter(|step| step.0 <= at);
        match begun.next_back() {
            // It is destroyed once.
            Some(&(begin, Verb::End)) if begin < at => Verb::Rest,
            Some(&(_, verb)) => verb,
            None => Verb::Rest,
        }
    }
}

/// Reading a text: on an operating system.
#[cfg(not(target_os = "none"))]
impl Load {
    /// Reads a load.
    ///
    /// # Errors
    /// The first line that is not understood, or the first figure that is impossible.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let mut load = Self {
            seed: 0,
            ram: 0,
            period: 0,
            deadline: 0,
            processes: [Process::of([0; 7]); PROCESSES],
            script: [(0, Verb::Rest); STEPS],
            steps: 0,
            repeat: 0,
        };
        for (line, text) in (1..).zip(text.lines()) {
            let text = text.split('#').next().unwrap_or_default();
            let words: Vec<_> = text.split_whitespace().collect();
            if !words.is_empty() && load.line(&words).is_none() {
                let what = "not understood: firmware/flight/load.txt says what a line may be";
                let invalid = Invalid::new(None, what, None);
                return Err(Invalid { line, ..invalid });
            }
        }
        load.check().map(|()| load)
    }

    /// Reads a line; `None` if it is not understood.
    fn line(&mut self, words: &[&str]) -> Option<()> {
        match words {
            ["seed", count] => self.seed = number(count)?,
            ["ram", count] => self.ram = number(count)?,
            ["period", count] => self.period = number(count)?,
            ["deadline", count] => self.deadline = number(count)?,
            ["repeat", count] => self.repeat = number(count)?,
            ["process", name, figures @ ..] => {
                let process = NAMES.iter().position(|other| other == name)?;
                let figures = figures.iter().map(|figure| number(figure));
                let figures = figures.collect::<Option<Vec<_>>>()?;
                self.processes[process] = Process::of(figures.try_into().ok()?);
            }
            ["guest", at, verb, count] => {
                let count = number(count)?;
                let verb = match *verb {
                    "burst" => Verb::Burst(count),
                    "leak" | "ask" => Verb::Ask(count),
                    "end" => Verb::End,
                    _ => return None,
                };
                *self.script.get_mut(self.steps)? = (number(at)?, verb);
                self.steps += 1;
            }
            _ => return None,
        }
        Some(())
    }

    /// Whether the figures are possible, each by itself.
    fn check(&self) -> Result<(), Invalid> {
        if self.ram == 0 || self.repeat == 0 || self.deadline == 0 {
            let what = "ram, deadline and repeat must be above 0";
            return Err(Invalid::new(None, what, None));
        }
        if self.deadline > self.period {
            let what = "the deadline must be no later than the end of the period";
            return Err(Invalid::new(None, what, Some(self.period as usize)));
        }
        for (process, figures) in self.processes.iter().enumerate() {
            if let Some((what, needed)) = figures.fault() {
                return Err(Invalid::new(Some(process), what, needed));
            }
        }
        let guest = &self.processes[GUEST];
        if !guest.is_by_quota() {
            let what = "it keeps to no demand: its objects or its bytes must be -";
            return Err(Invalid::new(Some(GUEST), what, None));
        }
        let script = &self.script[..self.steps];
        if guest.every > 1 && script.iter().any(|step| step.1 == Verb::End) {
            let what = "it is destroyed in one period, so it must be released in every one";
            return Err(Invalid::new(Some(GUEST), what, Some(1)));
        }
        let times = script.iter().map(|step| step.0);
        if !times
            .chain([self.repeat])
            .is_sorted_by(|one, next| one < next)
        {
            let what = "the guest's script must ascend, and end before it is repeated";
            return Err(Invalid::new(None, what, None));
        }
        Ok(())
    }
}

/// A number; [`BY_QUOTA`] if it is `-`.
#[cfg(not(target_os = "none"))]
fn number(word: &str) -> Option<u32> {
    if word == "-" {
        return Some(BY_QUOTA);
    }
    word.parse().ok().filter(|&number| number < BY_QUOTA)
}
