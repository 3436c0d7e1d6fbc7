//! A configuration as text: TOML for `--config`, a Rust constant, or a C header for `surefit.h`.

use std::fmt::Write;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use surefit_compact::{Bound, Config};
use surefit_measure::error::one_line;
use surefit_measure::registry::Kind;
use surefit_measure::spec::{Choice, Spec};
use surefit_measure::subjects::compact::Words;

use crate::certify_cmd::{bound_text, config_text};

/// The language of the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Language {
    /// A file for `--config`, or for the key `config` of an allocator.
    #[default]
    Toml,
    /// A module with the configuration as a constant.
    Rust,
    /// A header with the configuration, for a program on surefit.h (C11).
    C,
}

/// The allocator that a spec names, as text; `traces` are what it was tuned on.
///
/// # Errors
/// The language has no text for this allocator.
pub(super) fn text(language: Language, allocator: &str, traces: &[String]) -> Result<String> {
    let traces = one_line(&traces.join(", "));
    match language {
        Language::Toml => Ok(toml(allocator, &traces)),
        Language::Rust => rust(&Spec::parse(allocator)?, &traces),
        Language::C => c(&Spec::parse(allocator)?, &traces),
    }
}

fn toml(allocator: &str, traces: &str) -> String {
    let (name, keys) = allocator.split_once(':').unwrap_or((allocator, ""));
    let mut text = format!("# Tuned by `surefit tune` on {traces}.\nallocator = \"{name}\"\n");
    for key in keys.split(',').filter(|key| !key.is_empty()) {
        let (key, value) = key.split_once('=').unwrap_or((key, ""));
        // Writing to a string does not fail.
        let _ = writeln!(text, "{key} = {}", value_text(value));
    }
    text
}

/// A value of the command line in TOML.
fn value_text(value: &str) -> String {
    let list = value.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
    match (list, value.parse::<u32>()) {
        (Some(list), _) => format!("[{}]", list.split(' ').collect::<Vec<_>>().join(", ")),
        (None, Ok(number)) => number.to_string(),
        (None, Err(_)) if value.is_empty() => "true".to_owned(),
        (None, Err(_)) => format!("\"{value}\""),
    }
}

fn rust(spec: &Spec, traces: &str) -> Result<String> {
    let head =
        format!("//! Tuned on {traces}.\n//!\n//! Written by `surefit tune --emit rust`.\n\n");
    match &spec.choice {
        Choice::InProcess(Kind::Cf(options)) => {
            let words = match options.words {
                Words::Narrow => "Narrow",
                Words::Medium => "Medium",
                Words::Wide if options.has_keys => "Keyed<Wide>",
                Words::Wide => "Wide",
            };
            Ok(head + &rust_cf(&options.config, words))
        }
        Choice::InProcess(Kind::Segregated(lists)) => {
            let (finds, merges) = (format!("{:?}", lists.finds), format!("{:?}", lists.merges));
            let last = if lists.is_tree { "Tree" } else { "Linear" };
            Ok(head + &rust_lists(&finds, &merges, last, lists.count))
        }
        _ => bail!("{spec}: no Rust type has this configuration; take --emit toml"),
    }
}

fn rust_cf(config: &Config, words: &str) -> String {
    let bound = bound_text(config.bound());
    let fraction = if bound.contains("Fraction") {
        "Fraction, "
    } else {
        ""
    };
    let imported = if words.starts_with("Keyed") {
        "Keyed, Wide"
    } else {
        words
    };
    format!(
        "use surefit::compact::geometry::{{Geometry, GeometrySpec, Spacing, Tail}};
use surefit::compact::{{Bound, Config, {fraction}{imported}}};

/// The width of the heap's words.
pub(crate) type Words = {words};

/// The configuration of the heap.
#[rustfmt::skip]
pub(crate) const CONFIG: Config = {};
",
        config_text(config, &bound)
    )
}

fn rust_lists(finds: &str, merges: &str, last: &str, count: u32) -> String {
    format!(
        "use surefit::freelist::{{{finds}, {merges}, SegregatedFit, {last}}};

/// The heap, with {count} lists beside the last one.
pub(crate) type Heap<'m> = SegregatedFit<'m, {finds}, {merges}, {last}, {count}>;
"
    )
}

