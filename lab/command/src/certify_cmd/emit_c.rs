//! A certified heap as a C header, for programs on `surefit.h`.

use std::fmt::Write;

use anyhow::{Context, Result, bail};
use surefit_compact::certify::{Budget, Certificate, ClassSet, Demand, certify, slack_bytes};
use surefit_compact::{
    Bound, Config, Geometry, GeometrySpec, Keyed, Medium, Narrow, PageOrder, Spacing, Tail, Wide,
    Width,
};
use surefit_measure::error::one_line;
use surefit_measure::output::grouped;
use surefit_measure::sizes::counted;
use surefit_measure::spec::Spec;
use surefit_measure::steps::LEAST_ALIGN;
use surefit_measure::subjects::compact::Words;

use super::asked::Asked;
use super::certified::{options, report};
use super::demand_file::Peak;
use super::needed::Resizes;
use super::report::Report;
use super::stated::most_of;

/// The configuration, the first reading of the demand and its certificate, as a header that calls
/// the heap by a name. Heaps of C have keys.
///
/// # Errors
/// The demand has no certificate in this configuration, or `surefit_options` cannot say the
/// configuration.
pub(super) fn header(heap_name: &str, asked: &Asked, spec: &Spec) -> Result<String> {
    let given = options(spec)?;
    let config = &given.config;
    let built = built(config)
        .context("surefit_options cannot say this configuration: take k, or holes with frac=1/N, and leave order out")?;
    let heap = match given.words {
        Words::Narrow => certified::<Keyed<Narrow>>(asked, config)?,
        Words::Medium => certified::<Keyed<Medium>>(asked, config)?,
        Words::Wide => certified::<Keyed<Wide>>(asked, config)?,
    };
    let report = report(asked, spec)?;
    let title = format!(
        "The heap of {}, in the configuration {spec}.",
        in_comment(&report.name)
    );
    let origin = report.origin().map(|line| in_comment(&line));
    let origin = origin.into_iter().chain(heap.wider.clone());
    let origin: String = origin.map(|line| format!("\n * {line}")).collect();
    let origin = origin + &differing(&heap, &report).unwrap_or_default();
    let text = text(&title, &origin, config, &built, &heap);
    Ok(named(&text, heap_name))
}

/// A demand in C, and its certificate.
struct Heap {
    /// The definition of the peaks, if there are any.
    peaks: String,
    demand: String,
    /// What the header says if `surefit_demand` has no words for just this demand.
    wider: Option<String>,
    /// Whether objects may be in pieces.
    in_pieces: bool,
    certificate: Certificate,
    /// The bytes of holes that the certified bytes have room for; 0 if the heap is not to be told.
    slack: usize,
}

/// Peaks are written as the demand's file states them: `surefit_certify` divides them into
/// page-blocks as this command does. What it computes for the demand in the header is what the
/// header states.
fn certified<W: Width>(asked: &Asked, config: &Config) -> Result<Heap> {
    let demanded = asked.demanded::<W>(config, Resizes::InPlace)?;
    let (budget, widest, peaks) = match demanded.stated {
        Some(stated) => (
            stated.budget,
            stated.widest,
            stated.peaks.unwrap_or_default(),
        ),
        None => (
            demanded.needed.budget,
            (usize::MAX, LEAST_ALIGN),
            Vec::new(),
        ),
    };
    let largest = peaks.iter().map(|peak| peak.request_bytes);
    let mut largest = largest.chain([widest.0]);
    is_possible(config, largest.clone())?;
    let in_pieces = largest.any(|bytes| config.piece_bytes().is_some_and(|piece| bytes > piece));
    // C has no empty list of peaks.
    let budget = budget.or_else(|| peaks.is_empty().then_some(NOTHING));
    let said = budget.map(|budget| SaidBudget::of(config, budget, widest));
    let said = said.transpose()?;
    let most = most_of::<W>(&peaks, config)?;
    let demand = match &said {
        Some(said) => Demand::Joint(said.budget.and_per_class(config.geometry(), &most)),
        None => Demand::PerClass(&most),
    };
    let certificate = certify::<W>(config, &demand)?;
    let slack = slack_bytes::<W>(config, &demand, certificate.aligned_bytes)?;
    let of_peaks = match peaks.len() {
        0 => "NULL, 0".to_owned(),
        count => format!("heap_peaks, {count}"),
    };
    let (figures, align) = said.as_ref().map_or_else(none_said, SaidBudget::members);
    Ok(Heap {
        peaks: peaks_text(&peaks),
        demand: format!("{{{of_peaks}, {figures}, 0, 0, {align}, 0, 0}}"),
        wider: said.and_then(|said| said.wider),
        in_pieces,
        certificate,
        slack,
    })
}

