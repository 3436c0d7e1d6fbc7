//! A certified heap as a C header, for programs on `surefit.h`.

use std::fmt::Write;

use anyhow::{Context, Result, bail};
use surefit_compact::certify::{Budget, Certificate, ClassSet, Demand, certify};
use surefit_compact::{
    Bound, Config, Geometry, GeometrySpec, Keyed, Medium, Narrow, Spacing, Tail, Wide, Width,
};
use surefit_measure::error::one_line;
use surefit_measure::output::grouped;
use surefit_measure::sizes::counted;
use surefit_measure::spec::Spec;
use surefit_measure::steps::LEAST_ALIGN;
use surefit_measure::subjects::compact::Words;

use super::asked::Asked;
use super::certified::{options, report};
use super::needed::Resizes;

/// The configuration, the first reading of the demand and its certificate, as a header that calls the heap by a name. Heaps of C have
/// keys.
///
/// # Errors
/// The demand has no certificate in this configuration, or `surefit_options` cannot say the configuration.
pub(super) fn header(heap_name: &str, asked: &Asked, spec: &Spec) -> Result<String> {
    let given = options(spec)?;
    let config = &given.config;
    let built = built(config)
        .context("surefit_options cannot say this configuration: take k, or holes with frac=1/N")?;
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
    let text = text(&title, origin.as_deref(), config, &built, &heap);
    Ok(named(&text, heap_name))
}

/// A demand in C, and its certificate.
struct Heap {
    /// The definition of the peaks, if there are any.
    peaks: String,
    demand: String,
    certificate: Certificate,
}

fn certified<W: Width>(asked: &Asked, config: &Config) -> Result<Heap> {
    let demanded = asked.demanded::<W>(config, Resizes::InPlace)?;
    in_c::<W>(config, &demanded.needed.first()?)
}

fn in_c<W: Width>(config: &Config, demand: &Demand<'_>) -> Result<Heap> {
    match demand {
        Demand::PerClass(most) => per_class::<W>(config, most),
        Demand::Joint(budget) => joint::<W>(config, budget),
        Demand::Both(..) => bail!("a demand is emitted in its first reading"),
    }
}

/// Peaks of page-blocks: of the largest request of each class.
fn per_class<W: Width>(config: &Config, most: &[u32]) -> Result<Heap> {
    let geometry = config.geometry();
    let used = geometry.classes().zip(most).filter(|(_, most)| **most > 0);
    let lines: Vec<_> = used
        .map(|(class, most)| format!("{{{}, 1, {most}}}", geometry.layout(class).block_bytes))
        .collect();
    Ok(Heap {
        demand: format!("{{heap_peaks, {}, 0, 0, 0, 0, 0, 0}}", lines.len()),
        peaks: format!(
            "static const surefit_peak heap_peaks[] = {{{}}};\n",
            lines.join(", ")
        ),
        certificate: certify::<W>(config, &Demand::PerClass(most))?,
    })
}

/// A budget of the classes that `surefit_demand` says by the largest request and its alignment: of exactly
/// these, or of all.
fn joint<W: Width>(config: &Config, budget: &Budget) -> Result<Heap> {
    let geometry = config.geometry();
    let sizes = geometry
        .classes()
        .map(|class| geometry.layout(class).block_bytes as usize);
    let large = config.division().large_bytes();
    let sizes: Vec<_> = sizes.chain([large, usize::MAX]).collect();
    let aligns = (3..=geometry.page_bytes().ilog2()).map(|power| 1 << power);
    let exact = aligns
        .flat_map(|align| sizes.iter().map(move |&largest| (largest, align)))
        .find(|&(largest, align)| ClassSet::of_objects(config, largest, align) == budget.classes);
    let (largest, align) = exact.unwrap_or((usize::MAX, geometry.page_bytes()));
    let budget = Budget {
        classes: ClassSet::of_objects(config, largest, align),
        ..*budget
    };
    let largest = if largest == usize::MAX { 0 } else { largest };
    let align = if align == LEAST_ALIGN { 0 } else { align };
    Ok(Heap {
        peaks: String::new(),
        demand: format!(
            "{{NULL, 0, {}, {}, {largest}, 0, 0, {align}}}",
            budget.objects, budget.block_bytes
        ),
        certificate: certify::<W>(config, &Demand::Joint(budget))?,
    })
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
        (Config::TINY, "surefit_config_tiny"),
        (Config::SMALL, "surefit_config_small"),
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

fn text(title: &str, origin: Option<&str>, config: &Config, built: &Built, heap: &Heap) -> String {
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
        origin = origin.map_or_else(String::new, |line| format!(" {line}")),
        moves = counted(u64::from(certificate.moves_max_per_op), "move"),
        moved = grouped(certificate.moved_bytes_max_per_op),
        page = config.geometry().page_bytes(),
        bytes = certificate.aligned_bytes,
        most_moves = certificate.moves_max_per_op,
        most_moved = certificate.moved_bytes_max_per_op,
        peaks = heap.peaks,
        demand = heap.demand,
    );
    let initialised = match built.named {
        Some(named) => format!(
            "    return surefit_heap_init(heap_memory, sizeof heap_memory, {named}(), heap);\n"
        ),
        None => format!(
            "    static unsigned char place[SUREFIT_CONFIG_BYTES];
{}    static const surefit_options options = {};
    const surefit_config *config = NULL;
    surefit_status status = surefit_config_build(place, sizeof place, &options, &config);
    if (status != SUREFIT_STATUS_OK) return status;
    return surefit_heap_init(heap_memory, sizeof heap_memory, config, heap);
",
            built.sizes, built.options
        ),
    };
    // Writing to a string does not fail.
    let _ = write!(
        text,
        "/* Makes the heap: once, before anything else. */
static inline surefit_status heap_init(surefit_heap **heap) {{
{initialised}}}

#endif
"
    );
    text
}
