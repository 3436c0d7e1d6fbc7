//! Lines over axes as SVG: one picture for all plots of an experiment, two beside each other.
//!
//! ```text
//! | title                            | title                            |
//! | y   /-----        -- series      | y                 -- series      |
//! |    /              -- series      |                   -- series      |
//! |     x                            |     x                            |
//! ```
//! Over an x axis of things in no order, values of ours are bars beside each other, and long names
//! are written upwards. A spread is a thin vertical line at its point. Lines of ours have colours
//! and, if they have few points, shapes at them; those of the papers are dashed and grey, and over
//! things in no order a level piece at each place. A line on which others lie is broader. An axis
//! whose places have names, and a logarithmic one, which is labelled at 1, 2, 5, 10, 20, …, get
//! their labels here; others get them from plotters.

use std::ops::Range;

use anyhow::{Result, anyhow};
use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::{
    BLACK, Cartesian2d, ChartBuilder, ChartContext, Color, DashedLineSeries, DrawingArea,
    FontTransform, IntoDrawingArea, IntoFont, IntoTextStyle, LineSeries, PathElement, RGBColor,
    Rectangle, SVGBackend, Text, WHITE,
};
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::marks::{Mark, Shape, lines_of, mark, place};
use crate::kit::{Axis, Plot, Series, Whose};

/// Pixels of one plot.
const PANEL: (u32, u32) = (560, 330);

/// Pixels of the names beside a plot.
const LEGEND: u32 = 150;

/// Pixels of text.
const TEXT: u32 = 12;

/// Pixels of a letter, about.
const LETTER: usize = 7;

/// Pixels of a line, and the pixels added for every other line that lies on it.
const LINE: (u32, u32) = (2, 3);

/// Letters of a line of a series' name.
const NAME: usize = 18;

/// Pixels of a series' line in the legend, and pixels between such lines.
const PIECE: i32 = 18;

const FONT: &str = "sans-serif";

type Panel<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Chart<'a, 'b> = ChartContext<'b, SVGBackend<'a>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// All plots as one `svg` element.
///
/// # Errors
/// The picture cannot be drawn: never for finite values.
pub(super) fn svg(plots: &[Plot]) -> Result<String> {
    let (columns, rows) = panels(plots);
    let mut picture = String::new();
    {
        let root = SVGBackend::with_string(&mut picture, size(plots)).into_drawing_area();
        root.fill(&WHITE).map_err(|error| anyhow!("{error}"))?;
        for (panel, plot) in root.split_evenly((rows, columns)).iter().zip(plots) {
            draw(panel, plot).map_err(|error| anyhow!("{}: {error}", plot.title))?;
        }
        root.present().map_err(|error| anyhow!("{error}"))?;
    }
    // what every element says, and what is so without it
    Ok(picture.replace(" opacity=\"1\"", ""))
}

/// The width and height of the picture, in pixels.
pub(super) fn size(plots: &[Plot]) -> (u32, u32) {
    let (columns, rows) = panels(plots);
    (PANEL.0 * columns as u32, PANEL.1 * rows as u32)
}

/// Columns and rows of plots.
fn panels(plots: &[Plot]) -> (usize, usize) {
    let columns = plots.len().clamp(1, 2);
    (columns, plots.len().div_ceil(columns).max(1))
}