/// Refuses lengths that no object of C has; `usize::MAX` stands for any that has one.
fn is_possible(config: &Config, lengths: impl Iterator<Item = usize>) -> Result<()> {
    let page = config.geometry().page_bytes();
    let longest = config.piece_bytes().map_or(page, |_| u32::MAX as usize);
    for bytes in lengths {
        if bytes > longest && bytes != usize::MAX {
            bail!(
                "{bytes} bytes: an object of surefit.h has at most {longest} in this configuration"
            );
        }
    }
    Ok(())
}

/// The budget of a demand without objects.
const NOTHING: Budget = Budget {
    objects: 0,
    block_bytes: 0,
    classes: ClassSet::EMPTY,
};

/// The definition of the peaks, if there are any.
fn peaks_text(peaks: &[Peak]) -> String {
    if peaks.is_empty() {
        return String::new();
    }
    let lines = peaks.iter().map(|peak| {
        let align = peak.align_bytes.unwrap_or(0);
        format!("{{{}, {align}, {}}}", peak.request_bytes, peak.objects)
    });
    let lines = lines.collect::<Vec<_>>().join(", ");
    format!("static const surefit_peak heap_peaks[] = {{{lines}}};\n")
}

/// A budget as `surefit_demand` says it: by the largest request and the strictest alignment.
struct SaidBudget {
    /// With the classes of such requests.
    budget: Budget,
    /// The largest request; 0 for any.
    largest: usize,
    /// The strictest alignment; 0 for 8.
    align: usize,
    /// What the header says if these are more classes than the budget has.
    wider: Option<String>,
}

/// The members of a demand without a budget: as [`SaidBudget::members`].
fn none_said() -> (String, usize) {
    ("0, 0, 0".to_owned(), 0)
}

impl SaidBudget {
    /// Of all requests up to a size and an alignment, those with the fewest classes among which are
    /// the budget's; those of the widest requests that the budget counts, if that says its classes.
    ///
    /// # Errors
    /// There are none.
    fn of(config: &Config, budget: Budget, widest: (usize, usize)) -> Result<Self> {
        let geometry = config.geometry();
        let used = geometry.classes();
        let used: Vec<_> = used.filter(|it| budget.classes.contains(*it)).collect();
        let sizes = geometry
            .classes()
            .map(|class| geometry.layout(class).block_bytes as usize);
        let large = config.division().large_bytes();
        let sizes: Vec<_> = [usize::MAX, large].into_iter().chain(sizes).collect();
        let aligns = LEAST_ALIGN.ilog2()..=geometry.page_bytes().ilog2();
        let requests =
            aligns.flat_map(|log2| sizes.iter().map(move |&bytes| (bytes, 1_usize << log2)));
        let said = std::iter::once(widest)
            .chain(requests)
            .map(|(bytes, align)| (bytes, align, ClassSet::of_objects(config, bytes, align)))
            .filter(|(_, _, said)| used.iter().all(|class| said.contains(*class)))
            .min_by_key(|(_, _, said)| said.len());
        let (largest, align, classes) =
            said.context("surefit_demand cannot say the size-classes of this demand: take rust")?;
        Ok(Self {
            budget: Budget { classes, ..budget },
            largest: match largest {
                usize::MAX => 0,
                bytes => bytes.max(1),
            },
            align: if align == LEAST_ALIGN { 0 } else { align },
            wider: (classes.len() > budget.classes.len() && budget.objects > 0).then(|| {
                format!(
                    "surefit_demand cannot say which {} size-classes the demand has: the region is for {}.",
                    budget.classes.len(),
                    classes.len()
                )
            }),
        })
    }

    /// The members of the demand from `blocks` to `largest`, and `align`.
    fn members(&self) -> (String, usize) {
        let Budget {
            objects,
            block_bytes,
            ..
        } = self.budget;
        let figures = format!("{objects}, {block_bytes}, {}", self.largest);
        (figures, self.align)
    }
}

/// How a program gets the configuration.
struct Built {
    /// The definition of the sizes of page-blocks, if no spacing says them.
    sizes: String,
    /// The initialiser of `surefit_options`.
    options: String,
    /// The function that returns it, if it has a name.
    named: Option<&'static str>,
}

/// The size-classes of a geometry, as `surefit_options` says them.
struct Classes {
    /// The steps of a spacing; 0 for a list.
    steps: u32,
    /// The last two members of the options.
    listed: String,
    /// The declaration of the list.
    sizes: String,
}

