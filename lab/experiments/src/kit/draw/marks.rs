//! What tells the lines of a plot apart: colours and shapes for ours, greys and dashes for the
//! papers'.

use plotters::prelude::RGBColor;

use crate::kit::{Plot, Series, Whose};

/// Ours: distinguishable in grey too, and by most people who see colours differently.
const COLOURS: [RGBColor; 10] = [
    RGBColor(31, 88, 147),
    RGBColor(214, 96, 20),
    RGBColor(44, 140, 80),
    RGBColor(176, 36, 66),
    RGBColor(120, 84, 170),
    RGBColor(120, 94, 60),
    RGBColor(216, 120, 190),
    RGBColor(90, 90, 90),
    RGBColor(170, 160, 20),
    RGBColor(20, 160, 180),
];

/// The papers': greys.
const GREYS: [RGBColor; 3] = [
    RGBColor(95, 95, 95),
    RGBColor(140, 140, 140),
    RGBColor(60, 60, 60),
];

/// The papers': pixels of a dash, and of the gap after it.
const DASHES: [(u32, u32); 3] = [(6, 4), (2, 3), (12, 4)];

/// What a point looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Diamond,
    Triangle,
    Cross,
    Plus,
}

impl Shape {
    /// Its strokes, in pixels from its middle.
    pub(super) const fn strokes(self) -> &'static [&'static [(i32, i32)]] {
        match self {
            Self::Diamond => &[&[(0, -4), (4, 0), (0, 4), (-4, 0), (0, -4)]],
            Self::Triangle => &[&[(-4, 3), (0, -4), (4, 3), (-4, 3)]],
            Self::Cross => &[&[(-3, -3), (3, 3)], &[(-3, 3), (3, -3)]],
            Self::Plus => &[&[(-4, 0), (4, 0)], &[(0, -4), (0, 4)]],
        }
    }
}

/// The shapes, in turn.
const SHAPES: [Shape; 4] = [Shape::Diamond, Shape::Triangle, Shape::Cross, Shape::Plus];

/// The most points of a line that get shapes: more would lie on each other.
const FEW: usize = 24;

/// How one series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    /// Of its line.
    pub(super) colour: RGBColor,
    /// Pixels of a dash and of the gap after it; `None` for a line without gaps.
    pub(super) dash: Option<(u32, u32)>,
    /// Of its points, if they are few and not bars.
    pub(super) shape: Option<Shape>,
}

/// How a series of a plot is drawn: by its place among those of the same owner.
pub(super) fn mark(plot: &Plot, number: usize) -> Mark {
    let series = &plot.series[number];
    let place = place(plot, number);
    let has_shapes = series.points.len() <= FEW && !plot.x.is_unordered;
    match series.whose {
        Whose::Ours => Mark {
            colour: COLOURS[place % COLOURS.len()],
            dash: None,
            shape: has_shapes.then(|| SHAPES[place % SHAPES.len()]),
        },
        Whose::Papers => Mark {
            colour: GREYS[place % GREYS.len()],
            dash: Some(DASHES[place % DASHES.len()]),
            shape: None,
        },
    }
}

/// How many series of the same owner stand before one.
pub(super) fn place(plot: &Plot, number: usize) -> usize {
    let whose = plot.series[number].whose;
    let before = plot.series[..number].iter();
    before.filter(|series| series.whose == whose).count()
}

/// A name in lines of at most so many letters, broken between words; a longer word is not broken.
pub(super) fn lines_of(series: &Series, letters: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in series.name.split_whitespace() {
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

#[cfg(test)]
mod tests {
    use super::{lines_of, mark, place};
    use crate::kit::{Axis, Plot, Series};

    #[test]
    fn the_papers_lines_are_dashed_and_take_no_colour_of_ours() {
        let plot = Plot {
            title: String::new(),
            x: Axis::new("x"),
            y: Axis::new("y"),
            series: vec![
                Series::papers("a", [(0.0, 1.0)]),
                Series::new("a", [(0.0, 1.0)]),
                Series::papers("b", [(0.0, 2.0)]),
                Series::new("b", vec![(0.0, 2.0); 100]),
            ],
        };
        let [theirs, ours, their_other, other] = [0, 1, 2, 3].map(|number| mark(&plot, number));
        assert!(theirs.dash.is_some() && ours.dash.is_none());
        assert_ne!(theirs.dash, their_other.dash);
        assert_ne!(ours.colour, other.colour);
        assert!(ours.shape.is_some() && other.shape.is_none(), "many points");
        assert_eq!(
            [0, 1, 2, 3].map(|number| place(&plot, number)),
            [0, 0, 1, 1]
        );
    }

    #[test]
    fn long_names_are_broken_between_words() {
        let series = Series::new("immediate with the table, paper", [(0.0, 1.0)]);
        assert_eq!(
            lines_of(&series, 18),
            ["immediate with the", "table, paper"]
        );
    }
}
