//! Lines over axes: what a plot shows. `draw::plot` draws it.

use std::fmt::Display;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::whose::Whose;

/// Lines over one pair of axes.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plot {
    /// What it shows.
    pub(crate) title: String,
    /// To the right.
    pub(crate) x: Axis,
    /// Upwards.
    pub(crate) y: Axis,
    /// The lines.
    pub(crate) series: Vec<Series>,
}

/// One axis of a plot.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Axis {
    /// What it measures, with its unit.
    pub(crate) label: String,
    /// Names of the places 0, 1, 2, … where the axis has no numbers of its own (κ up to infinity);
    /// otherwise empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) ticks: Vec<String>,
    /// Whether equal distances are equal factors.
    #[serde(default)]
    pub(crate) is_logarithmic: bool,
    /// Whether the axis begins at zero even if no value is near.
    #[serde(default)]
    pub(crate) from_zero: bool,
    /// Whether the named places have no order: then values are bars, and no line joins them.
    #[serde(default)]
    pub(crate) is_unordered: bool,
}

impl Axis {
    /// An axis of numbers, as long as its values need.
    pub(crate) fn new(label: &str) -> Self {
        Self {
            label: label.to_owned(),
            ..Self::default()
        }
    }

    /// An axis of numbers that begins at zero.
    pub(crate) fn from_zero(label: &str) -> Self {
        Self {
            from_zero: true,
            ..Self::new(label)
        }
    }

    /// An axis whose places 0, 1, 2, … have names.
    pub(crate) fn named(label: &str, ticks: impl IntoIterator<Item = String>) -> Self {
        Self {
            ticks: ticks.into_iter().collect(),
            ..Self::new(label)
        }
    }

    /// An axis whose places are things of different kinds, in no order.
    pub(crate) fn kinds(label: &str, ticks: impl IntoIterator<Item = String>) -> Self {
        Self {
            is_unordered: true,
            ..Self::named(label, ticks)
        }
    }

    /// An axis of positive numbers on which equal distances are equal factors.
    pub(crate) fn logarithmic(label: &str) -> Self {
        Self {
            is_logarithmic: true,
            ..Self::new(label)
        }
    }
}

/// One line of a plot.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Series {
    /// Its name.
    pub(crate) name: String,
    /// Its points: x, y.
    pub(crate) points: Vec<(f64, f64)>,
    /// For each point, the least and the greatest of what it stands for; empty if there is no
    /// spread.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) spread: Vec<(f64, f64)>,
    /// Whose figures they are.
    pub(crate) whose: Whose,
}

impl Series {
    /// A line of ours without spread.
    pub(crate) fn new(name: impl Into<String>, points: impl Into<Vec<(f64, f64)>>) -> Self {
        Self {
            name: name.into(),
            points: points.into(),
            spread: Vec::new(),
            whose: Whose::Ours,
        }
    }

    /// A line of the papers, named "…, paper"; it is drawn apart: dashed and grey.
    pub(crate) fn papers(name: impl Display, points: impl Into<Vec<(f64, f64)>>) -> Self {
        Self {
            whose: Whose::Papers,
            ..Self::new(format!("{name}, paper"), points)
        }
    }

    /// A constant of the papers, as a level line from the one place of x to the other.
    pub(crate) fn papers_level(name: impl Display, y: f64, (from, to): (f64, f64)) -> Self {
        Self::papers(name, [(from, y), (to, y)])
    }
}

#[cfg(test)]
mod tests {
    use super::{Series, Whose};

    #[test]
    fn what_the_papers_say_is_marked_as_theirs() {
        let series = Series::papers_level("required", 10.0, (0.0, 7.0));
        assert_eq!(series.name, "required, paper");
        assert_eq!(series.points, [(0.0, 10.0), (7.0, 10.0)]);
        assert_eq!(series.whose, Whose::Papers);
    }
}
