//! The keys that every Compact-fit takes: the bound, pages and size-classes, pieces, and the order
//! of pages.

use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use surefit_compact::{Bound, Config, Fraction, Geometry, GeometrySpec, PageOrder, Spacing, Tail};

use crate::keys::Keys;
use crate::sizes;
use crate::small_file;

/// An allocator's own keys, followed by these keys.
macro_rules! cf_keys {
    ($($own:literal),*) => {
        &[
            $($own,)*
            "k=N|inf",
            "holes=N",
            "frac=1/N",
            "page=BYTES",
            "min=BYTES",
            "spacing=1/N",
            "pieces=BYTES|off",
            "large=BYTES|page",
            "order=newest|original",
            "classes=default|FILE|[SIZES]",
        ]
    };
}

pub(super) use cf_keys;

/// The keys that name a bound.
pub(super) const BOUNDS: [&str; 3] = ["k", "holes", "frac"];

/// The keys that name pages, size-classes or pieces.
pub(super) const SHAPES: [&str; 6] = ["page", "min", "spacing", "classes", "pieces", "large"];

/// The configuration that these keys name.
///
/// # Errors
/// The values do not make a valid configuration.
pub(super) fn config(keys: &Keys, tail: Tail) -> Result<Config> {
    let mut config = Config::new(geometry(keys, tail)?, bound(keys)?)?;
    match keys.get("pieces") {
        None => {}
        Some("off") => config = config.with_pieces(None)?,
        Some(size) => config = config.with_pieces(Some(sizes::bytes(size)?))?,
    }
    if let Some(size) = keys.get("large") {
        let bytes = match size {
            "page" => config.geometry().page_bytes(),
            size => sizes::bytes(size)?,
        };
        config = config.with_large_pieces(bytes)?;
    }
    match keys.get("order") {
        None | Some("newest") => Ok(config),
        Some("original") => Ok(config.with_order(PageOrder::Original)?),
        Some(other) => bail!("order={other}: write newest or original"),
    }
}

/// The bound on fragmentation that keys name.
///
/// # Errors
/// The values do not make a valid bound.
pub(super) fn bound(keys: &Keys) -> Result<Bound> {
    let holes = keys.number("holes")?;
    match (keys.get("k"), holes.is_some() || keys.get("frac").is_some()) {
        (Some(_), true) => bail!("k and holes or frac are different bounds: give one"),
        (Some("inf"), false) => Ok(Bound::Unbounded),
        (Some(_), false) => Ok(Bound::Pages(keys.number("k")?.unwrap_or(1))),
        (None, false) => Ok(Bound::DEFAULT),
        (None, true) => Ok(Bound::Holes {
            base: holes.unwrap_or(4),
            fraction: keys
                .get("frac")
                .map_or(Fraction::new(1, 16).map_err(Into::into), fraction)?,
        }),
    }
}

/// Reads `1/16`, or `0` for none.
fn fraction(text: &str) -> Result<Fraction> {
    if text == "0" {
        return Ok(Fraction::ZERO);
    }
    let parts = text.split_once('/');
    let numbers = parts.and_then(|(above, below)| Some((above.parse().ok()?, below.parse().ok()?)));
    let (above, below) =
        numbers.ok_or_else(|| anyhow!("frac={text}: write a fraction such as 1/16"))?;
    Fraction::new(above, below).with_context(|| format!("frac={text}"))
}

/// The size-classes and pages that keys name.
///
/// # Errors
/// The values do not make a valid partitioning.
fn geometry(keys: &Keys, tail: Tail) -> Result<Geometry> {
    let page = keys.get("page").map(sizes::bytes).transpose()?;
    let classes = match keys.get("classes") {
        None | Some("default") => None,
        Some(given) => Some(block_sizes(given)?),
    };
    let default = GeometrySpec::DEFAULT;
    let smallest = keys.number("min")?;
    if smallest.is_some() && classes.is_some() {
        bail!("the file of classes says which page-block is the smallest: leave min out");
    }
    let spacing = keys.get("spacing").map(spacing).transpose()?;
    if spacing.is_some() && classes.is_some() {
        bail!("the file of classes says how they are spaced: leave spacing out");
    }
    let spec = GeometrySpec {
        page_bytes: page.unwrap_or(default.page_bytes),
        smallest: smallest.map_or(default.smallest, |bytes| bytes as usize),
        spacing: classes
            .as_deref()
            .map_or(spacing.unwrap_or(default.spacing), Spacing::Explicit),
        tail,
        ..default
    };
    Ok(Geometry::new(&spec)?)
}

/// Reads `1/8`: every size-class is at most 1/8 larger than the one below it.
fn spacing(text: &str) -> Result<Spacing<'static>> {
    let steps = text.strip_prefix("1/").and_then(|steps| steps.parse().ok());
    let steps = steps.ok_or_else(|| anyhow!("spacing={text}: write a fraction such as 1/8"))?;
    Ok(Spacing::Fraction(steps))
}

/// Reads page-block sizes: those in `[16 24 32]`, or those in a file, where `#` begins a comment.
fn block_sizes(given: &str) -> Result<Vec<u32>> {
    let sizes = match listed(given) {
        Some(list) => sizes_of(list, "")?,
        None => sizes_in(Path::new(given))?,
    };
    if sizes.is_empty() {
        bail!(
            "classes={given}: names no size; write sizes of page-blocks in bytes, or leave it out"
        );
    }
    Ok(sizes)
}

/// What is between brackets.
fn listed(given: &str) -> Option<&str> {
    given.strip_prefix('[')?.strip_suffix(']')
}

fn sizes_in(file: &Path) -> Result<Vec<u32>> {
    let name = file.display();
    let text = String::from_utf8(small_file::read(file)?);
    let text = text.map_err(|_| anyhow!("classes={name}: is not text; write sizes in bytes"))?;
    let mut sizes = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or("");
        sizes.extend(sizes_of(line, &format!("{name}: line {}: ", number + 1))?);
    }
    Ok(sizes)
}

/// Numbers that are separated by blanks or commas; `place` says where they are.
fn sizes_of(text: &str, place: &str) -> Result<Vec<u32>> {
    let words = text.split([' ', '\t', ',']).filter(|word| !word.is_empty());
    let size = |word: &str| {
        let size = word.parse();
        size.map_err(|_| anyhow!("classes={place}`{word}` is not a size in bytes"))
    };
    words.map(size).collect()
}
