//! Parts that all HTML pages share: the style, tables, and escaped text.
//!
//! Every text from a file, a trace or the command line is escaped. A page loads nothing.

use std::fmt::Write as _;

use crate::grid::Grid;

/// The style of a page: light, plain, and readable on paper. No page is wider than its window: a
/// wide table scrolls inside its box, and then has a shade on its right; its first column stays in
/// place. Pictures shrink.
pub const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;color:#1c2733;background:#fff;max-width:68rem;\
    margin:2rem auto;padding:0 1.5rem;overflow-wrap:break-word}h1{font-size:1.5rem;margin-bottom:.2rem}\
    h2{font-size:1.15rem;margin-top:2.2rem;border-bottom:1px solid #d5dde5}\
    table{border-collapse:collapse;font-size:.85rem;margin:.8rem 0}\
    td,th{padding:.25rem .7rem;text-align:right;white-space:nowrap;border-bottom:1px solid #e6ebf0}\
    th{font-weight:600;white-space:normal;vertical-align:bottom}td.text,th.text{text-align:left}\
    td:first-child,th:first-child{position:sticky;left:0;background:#fff;max-width:14rem;overflow:hidden;\
    text-overflow:ellipsis}.wide{overflow-x:auto;\
    background:linear-gradient(90deg,#fff0,#fff 50%) right/2rem 100% no-repeat local,\
    linear-gradient(90deg,#0000,#0003) right/.7rem 100% no-repeat scroll}.charts{display:flex;flex-wrap:wrap;gap:1rem 2rem}\
    svg,img{max-width:100%;height:auto}figure{margin:.5rem 0;max-width:100%}\
    figcaption{font-size:.85rem;color:#4a5866}dt{font-weight:600}dd{margin:0 0 .4rem 1.5rem}ul{padding-left:1.2rem}\
    @media(max-width:40rem){body{margin:1rem auto;padding:0 .8rem}td,th{padding:.25rem .4rem}\
    td:first-child,th:first-child{max-width:8rem}dd{margin-left:.8rem}}";

/// Appends a table; one that is wider than the page scrolls by itself, also by the keyboard.
pub fn table(page: &mut String, grid: &Grid) {
    page.push_str(
        "<div class=\"wide\" role=\"region\" aria-label=\"table\" tabindex=\"0\"><table>\n",
    );
    let mut line = |tag: &str, cells: &[String]| {
        page.push_str("<tr>");
        for (column, cell) in cells.iter().enumerate() {
            let class = if column < grid.text_columns {
                " class=\"text\""
            } else {
                ""
            };
            let scope = if tag == "th" { " scope=\"col\"" } else { "" };
            let _ = write!(page, "<{tag}{class}{scope}>{}</{tag}>", escaped(cell));
        }
        page.push_str("</tr>\n");
    };
    line("th", &grid.header);
    grid.rows.iter().for_each(|row| line("td", row));
    page.push_str("</table></div>\n");
}

/// The text, escaped for HTML and SVG: for elements and for quoted attributes.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            letter if letter.is_control() => safe.push(' '),
            letter => safe.push(letter),
        }
    }
    safe
}