fn said(geometry: &Geometry) -> Classes {
    let spaced = (1..=64).find(|steps| {
        let spec = GeometrySpec {
            page_bytes: geometry.page_bytes(),
            spacing: Spacing::Fraction(*steps),
            tail: geometry.tail(),
            ..GeometrySpec::DEFAULT
        };
        Geometry::new(&spec).is_ok_and(|other| other == *geometry)
    });
    if let Some(steps) = spaced {
        return Classes {
            steps,
            listed: "0, NULL".to_owned(),
            sizes: String::new(),
        };
    }
    let sizes = geometry.classes().map(|it| geometry.layout(it).block_bytes);
    let sizes: Vec<_> = sizes.map(|bytes| bytes.to_string()).collect();
    Classes {
        steps: 0,
        listed: format!("{}, block_bytes", sizes.len()),
        sizes: format!(
            "    static const uint32_t block_bytes[] = {{{}}};\n",
            sizes.join(", ")
        ),
    }
}

/// The options from which `surefit_config_build` makes this configuration, if there are any.
fn built(config: &Config) -> Option<Built> {
    let geometry = config.geometry();
    let Tail::BackReferences { bytes } = geometry.tail() else {
        return None;
    };
    if config.order() == PageOrder::Original {
        return None;
    }
    let (pages, holes, per_hole) = match config.bound() {
        Bound::Pages(pages) => (pages, 0, 0),
        Bound::Holes { base, fraction } if base > 0 && fraction.numerator() == 1 => {
            (0, base, fraction.denominator())
        }
        Bound::Holes { .. } | Bound::Unbounded => return None,
    };
    let default = Config::new(geometry.clone(), config.bound()).ok()?;
    let in_pieces = |other: &Config| {
        other.piece_bytes() == config.piece_bytes() && other.division() == config.division()
    };
    let (small, large) = match config.piece_bytes() {
        _ if in_pieces(&default) => ("0".to_owned(), 0),
        None => ("UINT32_MAX".to_owned(), 0),
        Some(bytes) => (bytes.to_string(), config.division().large_bytes()),
    };
    let named = [
        (Config::MICRO, "surefit_config_micro"),
        (Config::TINY, "surefit_config_tiny"),
        (Config::DEFAULT, "surefit_config_standard"),
    ];
    let is_same = |other: &Config| {
        other.geometry() == geometry && other.bound() == config.bound() && in_pieces(other)
    };
    let page = geometry.page_bytes();
    let Classes {
        steps,
        listed,
        sizes,
    } = said(geometry);
    Some(Built {
        sizes,
        options: format!(
            "{{{page}, {bytes}, {steps}, {pages}, {holes}, {per_hole}, {small}, {large}, {listed}}}"
        ),
        named: named
            .into_iter()
            .find(|(other, _)| is_same(other))
            .map(|(_, name)| name),
    })
}

/// A header with a name in place of `heap`, wherever that is a name.
fn named(header: &str, name: &str) -> String {
    let capitals = name.to_uppercase();
    let body = header.find("#ifndef").unwrap_or(0);
    let (comment, body) = header.split_at(body);
    let mut body = body.replace("HEAP_", &format!("{capitals}_"));
    for what in ["init", "memory", "peaks", "demand"] {
        // Not in the names of the library: surefit_heap_init.
        for before in [" ", "(", "{"] {
            body = body.replace(
                &format!("{before}heap_{what}"),
                &format!("{before}{name}_{what}"),
            );
        }
    }
    format!("{comment}{body}")
}

/// A line as it can stand in a comment: nothing in it begins or ends one.
fn in_comment(line: &str) -> String {
    one_line(line).replace("*/", "* /").replace("/*", "/ *")
}

/// How the bytes differ from those that the command prints without `--emit`; nothing if the demand
/// is another one.
fn differing(heap: &Heap, report: &Report) -> Option<String> {
    let (alignment, control) = (report.parts.alignment_bytes, report.parts.control_bytes);
    let certified = heap.certificate.aligned_bytes as u64;
    let keys = (certified + alignment + control).checked_sub(report.heap_bytes)?;
    heap.wider.is_none().then(|| {
        format!(
            "
 *
 * Of the {} bytes that `surefit certify` prints, {} are for a region at any address, and {} for the
 * control structure in Rust. The bytes here have neither, and {} more for keys.",
            grouped(report.heap_bytes),
            grouped(alignment),
            grouped(control),
            grouped(keys),
        )
    })
}

/// How many bytes of RAM a configuration that is built takes.
const CONFIG_BYTES: &str = "\
/* Bytes of RAM beside the region, for the configuration. Define it before this header as
 * SUREFIT_SMALL_CONFIG_BYTES if the library has no feature `many-classes`. */
