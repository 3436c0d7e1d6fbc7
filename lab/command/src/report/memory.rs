//! Memory over time: what is resident of each allocator, what is live, and the certificates.

use surefit_measure::grid::Grid;
use surefit_measure::output::grouped;
use surefit_measure::results::{AllocatorResult, ResidentSample};
use surefit_measure::sizes::Size;

use super::axis::{Axis, Unit};
use super::colours::PROGRAM;
use super::figure::{Figure, Key, Sample};
use super::input::View;
use super::plot::{Height, Plot, Shape};
use crate::screen;

/// How opaque the area of live requests is.
pub(super) const LIVE: f64 = 0.22;

/// The figure; `None` if nothing was sampled.
pub(super) fn figure(view: View<'_>) -> Option<Figure> {
    let sampled: Vec<_> = view.rows().iter().filter_map(samples).collect();
    let (_, first) = sampled.first()?;
    let mut shapes = vec![live(first)];
    let mut legend = vec![Key {
        sample: Sample::Area(PROGRAM, LIVE),
        text: format!(
            "live requests, {} at most",
            Size(view.trace().peak_live_bytes)
        ),
    }];
    for (row, samples) in &sampled {
        let (shape, key) = line(view, row, samples);
        shapes.push(shape);
        legend.push(key);
    }
    for row in view.rows() {
        let Some(bytes) = row.certified_bytes.map(|bytes| bytes as f64) else {
            continue;
        };
        if bytes <= view.scale.bytes {
            shapes.push(Shape::Level(view.style(row), bytes));
        }
        if samples(row).is_none() {
            legend.push(Key {
                sample: Sample::Line(view.style(row)),
                text: format!("{}{}", screen::short(&row.allocator), certified(view, row)),
            });
        }
    }
    Some(Figure {
        title: "Memory over time".to_owned(),
        about: "Resident bytes over the events of the trace. A dotted level is the certificate of the allocator of its \
                colour: a region of that size serves this demand in any order of calls."
            .to_owned(),
        picture: plot(view, shapes, &sampled).html(),
        legend,
        table: table(&sampled),
    })
}

fn samples(row: &AllocatorResult) -> Option<(&AllocatorResult, &[ResidentSample])> {
    let samples = row.resident_over_time.as_deref()?;
    (!samples.is_empty()).then_some((row, samples))
}

fn live(samples: &[ResidentSample]) -> Shape {
    let point = |sample: &ResidentSample| (sample.event as f64, 0.0, sample.live_bytes as f64);
    Shape::Area(PROGRAM, LIVE, samples.iter().map(point).collect())
}

fn line(view: View<'_>, row: &AllocatorResult, samples: &[ResidentSample]) -> (Shape, Key) {
    let point = |sample: &ResidentSample| (sample.event as f64, sample.resident_bytes as f64);
    let style = view.style(row);
    let most = samples.iter().map(|sample| sample.resident_bytes).max();
    let text = format!(
        "{}, {} at most{}",
        screen::short(&row.allocator),
        Size(most.unwrap_or(0)),
        certified(view, row)
    );
    let key = Key {
        sample: Sample::Line(style),
        text,
    };
    (Shape::Line(style, samples.iter().map(point).collect()), key)
}

/// What is certified, if anything is, and whether it is drawn.
fn certified(view: View<'_>, row: &AllocatorResult) -> String {
    let above = |bytes: u64| {
        if bytes as f64 > view.scale.bytes {
            ", above"
        } else {
            ""
        }
    };
    row.certified_bytes.map_or_else(String::new, |bytes| {
        format!("; certified {}{}", Size(bytes), above(bytes))
    })
}

fn plot(
    view: View<'_>,
    shapes: Vec<Shape>,
    sampled: &[(&AllocatorResult, &[ResidentSample])],
) -> Plot {
    let names: Vec<_> = sampled
        .iter()
        .map(|(row, _)| screen::short(&row.allocator))
        .collect();
    Plot {
        label: format!(
            "Lines: resident bytes of {} over {} events of {}. The table below has the figures.",
            screen::listed(&names),
            grouped(view.trace().events),
            screen::name(view.trace())
        ),
        x: Axis::linear(view.scale.events, Unit::Events),
        x_name: "events".to_owned(),
        y: Axis::linear(view.scale.bytes, Unit::Bytes),
        height: Height::Usual,
        shapes,
    }
}

/// One row for each sample of the allocator that has most.
fn table(sampled: &[(&AllocatorResult, &[ResidentSample])]) -> Grid {
    let longest = sampled.iter().map(|(_, samples)| *samples);
    let longest = longest.max_by_key(|samples| samples.len()).unwrap_or(&[]);
    let names = sampled.iter().map(|(row, _)| screen::short(&row.allocator));
    let row = |sample: &ResidentSample| {
        let at = |samples: &[ResidentSample]| {
            let same = samples.iter().find(|other| other.event == sample.event);
            same.map_or("-".to_owned(), |same| Size(same.resident_bytes).to_string())
        };
        let figures = sampled.iter().map(|(_, samples)| at(samples));
        [grouped(sample.event), Size(sample.live_bytes).to_string()]
            .into_iter()
            .chain(figures)
            .collect()
    };
    Grid {
        header: ["event".to_owned(), "live".to_owned()]
            .into_iter()
            .chain(names)
            .collect(),
        rows: longest.iter().map(row).collect(),
        text_columns: 0,
    }
}
