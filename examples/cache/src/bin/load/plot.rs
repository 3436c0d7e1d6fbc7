//! The plot: resident memory along the drifting load, beside the payload.

use anyhow::anyhow;
use plotters::prelude::*;

use crate::play::Sample;
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

fn point(sample: &Sample) -> (f64, f64) {
    (sample.commands as f64 / 1e6, sample.resident as f64 / MIB)
}

fn draw(report: &Report, text: &mut String) -> Result<(), Box<dyn std::error::Error>> {
    let runs: Vec<_> = report
        .rows
        .iter()
        .map(|row| (row.name.as_str(), &row.runs[0].drifting.samples))
        .collect();
    let all = || runs.iter().flat_map(|(_, samples)| samples.iter());
    let right = all().map(|it| point(it).0).fold(0.0, f64::max);
    let top = all().map(|it| point(it).1).fold(0.0, f64::max);

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
        .build_cartesian_2d(0.0..right, 0.0..top * 1.05)?;
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .x_desc("commands in millions (eight phases: fill to the budget, delete 80 %)")
        .y_desc("MiB")
        .label_style(("sans-serif", 15))
        .draw()?;
    if let Some((_, samples)) = runs.first() {
        let payload = samples
            .iter()
            .map(|it| (point(it).0, it.payload as f64 / MIB));
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
            .draw_series(LineSeries::new(samples.iter().map(point), style))?
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
