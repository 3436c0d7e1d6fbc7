//! A table that fits a terminal: columns that say least are left out as far as needed.

use surefit_measure::grid::Grid;

/// The columns that may be left out, by how their names begin: the first one first. Of those before
/// the last, sentences below the table have the figure.
const LEFT_OUT: [&str; 3] = ["certified", "free µs", "with"];

/// The table in lines of at most `width` columns.
pub(super) fn fitted(mut grid: Grid, width: usize) -> String {
    for name in LEFT_OUT {
        if grid.width() <= width {
            break;
        }
        let named = grid
            .header
            .iter()
            .position(|own| own.trim().starts_with(name));
        if let Some(column) = named {
            grid.remove(column);
        }
    }
    grid.to_text_within(width)
}

#[cfg(test)]
mod tests {
    use super::fitted;
    use surefit_measure::grid::Grid;

    fn grid() -> Grid {
        let header = [
            "\nallocator",
            "with\naccess",
            "free µs:\nmax",
            "min heap",
            "certified\n÷live",
        ];
        Grid {
            header: header.map(str::to_owned).into(),
            rows: vec![["cf", "1", "2", "3", "4"].map(str::to_owned).into()],
            text_columns: 1,
        }
    }

    #[test]
    fn as_many_columns_as_fit_are_shown() {
        let shown = |width| {
            let text = fitted(grid(), width);
            assert!(
                text.lines().all(|line| line.chars().count() <= width),
                "{text}"
            );
            ["certified", "free µs", "with"].map(|name| text.contains(name))
        };
        assert_eq!(shown(80), [true; 3]);
        assert_eq!(shown(45), [false, true, true]);
        assert_eq!(shown(34), [false, false, true]);
        assert_eq!(shown(25), [false; 3]);
    }
}
