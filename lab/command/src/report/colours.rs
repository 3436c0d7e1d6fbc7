//! The colour of an allocator: one colour on the whole page, and the same on every page for those
//! that are compared most.
//!
//! The colours are those that Okabe and Ito chose for people who confuse some, less the yellow,
//! which a white page swallows, and with a darker orange. Who sees no colour at all sees the dashes
//! of lines, and the names beside bars.

use std::fmt::Write as _;

use surefit_measure::spec::is_called;

/// Colours, and how a line of that colour is dashed.
const COLOURS: [(&str, &str); 8] = [
    ("#0072b2", ""),
    ("#d55e00", "7 3"),
    ("#009e73", "3 3"),
    ("#b5508c", "10 3 2 3"),
    ("#c98a00", "2 2"),
    ("#4aa3df", "12 4"),
    ("#5b6773", "6 2 2 2 2 2"),
    ("#1c2733", "1 3"),
];

/// The allocators that have the same colour on every page, by the number of the colour.
const KNOWN: [(&str, usize); 7] = [
    ("cf", 0),
    ("peer-rlsf", 1),
    ("tlsf", 2),
    ("peer-talc", 3),
    ("peer-dlmalloc", 4),
    ("cf-direct", 5),
    ("system", 6),
];

/// How an allocator is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Style {
    /// The colour, as in SVG.
    pub(super) colour: &'static str,
    /// The dashes of its lines; empty for a solid line.
    pub(super) dashes: &'static str,
}

/// What is no allocator's: the program.
pub(super) const PROGRAM: Style = Style {
    colour: "#46525e",
    dashes: "",
};

impl Style {
    /// The attributes of a line.
    pub(super) fn stroke(self, width: f64) -> String {
        let mut text = format!(
            "stroke=\"{}\" stroke-width=\"{width}\" vector-effect=\"non-scaling-stroke\"",
            self.colour
        );
        if !self.dashes.is_empty() {
            let _ = write!(text, " stroke-dasharray=\"{}\"", self.dashes);
        }
        text
    }
}

/// The colours of a page.
#[derive(Clone, Debug)]
pub(super) struct Colours {
    /// Each allocator, and the number of its colour.
    given: Vec<(String, usize)>,
}

impl Colours {
    /// Gives each of these allocators a colour. The known ones have theirs; the others get what is
    /// left, in their order, and then the colours begin again.
    pub(super) fn new(allocators: &[&str]) -> Self {
        let mut names: Vec<&str> = Vec::new();
        for &name in allocators {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let known = |name: &str| KNOWN.iter().find(|(known, _)| is_called(name, known));
        let taken: Vec<_> = names.iter().filter_map(|name| known(name)).collect();
        let is_free = |colour: &usize| !taken.iter().any(|(_, taken)| taken == colour);
        let free: Vec<_> = (0..COLOURS.len()).filter(is_free).collect();
        let mut left = free.into_iter().chain((0..COLOURS.len()).cycle());
        let given = names.into_iter().map(|name| {
            let colour = known(name).map(|(_, colour)| *colour);
            (name.to_owned(), colour.or_else(|| left.next()).unwrap_or(0))
        });
        Self {
            given: given.collect(),
        }
    }

    /// How an allocator is drawn.
    pub(super) fn of(&self, allocator: &str) -> Style {
        let found = self.given.iter().find(|(name, _)| name == allocator);
        let (colour, dashes) = found.map_or(COLOURS[7], |(_, colour)| COLOURS[*colour]);
        Style { colour, dashes }
    }
}

#[cfg(test)]
mod tests {
    use super::{COLOURS, Colours};

    #[test]
    fn an_allocator_has_the_same_colour_beside_whichever_others() {
        let alone = Colours::new(&["tlsf"]);
        let beside = Colours::new(&["x", "cf", "cf:k=1", "tlsf", "x"]);
        assert_eq!(alone.of("tlsf"), beside.of("tlsf"));
        assert_eq!(beside.of("x"), beside.of("x"));
    }

    #[test]
    fn as_long_as_there_are_colours_no_two_allocators_share_one() {
        let names = ["cf", "a", "b", "system", "c", "d", "tlsf", "e"];
        let colours = Colours::new(&names);
        let mut given: Vec<_> = names.iter().map(|name| colours.of(name).colour).collect();
        given.sort_unstable();
        given.dedup();
        assert_eq!(given.len(), COLOURS.len());
        let many: Vec<_> = (0..30).map(|name| name.to_string()).collect();
        let many: Vec<_> = many.iter().map(String::as_str).collect();
        let colours = Colours::new(&many);
        assert_eq!(colours.of("0"), colours.of("8"), "they begin again");
    }
}
