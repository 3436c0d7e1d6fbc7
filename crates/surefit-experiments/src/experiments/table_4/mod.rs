//! `surefit experiment table-4`: what one malloc and one free cost, on average and at worst.
//!
//! `call_costs` says how calls are timed, and what makes a maximum repeatable. The paper gives
//! clock ticks of its own machine, so what is compared are the ratios of Compact-fit to TLSF.
//!
//! # Source
//! Craciunas et al. (2008), table 4. Its maxima, near 10⁵ ticks for malloc and free alike, are
//! probably interrupts.

mod call_costs;

use anyhow::Result;

use self::call_costs::{Cost, Costs, measure};
use crate::kit::{Claim, Entry, Report, Request, Table, Verdict};
use crate::shared::programs::{self, StandsFor};
use surefit_measure::passes::percentiles::clock_ns;
use surefit_measure::progress::Progress;
use surefit_measure::results::Ratio;
use surefit_measure::sizes::Size;
use surefit_measure::spec::Spec;
use surefit_measure::steps::Steps;

/// This experiment.
pub(crate) const ENTRY: Entry = Entry {
    name: "table-4",
    about: "What one malloc and one free cost, on average and at worst",
    takes_traces: true,
    takes_rounds: true,
    run,
};

/// The allocators; the first is the papers' TLSF, the second stands for their Compact-fit.
const ALLOCATORS: [&str; 4] = ["tlsf", "cf:k=1", "cf", "cf-direct"];

/// The paper's clock ticks for one program: average and maximum.
#[derive(Clone, Copy, Debug)]
struct Papers {
    /// TLSF, CF.
    malloc: [(f64, f64); 2],
    /// TLSF, CF.
    free: [(f64, f64); 2],
}

const EMACS: Papers = Papers {
    malloc: [(228.0, 93_359.0), (260.0, 81_662.0)],
    free: [(153.0, 71_159.0), (279.0, 74_798.0)],
};

const HUMMINGBIRD: Papers = Papers {
    malloc: [(411.0, 109_079.0), (529.0, 98_820.0)],
    free: [(500.0, 69_192.0), (574.0, 79_914.0)],
};

impl Papers {
    fn of(trace: &str) -> Option<Self> {
        StandsFor::of(trace).choose(EMACS, HUMMINGBIRD)
    }

    const fn of_call(self, call: Call) -> [(f64, f64); 2] {
        match call {
            Call::Malloc => self.malloc,
            Call::Free => self.free,
        }
    }
}

/// A call of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    Malloc,
    Free,
}

impl Call {
    const BOTH: [Self; 2] = [Self::Malloc, Self::Free];

    const fn name(self) -> &'static str {
        match self {
            Self::Malloc => "malloc",
            Self::Free => "free",
        }
    }
}

fn run(request: &Request) -> Result<Report> {
    let specs = Spec::parse_list(&ALLOCATORS.join(","))?;
    let names = programs::names(request, &programs::PAPERS);
    let rounds = request.rounds_or(5);
    let progress = Progress::new((specs.len() * names.len()) as u64 * u64::from(rounds));
    let source = "Craciunas et al. (2008), table 4";
    let mut report = Report::new(ENTRY.name, ENTRY.about, source, request.quick);
    let clock_ns = clock_ns();
    report.setting.push(format!(
        "{rounds} interleaved rounds, heap 4x; nanoseconds, of which the clock's own {clock_ns} are taken off. repeatable: the \
         longest call, each call at its shortest round."
    ));
    for name in &names {
        let program = programs::load(name, request.quick)?;
        let measured = measure(&program.steps, &specs, rounds, clock_ns, &progress)?;
        add_program(&mut report, &program.steps, &measured);
    }
    progress.finish();
    report.notes.push(
        "Papers' figures are clock ticks of another machine: compare the ratios of CF to TLSF. A maximum of all calls is \
         mostly an interrupt; the repeatable one is not. A malloc of zeroed memory writes it."
            .to_owned(),
    );
    Ok(report)
}

// ---- reporting
// -----------------------------------------------------------------------------------------------------------

fn add_program(report: &mut Report, steps: &Steps, measured: &[Costs]) {
    let name = &steps.name;
    for (number, call) in Call::BOTH.into_iter().enumerate() {
        let title = format!(
            "{name}, {} live: {}",
            Size(steps.peak_live_bytes),
            call.name()
        );
        report.tables.push(costs_table(&title, measured, number));
    }
    if let Some(papers) = Papers::of(name) {
        report.tables.push(papers_table(name, papers, measured));
        for (number, call) in Call::BOTH.into_iter().enumerate() {
            let costs = [measured[0][number].as_ref(), measured[1][number].as_ref()];
            report
                .claims
                .push(cheaper_on_average(name, call, papers, costs));
            report.claims.push(worst_case(name, call, papers, costs));
        }
    }
}

/// The costs of one call, by its place in [`Call::BOTH`].
fn costs_table(title: &str, measured: &[Costs], call: usize) -> Table {
    Table::of(
        title,
        ALLOCATORS.iter().zip(measured).map(|(name, costs)| {
            let cost = costs[call].as_ref();
            (name, costs, cost)
        }),
    )
    .text("allocator", |(name, _, _)| **name)
    .figure("avg", 1, |(_, _, cost)| cost.map(|cost| cost.mean))
    .figure("p99.99", 0, |(_, _, cost)| cost.map(|cost| cost.p9999))
    .figure("max", 0, |(_, _, cost)| cost.map(|cost| cost.most))
    .figure("repeatable", 0, |(_, _, cost)| {
        cost.map(|cost| cost.repeatable)
    })
    .table()
}