fn draw(panel: &Panel<'_>, plot: &Plot) -> Result<()> {
    let (x, y) = (x_range(plot), y_range(plot));
    let (left, legend) = panel.split_horizontally(PANEL.0 - LEGEND);
    let title = title(panel, &plot.title)?;
    let mut chart = ChartBuilder::on(&left)
        .margin(10)
        .margin_top(10 + title)
        .x_label_area_size(label_area(&plot.x))
        .y_label_area_size(58)
        .build_cartesian_2d(x.clone(), y.clone())?;
    mesh(&mut chart, plot)?;
    name_places(&left, &mut chart, [&plot.x, &plot.y], [&x, &y])?;
    for (number, series) in plot.series.iter().enumerate() {
        if plot.x.is_unordered && series.whose == Whose::Ours {
            bars(&mut chart, plot, number)?;
        } else {
            line(&left, &mut chart, plot, number)?;
        }
    }
    // A series without points has a colour, so that the others have the same in every plot, but no
    // entry.
    let drawn = plot.series.iter().enumerate();
    let drawn = drawn.filter(|(_, series)| !series.points.is_empty());
    let mut y = 40;
    for (number, series) in drawn {
        y = entry(&legend, y, series, mark(plot, number))?;
    }
    Ok(())
}

/// The title over the whole panel, in as many lines as it takes; returns their pixels.
fn title(panel: &Panel<'_>, title: &str) -> Result<u32> {
    let letters = (PANEL.0 as usize - 20) / LETTER;
    let lines = paragraphs(title, letters);
    for (line, at) in lines.iter().zip(0..) {
        let style = (FONT, TEXT + 2).into_font().color(&BLACK);
        let style = style.pos(Pos::new(HPos::Left, VPos::Top));
        panel.draw(&Text::new(line.clone(), (10, 6 + 17 * at), style))?;
    }
    Ok(17 * lines.len() as u32)
}

