//! The picture of a flight, from the rows of its log: what each process holds, and how long the
//! controller takes to respond.

use crate::load::{NAMES, PAGE, PROCESSES};

/// The left and right end of the panels, in pixels.
const ENDS: (f64, f64) = (80.0, 785.0);

/// A colour for each process; the guest's is the one that warns.
const COLOURS: [&str; PROCESSES] = ["#1b6ca8", "#4fa3d1", "#7bbf6a", "#c9b458", "#d1495b"];

/// A panel: its upper and lower end, the values there, and the last period.
struct Panel {
    ends: (f64, f64),
    values: (f64, f64),
    last: f64,
}

impl Panel {
    fn x(&self, period: f64) -> f64 {
        ENDS.0 + (ENDS.1 - ENDS.0) * period / self.last
    }

    fn y(&self, value: f64) -> f64 {
        let part = (value - self.values.0) / (self.values.1 - self.values.0);
        self.ends.1 + (self.ends.0 - self.ends.1) * part.clamp(0.0, 1.0)
    }

    fn points(&self, curve: impl Iterator<Item = (f64, f64)>) -> String {
        let place = |(period, value)| format!("{:.1},{:.1} ", self.x(period), self.y(value));
        curve.map(place).collect()
    }

    /// A name to the left or to the right of a value.
    fn name(&self, value: f64, name: &str, colour: &str, is_left: bool) -> String {
        let (x, anchor) = if is_left {
            (ENDS.0 - 8.0, "end")
        } else {
            (ENDS.1 + 8.0, "start")
        };
        let y = self.y(value) + 4.0;
        format!(
            "<text x=\"{x}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{colour}\">{name}</text>\n"
        )
    }

    /// A line across at a value, with its name: thin ones to the left.
    fn level(&self, value: f64, colour: &str, name: &str) -> String {
        let is_left = colour == "#ddd";
        let (from, to, y) = (ENDS.0, ENDS.1, self.y(value));
        let dashes = if is_left { "" } else { "6 4" };
        let line = format!(
            "<line x1=\"{from}\" y1=\"{y:.1}\" x2=\"{to}\" y2=\"{y:.1}\" stroke=\"{colour}\" stroke-dasharray=\"{dashes}\"/>\n"
        );
        line + &self.name(value, name, "#222", is_left)
    }

    /// The axis of periods.
    fn periods(&self) -> String {
        let y = self.ends.1 + 18.0;
        let label = |part: i32| {
            let period = self.last * f64::from(part) / 4.0;
            let x = self.x(period);
            format!("<text x=\"{x:.1}\" y=\"{y}\" text-anchor=\"middle\">{period}</text>\n")
        };
        (0..=4).map(label).collect()
    }
}

/// Draws the log of a flight.
///
/// # Errors
/// If the text is no such log.
pub fn draw(text: &str) -> Result<String, String> {
    let lines = |begin: &str| -> Vec<Vec<f64>> {
        let lines = text.lines().filter(|line| line.starts_with(begin));
        let words = lines.map(|line| line.split(|c: char| !c.is_ascii_digit()));
        words
            .map(|words| words.filter_map(|word| word.parse().ok()).collect())
            .collect()
    };
    let (load, certified, mut rows) = (lines("load: "), lines("certificate: "), lines("row,"));
    rows.retain(|row| row.len() == 3 + PROCESSES);
    let ([load], [certified], [.., last]) = (&load[..], &certified[..], &rows[..]) else {
        return Err(
            "no log of a flight: it needs the lines `load:` and `certificate:`, and rows"
                .to_owned(),
        );
    };
    let ([length, deadline, ..], [_, _, pages, ..]) = (&load[..], &certified[..]) else {
        return Err(
            "no log of a flight: its lines `load:` and `certificate:` lack figures".to_owned(),
        );
    };
    let left = ENDS.0;
    let mut svg = format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 900 590" font-family="sans-serif" font-size="13" fill="#222">
<rect width="900" height="590" fill="#fff"/>
<text x="{left}" y="24" font-size="16">A flight: memory by process, and the controller's response</text>
"##
    );
    svg += &memory(&rows, last[0], pages * f64::from(PAGE));
    svg += &responses(&rows, last[0], *deadline, *length);
    Ok(svg + "</svg>\n")
}

/// What the processes hold, one above the other, below what is certified.
fn memory(rows: &[Vec<f64>], last: f64, certified: f64) -> String {
    let most = (certified / 16384.0).ceil() * 16384.0;
    let (ends, values) = ((50.0, 310.0), (0.0, most));
    let panel = Panel { ends, values, last };
    let mut svg = panel.periods();
    for part in 0..=4 {
        let bytes = most * f64::from(part) / 4.0;
        svg += &panel.level(bytes, "#ddd", &format!("{} KiB", bytes / 1024.0));
    }
    svg += &panel.level(certified, "#222", "certified");
    for (process, colour) in COLOURS.into_iter().enumerate() {
        let below = |row: &Vec<f64>| (row[0], row[3..3 + process].iter().sum::<f64>());
        let above = |row: &Vec<f64>| (row[0], row[3..=3 + process].iter().sum::<f64>());
        let around = rows.iter().map(above).chain(rows.iter().rev().map(below));
        let points = panel.points(around);
        svg += &format!("<polygon points=\"{points}\" fill=\"{colour}\"/>\n");
        // Its name stands where it holds most.
        let most = rows
            .iter()
            .max_by(|a, b| a[3 + process].total_cmp(&b[3 + process]));
        let middle = most.map_or(0.0, |row| below(row).1 + row[3 + process] / 2.0);
        svg += &panel.name(middle, NAMES[process], colour, false);
    }
    svg
}

/// The controller's response and the whole period, with the deadline, on a logarithmic scale.
fn responses(rows: &[Vec<f64>], last: f64, deadline: f64, length: f64) -> String {
    let (ends, values) = ((370.0, 540.0), (3.0, 7.0));
    let panel = Panel { ends, values, last };
    let mut svg = panel.periods();
    let labels = ["1,000", "10,000", "100,000", "1 million", "10 million"];
    for (power, label) in (3..).zip(labels) {
        svg += &panel.level(f64::from(power), "#ddd", label);
    }
    svg += &panel.level(deadline.log10(), "#d1495b", "deadline, 1 ms");
    svg += &panel.level(length.log10(), "#222", "period, 5 ms");
    for (column, colour, label) in [(2, "#888", "all processes"), (1, COLOURS[0], "controller")] {
        let value = |row: &Vec<f64>| row[column].max(1.0).log10();
        let points = panel.points(rows.iter().map(|row| (row[0], value(row))));
        svg += &format!(
            "<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\"/>\n"
        );
        svg += &panel.name(rows.last().map_or(0.0, value), label, colour, false);
    }
    let (left, middle) = (ENDS.0, (ENDS.0 + ENDS.1) / 2.0);
    svg + &format!(
        "<text x=\"{left}\" y=\"354\">instructions, the most since the last row</text>
<text x=\"{middle}\" y=\"578\" text-anchor=\"middle\">periods of 5 ms</text>
"
    )
}
