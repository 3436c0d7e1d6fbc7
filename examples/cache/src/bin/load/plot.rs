//! The plot: resident memory along the drifting load, beside the payload.

use anyhow::anyhow;
use plotters::prelude::*;

use crate::play::{PHASES, Sample};
use crate::report::Report;

const MIB: f64 = 1_048_576.0;

/// Colours that people with any colour vision tell apart (Okabe and Ito, 2008).
const COLOURS: [RGBColor; 7] = [
    RGBColor(213, 94, 0),
    RGBColor(0, 114, 178),
    RGBColor(0, 158, 115),
    RGBColor(86, 180, 233),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(120, 120, 120),
];

/// Draws the first round.
pub(crate) fn svg(report: &Report) -> anyhow::Result<String> {
    let mut text = String::new();
    draw(report, &mut text).map_err(|error| anyhow!("cannot draw: {error}"))?;
    Ok(text)
}

/// Bytes of each sample in MiB, over the phase: every phase has the same width.
fn line(samples: &[Sample], bytes: fn(&Sample) -> usize) -> Vec<(f64, f64)> {
    let per_phase = samples.len() as f64 / PHASES as f64;
    let point = |(number, sample)| (number as f64 / per_phase, bytes(sample) as f64 / MIB);
    samples.iter().enumerate().map(point).collect()
}

fn draw(report: &Report, text: &mut String) -> Result<(), Box<dyn std::error::Error>> {
    let runs: Vec<_> = report
        .rows
        .iter()
        .map(|row| (row.name.as_str(), &row.runs[0].drifting.samples))
        .collect();
    let all = runs.iter().flat_map(|(_, samples)| samples.iter());
    let top = all.map(|it| it.resident as f64 / MIB).fold(0.0, f64::max);

    let area = SVGBackend::with_string(text, (1000, 560)).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .caption(
            "Resident memory under a load whose sizes drift",
            ("sans-serif", 22),
        )
        .margin(16)
        .x_label_area_size(44)
        .y_label_area_size(64)
        .build_cartesian_2d(0.0..PHASES as f64, 0.0..top * 1.05)?;
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .x_desc("phase: fill up to the budget, delete 80 %; each has values 1.7 times as long")
        .y_desc("MiB")
        .x_labels(PHASES + 1)
        .x_label_formatter(&|x| format!("{x:.0}"))
        .y_label_formatter(&|y| format!("{y:.0}"))
        .label_style(("sans-serif", 15))
        .draw()?;
    if let Some((_, samples)) = runs.first() {
        let payload = line(samples, |it| it.payload);
        chart
            .draw_series(AreaSeries::new(payload, 0.0, BLACK.mix(0.12)))?
            .label("payload")
            .legend(|(x, y)| {
                Rectangle::new([(x, y - 5), (x + 20, y + 5)], BLACK.mix(0.12).filled())
            });
    }
    for ((name, samples), colour) in runs.iter().zip(COLOURS) {
        let style = colour.stroke_width(if *name == "surefit" { 3 } else { 2 });
        chart
            .draw_series(LineSeries::new(line(samples, |it| it.resident), style))?
            .label(*name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], style));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE.mix(0.85))
        .border_style(BLACK.mix(0.3))
        .label_font(("sans-serif", 15))
        .draw()?;
    area.present()?;
    Ok(())
}
