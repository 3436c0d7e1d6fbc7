//! The spaces of the collector, by the names that their heaps have in the registry.

use std::fmt;

use anyhow::{Context, Result, bail};
use surefit_clients::java::Space;
use surefit_clients::lists::Lists;

use crate::registry::Kind;
use crate::spec::{Choice, Spec};
use crate::subjects::compact::Words;

/// A space as the user named it.
#[derive(Clone, Debug)]
pub struct SpaceSpec {
    text: String,
    /// The space that the name stands for.
    pub space: Space,
}

/// The names of the registry that are spaces of the collector.
const NAMES: &str =
    "segregated, tlsf, half-fit, first-fit, next-fit, best-fit, worst-fit, tree-fit, compact-fit";

impl SpaceSpec {
    /// Reads one name with its keys.
    ///
    /// # Errors
    /// An unknown name or key; the error lists the known ones.
    pub fn parse(text: &str) -> Result<Self> {
        let space = match compact_fit(text) {
            Some(cf) => Spec::parse(&cf),
            None => Spec::parse(text),
        };
        let space = of(&space?.choice).with_context(|| format!("space `{text}`"))?;
        Ok(Self {
            text: text.to_owned(),
            space,
        })
    }
}

impl fmt::Display for SpaceSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The registry's name of Compact-fit. The smallest size-class has 8 bytes, for the stubs of long
/// objects, unless a file lists the size-classes.
fn compact_fit(text: &str) -> Option<String> {
    let keys = text.strip_prefix("compact-fit")?;
    match keys.strip_prefix(':') {
        Some(keys) if keys.split(',').any(|key| key.starts_with("classes=")) => {
            Some(format!("cf:{keys}"))
        }
        Some(keys) => Some(format!("cf:min=8,{keys}")),
        None => keys.is_empty().then(|| "cf:min=8".to_owned()),
    }
}

fn of(choice: &Choice) -> Result<Space> {
    let Choice::InProcess(kind) = choice else {
        bail!("a library has no headers that the collector can sweep; the spaces are {NAMES}");
    };
    Ok(match kind {
        Kind::FirstFit(()) => Space::FirstFit,
        Kind::NextFit(()) => Space::NextFit,
        Kind::BestFit(()) => Space::BestFit,
        Kind::WorstFit(()) => Space::WorstFit,
        Kind::TreeFit(()) => Space::TreeFit,
        Kind::HalfFit(()) => Space::HalfFit,
        Kind::Tlsf(()) => Space::Tlsf,
        Kind::Segregated(options) => Space::Segregated(checked(*options)?),
        Kind::Cf(options) if options.words == Words::Wide && !options.has_keys => {
            if options.config.geometry().class_count() < 2 {
                bail!(
                    "there is one size-class only, and the collector needs one more for stubs: name a smaller one in the \
                     file of classes"
                );
            }
            Space::CompactFit(Box::new(options.config.clone()))
        }
        _ => bail!("the collector has no such space; the spaces are {NAMES}"),
    })
}

fn checked(lists: Lists) -> Result<Lists> {
    if lists.to_usual() != lists {
        bail!(
            "lists={}: the collector takes this key with coalesce=immediate only, and with index=bitmap,last=tree or \
             index=nht,last=linear; leave lists out",
            lists.count
        );
    }
    Ok(lists)
}

/// The spaces and their keys, for `--help`.
#[must_use]
pub fn help() -> String {
    format!(
        "Spaces (name[:key=value,…]):\n  {NAMES}\n  \
         segregated takes index=scan|nht|bitmap, coalesce=never|deferred|immediate, last=tree|linear;\n    \
         with coalesce=immediate and index=bitmap,last=tree or index=nht,last=linear also\n    \
         lists=16|32|…|4096\n  \
         compact-fit takes k=N|inf, holes=N, frac=1/N, page=BYTES, pieces=BYTES\n"
    )
}

#[cfg(test)]
mod tests {
    use super::SpaceSpec;

    #[test]
    fn every_name_that_help_lists_is_a_space() {
        for name in super::NAMES.split(", ") {
            assert_eq!(SpaceSpec::parse(name).expect("a space").to_string(), name);
        }
    }

    #[test]
    fn other_heaps_are_no_spaces() {
        for text in [
            "buddy",
            "jamaica",
            "system",
            "cf-direct",
            "nothing",
            "segregated:coalesce=never,lists=16",
            "segregated:index=nht,lists=16",
            "segregated:index=scan,lists=16,last=linear",
            "segregated:index=x",
            "compact-fitting",
            "compact-fit:width=16",
            "compact-fit:min=16",
        ] {
            assert!(SpaceSpec::parse(text).is_err(), "{text}");
        }
        SpaceSpec::parse("compact-fit:k=inf,page=4K").expect("a space");
        SpaceSpec::parse("segregated:index=nht,coalesce=immediate,lists=16,last=linear")
            .expect("a space");
    }
}
