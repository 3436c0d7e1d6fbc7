//! Lines and areas over two axes. The picture fills the width that it gets; its labels are text
//! beside it.

use std::fmt::Write as _;

use surefit_measure::html::escaped;

use super::axis::Axis;
use super::colours::Style;

/// The picture's own units: to the right, and upwards.
pub(super) const WIDE: f64 = 2000.0;
pub(super) const HIGH: f64 = 1000.0;

/// Lines over axes.
#[derive(Clone, Debug)]
pub(super) struct Plot {
    /// What a screen reader says of it.
    pub(super) label: String,
    /// To the right.
    pub(super) x: Axis,
    /// What is to the right.
    pub(super) x_name: String,
    /// Upwards.
    pub(super) y: Axis,
    /// The class of the picture's height.
    pub(super) height: Height,
    /// What is drawn, the last on top.
    pub(super) shapes: Vec<Shape>,
}

/// How high a picture is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Height {
    /// One of several beside each other.
    Low,
    /// The usual.
    Usual,
    /// A map.
    High,
}

/// Something drawn.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    /// A line through points.
    Line(Style, Vec<(f64, f64)>),
    /// What lies between two lines: a colour, how opaque it is, and x, lower y, upper y.
    Area(Style, f64, Vec<(f64, f64, f64)>),
    /// A level over the whole width.
    Level(Style, f64),
    /// A point.
    Dot(Style, (f64, f64)),
    /// A drawing of its own, in the picture's units.
    Svg(String),
}

impl Plot {
    /// The picture with its labels, as HTML.
    pub(super) fn html(&self) -> String {
        let height = match self.height {
            Height::Low => "low",
            Height::Usual => "usual",
            Height::High => "high",
        };
        let mut html = format!(
            "<div class=\"plot {height}\" role=\"img\" aria-label=\"{}\"><div class=\"ys\">",
            escaped(&self.label)
        );
        for (place, label) in self.y.ticks() {
            let _ = write!(
                html,
                "<span style=\"bottom:{:.1}%\">{}</span>",
                100.0 * place,
                escaped(&label)
            );
        }
        let _ = write!(
            html,
            "</div><svg viewBox=\"0 0 {WIDE} {HIGH}\" preserveAspectRatio=\"none\">{}",
            self.grid_lines()
        );
        for shape in &self.shapes {
            self.draw(&mut html, shape);
        }
        html.push_str("</svg><div class=\"xs\">");
        self.write_x_labels(&mut html);
        let _ = write!(
            html,
            "</div><div class=\"x\">{}</div></div>",
            escaped(&self.x_name)
        );
        html
    }

    /// A label near an end of the axis stays inside it.
    fn write_x_labels(&self, html: &mut String) {
        for (place, label) in self.x.ticks() {
            let class = match place {
                place if place < 0.06 => " class=\"first\"",
                place if place > 0.94 => " class=\"last\"",
                _ => "",
            };
            let _ = write!(
                html,
                "<span{class} style=\"left:{:.1}%\">{}</span>",
                100.0 * place,
                escaped(&label)
            );
        }
    }

    fn grid_lines(&self) -> String {
        let mut path = String::new();
        for (place, _) in self.y.ticks() {
            let _ = write!(path, "M0 {:.0}H{WIDE}", HIGH * (1.0 - place));
        }
        for (place, _) in self.x.ticks() {
            let _ = write!(path, "M{:.0} 0V{HIGH}", WIDE * place);
        }
        format!(
            "<path d=\"{path}\" fill=\"none\" stroke=\"#e1e6eb\" vector-effect=\"non-scaling-stroke\"/>"
        )
    }

    fn point(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (
            (WIDE * self.x.place(x)).round(),
            (HIGH * (1.0 - self.y.place(y))).round(),
        )
    }

    fn draw(&self, html: &mut String, shape: &Shape) {
        match shape {
            Shape::Line(style, points) => {
                let (path, stroke) = (self.path(points), style.stroke(2.0));
                let _ = write!(html, "<path d=\"{path}\" fill=\"none\" {stroke}/>");
            }
            Shape::Level(style, y) => {
                let (_, y) = self.point((0.0, *y));
                let _ = write!(
                    html,
                    "<path d=\"M0 {y}H{WIDE}\" stroke=\"{}\" stroke-width=\"1.5\" stroke-dasharray=\"1 5\" \
                     stroke-linecap=\"round\" vector-effect=\"non-scaling-stroke\"/>",
                    style.colour
                );
            }
            Shape::Area(style, opacity, points) => {
                let _ = write!(
                    html,
                    "<path d=\"{}\" fill=\"{}\" fill-opacity=\"{opacity}\"/>",
                    self.band(points),
                    style.colour
                );
            }
            Shape::Dot(style, point) => {
                let (x, y) = self.point(*point);
                let _ = write!(
                    html,
                    "<path d=\"M{x} {y}h0\" stroke=\"{}\" stroke-width=\"9\" stroke-linecap=\"round\" \
                     vector-effect=\"non-scaling-stroke\"/>",
                    style.colour
                );
            }
            Shape::Svg(svg) => html.push_str(svg),
        }
    }

    fn path(&self, points: &[(f64, f64)]) -> String {
        let mut path = String::new();
        for (number, point) in points.iter().enumerate() {
            let (x, y) = self.point(*point);
            let _ = write!(path, "{}{x} {y}", if number == 0 { "M" } else { "L" });
        }
        path
    }

    fn band(&self, points: &[(f64, f64, f64)]) -> String {
        let upper: Vec<_> = points.iter().map(|(x, _, upper)| (*x, *upper)).collect();
        let mut path = self.path(&upper);
        for (x, lower, _) in points.iter().rev() {
            let (x, y) = self.point((*x, *lower));
            let _ = write!(path, "L{x} {y}");
        }
        path + "Z"
    }
}

#[cfg(test)]
mod tests {
    use super::super::axis::{Axis, Unit};
    use super::super::colours::PROGRAM;
    use super::{Height, Plot, Shape};

    fn plot(shapes: Vec<Shape>) -> String {
        let plot = Plot {
            label: "a \"label\"".to_owned(),
            x: Axis::linear(10.0, Unit::Events),
            x_name: "events".to_owned(),
            y: Axis::linear(100.0, Unit::Bytes),
            height: Height::Usual,
            shapes,
        };
        plot.html()
    }

    #[test]
    fn values_are_at_their_places() {
        let line = plot(vec![Shape::Line(
            PROGRAM,
            vec![(0.0, 0.0), (5.0, 50.0), (10.0, 100.0)],
        )]);
        assert!(line.contains("M0 1000L1000 500L2000 0"), "{line}");
        assert!(line.contains("aria-label=\"a &quot;label&quot;\""));
        let band = vec![(0.0, 0.0, 50.0), (10.0, 50.0, 100.0)];
        let area = plot(vec![Shape::Area(PROGRAM, 0.5, band)]);
        assert!(area.contains("M0 500L2000 0L2000 500L0 1000Z"), "{area}");
    }

    #[test]
    fn labels_at_the_ends_stay_inside() {
        let html = plot(Vec::new());
        assert!(html.contains("<span class=\"first\" style=\"left:0.0%\">0</span>"));
        assert!(
            html.contains("<span class=\"last\" style=\"left:100.0%\">10</span>"),
            "{html}"
        );
    }

    #[test]
    fn what_is_no_number_is_drawn_at_an_end() {
        let html = plot(vec![Shape::Line(PROGRAM, vec![(f64::NAN, f64::INFINITY)])]);
        assert!(html.contains("M0 0\"") && !html.contains("NaN"), "{html}");
    }
}
