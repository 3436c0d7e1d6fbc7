//! The picture of a flight, from the rows of its log: what each process holds, and how long the
//! controller takes to respond.

use std::fmt::Write;

use crate::load::{NAMES, PAGE, PROCESSES};

/// The picture, and the left and right end of its panels, in pixels.
const SIZE: (f64, f64) = (900.0, 590.0);
const ENDS: (f64, f64) = (80.0, 785.0);

/// A colour for each process; the guest's is the one that warns.
const COLOURS: [&str; PROCESSES] = ["#1b6ca8", "#4fa3d1", "#7bbf6a", "#c9b458", "#d1495b"];

/// Places for a curve: periods and values.
type Curve = Vec<(f64, f64)>;

/// A panel: its upper and lower end, and the values there.
struct Panel {
    ends: (f64, f64),
    values: (f64, f64),
    last_period: f64,
}

impl Panel {
    fn x(&self, period: f64) -> f64 {
        ENDS.0 + (ENDS.1 - ENDS.0) * period / self.last_period
    }

    fn y(&self, value: f64) -> f64 {
        let part = (value - self.values.0) / (self.values.1 - self.values.0);
        self.ends.1 + (self.ends.0 - self.ends.1) * part.clamp(0.0, 1.0)
    }

    fn points<'c>(&self, curve: impl Iterator<Item = &'c (f64, f64)>) -> String {
        let places = curve.map(|&(period, value)| (self.x(period), self.y(value)));
        places.fold(String::new(), |text, (x, y)| {
            format!("{text}{x:.1},{y:.1} ")
        })
    }

    /// A line across at a value, with a name to its left or right.
    fn level(&self, value: f64, colour: &str, name: &str, is_left: bool) -> String {
        let y = self.y(value);
        let (x, anchor, dashes) = if is_left {
            (ENDS.0 - 8.0, "end", "")
        } else {
            (ENDS.1 + 8.0, "start", "6 4")
        };
        let (from, to, below) = (ENDS.0, ENDS.1, y + 4.0);
        format!(
            r##"<line x1="{from}" y1="{y:.1}" x2="{to}" y2="{y:.1}" stroke="{colour}" stroke-dasharray="{dashes}"/>
<text x="{x}" y="{below:.1}" text-anchor="{anchor}">{name}</text>
"##
        )
    }

    /// The axis of periods.
    fn periods(&self) -> String {
        let y = self.ends.1 + 18.0;
        let label = |part: i32| {
            let period = self.last_period * f64::from(part) / 4.0;
            let x = self.x(period);
            format!("<text x=\"{x:.1}\" y=\"{y}\" text-anchor=\"middle\">{period}</text>\n")
        };
        (0..=4).map(label).collect()
    }
}

/// A name to the right of a panel.
fn name(y: f64, name: &str, colour: &str) -> String {
    let (x, y) = (ENDS.1 + 8.0, y + 4.0);
    format!("<text x=\"{x}\" y=\"{y:.1}\" fill=\"{colour}\">{name}</text>\n")
}

/// Draws the log of a flight.
///
/// # Errors
/// If the text is no such log.
pub fn draw(text: &str) -> Result<String, String> {
    let wanted = "no log of a flight: it needs the lines `load:` and `certificate:`, and rows";
    let numbers = |line: &str| -> Vec<f64> {
        let words = line.split(|c: char| !c.is_ascii_digit());
        words.filter_map(|word| word.parse().ok()).collect()
    };
    let load = text.lines().find(|line| line.starts_with("load: "));
    let load = load.map(numbers).unwrap_or_default();
    let rows = text.lines().filter(|line| line.starts_with("row,"));
    let rows: Vec<_> = rows
        .map(numbers)
        .filter(|row| row.len() == 3 + PROCESSES)
        .collect();
    let certified = text.lines().find(|line| line.starts_with("certificate: "));
    let certified = certified.map(numbers).unwrap_or_default();
    let ([length, deadline, ..], [_, _, pages, ..], [.., last]) =
        (load.as_slice(), certified.as_slice(), rows.as_slice())
    else {
        return Err(wanted.to_owned());
    };
    let (width, height) = SIZE;
    let mut svg = format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="13" fill="#222">
<rect width="{width}" height="{height}" fill="#fff"/>
<text x="{}" y="24" font-size="16">A flight: memory by process, and the controller's response</text>
"##,
        ENDS.0
    );
    svg += &memory(&rows, last[0], pages * f64::from(PAGE));
    svg += &responses(&rows, last[0], *deadline, *length);
    svg += "</svg>\n";
    Ok(svg)
}

/// What the processes hold, one above the other, below what is certified.
fn memory(rows: &[Vec<f64>], last_period: f64, certified: f64) -> String {
    let most = (certified / 16384.0).ceil() * 16384.0;
    let panel = Panel {
        ends: (50.0, 310.0),
        values: (0.0, most),
        last_period,
    };
    let mut svg = panel.periods();
    for part in 0..=4 {
        let bytes = most * f64::from(part) / 4.0;
        svg += &panel.level(bytes, "#ddd", &format!("{} KiB", bytes / 1024.0), true);
    }
    svg += &panel.level(certified, "#222", "certified", false);
    let mut below: Curve = rows.iter().map(|row| (row[0], 0.0)).collect();
    for (process, colour) in COLOURS.into_iter().enumerate() {
        let held = rows.iter().map(|row| row[3 + process]);
        let above = below
            .iter()
            .zip(held)
            .map(|(&(period, sum), held)| (period, sum + held));
        let above: Curve = above.collect();
        let points = panel.points(above.iter().chain(below.iter().rev()));
        let _ = writeln!(svg, r#"<polygon points="{points}" fill="{colour}"/>"#);
        // Its name stands where it holds most.
        let most = above
            .iter()
            .zip(&below)
            .max_by(|a, b| (a.0.1 - a.1.1).total_cmp(&(b.0.1 - b.1.1)));
        let middle = most.map_or(0.0, |(above, below)| (above.1 + below.1) / 2.0);
        svg += &name(panel.y(middle), NAMES[process], colour);
        below = above;
    }
    svg
}

/// The controller's response and the whole period, with the deadline, on a logarithmic scale.
fn responses(rows: &[Vec<f64>], last_period: f64, deadline: f64, length: f64) -> String {
    let panel = Panel {
        ends: (370.0, 540.0),
        values: (3.0, 7.0),
        last_period,
    };
    let mut svg = panel.periods();
    for (power, label) in ["1,000", "10,000", "100,000", "1 million", "10 million"]
        .into_iter()
        .enumerate()
    {
        svg += &panel.level(power as f64 + 3.0, "#ddd", label, true);
    }
    svg += &panel.level(deadline.log10(), "#d1495b", "deadline, 1 ms", false);
    svg += &panel.level(length.log10(), "#222", "period, 5 ms", false);
    for (column, colour, label) in [(2, "#888", "all processes"), (1, COLOURS[0], "controller")] {
        let curve: Curve = rows
            .iter()
            .map(|row| (row[0], row[column].max(1.0).log10()))
            .collect();
        let points = panel.points(curve.iter());
        let _ = writeln!(
            svg,
            r#"<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5"/>"#
        );
        svg += &name(
            panel.y(curve.last().map_or(0.0, |place| place.1)),
            label,
            colour,
        );
    }
    let (left, middle) = (ENDS.0, (ENDS.0 + ENDS.1) / 2.0);
    let _ = write!(
        svg,
        r#"<text x="{left}" y="354">instructions, the most since the last row</text>
<text x="{middle}" y="578" text-anchor="middle">periods of 5 ms</text>
"#
    );
    svg
}