#ifndef HEAP_CONFIG_BYTES
#define HEAP_CONFIG_BYTES SUREFIT_CONFIG_BYTES
#endif

";

/// With a library without them, objects would need more than the certified bytes.
const HAS_PIECES: &str =
    "    surefit_has_pieces(); /* links only if the library has the feature pieces */\n";

/// What the certified bytes hold beside the demand, if they hold any holes.
fn slack_text(slack: usize) -> String {
    let bytes = match slack {
        0 => return String::new(),
        // No free moves anything.
        slack if slack == usize::MAX >> 1 => "(SIZE_MAX / 2)".to_owned(),
        slack => slack.to_string(),
    };
    format!(
        "/* Bytes of holes that the size-classes share: with them a free moves an object only if they are
 * all in use. */
#define HEAP_SLACK_BYTES {bytes}
"
    )
}

/// The call that makes the heap of a configuration.
fn made(config: &str, slack: usize) -> String {
    if slack == 0 {
        return format!(
            "    return surefit_heap_init(heap_memory, sizeof heap_memory, {config}, heap);\n"
        );
    }
    format!(
        "    /* Links only if the library has the feature slack. */
    return surefit_heap_init_with_slack(heap_memory, sizeof heap_memory, {config},
                                        HEAP_SLACK_BYTES, heap);
"
    )
}

/// What makes the heap of a configuration.
fn initialised(built: &Built, slack: usize) -> String {
    match built.named {
        Some(named) => made(&format!("{named}()"), slack),
        None => format!(
            "    static unsigned char place[HEAP_CONFIG_BYTES];
{}    static const surefit_options options = {};
    const surefit_config *config = NULL;
    surefit_status status = surefit_config_build(place, sizeof place, &options, &config);
    if (status != SUREFIT_STATUS_OK) return status;
{}",
            built.sizes,
            built.options,
            made("config", slack)
        ),
    }
}

fn text(title: &str, origin: &str, config: &Config, built: &Built, heap: &Heap) -> String {
    let certificate = &heap.certificate;
    let mut text = format!(
        "/* {title}
 *
 * Written by `surefit certify --emit c`. The region suffices for every order of calls within the
 * demand. One free makes at most {moves} and copies at most {moved} bytes.{origin} */
#ifndef HEAP_H
#define HEAP_H

#include \"surefit.h\"

#if SUREFIT_VERSION_MAJOR != 0 || SUREFIT_VERSION_MINOR != 1
#error \"another version of surefit may certify other bytes: run surefit certify again\"
#endif

/* Bytes of a page: the alignment of the region. */
#define HEAP_PAGE_BYTES {page}
/* Bytes that are enough, and those of the heap's control structure. */
#define HEAP_CERTIFIED_BYTES {bytes}
#define HEAP_REGION_BYTES (HEAP_CERTIFIED_BYTES + SUREFIT_CONTROL_BYTES)
/* The most moves of one free, and the most bytes that they copy. */
#define HEAP_MOVES_MAX {most_moves}
#define HEAP_MOVED_BYTES_MAX {most_moved}
{slack}
/* What the program has live at most. */
{peaks}static const surefit_demand heap_demand = {demand};

/* The memory of the heap. */
#ifdef __cplusplus
#define HEAP_ALIGNAS alignas
#define HEAP_STATIC_ASSERT static_assert
#else
#define HEAP_ALIGNAS _Alignas
#define HEAP_STATIC_ASSERT _Static_assert
#endif
HEAP_ALIGNAS(HEAP_PAGE_BYTES) static unsigned char heap_memory[HEAP_REGION_BYTES];
HEAP_STATIC_ASSERT(sizeof heap_memory == HEAP_CERTIFIED_BYTES + 512,
                   \"the control structure has another size: run surefit certify again\");

",
        moves = counted(u64::from(certificate.moves_max_per_op), "move"),
        moved = grouped(certificate.moved_bytes_max_per_op),
        page = config.geometry().page_bytes(),
        bytes = certificate.aligned_bytes,
        most_moves = certificate.moves_max_per_op,
        most_moved = certificate.moved_bytes_max_per_op,
        slack = slack_text(heap.slack),
        peaks = heap.peaks,
        demand = heap.demand,
    );
    // Writing to a string does not fail.
    let _ = write!(
        text,
        "{}/* Makes the heap: once, before anything else. */
static inline surefit_status heap_init(surefit_heap **heap) {{
{}}}

#endif
",
        built.named.map_or(CONFIG_BYTES, |_| ""),
        if heap.in_pieces {
            HAS_PIECES.to_owned()
        } else {
            String::new()
        } + &initialised(built, heap.slack),
    );
    text
}
