//! Where the bytes of each allocator are over time: what the program asked for, and beyond that the
//! kinds of fragmentation that the papers distinguish.

use std::fmt::Write as _;

use surefit_measure::grid::Grid;
use surefit_measure::html::escaped;
use surefit_measure::output::grouped;
use surefit_measure::results::{AllocatorResult, AtPeak, ResidentSample};
use surefit_measure::sizes::{Size, per_cent};

use super::axis::{Axis, Unit};
use super::colours::{PROGRAM, Style};
use super::figure::{Figure, Key, Sample, legend};
use super::input::View;
use super::memory::LIVE;
use super::plot::{Height, Plot, Shape};
use crate::screen;

/// A part of what is resident.
struct Part {
    name: &'static str,
    /// How opaque its area is: neighbours differ much.
    opacity: f64,
    of: fn(&AtPeak) -> u64,
}

/// The parts beyond what the program asked for, from below. What is free is not among them: the
/// rest of what is resident is free.
const PARTS: [Part; 6] = [
    Part {
        name: "page-block-internal",
        opacity: 0.95,
        of: |parts| parts.page_block_internal_bytes,
    },
    Part {
        name: "page-internal",
        opacity: 0.3,
        of: |parts| parts.page_internal_bytes,
    },
    Part {
        name: "size-class: free page-blocks",
        opacity: 0.7,
        of: |parts| parts.size_class_bytes,
    },
    Part {
        name: "transient",
        opacity: 0.2,
        of: |parts| parts.transient_bytes,
    },
    Part {
        name: "ends of runs",
        opacity: 0.5,
        of: |parts| parts.large_tail_bytes,
    },
    Part {
        name: "administrative",
        opacity: 0.82,
        of: |parts| parts.administrative_bytes,
    },
];

/// How opaque the area of what is free and resident is.
const FREE: f64 = 0.12;

/// One allocator over time.
struct Split<'a> {
    row: &'a AllocatorResult,
    samples: Vec<(&'a ResidentSample, &'a AtPeak)>,
}

/// The figure; `None` if no allocator reports where its bytes are.
pub(super) fn figure(view: View<'_>) -> Option<Figure> {
    let splits: Vec<_> = view.rows().iter().filter_map(Split::of).collect();
    if splits.is_empty() {
        return None;
    }
    let mut picture = String::from("<div class=\"multiples\">");
    for split in &splits {
        let _ = write!(
            picture,
            "<div><p class=\"of\">{}</p>{}",
            escaped(&screen::short(&split.row.allocator)),
            split.plot(view).html()
        );
        legend(&mut picture, &split.keys(view.style(split.row)));
        picture.push_str("</div>");
    }
    picture.push_str("</div>\n");
    Some(Figure {
        title: "Where the bytes are".to_owned(),
        about: "What is resident over the events of the trace, from below: live requests, then each kind of fragmentation \
                and the administrative space, then free bytes that are resident. The figures are the means over the trace, \
                as a share of what is resident. Page-blocks that were never written count, although they are not resident \
                yet."
            .to_owned(),
        picture,
        legend: Vec::new(),
        table: table(&splits),
    })
}

impl<'a> Split<'a> {
    fn of(row: &'a AllocatorResult) -> Option<Self> {
        let samples = row.resident_over_time.iter().flatten();
        let samples = samples.filter_map(|sample| Some((sample, sample.parts.as_ref()?)));
        let samples: Vec<_> = samples.collect();
        (!samples.is_empty()).then_some(Self { row, samples })
    }

    /// The sum of a part over all samples.
    fn sum(&self, of: impl Fn(&AtPeak) -> u64) -> u64 {
        let parts = self.samples.iter().map(|(_, parts)| of(parts));
        parts.fold(0, u64::saturating_add)
    }

