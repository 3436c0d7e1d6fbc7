//! Horizontal bars: a name, a bar, and its figure. Names and figures are text of the page.
//!
//! Short names stand beside their bars, and names that are cut short, above.

use std::fmt::Write as _;

use surefit_measure::html::escaped;

use super::axis::part;
use super::colours::Style;

/// The bar's own units.
const WIDE: f64 = 1000.0;
const HIGH: f64 = 22.0;

/// The scale ends at this multiple of the median; longer bars are cut there, and end in a point.
const MOST_OF_MEDIAN: f64 = 4.0;

/// A bar chart.
#[derive(Clone, Debug)]
pub(super) struct Bars {
    /// What a screen reader says of it.
    pub(super) label: String,
    /// The rows, from above.
    pub(super) rows: Vec<Bar>,
    /// A value that a dashed line marks.
    pub(super) mark: Option<f64>,
    /// Whether a bar that dwarfs the others is cut.
    pub(super) is_cut: bool,
    /// What the longest bar would stand for; if this is nothing, the greatest value.
    pub(super) most: Option<f64>,
}

/// A row of a chart.
#[derive(Clone, Debug)]
pub(super) struct Bar {
    /// Its name.
    pub(super) name: String,
    /// The whole name, if `name` is cut short.
    pub(super) full: Option<String>,
    /// Its colour.
    pub(super) style: Style,
    /// What is drawn, the last on top.
    pub(super) lanes: Vec<Lane>,
    /// Its figure in words.
    pub(super) text: String,
}

/// A bar of a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lane {
    /// Its length.
    pub(super) value: f64,
    /// The least and the greatest of the values that it stands for.
    pub(super) range: Option<(f64, f64)>,
    /// How opaque it is.
    pub(super) opacity: f64,
    /// Which part of the row's height it has, from above.
    pub(super) part: (f64, f64),
}

impl Lane {
    /// A bar over the height of the row.
    pub(super) const fn whole(value: f64) -> Self {
        Self {
            value,
            range: None,
            opacity: 1.0,
            part: (0.15, 0.85),
        }
    }

    /// The first of two bars in a row, and the second one.
    pub(super) const fn two(first: f64, second: f64) -> [Self; 2] {
        [
            Self {
                opacity: 0.4,
                part: (0.06, 0.48),
                ..Self::whole(first)
            },
            Self {
                part: (0.52, 0.94),
                ..Self::whole(second)
            },
        ]
    }
}

impl Bars {
    /// The chart as HTML.
    pub(super) fn html(&self) -> String {
        let scale = self
            .most
            .map_or_else(|| Scale::of(&self.rows, self.is_cut), |most| Scale { most });
        let is_above = self.rows.iter().any(|row| row.full.is_some());
        let mut html = format!(
            "<div class=\"bars{}\" role=\"img\" aria-label=\"{}\">",
            if is_above { " above" } else { "" },
            escaped(&self.label)
        );
        for row in &self.rows {
            let full = row.full.as_deref().map(escaped);
            let title = full.map(|full| format!(" title=\"{full}\""));
            let _ = write!(
                html,
                "<span class=\"n\"{}>{}</span><svg viewBox=\"0 0 {WIDE} {HIGH}\" preserveAspectRatio=\"none\">",
                title.unwrap_or_default(),
                escaped(&row.name)
            );
            if let Some(mark) = self.mark {
                let _ = write!(
                    html,
                    "<path d=\"M{:.0} 0V{HIGH}\" stroke=\"#7b8794\" stroke-dasharray=\"3 3\" \
                     vector-effect=\"non-scaling-stroke\"/>",
                    scale.x(mark)
                );
            }
            for lane in &row.lanes {
                draw(&mut html, lane, row.style, &scale);
            }
            let _ = write!(
                html,
                "</svg><span class=\"v\">{}</span>",
                escaped(&row.text)
            );
        }
        html + "</div>\n"
    }
}

