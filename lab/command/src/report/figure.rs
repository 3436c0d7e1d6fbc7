//! A figure: what it shows in words, the picture, its legend, and its table behind a summary that
//! the keyboard reaches.
//!
//! All words are text of the page, not of the picture. So they have the page's size whatever the
//! window's width, wrap, and are never cut.

use std::fmt::Write as _;

use surefit_measure::grid::Grid;
use surefit_measure::html::{escaped, table};

use super::colours::Style;

/// A figure of the page.
#[derive(Clone, Debug)]
pub(super) struct Figure {
    /// Its title.
    pub(super) title: String,
    /// What it shows, in a sentence or two.
    pub(super) about: String,
    /// The picture: HTML that is already escaped.
    pub(super) picture: String,
    /// The legend.
    pub(super) legend: Vec<Key>,
    /// The figures of the picture.
    pub(super) table: Grid,
}

/// A line of a legend.
#[derive(Clone, Debug)]
pub(super) struct Key {
    /// What it looks like.
    pub(super) sample: Sample,
    /// What it is.
    pub(super) text: String,
}

/// What something of a picture looks like.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sample {
    /// A line.
    Line(Style),
    /// An area, opaque to this degree.
    Area(Style, f64),
}

impl Figure {
    /// Appends the figure.
    pub(super) fn write(&self, page: &mut String) {
        let title = escaped(&self.title);
        let _ = writeln!(
            page,
            "<figure class=\"figure\"><figcaption><b>{title}.</b> {}</figcaption>\n{}",
            escaped(&self.about),
            self.picture
        );
        legend(page, &self.legend);
        if !self.table.rows.is_empty() {
            let class = match is_long(&self.table) {
                true => " class=\"long\"",
                false => "",
            };
            let _ = writeln!(page, "<details{class}><summary>Table: {title}</summary>");
            table(page, &self.table);
            page.push_str("</details>\n");
        }
        page.push_str("</figure>\n");
    }
}

/// Whether a table has texts that no line holds: they are wrapped.
fn is_long(table: &Grid) -> bool {
    let cells = table.rows.iter().flatten();
    cells.map(String::len).max() > Some(LONG)
}

/// The longest text that is not wrapped, in bytes.
const LONG: usize = 60;

/// Appends a legend.
pub(super) fn legend(page: &mut String, keys: &[Key]) {
    if keys.is_empty() {
        return;
    }
    page.push_str("<ul class=\"legend\">");
    for key in keys {
        let _ = write!(page, "<li>{}{}</li>", key.sample.svg(), escaped(&key.text));
    }
    page.push_str("</ul>\n");
}

impl Sample {
    fn svg(self) -> String {
        let (width, inner) = match self {
            Self::Line(style) => (
                30,
                format!("<path d=\"M0 6h30\" fill=\"none\" {}/>", style.stroke(2.5)),
            ),
            Self::Area(style, opacity) => (
                14,
                format!(
                    "<rect width=\"14\" height=\"12\" fill=\"{}\" fill-opacity=\"{opacity}\" stroke=\"#8a96a3\"/>",
                    style.colour
                ),
            ),
        };
        format!(
            "<svg class=\"key\" width=\"{width}\" height=\"12\" viewBox=\"0 0 {width} 12\" aria-hidden=\"true\">{inner}</svg>"
        )
    }
}

#[cfg(test)]
mod tests {
    use surefit_measure::grid::Grid;

    use super::super::colours::PROGRAM;
    use super::{Figure, Key, Sample};

    #[test]
    fn every_text_is_escaped_and_the_table_has_a_summary() {
        let figure = Figure {
            title: "a<b".to_owned(),
            about: "c & d".to_owned(),
            picture: "<div></div>".to_owned(),
            legend: vec![Key {
                sample: Sample::Line(PROGRAM),
                text: "<script>".to_owned(),
            }],
            table: Grid {
                header: vec!["x".to_owned()],
                rows: vec![vec!["'".to_owned()]],
                text_columns: 1,
            },
        };
        let mut page = String::new();
        figure.write(&mut page);
        assert!(page.contains("<summary>Table: a&lt;b</summary>"), "{page}");
        assert!(page.contains("c &amp; d") && page.contains("&lt;script&gt;"));
        assert!(
            !page.contains("<details class"),
            "short texts are not wrapped"
        );
        assert!(!page.contains("<script>") && page.contains("&#39;"));
    }
}
