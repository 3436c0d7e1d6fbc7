//! A certified heap as source text, so that a build needs neither the command nor the demand's
//! file.

use std::fmt::Write;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use surefit_compact::certify::{Budget, Demand, certify, slack_bytes};
use surefit_compact::{
    Bound, Config, Keyed, Medium, Narrow, PageOrder, SizeClass, Tail, Wide, Width,
};
use surefit_measure::error::one_line;
use surefit_measure::output::grouped;
use surefit_measure::registry::Kind;
use surefit_measure::sizes::counted;
use surefit_measure::spec::{Choice, Spec};
use surefit_measure::subjects::compact::{Options, Words};

use super::asked::Asked;
use super::certified::{options, report};
use super::emit_c;
use super::needed::Resizes;

/// The language of the source text.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Language {
    /// A module with the configuration, the demand and a static region of the certified bytes.
    Rust,
    /// A header with the configuration, the demand and a static region of the certified bytes, for
    /// a program on surefit.h (C11 or C++11).
    C,
}

/// Reads the name of a heap, for the option `--name`.
///
/// # Errors
/// The name is none of both languages in lower case.
pub(super) fn name(text: &str) -> Result<String, &'static str> {
    let is_letter = |letter: char| letter.is_ascii_lowercase() || letter == '_';
    let is_name = text.starts_with(is_letter)
        && text
            .chars()
            .all(|letter| is_letter(letter) || letter.is_ascii_digit());
    match is_name {
        true => Ok(text.to_owned()),
        false => Err("a name has lower-case letters, digits and underscores, no digit first"),
    }
}

/// The configuration, the first reading of the demand and its certificate, as source text that
/// calls the heap by a name.
///
/// # Errors
/// The demand has no certificate in this configuration; the heap is shared.
pub(super) fn source(language: Language, name: &str, asked: &Asked, spec: &Spec) -> Result<String> {
    if let Choice::InProcess(Kind::OneCf(_) | Kind::NCf(_)) = &spec.choice {
        bail!(
            "{spec}: --emit writes heaps of one owner: choose cf; a shared heap's bytes are those of certify::shared_region_bytes"
        );
    }
    match language {
        Language::Rust => rust(name, asked, spec),
        Language::C => emit_c::header(name, asked, spec),
    }
}

/// A demand with what it names on its own.
struct Emitted {
    demand: String,
    region_bytes: usize,
    /// The bytes of holes that the region has room for; 0 if the heap is not to be told.
    slack: usize,
}

/// What the emitted text says if the region was taken before.
const ONCE: &str = "\"taken once\"";

fn rust(module: &str, asked: &Asked, spec: &Spec) -> Result<String> {
    let options = options(spec)?;
    let report = report(asked, spec)?;
    let (words, emitted) = match options.words {
        Words::Narrow => ("Narrow", emitted::<Narrow>(asked, options)?),
        Words::Medium => ("Medium", emitted::<Medium>(asked, options)?),
        Words::Wide if options.has_keys => ("Keyed<Wide>", emitted::<Keyed<Wide>>(asked, options)?),
        Words::Wide => ("Wide", emitted::<Wide>(asked, options)?),
    };
    let page = options.config.geometry().page_bytes();
    let align = [1, 4, 16, 64].into_iter().find(|kib| kib << 10 >= page);
    let align = align.context("pages have at most 64 KiB")?;
    let imported = if options.has_keys {
        "Keyed, Wide"
    } else {
        words
    };
    let bound = bound_text(options.config.bound());
    let fraction = if bound.contains("Fraction") {
        "Fraction, "
    } else {
        ""
    };
    let text = format!(
        "//! The heap of {name}, in the configuration {spec}.
//!
//! Written by `surefit certify --emit rust`. The region suffices for every order of calls within
//! the demand. One free makes at most {moves} and copies at most {moved} bytes.{origin}
//!
//! Needs these features of the crate `surefit`: {features}.
//!
//! To make the heap, in a program whose module this is:
//! `Heap::<{module}::Words>::{made}`.

use surefit::compact::certify::{{Budget, ClassSet, Demand, region_bytes}};
use surefit::compact::geometry::{{Geometry, GeometrySpec, Spacing, Tail}};
use surefit::compact::{{Bound, Config, {fraction}{imported}}};
use surefit::{{Page{align}K, Region}};

/// The width of the heap's words.
pub(crate) type Words = {words};

/// The configuration of the heap.
#[rustfmt::skip]
pub(crate) static CONFIG: Config = {config};

/// What the program has live at most.
#[rustfmt::skip]
pub(crate) const DEMAND: Demand<'static> = {demand};

/// The bytes that are enough, wherever the heap's pages lie in memory.
pub(crate) const REGION_BYTES: usize = {bytes};
const _: () = assert!(
    region_bytes::<Words>(&CONFIG, &DEMAND) == REGION_BYTES,
    \"this version of surefit certifies other bytes: run surefit certify again\"
);
{slack}
/// The memory of the heap.
pub(crate) static MEMORY: Region<REGION_BYTES, Page{align}K> = Region::new();
",
        name = one_line(&report.name),
        origin = report
            .origin()
            .map_or_else(String::new, |line| format!(" {line}")),
        moves = counted(u64::from(report.moves_max_per_op.unwrap_or(0)), "move"),
        moved = grouped(report.moved_bytes_max_per_op),
        features = features(&options.config, emitted.slack),
        made = made(module, emitted.slack),
        slack = slack_text(emitted.slack),
        config = config_text(&options.config, &bound),
        demand = emitted.demand,
        bytes = digits(emitted.region_bytes),
    );
    Ok(imports(text, &emitted))
}

