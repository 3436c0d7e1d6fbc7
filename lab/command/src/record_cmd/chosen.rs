//! Which process of a recording is the program that the user means: a wrapper only begins it.

use surefit_recorder::begun::{Begun, Unheard};
use surefit_recorder::program::{self, Unrecordable};
use surefit_recorder::read::Described;

/// A program that COMMAND started is the one that is meant if it has so many times the events of
/// COMMAND's own process, and most of all events.
const TIMES: u64 = 10;

/// A program with fewer events that began one without a trace is taken for a wrapper of that.
pub(super) const FEW: u64 = 1000;

/// The log of the program that is meant.
#[derive(Debug, Default)]
pub(super) struct Chosen {
    /// Its place among the logs; none if there is no trace of it.
    pub(super) log: Option<usize>,
    /// What began it, if that is not COMMAND alone, and how.
    pub(super) by: Option<String>,
    /// The process of it that has no log, if that is known: what began it there is not meant, and
    /// has no trace if it has few events.
    pub(super) without: Option<u32>,
    /// Why there is no trace of it, if that is known.
    pub(super) why_not: Option<String>,
}

/// Chooses among the logs. `first` is the process that we began; if nobody knows it, the log with
/// most events is the program's. `is_malloc_only`: malloc's part of any program is taken.
pub(super) fn chosen(
    logs: &[Described],
    first: Option<u32>,
    (begun, unheard): (&[Begun], &[Unheard]),
    is_malloc_only: bool,
) -> Chosen {
    let Some(own) = own_log(logs, first) else {
        return Chosen::default();
    };
    let (by, log) = (&logs[own], started(logs, own).unwrap_or(own));
    let replaced = unheard.iter().find(|it| it.pid == by.pid);
    let wrapped = || unheard.last().filter(|_| logs[log].events < FEW);
    if let Some(it) = replaced.or_else(wrapped) {
        let (by, how) = match it.pid == by.pid {
            true => (&by.program, "replaced itself by"),
            false => (&logs[log].program, "only started"),
        };
        return Chosen {
            without: Some(it.pid),
            ..Chosen::none(format!("{by} {how} {}: {}", it.program, it.reason))
        };
    }
    let (by, how) = if log == own {
        (&logs[became(logs, own)], "became")
    } else {
        (by, "started")
    };
    let it = &logs[log];
    let called = begun.iter().rfind(|begun| begun.is_before(it));
    let checked = called.map(|called| program::check(called.program()));
    match checked {
        Some(Err(error @ Unrecordable::OwnAllocator(..))) if !is_malloc_only => {
            Chosen::none(format!("{error}; or give --malloc-only"))
        }
        _ => Chosen {
            log: Some(log),
            by: (by.path != it.path)
                .then(|| format!("it is of {}, which {} {how}", it.program, by.program)),
            ..Chosen::default()
        },
    }
}

impl Chosen {
    fn none(why: String) -> Self {
        Self {
            why_not: Some(why),
            ..Self::default()
        }
    }
}

/// The log of the process that we began, of the last program in it.
fn own_log(logs: &[Described], first: Option<u32>) -> Option<usize> {
    let mut numbered = logs.iter().enumerate();
    match first {
        Some(pid) => numbered.rfind(|(_, log)| log.pid == pid && !log.forked),
        None => numbered.max_by_key(|(_, log)| log.events),
    }
    .map(|(index, _)| index)
}

/// The log of the first program in the process of this log.
fn became(logs: &[Described], last: usize) -> usize {
    let is_it = |log: &Described| log.pid == logs[last].pid && !log.forked;
    logs.iter().position(is_it).unwrap_or(last)
}

/// The program of another process, if that is what there is to see.
fn started(logs: &[Described], own: usize) -> Option<usize> {
    let all: u64 = logs.iter().map(|log| log.events).sum();
    let others = logs.iter().enumerate();
    let others = others.filter(|(_, log)| log.pid != logs[own].pid && !log.forked);
    let (index, most) = others.max_by_key(|(_, log)| log.events)?;
    let is_meant =
        most.events >= logs[own].events.max(1).saturating_mul(TIMES) && most.events > all / 2;
    is_meant.then_some(index)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use surefit_recorder::begun::Unheard;
    use surefit_recorder::read::Described;

    use super::chosen;

    /// Logs of `(process, whether it is a copy, events)`.
    fn logs(of: &[(u32, bool, u64)]) -> Vec<Described> {
        let log = |(number, &(pid, forked, events)): (usize, &(u32, bool, u64))| Described {
            path: PathBuf::from(format!("{pid}-{number}.log")),
            pid,
            parent: 1,
            forked,
            own_malloc: false,
            program: format!("p{number}"),
            library: None,
            events,
            ready: events,
            ended: None,
            seen: surefit_recorder::seen::Inside::default(),
        };
        of.iter().enumerate().map(log).collect()
    }

    fn which(of: &[(u32, bool, u64)], first: Option<u32>) -> (Option<usize>, Option<String>) {
        let chosen = chosen(&logs(of), first, (&[], &[]), false);
        (chosen.log, chosen.by)
    }

    #[test]
    fn a_wrapper_gives_way_to_the_program_that_it_becomes_or_starts() {
        let became = which(&[(7, false, 9000), (7, false, 5), (8, true, 9000)], Some(7));
        assert_eq!(
            became,
            (Some(1), Some("it is of p1, which p0 became".into()))
        );
        let started = which(&[(7, false, 40), (8, false, 50), (9, false, 400)], Some(7));
        assert_eq!(
            started,
            (Some(2), Some("it is of p2, which p0 started".into()))
        );
    }

    #[test]
    fn a_program_with_events_of_its_own_or_many_children_or_copies_stays() {
        for others in [
            &[(8, false, 399)][..],
            &[(8, false, 400), (9, false, 400)],
            &[(8, true, 400)],
            &[],
        ] {
            let of = [&[(7, false, 40)], others].concat();
            assert_eq!(which(&of, Some(7)), (Some(0), None), "{others:?}");
        }
        assert_eq!(which(&[], Some(7)), (None, None));
        assert_eq!(which(&[(8, false, 1)], Some(7)), (None, None));
        assert_eq!(which(&[(8, false, 1), (9, true, 2)], None).0, Some(1));
    }

    #[test]
    fn a_program_that_was_replaced_by_one_without_a_log_has_no_trace() {
        let unheard = [Unheard {
            pid: 7,
            program: "./x".into(),
            reason: "no environment".into(),
        }];
        let why = |of, first| {
            let none = chosen(&logs(of), Some(first), (&[], &unheard), false);
            assert_eq!(none.without, none.log.is_none().then_some(7));
            none.why_not.unwrap_or_default()
        };
        let replaced = "p0 replaced itself by ./x: no environment";
        assert_eq!(why(&[(7, false, 4000)], 7), replaced);
        let wrapped = "p0 only started ./x: no environment";
        assert_eq!(why(&[(8, false, 999), (7, false, 40)], 8), wrapped);
        assert_eq!(why(&[(8, false, 1000), (7, false, 40)], 8), "");
    }
}
