//! Lua's own collectors, as they come and tuned.
#![deny(unsafe_code)]

use surefit_clients::lua::Collecting;

/// One collector of Lua in one tuning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tuning {
    /// The collector.
    pub(super) collector: &'static str,
    /// What was tuned; empty as it comes.
    pub(super) tuned: &'static str,
    /// Both, as the machine takes them.
    pub(super) collecting: Collecting,
}

impl Tuning {
    const fn incremental(tuned: &'static str, pause: u16) -> Self {
        Self {
            collector: "incremental",
            tuned,
            collecting: Collecting::Incremental {
                pause,
                step_multiplier: 0,
            },
        }
    }

    const fn generational(tuned: &'static str, minor: u16) -> Self {
        Self {
            collector: "generational",
            tuned,
            collecting: Collecting::Generational { minor, major: 0 },
        }
    }

    /// Whether it is as Lua's authors left it.
    pub(super) const fn is_as_it_comes(&self) -> bool {
        self.tuned.is_empty()
    }

    /// The collector and its tuning.
    pub(super) fn name(&self) -> String {
        format!("{} {}", self.collector, self.tuned)
            .trim_end()
            .to_owned()
    }
}

/// All of them, in the order of the tables. As they come, the pause is 200 % and the minor
/// multiplier 20 %.
pub(super) const TUNINGS: [Tuning; 8] = [
    Tuning::incremental("", 0),
    Tuning::incremental("pause=110", 110),
    Tuning::incremental("pause=150", 150),
    Tuning::incremental("pause=300", 300),
    Tuning::incremental("pause=400", 400),
    Tuning::generational("", 0),
    Tuning::generational("minor=50", 50),
    Tuning::generational("minor=100", 100),
];

#[cfg(test)]
mod tests {
    use super::{TUNINGS, Tuning};

    #[test]
    fn each_collector_is_there_as_it_comes_and_tuned() {
        let names: std::collections::BTreeSet<_> = TUNINGS.iter().map(Tuning::name).collect();
        assert_eq!(names.len(), TUNINGS.len());
        let usual = TUNINGS.iter().filter(|tuning| tuning.is_as_it_comes());
        let usual: Vec<_> = usual.map(Tuning::name).collect();
        assert_eq!(usual, ["incremental", "generational"]);
    }
}