fn draw(html: &mut String, lane: &Lane, style: Style, scale: &Scale) {
    if !lane.value.is_finite() {
        return;
    }
    let (top, bottom) = (HIGH * lane.part.0, HIGH * lane.part.1);
    let (end, middle) = (scale.x(lane.value), f64::midpoint(top, bottom));
    let shoulder = if scale.cuts(lane.value) {
        end - 18.0
    } else {
        end
    };
    let _ = write!(
        html,
        "<path d=\"M0 {top:.1}H{shoulder:.0}L{end:.0} {middle:.1}L{shoulder:.0} {bottom:.1}H0Z\" fill=\"{}\" \
         fill-opacity=\"{}\"/>",
        style.colour, lane.opacity
    );
    if let Some((least, most)) = lane.range {
        let _ = write!(
            html,
            "<path d=\"M{0:.0} {middle:.1}H{1:.0}M{0:.0} {top:.1}V{bottom:.1}M{1:.0} {top:.1}V{bottom:.1}\" \
             fill=\"none\" stroke=\"#1c2733\" stroke-width=\"1.5\" vector-effect=\"non-scaling-stroke\"/>",
            scale.x(least),
            scale.x(most)
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
    fn of(rows: &[Bar], is_cut: bool) -> Self {
        let lanes = || rows.iter().flat_map(|row| &row.lanes);
        let mut values: Vec<_> = lanes()
            .map(|lane| lane.value)
            .filter(|value| value.is_finite())
            .collect();
        values.sort_by(f64::total_cmp);
        let tops = lanes().filter_map(|lane| lane.range.map(|(_, most)| most));
        let greatest = tops
            .filter(|top| top.is_finite())
            .chain(values.last().copied())
            .fold(0.0, f64::max);
        let median = values.get(values.len() / 2).copied().unwrap_or(0.0);
        let most = match median {
            median if median > 0.0 && is_cut => greatest.min(MOST_OF_MEDIAN * median),
            _ => greatest,
        };
        Self {
            most: if most > 0.0 { most } else { 1.0 },
        }
    }

    fn cuts(&self, value: f64) -> bool {
        value > self.most
    }

    fn x(&self, value: f64) -> f64 {
        WIDE * part(value / self.most)
    }
}

#[cfg(test)]
mod tests {
    use super::super::colours::PROGRAM;
    use super::{Bar, Bars, Lane, Scale};

    fn rows(values: &[f64]) -> Vec<Bar> {
        let bar = |value: &f64| Bar {
            name: "a&b".to_owned(),
            full: None,
            style: PROGRAM,
            lanes: vec![Lane::whole(*value)],
            text: format!("{value:.2}"),
        };
        values.iter().map(bar).collect()
    }

    fn html(rows: Vec<Bar>, mark: Option<f64>) -> String {
        let label = "bars".to_owned();
        let is_cut = true;
        Bars {
            label,
            rows,
            mark,
            is_cut,
            most: None,
        }
        .html()
    }

    #[test]
    fn the_greatest_value_is_the_longest_bar() {
        let scale = Scale::of(&rows(&[1.0, 2.0, 3.0]), true);
        assert_eq!((scale.x(3.0), scale.x(0.0)), (1000.0, 0.0));
        assert!(!scale.cuts(3.0));
        let whiskers = Lane {
            range: Some((1.0, 6.0)),
            ..Lane::whole(3.0)
        };
        let mut rows = rows(&[3.0]);
        rows[0].lanes = vec![whiskers];
        assert_eq!(Scale::of(&rows, true).x(3.0), 500.0, "the spread counts");
    }

    #[test]
    fn a_value_that_dwarfs_the_others_is_cut_and_pointed() {
        let scale = Scale::of(&rows(&[1.0, 1.0, 100.0]), true);
        assert!(scale.cuts(100.0) && scale.x(100.0) == 1000.0);
        assert!(!Scale::of(&rows(&[1.0, 1.0, 100.0]), false).cuts(100.0));
        assert_eq!(scale.x(1.0), 250.0);
        let html = html(rows(&[1.0, 1.0, 100.0]), Some(1.0));
        assert_eq!(html.matches("H982L1000").count(), 1, "{html}");
        assert_eq!(html.matches("M250 0V22").count(), 3, "{html}");
    }

    #[test]
    fn what_has_no_figure_has_no_bar() {
        let html = html(rows(&[1.0, f64::NAN]), None);
        assert_eq!(html.matches("fill-opacity").count(), 1, "{html}");
        assert!(
            html.contains("a&amp;b") && !html.contains("d=\"MNaN"),
            "{html}"
        );
        assert_eq!(Scale::of(&rows(&[]), true).x(0.0), 0.0);
        assert_eq!(Scale::of(&rows(&[0.0]), true).x(0.0), 0.0);
    }
}