/// The text with the imports that it uses.
fn imports(mut text: String, emitted: &Emitted) -> String {
    if emitted.slack > 0 {
        text = text.replacen("region_bytes}", "region_bytes, slack_bytes}", 1);
    }
    for (unused, sign) in [("Budget, ", "Budget {"), ("ClassSet, ", "ClassSet::")] {
        if !emitted.demand.contains(sign) {
            text = text.replacen(unused, "", 1);
        }
    }
    text
}

fn emitted<W: Width>(asked: &Asked, options: &Options) -> Result<Emitted> {
    let config = &options.config;
    let of = |demand: Demand<'_>| -> Result<Emitted> {
        let certificate = certify::<W>(config, &demand)?;
        Ok(Emitted {
            demand: demand_text(config, &demand)?,
            // One byte says whether the region was taken.
            region_bytes: certificate.aligned_bytes + 1,
            slack: slack_bytes::<W>(config, &demand, certificate.aligned_bytes)?,
        })
    };
    of(asked
        .demanded::<W>(config, Resizes::InPlace)?
        .needed
        .first()?)
}

/// The call that makes the heap of a module.
fn made(module: &str, slack: usize) -> String {
    let memory = format!("{module}::MEMORY.take().expect({ONCE})");
    match slack {
        0 => format!("new({memory}, &{module}::CONFIG)"),
        _ => format!("with_slack({memory}, &{module}::CONFIG,\n//! {module}::SLACK_BYTES)"),
    }
}

/// What the certified bytes hold beside the demand, if they hold any holes.
fn slack_text(slack: usize) -> String {
    let bytes = match slack {
        0 => return String::new(),
        // No free moves anything.
        slack if slack == usize::MAX >> 1 => "usize::MAX >> 1".to_owned(),
        slack => digits(slack),
    };
    format!(
        "
/// Bytes of holes that the size-classes share: with them a free moves an object only if they are
/// all in use.
pub(crate) const SLACK_BYTES: usize = {bytes};
const _: () = assert!(
    matches!(
        slack_bytes::<Words>(&CONFIG, &DEMAND, REGION_BYTES - 1),
        Ok(SLACK_BYTES..)
    ),
    \"this version of surefit finds less slack: run surefit certify again\"
);
"
    )
}

/// 42888 as `42_888`, and 1024 as it is.
fn digits(number: usize) -> String {
    if number < 10_000 {
        return number.to_string();
    }
    grouped(number as u64).replace(',', "_")
}

/// The features of the crate `surefit` without which the configuration is refused.
fn features(config: &Config, slack: usize) -> String {
    let optional = [
        ("holes", !matches!(config.bound(), Bound::Pages(_))),
        ("many-classes", config.geometry().class_count() > 32),
        ("pieces", config.piece_bytes().is_some()),
        ("slack", slack > 0),
    ];
    let needed = optional.into_iter().filter(|(_, is_needed)| *is_needed);
    needed.fold("`compact`".to_owned(), |names, (name, _)| {
        names + &format!(", `{name}`")
    })
}

