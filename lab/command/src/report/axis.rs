//! How values become places on an axis, and which values have a label there.

use surefit_measure::sizes::{Count, Size};

/// Labels on an axis of numbers, about.
const TICKS: f64 = 4.0;

/// What the numbers of an axis are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// Bytes.
    Bytes,
    /// Events of the trace.
    Events,
    /// Nanoseconds.
    Nanoseconds,
    /// A share of one.
    Share,
}

impl Unit {
    fn label(self, value: f64) -> String {
        match self {
            Self::Bytes => short(&Size(value.round() as u64).to_string()),
            Self::Events => short(&Count(value.round() as u64).to_string()),
            Self::Nanoseconds => nanoseconds(value),
            Self::Share => share(value),
        }
    }
}

/// A time, short: `30 ns`, `1.5 µs`.
pub(super) fn nanoseconds(value: f64) -> String {
    let (value, unit) = match value {
        value if value < 1e3 => (value, "ns"),
        value if value < 1e6 => (value / 1e3, "µs"),
        value if value < 1e9 => (value / 1e6, "ms"),
        value => (value / 1e9, "s"),
    };
    if value < 10.0 && value.fract() > 0.0 {
        format!("{value:.1} {unit}")
    } else {
        format!("{value:.0} {unit}")
    }
}

/// Bytes that are a power of two: `64 B`, `16 KiB`.
pub(super) fn power_of_two(power: usize) -> String {
    let units = ["B", "KiB", "MiB", "GiB"];
    let unit = (power / 10).min(units.len() - 1);
    format!("{} {}", 1_u64 << (power - 10 * unit), units[unit])
}

/// Bytes of a page or of several: as a power of two, if they are one.
pub(super) fn page_bytes(bytes: usize) -> String {
    if bytes.is_power_of_two() {
        power_of_two(bytes.ilog2() as usize)
    } else {
        format!("{} KiB", bytes / 1024)
    }
}

/// One in how many.
fn share(value: f64) -> String {
    if value >= 0.999 {
        return "all".to_owned();
    }
    let one_in = short(&Count((1.0 / value).round() as u64).to_string());
    format!("1 in {one_in}")
}

/// A number with its unit, without a zero after the point.
fn short(number: &str) -> String {
    number.replace(".0 ", " ")
}

/// An axis from its least to its greatest value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Axis {
    least: f64,
    most: f64,
    is_logarithmic: bool,
    unit: Unit,
}

impl Axis {
    /// An axis from zero on.
    pub(super) fn linear(most: f64, unit: Unit) -> Self {
        Self {
            least: 0.0,
            most: if most > 0.0 { most } else { 1.0 },
            is_logarithmic: false,
            unit,
        }
    }

    /// An axis of powers of ten around two positive values.
    pub(super) fn logarithmic(least: f64, most: f64, unit: Unit) -> Self {
        let least = 10_f64.powf(least.max(1e-12).log10().floor());
        let most = 10_f64.powf(most.max(least).log10().ceil());
        Self {
            least,
            most: if most > least { most } else { 10.0 * least },
            is_logarithmic: true,
            unit,
        }
    }

    /// Where a value is, from 0 to 1; what is outside is at the end.
    pub(super) fn place(&self, value: f64) -> f64 {
        let place = if self.is_logarithmic {
            let value = value.max(self.least);
            (value / self.least).ln() / (self.most / self.least).ln()
        } else {
            value / self.most
        };
        part(place)
    }

    /// The labels: the place of each, and what it says.
    pub(super) fn ticks(&self) -> Vec<(f64, String)> {
        let values = if self.is_logarithmic {
            self.powers()
        } else {
            self.round_numbers()
        };
        let tick = |value: f64| (self.place(value), self.unit.label(value));
        values.into_iter().map(tick).collect()
    }

    fn powers(&self) -> Vec<f64> {
        let (first, last) = (self.least.log10().round(), self.most.log10().round());
        let decades = (last - first) as i32;
        // labels below each other take less room than those beside each other
        let most = if self.unit == Unit::Share { 7 } else { 3 };
        let step = (decades + most - 1) / most;
        let powers = (0..=decades).step_by(step.max(1) as usize);
        powers
            .map(|power| 10_f64.powi(first as i32 + power))
            .collect()
    }

    fn round_numbers(&self) -> Vec<f64> {
        let rough = self.most / TICKS;
        let power = 10_f64.powf(rough.log10().floor());
        let steps = [1.0, 2.0, 5.0, 10.0].map(|times| times * power);
        let step = steps.into_iter().find(|step| *step >= rough);
        let mut step = step.unwrap_or(rough);
        if matches!(self.unit, Unit::Bytes | Unit::Events) {
            step = step.max(1.0);
        }
        let count = (self.most / step + 1e-9).floor() as u32;
        (0..=count).map(|tick| f64::from(tick) * step).collect()
    }
}

/// A part of a length, from 0 to 1; 0 for what is no number.
pub(super) fn part(place: f64) -> f64 {
    if place.is_nan() {
        return 0.0;
    }
    place.clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::{Axis, Unit, nanoseconds, page_bytes, power_of_two};

    fn labels(axis: Axis) -> Vec<String> {
        axis.ticks().into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn a_linear_axis_has_round_numbers() {
        let axis = Axis::linear(26.3e6, Unit::Bytes);
        assert_eq!(labels(axis), ["0 B", "10 MB", "20 MB"]);
        assert_eq!(axis.place(13.15e6), 0.5);
        assert_eq!(axis.place(1e9), 1.0);
        let events = labels(Axis::linear(3.0, Unit::Events));
        assert_eq!(events, ["0", "1", "2", "3"]);
        assert!(!labels(Axis::linear(0.0, Unit::Bytes)).is_empty());
    }

    #[test]
    fn a_logarithmic_axis_has_powers_of_ten() {
        let axis = Axis::logarithmic(23.0, 129_000.0, Unit::Nanoseconds);
        assert_eq!(labels(axis), ["10 ns", "1 µs", "100 µs"]);
        assert!((axis.place(1000.0) - 0.4).abs() < 1e-9);
        assert_eq!(axis.place(0.0), 0.0);
        let share = labels(Axis::logarithmic(1e-6, 1.0, Unit::Share));
        assert_eq!(share[0], "1 in 1 M");
        assert_eq!(share.last().map(String::as_str), Some("all"));
        let long = labels(Axis::logarithmic(1.0, 1e10, Unit::Nanoseconds));
        assert_eq!(long, ["1 ns", "10 µs", "100 ms"]);
        assert_eq!(
            labels(Axis::logarithmic(1.0, 1.0, Unit::Nanoseconds)).len(),
            2
        );
    }

    #[test]
    fn powers_of_two_have_units_of_1024() {
        let names = [0, 6, 10, 14, 20, 31].map(power_of_two);
        assert_eq!(names, ["1 B", "64 B", "1 KiB", "16 KiB", "1 MiB", "2 GiB"]);
        assert_eq!(power_of_two(41), "2048 GiB");
        let pages = [16384, 10 * 16384].map(page_bytes);
        assert_eq!(pages, ["16 KiB", "160 KiB"]);
    }

    #[test]
    fn times_are_short() {
        let texts = [0.0, 30.0, 1500.0, 129_000.0, 2.5e9].map(nanoseconds);
        assert_eq!(texts, ["0 ns", "30 ns", "1.5 µs", "129 µs", "2.5 s"]);
    }
}
