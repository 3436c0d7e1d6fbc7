//! What was resident over time, as SVG: one line for each allocator, and what was live as an area
//! below them.

use std::fmt::Write as _;

use surefit_measure::html::escaped;
use surefit_measure::results::{AllocatorResult, ResidentSample, TraceResults};
use surefit_measure::sizes::Size;

use crate::screen;

/// What the plot shows.
pub(super) const CAPTION: &str = "resident bytes over the events of the trace; grey: live requests";

/// Pixels of the plot's area.
const WIDTH: f64 = 620.0;
const HEIGHT: f64 = 240.0;

/// Pixels left of the area, for the figures of the scale.
const LEFT: f64 = 70.0;

/// Pixels above the area.
const TOP: f64 = 8.0;

/// Pixels of a line of the legend.
const LINE: f64 = 18.0;

/// Pixels of the legend, on the right.
const LEGEND: f64 = 170.0;

/// The colours of the lines, in order; further lines begin again, dashed.
const COLOURS: [&str; 7] = [
    "#0b62a4", "#c8452b", "#3b8f4a", "#8a4fb0", "#b8860b", "#2a9aa0", "#6b6b6b",
];

/// The plot of a trace, as one `svg` element; `None` if nothing was sampled.
pub(super) fn plot(trace: &TraceResults) -> Option<String> {
    let sampled: Vec<_> = trace.results.iter().filter_map(samples).collect();
    let (_, first) = sampled.first()?;
    let scale = Scale {
        events: trace.events.max(1) as f64,
        bytes: most(&sampled).max(1) as f64,
    };
    let height = TOP + HEIGHT.max(LINE * sampled.len() as f64) + 28.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{height}\" viewBox=\"0 0 {0} {height}\" role=\"img\" \
         font-family=\"system-ui,sans-serif\" font-size=\"12\" fill=\"#1c2733\"><title>{CAPTION}</title>\n",
        LEFT + WIDTH + LEGEND
    );
    axes(&mut svg, &scale);
    let live = scale.points(first, |sample| sample.live_bytes);
    let (begin, end, bottom) = (LEFT, scale.last(first), scale.y(0.0));
    let _ = writeln!(
        svg,
        "<path d=\"M{begin:.1} {bottom:.1}L{live}L{end:.1} {bottom:.1}Z\" fill=\"#d5dbe1\"/>"
    );
    for (number, (row, samples)) in sampled.iter().enumerate() {
        line(&mut svg, &scale, number, row, samples);
    }
    Some(svg + "</svg>")
}

fn samples(row: &AllocatorResult) -> Option<(&AllocatorResult, &[ResidentSample])> {
    let samples = row.resident_over_time.as_deref()?;
    (!samples.is_empty()).then_some((row, samples))
}

/// The highest point of the plot, in bytes.
fn most(sampled: &[(&AllocatorResult, &[ResidentSample])]) -> u64 {
    let samples = sampled.iter().flat_map(|(_, samples)| *samples);
    let heights = samples.map(|sample| sample.resident_bytes.max(sample.live_bytes));
    heights.max().unwrap_or(0)
}

/// How events and bytes become places.
struct Scale {
    events: f64,
    bytes: f64,
}

impl Scale {
    fn x(&self, event: u64) -> f64 {
        LEFT + WIDTH * (event as f64 / self.events).min(1.0)
    }

    fn y(&self, bytes: f64) -> f64 {
        TOP + HEIGHT * (1.0 - bytes / self.bytes)
    }

    fn last(&self, samples: &[ResidentSample]) -> f64 {
        self.x(samples.last().map_or(0, |sample| sample.event))
    }

    fn points(&self, samples: &[ResidentSample], of: fn(&ResidentSample) -> u64) -> String {
        let point = |sample: &ResidentSample| {
            format!(
                "{:.1} {:.1}",
                self.x(sample.event),
                self.y(of(sample) as f64)
            )
        };
        samples.iter().map(point).collect::<Vec<_>>().join("L")
    }
}

fn axes(svg: &mut String, scale: &Scale) {
    for quarter in 0..=4 {
        let bytes = scale.bytes * f64::from(quarter) / 4.0;
        let y = scale.y(bytes);
        let _ = writeln!(
            svg,
            "<path d=\"M{LEFT} {y:.1}h{WIDTH}\" stroke=\"#e4e8ec\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 6.0,
            y + 4.0,
            Size(bytes as u64)
        );
    }
    let _ = writeln!(
        svg,
        "<text x=\"{LEFT}\" y=\"{0:.1}\">event 0</text>\
         <text x=\"{1:.1}\" y=\"{0:.1}\" text-anchor=\"end\">{2}</text>",
        TOP + HEIGHT + 18.0,
        LEFT + WIDTH,
        scale.events
    );
}

fn line(
    svg: &mut String,
    scale: &Scale,
    number: usize,
    row: &AllocatorResult,
    samples: &[ResidentSample],
) {
    let colour = COLOURS[number % COLOURS.len()];
    let dashes = ["", " stroke-dasharray=\"5 3\""][usize::from(number >= COLOURS.len())];
    let points = scale.points(samples, |sample| sample.resident_bytes);
    let (x, y) = (LEFT + WIDTH + 10.0, TOP + 12.0 + LINE * number as f64);
    let _ = writeln!(
        svg,
        "<path d=\"M{points}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\"{dashes}/>\
         <path d=\"M{x:.1} {0:.1}h18\" stroke=\"{colour}\" stroke-width=\"2\"{dashes}/>\
         <text x=\"{1:.1}\" y=\"{y:.1}\">{2}</text>",
        y - 4.0,
        x + 24.0,
        escaped(&screen::short(&row.allocator))
    );
}

#[cfg(test)]
mod tests {
    use surefit_measure::results::{AllocatorResult, ResidentSample, TraceResults};

    use super::plot;

    fn row(allocator: &str, resident: &[u64]) -> AllocatorResult {
        let sample = |(number, &resident_bytes)| ResidentSample {
            event: 10 * number as u64,
            live_bytes: 50,
            resident_bytes,
        };
        AllocatorResult {
            allocator: allocator.to_owned(),
            resident_over_time: Some(resident.iter().enumerate().map(sample).collect()),
            ..AllocatorResult::default()
        }
    }

    fn trace(results: Vec<AllocatorResult>) -> TraceResults {
        TraceResults {
            name: "t".to_owned(),
            events: 20,
            objects: 5,
            threads: 1,
            peak_live_bytes: 50,
            left_out: None,
            rounds: 1,
            ablation: None,
            results,
        }
    }

    #[test]
    fn every_sampled_allocator_has_a_line_and_the_highest_reaches_the_top() {
        let rows = vec![row("a&b", &[60, 80, 100]), row("cf-os", &[60, 70, 60])];
        let svg = plot(&trace(rows)).expect("sampled");
        assert!(svg.contains("a&amp;b") && svg.contains("cf-os"), "{svg}");
        assert!(
            svg.contains("M70.0 104.0L380.0 56.0L690.0 8.0\" fill=\"none\""),
            "{svg}"
        );
        // What is live is an area of half the height.
        assert!(
            svg.contains("M70.0 248.0L70.0 128.0L380.0 128.0L690.0 128.0L690.0 248.0Z"),
            "{svg}"
        );
    }

    #[test]
    fn what_was_not_sampled_has_no_plot() {
        assert!(plot(&trace(vec![AllocatorResult::default()])).is_none());
        assert!(plot(&trace(vec![row("cf", &[])])).is_none());
        assert!(plot(&trace(vec![row("cf", &[0])])).is_some_and(|svg| !svg.contains("NaN")));
    }
}