/// Lines of at most so many letters; a longer word has a line of its own.
fn paragraphs(text: &str, letters: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= letters => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Pixels below a plot: for names that are written upwards, as many as the longest takes.
fn label_area(x: &Axis) -> u32 {
    match is_upward(x) {
        true => 34 + (longest(x) * LETTER) as u32,
        false => 40,
    }
}

/// Whether there is no room for the names of an axis beside each other.
fn is_upward(x: &Axis) -> bool {
    let room = (PANEL.0 - LEGEND - 80) as usize;
    x.is_unordered && (longest(x) + 1) * LETTER * x.ticks.len() > room
}

/// Letters of the longest name of an axis.
fn longest(axis: &Axis) -> usize {
    let letters = axis.ticks.iter().map(|name| name.chars().count());
    letters.max().unwrap_or_default()
}

/// Grid, labels and names of the axes.
fn mesh(chart: &mut Chart<'_, '_>, plot: &Plot) -> Result<()> {
    let text = |value: &f64| value_label(*value);
    let mut mesh = chart.configure_mesh();
    mesh.max_light_lines(0)
        .bold_line_style(RGBColor(225, 230, 235))
        .axis_style(RGBColor(120, 130, 140))
        .label_style((FONT, TEXT))
        .axis_desc_style((FONT, TEXT))
        .x_desc(&plot.x.label)
        .y_desc(&plot.y.label)
        .x_label_formatter(&text)
        .y_label_formatter(&text)
        .y_labels(if is_named(&plot.y) { 0 } else { 6 })
        .x_labels(if is_named(&plot.x) { 0 } else { 6 });
    mesh.draw()?;
    Ok(())
}

/// Whether the axis gets its labels from [`places`].
fn is_named(axis: &Axis) -> bool {
    axis.is_logarithmic || !axis.ticks.is_empty()
}

/// Where an axis is labelled by hand, and how.
fn places(axis: &Axis, range: &Range<f64>) -> Vec<(f64, String)> {
    if !axis.is_logarithmic {
        let named = axis.ticks.iter().enumerate();
        return named
            .map(|(place, name)| (place as f64, name.clone()))
            .collect();
    }
    // as few steps of a decade as label the axis three times: over many decades, their beginnings
    let mut steps = LABELLED.iter().map(|steps| labels(range, steps));
    let found = steps.find(|labels| labels.len() >= LEAST_LABELS);
    found.unwrap_or_else(|| tenths(range))
}

/// The steps of a decade that are labelled, from few to many.
const LABELLED: [&[f64]; 3] = [&[1.0], &[1.0, 2.0, 5.0], &[1.0, 1.5, 2.0, 3.0, 5.0, 7.0]];

/// Fewer labels say nothing of what lies between them.
const LEAST_LABELS: usize = 3;

/// Labels at steps of each decade of a logarithmic axis.
fn labels(range: &Range<f64>, steps: &[f64]) -> Vec<(f64, String)> {
    let decades = range.start.floor() as i32..=range.end.ceil() as i32;
    let values =
        decades.flat_map(|decade| steps.iter().map(move |step| step * 10_f64.powi(decade)));
    let places = values.map(|value| (value.log10(), value_label(value)));
    places.filter(|(place, _)| range.contains(place)).collect()
}

/// Labels at equal steps of the values, where an axis is a small part of a decade.
fn tenths(range: &Range<f64>) -> Vec<(f64, String)> {
    let (least, most) = (10_f64.powf(range.start), 10_f64.powf(range.end));
    let power = 10_f64.powf(((most - least) / 4.0).log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
    let step = step.into_iter().find(|step| (most - least) / step <= 6.0);
    let step = step.unwrap_or(10.0 * power);
    let first = (least / step).ceil() as u64;
    let values = (first..).map(|number| number as f64 * step);
    let values = values.take_while(|value| *value < most);
    values
        .map(|value| (value.log10(), value_label(value)))
        .collect()
}

/// Labels and grid lines of the axes that plotters does not label.
fn name_places(
    panel: &Panel<'_>,
    chart: &mut Chart<'_, '_>,
    axes: [&Axis; 2],
    ranges: [&Range<f64>; 2],
) -> Result<()> {
    let [x, y] = ranges;
    let style = |horizontal, vertical| {
        (FONT, TEXT)
            .into_text_style(panel)
            .pos(Pos::new(horizontal, vertical))
    };
    let grid = RGBColor(225, 230, 235).stroke_width(1);
    for (place, name) in places(axes[0], x) {
        let at = in_panel(panel, chart, &(place, y.start));
        let at = (at.0, at.1 + 6);
        let style = if is_upward(axes[0]) {
            let upwards = (FONT, TEXT).into_font().transform(FontTransform::Rotate270);
            upwards
                .into_text_style(panel)
                .pos(Pos::new(HPos::Right, VPos::Center))
        } else {
            style(HPos::Center, VPos::Top)
        };
        panel.draw(&Text::new(name, at, style))?;
        chart.draw_series([PathElement::new([(place, y.start), (place, y.end)], grid)])?;
    }
    for (place, name) in places(axes[1], y) {
        let at = in_panel(panel, chart, &(x.start, place));
        let at = (at.0 - 6, at.1);
        panel.draw(&Text::new(name, at, style(HPos::Right, VPos::Center)))?;
        chart.draw_series([PathElement::new([(x.start, place), (x.end, place)], grid)])?;
    }
    Ok(())
}

/// A series as a line, with shapes at its points if they are few, and with its spread.
fn line(panel: &Panel<'_>, chart: &mut Chart<'_, '_>, plot: &Plot, number: usize) -> Result<()> {
    let (series, mark) = (&plot.series[number], mark(plot, number));
    let stroke = mark
        .colour
        .stroke_width(LINE.0 + LINE.1 * hidden_by(plot, number));
    let place = |point: &(f64, f64)| (position(&plot.x, point.0), position(&plot.y, point.1));
    let is_drawn = |point: &(f64, f64)| point.0.is_finite() && point.1.is_finite();
    let points: Vec<_> = series.points.iter().map(place).filter(is_drawn).collect();
    if let Some(strokes) = mark.shape.map(Shape::strokes) {
        for point in &points {
            shape(panel, in_panel(panel, chart, point), strokes, mark.colour)?;
        }
    }
    for (point, &(least, most)) in series.points.iter().zip(&series.spread) {
        let ends = [place(&(point.0, least)), place(&(point.0, most))];
        if ends.iter().all(is_drawn) {
            chart.draw_series([PathElement::new(ends, mark.colour.stroke_width(1))])?;
        }
    }
    let Some((dash, gap)) = mark.dash else {
        chart.draw_series(LineSeries::new(points, stroke))?;
        return Ok(());
    };
    let levels = points
        .iter()
        .map(|&(x, y)| vec![(x - 0.4, y), (x + 0.4, y)]);
    let pieces = match plot.x.is_unordered {
        true => levels.collect(),
        false => vec![points],
    };
    for piece in pieces {
        chart.draw_series(DashedLineSeries::new(piece, dash, gap, stroke))?;
    }
    Ok(())
}

/// Where a point of a chart lies in its panel, in pixels.
fn in_panel(panel: &Panel<'_>, chart: &Chart<'_, '_>, point: &(f64, f64)) -> (i32, i32) {
    let (origin, at) = (panel.get_base_pixel(), chart.backend_coord(point));
    (at.0 - origin.0, at.1 - origin.1)
}

/// A shape with its middle at a pixel.
fn shape(
    panel: &Panel<'_>,
    (x, y): (i32, i32),
    strokes: &[&[(i32, i32)]],
    colour: RGBColor,
) -> Result<()> {
    for stroke in strokes {
        let points: Vec<_> = stroke.iter().map(|(dx, dy)| (x + dx, y + dy)).collect();
        panel.draw(&PathElement::new(points, colour.stroke_width(2)))?;
    }
    Ok(())
}

/// How many of the lines that are drawn later go through all of a line's points, two at most.
fn hidden_by(plot: &Plot, number: usize) -> u32 {
    let range = y_range(plot);
    // About half a pixel.
    let near = (range.end - range.start) / 500.0;
    let y = |value| position(&plot.y, value);
    let is_near = |one: f64, other: f64| (y(one) - y(other)).abs() < near;
    let own = &plot.series[number].points;
    let hides = |later: &&Series| {
        let mut own = own.iter();
        own.all(|point| {
            let mut others = later.points.iter();
            others.any(|other| other.0 == point.0 && is_near(other.1, point.1))
        })
    };
    let later = &plot.series[number + 1..];
    later.iter().filter(hides).take(2).count() as u32
}

/// A series as bars; those of different series stand beside each other at every place.
fn bars(chart: &mut Chart<'_, '_>, plot: &Plot, number: usize) -> Result<()> {
    let beside = plot
        .series
        .iter()
        .filter(|series| series.whose == Whose::Ours)
        .count();
    let width = 0.8 / beside.max(1) as f64;
    let left = place(plot, number) as f64 * width - 0.4;
    let bar = |&(x, y): &(f64, f64)| {
        let (from, to) = (x + left, x + left + width);
        let base = position(&plot.y, y_range(plot).start.max(0.0));
        Rectangle::new(
            [(from, base), (to, position(&plot.y, y))],
            mark(plot, number).colour.filled(),
        )
    };
    let points = &plot.series[number].points;
    chart.draw_series(points.iter().filter(|point| point.1.is_finite()).map(bar))?;
    Ok(())
}

/// A series' name beside a piece of its line, from a pixel downwards; the next one stands at the
/// pixel that it returns.
fn entry(legend: &Panel<'_>, y: i32, series: &Series, mark: Mark) -> Result<i32> {
    let (dash, gap) = mark
        .dash
        .map_or((PIECE, 0), |(dash, gap)| (dash as i32, gap as i32));
    let starts = (0..PIECE).step_by((dash + gap).max(1) as usize);
    for from in starts {
        let ends = [(from, y), ((from + dash).min(PIECE), y)];
        legend.draw(&PathElement::new(ends, mark.colour.stroke_width(2)))?;
    }
    if let Some(strokes) = mark.shape.map(Shape::strokes) {
        shape(legend, (PIECE / 2, y), strokes, mark.colour)?;
    }
    let style = (FONT, TEXT)
        .into_font()
        .color(&BLACK)
        .pos(Pos::new(HPos::Left, VPos::Center));
    let mut next = y;
    for line in lines_of(series, NAME) {
        legend.draw(&Text::new(line, (PIECE + 6, next), style.clone()))?;
        next += 14;
    }
    Ok(next + 4)
}

/// Where a value lies on its axis.
fn position(axis: &Axis, value: f64) -> f64 {
    if axis.is_logarithmic {
        value.log10()
    } else {
        value
    }
}

/// What an axis says at a value.
fn value_label(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        1e9.. => format!("{}G", short(value / 1e9)),
        1e6.. => format!("{}M", short(value / 1e6)),
        1e4.. => format!("{}k", short(value / 1e3)),
        _ => short(value),
    }
}

/// At most three digits after the point, and no zeros at the end.
fn short(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The part of the x axis that is drawn.
fn x_range(plot: &Plot) -> Range<f64> {
    let points = plot.series.iter().flat_map(|series| &series.points);
    range(&plot.x, points.map(|point| point.0), 0.0)
}

/// The part of the y axis that is drawn: all values and spreads, and a little room.
fn y_range(plot: &Plot) -> Range<f64> {
    let points = plot.series.iter().flat_map(|series| &series.points);
    let spreads = plot.series.iter().flat_map(|series| &series.spread);
    let ends = spreads.flat_map(|(least, most)| [*least, *most]);
    range(&plot.y, points.map(|point| point.1).chain(ends), 0.05)
}

/// From the least to the greatest of the values, and so much of that on either side, but not below
/// zero.
fn range(axis: &Axis, values: impl Iterator<Item = f64>, room: f64) -> Range<f64> {
    if axis.is_unordered {
        return -0.5..axis.ticks.len() as f64 - 0.5;
    }
    if !axis.ticks.is_empty() {
        return -0.3..axis.ticks.len() as f64 - 0.7;
    }
    let places = values
        .map(|value| position(axis, value))
        .filter(|place| place.is_finite());
    let bounds = places.fold(
        (f64::INFINITY, f64::NEG_INFINITY),
        |(least, most), place| (least.min(place), most.max(place)),
    );
    let (mut least, mut most) = bounds;
    if least > most {
        return 0.0..1.0;
    }
    if axis.from_zero {
        (least, most) = (least.min(0.0), most.max(0.0));
    }
    let room = (most - least) * room;
    if least != 0.0 {
        least -= room;
    }
    most += room;
    if most > least {
        least..most
    } else {
        least - 0.5..least + 0.5
    }
}

#[cfg(test)]
mod tests {
    use super::{hidden_by, paragraphs, places, svg, value_label, x_range, y_range};
    use crate::kit::{Axis, Plot, Series, Whose};

    fn plot(x: Axis, y: Axis, points: Vec<(f64, f64)>) -> Plot {
        let series = Series {
            spread: points
                .iter()
                .map(|point| (point.1 - 1.0, point.1 + 1.0))
                .collect(),
            ..Series::new("a & b", points)
        };
        let papers = Series {
            whose: Whose::Papers,
            spread: Vec::new(),
            ..series.clone()
        };
        Plot {
            title: "<t>".to_owned(),
            x,
            y,
            series: vec![series, papers],
        }
    }

    #[test]
    fn names_of_places_and_series_are_in_the_picture() {
        let ticks = ["1", "5", "∞"].map(str::to_owned);
        let points = vec![(0.0, 2.0), (1.0, 3.0), (2.0, f64::NAN)];
        let picture =
            svg(&[plot(Axis::named("κ", ticks), Axis::from_zero("y"), points)]).expect("drawn");
        for text in ["∞", "κ", "a &amp; b", "&lt;t&gt;", "polyline"] {
            assert!(picture.contains(text), "{text}: {picture}");
        }
        assert!(!picture.contains("NaN"));
    }

    #[test]
    fn things_in_no_order_are_bars_and_long_names_are_written_upwards() {
        let ticks = ["a", "b"].map(str::to_owned);
        let points = vec![(0.0, 2.0), (1.0, f64::NAN)];
        let picture = svg(&[plot(Axis::kinds("", ticks), Axis::from_zero("y"), points)]);
        let picture = picture.expect("drawn");
        let bars = |picture: &str| picture.matches("fill=\"#1F5893\"").count();
        assert_eq!(bars(&picture), 1, "one value of ours: {picture}");
        let upwards = |picture: &str| picture.matches("rotate(270").count();
        assert_eq!(upwards(&picture), 1, "the name of y alone: {picture}");
        let ticks = [
            "a long name",
            "another long name",
            "the longest name of them all",
        ]
        .map(str::to_owned);
        let points = vec![(0.0, 2.0)];
        let picture = svg(&[plot(Axis::kinds("", ticks), Axis::from_zero("y"), points)]);
        assert_eq!(upwards(&picture.expect("drawn")), 4);
    }

    #[test]
    fn a_long_title_takes_lines_and_loses_no_word() {
        let title =
            "heap ÷ what is live: P_R with M=1024, n=64; m=30; handles: bytes with tables, of all";
        let lines = paragraphs(title, 40);
        assert_eq!(lines.join(" "), title);
        assert!(lines.len() == 3 && lines.iter().all(|line| line.chars().count() <= 40));
        let mut plot = plot(Axis::new("x"), Axis::new("y"), vec![(0.0, 5.0), (1.0, 9.0)]);
        plot.title = title.to_owned();
        let picture = svg(&[plot]).expect("drawn");
        assert!(
            picture.contains("heap ÷ what is live") && picture.contains("of all"),
            "{picture}"
        );
    }

    #[test]
    fn a_line_on_which_others_lie_is_broader() {
        let mut plot = plot(Axis::new("x"), Axis::new("y"), vec![(0.0, 5.0), (1.0, 9.0)]);
        plot.series
            .push(Series::new("other", vec![(0.0, 9.0), (1.0, 9.0)]));
        assert_eq!([0, 1, 2].map(|number| hidden_by(&plot, number)), [1, 0, 0]);
    }

    #[test]
    fn an_axis_holds_all_values_and_their_spread() {
        let plot = plot(
            Axis::new("x"),
            Axis::new("y"),
            vec![(0.0, 5.0), (10.0, 7.0)],
        );
        let (x, y) = (x_range(&plot), y_range(&plot));
        assert_eq!(x, 0.0..10.0);
        assert!(y.start <= 4.0 && y.end >= 8.0, "{y:?}");
    }

    #[test]
    fn no_values_and_one_value_still_make_a_picture() {
        for points in [vec![], vec![(3.0, 3.0)], vec![(0.0, 0.0)]] {
            assert!(svg(&[plot(Axis::new("x"), Axis::logarithmic("y"), points)]).is_ok());
        }
    }

    #[test]
    fn labels_are_short() {
        let labels = [0.0, 0.25, 12.0, 25_000.0, 3.2e6].map(value_label);
        assert_eq!(labels, ["0", "0.25", "12", "25k", "3.2M"]);
        let names = |range| {
            places(&Axis::logarithmic("x"), &range)
                .into_iter()
                .map(|(_, name)| name)
                .collect::<Vec<_>>()
        };
        assert_eq!(names(0.5..2.1), ["5", "10", "20", "50", "100"]);
        assert_eq!(names(0.0..4.5), ["1", "10", "100", "1000", "10k"]);
        // 49 to 56 ms had one label
        let near = 49_f64.log10()..56.5_f64.log10();
        assert_eq!(names(near), ["50", "52", "54", "56"]);
    }
}