fn papers_table(name: &str, papers: Papers, measured: &[Costs]) -> Table {
    let of = StandsFor::of(name).papers_name().unwrap_or(name);
    let title = format!("{name}: cf:k=1 ÷ tlsf beside the paper's {of}");
    let calls = Call::BOTH.into_iter().enumerate();
    let ratio = |number: usize, figure: fn(&Cost) -> f64| {
        let [tlsf, cf] = [measured[0][number].as_ref()?, measured[1][number].as_ref()?];
        Some(figure(cf) / figure(tlsf).max(1e-9))
    };
    Table::of(
        title,
        calls.map(|(number, call)| (number, call, papers.of_call(call))),
    )
    .text("CF ÷ TLSF", |(_, call, _)| call.name())
    .figure("avg", 2, |(number, ..)| ratio(*number, |cost| cost.mean))
    .figure("max", 2, |(number, ..)| {
        ratio(*number, |cost| cost.most as f64)
    })
    .figure("repeatable", 2, |(number, ..)| {
        ratio(*number, |cost| cost.repeatable as f64)
    })
    .papers("avg", 2, |(_, _, [tlsf, cf])| cf.0 / tlsf.0)
    .papers("max", 2, |(_, _, [tlsf, cf])| cf.1 / tlsf.1)
    .papers("TLSF avg, ticks", 0, |(_, _, [tlsf, _])| tlsf.0)
    .papers("CF avg, ticks", 0, |(_, _, [_, cf])| cf.0)
    .table()
}

fn cheaper_on_average(
    name: &str,
    call: Call,
    papers: Papers,
    [tlsf, cf]: [Option<&Cost>; 2],
) -> Claim {
    let ratio = cf.zip(tlsf).and_then(|(cf, tlsf)| cf.ratio_to(tlsf));
    let [(papers_tlsf, _), (papers_cf, _)] = papers.of_call(call);
    Claim::that(format!(
        "{name}: {} is cheaper on average with TLSF than with Compact-fit",
        call.name()
    ))
    .papers(format!(
        "CF {papers_cf:.0} ÷ TLSF {papers_tlsf:.0} ticks = {:.2}",
        papers_cf / papers_tlsf
    ))
    .measured(ratio.map(|ratio| {
        let Ratio { median, min, max } = ratio;
        format!("cf:k=1 ÷ tlsf = {median:.2} [{min:.2}-{max:.2}]")
    }))
    .decide(
        ratio.and_then(Verdict::is_greater),
        "the mean of cf:k=1 is more than 3 % above that of tlsf in the median; \
         if a round disagrees, the clock decides nothing",
    )
}

/// Maxima decide only if they come again in every round.
fn worst_case(name: &str, call: Call, papers: Papers, [tlsf, cf]: [Option<&Cost>; 2]) -> Claim {
    let [(_, papers_tlsf), (_, papers_cf)] = papers.of_call(call);
    let is_cf_less = papers_cf < papers_tlsf;
    let both = tlsf.zip(cf);
    let decisive = both.filter(|(tlsf, cf)| tlsf.is_repeatable() && cf.is_repeatable());
    let less = if is_cf_less { "shorter" } else { "longer" };
    Claim::that(format!(
        "{name}: the longest {} is {less} with Compact-fit than with TLSF",
        call.name()
    ))
    .papers(format!("CF {papers_cf:.0}, TLSF {papers_tlsf:.0} ticks"))
    .measured(both.map(|(tlsf, cf)| {
        format!(
            "max {} against {} ns; repeatable {} against {} ns",
            cf.most, tlsf.most, cf.repeatable, tlsf.repeatable
        )
    }))
    .decide(
        decisive.map(|(tlsf, cf)| (cf.most < tlsf.most) == is_cf_less),
        "maxima are compared only if both are within twice what comes again in \
         every round; else they are interrupts, here and likely there",
    )
}

#[cfg(test)]
mod tests {
    use super::{Call, Cost, EMACS, cheaper_on_average, worst_case};
    use crate::kit::Verdict;

    #[test]
    fn a_maximum_that_does_not_come_again_decides_nothing() {
        let cost = |mean: f64, most, repeatable| Cost {
            means: vec![mean],
            mean,
            p9999: most,
            most,
            repeatable,
        };
        let verdict = |tlsf: Cost, cf: Cost| {
            worst_case("t", Call::Malloc, EMACS, [Some(&tlsf), Some(&cf)]).verdict
        };
        assert_eq!(
            verdict(cost(1.0, 500, 400), cost(1.0, 300, 200)),
            Verdict::Holds
        );
        assert_eq!(
            verdict(cost(1.0, 300, 200), cost(1.0, 500, 400)),
            Verdict::DoesNot
        );
        assert_eq!(
            verdict(cost(1.0, 9000, 400), cost(1.0, 300, 200)),
            Verdict::NotComparable
        );
        let average = |tlsf, cf| {
            let costs = [cost(tlsf, 1, 1), cost(cf, 1, 1)];
            cheaper_on_average("t", Call::Free, EMACS, costs.each_ref().map(Some)).verdict
        };
        assert_eq!(
            [average(1.0, 1.2), average(1.2, 1.0)],
            [Verdict::Holds, Verdict::DoesNot]
        );
    }
}
