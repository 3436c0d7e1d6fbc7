//! Horizontal bars as SVG: one for each allocator, its figure beside it.

use std::fmt::Write as _;

use surefit_measure::html::escaped;

/// Pixels of a bar with the gap to the next.
const ROW: f64 = 22.0;

/// Pixels of a bar alone.
const THICK: f64 = 14.0;

/// Pixels of the column of names, at most.
const NAMES: f64 = 165.0;

/// Pixels of a letter of a name, at most.
const LETTER: f64 = 7.0;

/// Pixels between a name and its bar.
const GAP: f64 = 8.0;

/// Pixels of the longest bar.
const LONGEST: f64 = 220.0;

/// Pixels of the column of figures.
const FIGURES: f64 = 60.0;

/// The scale ends at this multiple of the median; longer bars are cut there, in a paler colour.
const MOST_OF_MEDIAN: f64 = 4.0;

/// A bar chart.
#[derive(Clone, Debug)]
pub(super) struct Chart {
    /// What the figures are.
    pub(super) caption: String,
    /// The bars, from above.
    pub(super) bars: Vec<Bar>,
}

/// One bar.
#[derive(Clone, Debug)]
pub(super) struct Bar {
    /// Its name.
    pub(super) name: String,
    /// Its length; nothing is drawn without one.
    pub(super) value: Option<f64>,
    /// The least and the greatest of the values that it stands for.
    pub(super) range: Option<(f64, f64)>,
}

impl Chart {
    /// The chart as one `svg` element; a dashed line marks the value 1.
    pub(super) fn to_svg(&self) -> String {
        let left = self.unused();
        let (width, height) = (
            NAMES + LONGEST + FIGURES - left,
            ROW * self.bars.len() as f64 + 6.0,
        );
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"{left} 0 {width} {height}\" role=\"img\" \
             font-family=\"system-ui,sans-serif\" font-size=\"12\" fill=\"#1c2733\">\
             <title>{}</title>\n",
            escaped(&self.caption)
        );
        let scale = Scale::of(&self.bars);
        let one = scale.x(1.0);
        let _ = writeln!(
            svg,
            "<path d=\"M{one:.1} 0V{height:.1}\" stroke=\"#7b8794\" stroke-dasharray=\"3 3\"/>"
        );
        for (row, bar) in self.bars.iter().enumerate() {
            bar.draw(&mut svg, row as f64 * ROW + 3.0, &scale);
        }
        svg.push_str("</svg>");
        svg
    }
}

impl Chart {
    /// What short names leave of their column, which is not drawn: a narrow screen then shrinks the
    /// chart less.
    fn unused(&self) -> f64 {
        let names = self.bars.iter().map(|bar| bar.name.chars().count());
        let longest = names.max().unwrap_or(0) as f64;
        (NAMES - GAP - LETTER * longest).max(0.0)
    }
}

impl Bar {
    fn draw(&self, svg: &mut String, top: f64, scale: &Scale) {
        let text = top + THICK - 3.0;
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{text:.1}\" text-anchor=\"end\">{}</text>",
            NAMES - GAP,
            escaped(&self.name)
        );
        let Some(value) = self.value.filter(|value| value.is_finite()) else {
            let _ = writeln!(
                svg,
                "<text x=\"{NAMES}\" y=\"{text:.1}\" fill=\"#7b8794\">–</text>"
            );
            return;
        };
        let (end, fill) = match scale.cuts(value) {
            true => (scale.x(value), "#b9cde0"),
            false => (scale.x(value), "#4878a8"),
        };
        let _ = writeln!(
            svg,
            "<rect x=\"{NAMES}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{THICK}\" fill=\"{fill}\"/>",
            end - NAMES
        );
        let mut right = end;
        if let Some((least, most)) = self.range {
            let (from, to, middle) = (scale.x(least), scale.x(most), top + THICK / 2.0);
            right = right.max(to);
            let _ = writeln!(
                svg,
                "<path d=\"M{from:.1} {middle:.1}H{to:.1}\" stroke=\"#1c2733\"/>"
            );
        }
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{text:.1}\" stroke=\"#fff\" stroke-width=\"3\" paint-order=\"stroke\">{value:.3}</text>",
            right + 5.0
        );
    }
}

/// How values become places.
struct Scale {
    most: f64,
}

impl Scale {
    /// From nothing to the greatest value, or to a multiple of the median if one value dwarfs the
    /// others.
    fn of(bars: &[Bar]) -> Self {
        let finite = |value: &f64| value.is_finite();
        let mut values: Vec<_> = bars
            .iter()
            .filter_map(|bar| bar.value)
            .filter(finite)
            .collect();
        values.sort_by(f64::total_cmp);
        let tops = bars.iter().filter_map(|bar| bar.range.map(|range| range.1));
        let greatest = tops
            .filter(finite)
            .chain(values.last().copied())
            .fold(1.0, f64::max);
        let median = values.get(values.len() / 2).copied().unwrap_or(1.0);
        Self {
            most: greatest.min(MOST_OF_MEDIAN * median.max(0.5)),
        }
    }

    fn cuts(&self, value: f64) -> bool {
        value > self.most
    }

    fn x(&self, value: f64) -> f64 {
        NAMES + LONGEST * (value.max(0.0) / self.most).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::{Bar, Chart, LONGEST, NAMES, Scale};

    fn bars(values: &[f64]) -> Vec<Bar> {
        let bar = |value: &f64| Bar {
            name: "a&b".to_owned(),
            value: Some(*value),
            range: None,
        };
        values.iter().map(bar).collect()
    }

    #[test]
    fn the_greatest_value_is_the_longest_bar() {
        let scale = Scale::of(&bars(&[1.0, 2.0, 3.0]));
        assert_eq!(scale.x(3.0), NAMES + LONGEST);
        assert_eq!(scale.x(0.0), NAMES);
        assert!(!scale.cuts(3.0));
    }

    #[test]
    fn a_value_that_dwarfs_the_others_is_cut() {
        let scale = Scale::of(&bars(&[1.0, 1.0, 100.0]));
        assert!(scale.cuts(100.0) && scale.x(100.0) == NAMES + LONGEST);
        assert!(scale.x(1.0) > NAMES + LONGEST / 5.0);
    }

    #[test]
    fn short_names_leave_their_column() {
        let chart = |name: &str| Chart {
            caption: "c".to_owned(),
            bars: vec![Bar {
                name: name.to_owned(),
                ..bars(&[1.0]).remove(0)
            }],
        };
        assert!(
            chart("cf")
                .to_svg()
                .contains("width=\"302\" height=\"28\" viewBox=\"143 0 302 28\"")
        );
        assert!(
            chart(&"x".repeat(24))
                .to_svg()
                .contains("viewBox=\"0 0 445 28\"")
        );
    }

    #[test]
    fn what_has_no_figure_has_no_bar() {
        let mut bars = bars(&[1.0, f64::NAN]);
        bars.push(Bar {
            value: None,
            ..bars[0].clone()
        });
        let svg = Chart {
            caption: "c".to_owned(),
            bars,
        }
        .to_svg();
        assert_eq!(svg.matches("<rect").count(), 1);
        assert!(svg.contains("a&amp;b") && !svg.contains("NaN"), "{svg}");
    }
}
