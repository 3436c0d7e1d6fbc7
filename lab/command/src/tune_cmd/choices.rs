//! What can be chosen for an allocator: keys of its name, and the values that are tried.

use anyhow::{Result, bail};

/// Keys of which any one fixes a choice, and the values that are tried, as keys.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    pub(super) keys: &'static [&'static str],
    pub(super) values: &'static [&'static str],
}

/// Bytes of a page of Compact-fit.
pub(super) const PAGES: Choice = Choice {
    keys: &["page"],
    values: &[
        "page=1024",
        "page=2048",
        "page=4096",
        "page=8192",
        "page=16384",
        "page=32768",
        "page=65536",
    ],
};

/// The width of its words.
pub(super) const WIDTHS: Choice = Choice {
    keys: &["width", "keys", "branded"],
    values: &["width=32", "width=24", "width=16"],
};

/// Its pieces; the first ones of long objects are pages.
pub(super) const PIECES: Choice = Choice {
    keys: &["pieces", "large"],
    values: &[
        "pieces=off",
        "pieces=16384",
        "pieces=8192",
        "pieces=4096",
        "pieces=2048",
        "pieces=1024",
        "pieces=512",
        "pieces=256",
        "pieces=128",
        "pieces=64",
    ],
};

/// Its bound on fragmentation; the last one needs the fewest pages.
pub(super) const BOUNDS: Choice = Choice {
    keys: &["k", "holes", "frac"],
    values: &["holes=4,frac=1/16", "k=4", "k=2", "k=1"],
};

/// What the free-list systems and the heaps without moves have as parameters.
const OF_OTHERS: [(&str, Choice); 3] = [
    (
        "segregated",
        Choice {
            keys: &["lists"],
            values: &[
                "lists=16",
                "lists=32",
                "lists=64",
                "lists=128",
                "lists=256",
                "lists=512",
                "lists=1024",
                "lists=2048",
                "lists=4096",
            ],
        },
    ),
    (
        "jamaica",
        Choice {
            keys: &["block"],
            values: &["block=16", "block=32", "block=64", "block=128"],
        },
    ),
    (
        "cf-direct",
        Choice {
            keys: &["min"],
            values: &["min=8", "min=16", "min=24", "min=32", "min=48", "min=64"],
        },
    ),
];

/// The parameter of an allocator other than `cf`.
///
/// # Errors
/// It has none; the error names those that have.
pub(super) fn of_other(name: &str) -> Result<Choice> {
    let found = OF_OTHERS.iter().find(|(known, _)| *known == name);
    match found {
        Some((_, choice)) => Ok(*choice),
        None => bail!(
            "{name}: has no parameter to tune; choose cf, segregated (lists), jamaica (block) or cf-direct (min)"
        ),
    }
}

impl Choice {
    /// The values that are open: all of them, or only "as given" if the spec has one of the keys.
    pub(super) fn open(&self, spec: &str) -> Vec<&'static str> {
        let is_fixed = self.keys.iter().any(|key| has_key(spec, key));
        if is_fixed {
            vec![""]
        } else {
            self.values.to_vec()
        }
    }
}

/// Whether a spec has a key.
pub(super) fn has_key(spec: &str, key: &str) -> bool {
    let (_, keys) = spec.split_once(':').unwrap_or_default();
    keys.split(',').any(|it| it.split('=').next() == Some(key))
}

/// A spec with more keys; empty ones do not count.
pub(super) fn with_keys(spec: &str, keys: &[&str]) -> String {
    let mut text = spec.to_owned();
    for key in keys.iter().filter(|key| !key.is_empty()) {
        text.push(if text.contains(':') { ',' } else { ':' });
        text.push_str(key);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{BOUNDS, OF_OTHERS, PAGES, PIECES, WIDTHS, of_other, with_keys};
    use surefit_measure::spec::Spec;

    #[test]
    fn every_value_is_one_that_its_allocator_takes() {
        let of_cf = [PAGES, WIDTHS, BOUNDS].map(|choice| ("cf", choice));
        let with_pieces = [("cf:page=64K", PIECES)];
        for (name, choice) in of_cf.iter().chain(&with_pieces).chain(&OF_OTHERS) {
            for value in choice.values {
                let text = with_keys(name, &[value]);
                assert!(Spec::parse(&text).is_ok(), "{text}");
                assert!(
                    choice.keys.iter().any(|key| value.starts_with(key)),
                    "{value}"
                );
            }
        }
    }

    #[test]
    fn a_key_that_is_given_fixes_its_choice() {
        assert_eq!(WIDTHS.open("cf:keys,page=4K"), [""]);
        assert_eq!(PAGES.open("cf:keys,page=4K"), [""]);
        assert_eq!(BOUNDS.open("cf:keys,page=4K"), BOUNDS.values);
        assert_eq!(with_keys("cf", &["k=1", "", "width=24"]), "cf:k=1,width=24");
        let error = of_other("tlsf").expect_err("none").to_string();
        assert!(error.contains("segregated"), "{error}");
    }
}