fn c(spec: &Spec, traces: &str) -> Result<String> {
    let Choice::InProcess(Kind::Cf(options)) = &spec.choice else {
        bail!("{spec}: surefit.h has no such heap; take --emit toml or rust");
    };
    let config = &options.config;
    let word_bytes = match options.words {
        Words::Narrow => 2,
        Words::Medium => 3,
        Words::Wide => 4,
    };
    let (pages, holes, live_per_hole) = match config.bound() {
        Bound::Pages(pages) => (pages, 0, 0),
        Bound::Holes { base, fraction } if base > 0 && fraction.numerator() == 1 => {
            (0, base, fraction.denominator())
        }
        bound => bail!("surefit.h has no such bound ({bound}); choose k, or holes and frac=1/N"),
    };
    let geometry = config.geometry();
    let sizes = geometry.classes().map(|it| geometry.layout(it).block_bytes);
    let sizes: Vec<_> = sizes.map(|bytes| bytes.to_string()).collect();
    let (piece, large) = pieces(config).context("pieces have at most 64 KiB")?;
    Ok(format!(
        "/* Tuned on {traces}.
 *
 * Written by `surefit tune --emit c`. */
#ifndef HEAP_CONFIG_H
#define HEAP_CONFIG_H

#include \"surefit.h\"

/* Bytes of the page-blocks of each size-class. */
static const uint32_t heap_block_bytes[] = {{
{sizes}
}};

/* What surefit_config_build takes. */
static const surefit_options heap_options = {{
    .page_bytes = {page},
    .word_bytes = {word_bytes},
    .not_full_pages = {pages},
    .holes = {holes},
    .live_per_hole = {live_per_hole},
    .piece_bytes = {piece},
    .large_piece_bytes = {large},
    .block_sizes = sizeof heap_block_bytes / sizeof heap_block_bytes[0],
    .block_bytes = heap_block_bytes,
}};

#endif
",
        traces = traces.replace("*/", "* /"),
        sizes = in_lines(&sizes),
        page = geometry.page_bytes(),
    ))
}

/// Small and large pieces as `surefit_options` has them.
fn pieces(config: &Config) -> Option<(String, u32)> {
    let Some(small) = config.piece_bytes() else {
        return Some(("UINT32_MAX".to_owned(), 0));
    };
    let large = u32::try_from(config.division().large_bytes()).ok()?;
    Some((small.to_string(), large))
}

/// Sizes in indented lines of ten.
fn in_lines(sizes: &[String]) -> String {
    let lines = sizes
        .chunks(10)
        .map(|some| format!("    {},", some.join(", ")));
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::{Language, text};
    use surefit_measure::config_file;
    use surefit_measure::registry::Kind;
    use surefit_measure::spec::{Choice, Spec};

    const CF: &str = "cf:page=8192,width=24,pieces=1024,large=8192,classes=[8 16 1024 8192],k=1";

    fn emitted(language: Language, allocator: &str) -> String {
        text(language, allocator, &["a\nb".to_owned()]).expect("a text")
    }

    #[test]
    fn a_file_says_the_same_as_the_spec() {
        let with_fraction = CF.replace("k=1", "holes=2,frac=1/8");
        for allocator in [CF, &with_fraction, "cf:keys,page=4K,pieces=off"] {
            let file = tempfile::NamedTempFile::new().expect("a file");
            std::fs::write(file.path(), emitted(Language::Toml, allocator)).expect("room");
            let read = config_file::spec(file.path(), None).expect("a configuration");
            let [read, given] = [&read, allocator].map(|it| Spec::parse(it).expect("valid"));
            let debug = |spec: &Spec| match &spec.choice {
                Choice::InProcess(Kind::Cf(options)) => format!("{options:?}"),
                other => panic!("{other:?}"),
            };
            assert_eq!(debug(&read), debug(&given));
        }
        let lists = emitted(Language::Toml, "segregated:lists=64");
        assert_eq!(
            lists,
            "# Tuned by `surefit tune` on a b.\nallocator = \"segregated\"\nlists = 64\n"
        );
    }

    #[test]
    fn rust_and_c_have_every_part() {
        let rust = emitted(Language::Rust, CF);
        for part in [
            "const CONFIG: Config",
            "Medium",
            "[8, 16, 1024, 8192]",
            "Bound::Pages(1)",
        ] {
            assert!(rust.contains(part), "{part}: {rust}");
        }
        let lists = emitted(Language::Rust, "segregated:lists=64,last=linear");
        assert!(
            lists.contains("SegregatedFit<'m, Bitmap, Immediate, Linear, 64>"),
            "{lists}"
        );
        let c = emitted(Language::C, CF);
        for part in [
            ".page_bytes = 8192",
            ".word_bytes = 3",
            "8, 16, 1024, 8192,",
            "= 1,\n",
        ] {
            assert!(c.contains(part), "{part}: {c}");
        }
    }

    #[test]
    fn what_a_language_cannot_say_is_refused() {
        let none = [String::new()];
        for (language, allocator) in [
            (Language::C, "cf:k=inf"),
            (Language::C, "segregated:lists=64"),
            (Language::Rust, "jamaica:block=64"),
        ] {
            let refused = text(language, allocator, &none).expect_err(allocator);
            let mends = ["take --emit", "choose k"];
            assert!(
                mends.iter().any(|it| refused.to_string().contains(it)),
                "{refused}"
            );
        }
    }
}