/// A bound as an expression of Rust.
pub(crate) fn bound_text(bound: Bound) -> String {
    match bound {
        Bound::Unbounded => "Bound::Unbounded".to_owned(),
        Bound::Pages(k) => format!("Bound::Pages({k})"),
        bound if bound == Bound::DEFAULT => "Bound::DEFAULT".to_owned(),
        Bound::Holes { base, fraction } => format!(
            "Bound::Holes {{
        base: {base},
        fraction: match Fraction::new({}, {}) {{
            Ok(fraction) => fraction,
            Err(_) => panic!(\"the fraction is valid\"),
        }},
    }}",
            fraction.numerator(),
            fraction.denominator()
        ),
    }
}

/// A configuration as a block of Rust; `bound` is its bound as an expression.
pub(crate) fn config_text(config: &Config, bound: &str) -> String {
    let geometry = config.geometry();
    let bytes = match geometry.tail() {
        Tail::BackReferences { bytes } => bytes,
        Tail::None => 0,
    };
    let sizes = geometry
        .classes()
        .map(|class| geometry.layout(class).block_bytes);
    let sizes: Vec<_> = sizes.map(|bytes| bytes.to_string()).collect();
    let mut text = format!(
        "{{
    let spec = GeometrySpec {{
        page_bytes: {},
        spacing: Spacing::Explicit(&[{}]),
        tail: Tail::BackReferences {{ bytes: {bytes} }},
        ..GeometrySpec::DEFAULT
    }};
    let Ok(geometry) = Geometry::new(&spec) else {{
        panic!(\"the partitioning is valid\")
    }};
    let bound = {bound};
    let Ok(config) = Config::new(geometry, bound) else {{
        panic!(\"the bound is valid\")
    }};
",
        digits(geometry.page_bytes()),
        sizes.join(", ")
    );
    let pieces = config
        .piece_bytes()
        .map_or("None".to_owned(), |it| format!("Some({})", digits(it)));
    let mut steps = vec![format!("with_pieces({pieces})")];
    if config
        .piece_bytes()
        .is_some_and(|small| small != config.division().large_bytes())
    {
        steps.push(format!(
            "with_large_pieces({})",
            digits(config.division().large_bytes())
        ));
    }
    if config.order() == PageOrder::Original {
        steps.push("with_order(surefit::compact::PageOrder::Original)".to_owned());
    }
    for step in steps {
        // Writing to a string does not fail.
        let _ = write!(
            text,
            "    let Ok(config) = config.{step} else {{
        panic!(\"the pieces are valid\")
    }};
"
        );
    }
    text + "    config\n}"
}

fn demand_text(config: &Config, demand: &Demand<'_>) -> Result<String> {
    match demand {
        Demand::Joint(budget) => Ok(joint(config, budget)),
        Demand::PerClass(most) => {
            let most: Vec<_> = most.iter().map(u32::to_string).collect();
            Ok(format!("Demand::PerClass(&[{}])", most.join(", ")))
        }
        Demand::Both(..) => bail!("internal error: a demand with two readings is emitted"),
    }
}

fn joint(config: &Config, budget: &Budget) -> String {
    let used = config
        .geometry()
        .classes()
        .filter(|class| budget.classes.contains(*class));
    let used: Vec<_> = used.map(SizeClass::index).collect();
    let largest = used.last().copied();
    let of_requests = largest.is_some_and(|largest| used.iter().copied().eq(0..=largest));
    let classes = match largest.and_then(|class| config.geometry().class(class)) {
        Some(largest) if of_requests => format!(
            "ClassSet::of_requests(CONFIG.geometry(), {})",
            digits(config.geometry().layout(largest).block_bytes as usize)
        ),
        _ => {
            let used: Vec<_> = used.iter().map(usize::to_string).collect();
            format!(
                "{{
        let (used, mut classes, mut i) = ([{}], ClassSet::EMPTY, 0);
        while i < used.len() {{
            if let Some(class) = CONFIG.geometry().class(used[i]) {{
                classes = classes.with(class);
            }}
            i += 1;
        }}
        classes
    }}",
                used.join(", ")
            )
        }
    };
    format!(
        "Demand::Joint(Budget {{
    objects: {},
    block_bytes: {},
    classes: {classes},
}})",
        digits(budget.objects as usize),
        digits(budget.block_bytes as usize)
    )
}