    fn plot(&self, view: View<'_>) -> Plot {
        let style = view.style(self.row);
        let mut floor: Vec<_> = self.samples.iter().map(|_| 0).collect();
        let mut shapes =
            vec![self.area(PROGRAM, LIVE, &mut floor, |_, parts| parts.requested_bytes)];
        for part in &PARTS {
            if self.sum(part.of) > 0 {
                shapes
                    .push(self.area(style, part.opacity, &mut floor, |_, parts| (part.of)(parts)));
            }
        }
        let used = floor.clone();
        let free =
            |at: usize, _: &AtPeak| self.samples[at].0.resident_bytes.saturating_sub(used[at]);
        shapes.push(self.area(style, FREE, &mut floor, free));
        let line = self
            .samples
            .iter()
            .map(|(sample, _)| (sample.event as f64, sample.resident_bytes as f64));
        shapes.push(Shape::Line(
            Style {
                dashes: "",
                ..style
            },
            line.collect(),
        ));
        let name = screen::short(&self.row.allocator);
        Plot {
            label: format!(
                "Areas: what is resident of {name} over the events of {}, by kind. The table below has the figures.",
                screen::name(view.trace())
            ),
            x: Axis::linear(view.scale.events, Unit::Events),
            x_name: "events".to_owned(),
            y: Axis::linear(view.scale.resident, Unit::Bytes),
            height: Height::Low,
            shapes,
        }
    }

    /// The area of a part on top of those below it, which it joins.
    fn area(
        &self,
        style: Style,
        opacity: f64,
        floor: &mut [u64],
        of: impl Fn(usize, &AtPeak) -> u64,
    ) -> Shape {
        let band = self.samples.iter().zip(floor).enumerate();
        let band = band.map(|(at, ((sample, parts), floor))| {
            let lower = *floor;
            *floor = lower.saturating_add(of(at, parts));
            (sample.event as f64, lower as f64, *floor as f64)
        });
        Shape::Area(style, opacity, band.collect())
    }

    fn keys(&self, style: Style) -> Vec<Key> {
        let resident = self.resident();
        let key = |style, opacity, name: &str, bytes| Key {
            sample: Sample::Area(style, opacity),
            text: format!("{name} {:.1} %", per_cent(bytes, resident)),
        };
        let live = self.sum(|parts| parts.requested_bytes);
        let mut keys = vec![key(PROGRAM, LIVE, "live requests", live)];
        for part in &PARTS {
            let bytes = self.sum(part.of);
            if bytes > 0 {
                keys.push(key(style, part.opacity, part.name, bytes));
            }
        }
        keys.push(key(style, FREE, "free, resident", self.free()));
        keys
    }

    fn resident(&self) -> u64 {
        let samples = self.samples.iter().map(|(sample, _)| sample.resident_bytes);
        samples.fold(0, u64::saturating_add)
    }

    fn free(&self) -> u64 {
        let free = self
            .samples
            .iter()
            .map(|(sample, parts)| sample.resident_bytes.saturating_sub(used(parts)));
        free.fold(0, u64::saturating_add)
    }
}

/// What is not free.
fn used(parts: &AtPeak) -> u64 {
    let beyond = PARTS.iter().map(|part| (part.of)(parts));
    beyond.fold(parts.requested_bytes, u64::saturating_add)
}

fn table(splits: &[Split<'_>]) -> Grid {
    let mut header = vec![
        "allocator".to_owned(),
        "event".to_owned(),
        "live".to_owned(),
    ];
    header.extend(PARTS.iter().map(|part| part.name.to_owned()));
    header.extend(["resident".to_owned()]);
    let mut rows = Vec::new();
    for split in splits {
        let name = screen::shown(&split.row.allocator);
        rows.extend(
            split
                .samples
                .iter()
                .step_by(TABLE_STEP)
                .map(|(sample, parts)| {
                    let bytes = |bytes: u64| Size(bytes).to_string();
                    let mut row = vec![
                        name.to_owned(),
                        grouped(sample.event),
                        bytes(parts.requested_bytes),
                    ];
                    row.extend(PARTS.iter().map(|part| bytes((part.of)(parts))));
                    row.push(bytes(sample.resident_bytes));
                    row
                }),
        );
    }
    Grid {
        header,
        rows,
        text_columns: 1,
    }
}

/// The table has every so many of the samples: it has a line for each allocator.
const TABLE_STEP: usize = 4;
