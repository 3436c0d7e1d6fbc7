//! The bounds that figures 10 and 11 compare: κ as in the papers, the original page order, and hole
//! bounds.

use anyhow::Result;

use surefit_measure::spec::Spec;

/// One bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    /// What tables and plots call it.
    pub(crate) label: &'static str,
    /// The heap with it.
    pub(crate) spec: &'static str,
    /// What it belongs to.
    pub(crate) family: Family,
}

/// Which bounds belong on one line of a plot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    /// κ = 1, 3, 5, … ∞: the places of the papers' axis.
    Pages,
    /// The same with the page order of the original.
    PagesOriginal,
    /// At most a given number of holes.
    Holes,
}

const fn setting(label: &'static str, spec: &'static str, family: Family) -> Setting {
    Setting {
        label,
        spec,
        family,
    }
}

/// More not-full pages than a class can have. The heap never compacts, as with `k=inf`, and frees
/// by the same code as with every other κ.
const NO_BOUND: &str = "cf:k=4294967295";

/// All bounds; κ = 1, which the others are compared to, is the first.
pub(crate) const SETTINGS: [Setting; 15] = [
    setting("κ=1", "cf:k=1", Family::Pages),
    setting("κ=3", "cf:k=3", Family::Pages),
    setting("κ=5", "cf:k=5", Family::Pages),
    setting("κ=10", "cf:k=10", Family::Pages),
    setting("κ=15", "cf:k=15", Family::Pages),
    setting("κ=20", "cf:k=20", Family::Pages),
    setting("κ=25", "cf:k=25", Family::Pages),
    setting("κ=∞", NO_BOUND, Family::Pages),
    setting(
        "κ=5, original order",
        "cf:k=5,order=original",
        Family::PagesOriginal,
    ),
    setting(
        "κ=25, original order",
        "cf:k=25,order=original",
        Family::PagesOriginal,
    ),
    setting("holes 0", "cf:holes=0,frac=0", Family::Holes),
    setting("holes 4 + h/64", "cf:holes=4,frac=1/64", Family::Holes),
    setting("holes 4 + h/16", "cf", Family::Holes),
    setting("holes 4 + h/4", "cf:holes=4,frac=1/4", Family::Holes),
    setting("holes 32", "cf:holes=32,frac=0", Family::Holes),
];

/// The bounds of a family and their places in [`SETTINGS`].
pub(crate) fn of_family(family: Family) -> impl Iterator<Item = (usize, Setting)> {
    let all = SETTINGS.into_iter().enumerate();
    all.filter(move |(_, setting)| setting.family == family)
}

/// The names of the places on an axis of κ: 1, 3, … ∞.
pub(crate) fn kappa_ticks() -> impl Iterator<Item = String> {
    of_family(Family::Pages).map(|(_, setting)| setting.label.replace("κ=", ""))
}

/// The bounds as allocators.
///
/// # Errors
/// Never: a test parses them.
pub(crate) fn specs() -> Result<Vec<Spec>> {
    SETTINGS
        .iter()
        .map(|setting| Spec::parse(setting.spec))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{kappa_ticks, specs};

    #[test]
    fn the_bounds_are_allocators_and_the_ticks_the_papers() {
        assert_eq!(specs().expect("valid").len(), 15);
        let ticks: Vec<_> = kappa_ticks().collect();
        assert_eq!(ticks.join(" "), "1 3 5 10 15 20 25 ∞");
    }
}
