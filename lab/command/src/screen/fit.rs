//! A table that fits a terminal: columns that say least are left out as far as needed.

use surefit_measure::grid::Grid;

/// The columns that may be left out, by how their names begin: the first one first.
const LEFT_OUT: [&str; 3] = ["certified", "free µs", "with"];

/// The table in lines of at most `width` columns, and the names of the columns that are left out.
pub(super) fn fitted(mut grid: Grid, width: usize) -> (String, Vec<String>) {
    let mut left_out = Vec::new();
    for name in LEFT_OUT {
        if grid.width() <= width {
            break;
        }
        let named = grid
            .header
            .iter()
            .position(|own| own.trim().starts_with(name));
        if let Some(column) = named {
            left_out.push(grid.header[column].replace('\n', " "));
            grid.remove(column);
        }
    }
    (grid.to_text_within(width), left_out)
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
            let (text, not_shown) = fitted(grid(), width);
            assert!(
                text.lines().all(|line| line.chars().count() <= width),
                "{text}"
            );
            ["certified ÷live", "free µs: max", "with access"].map(|name| {
                let is_shown = text.contains(&name[..4]);
                assert_ne!(
                    is_shown,
                    not_shown.iter().any(|it| it == name),
                    "{not_shown:?}"
                );
                is_shown
            })
        };
        assert_eq!(shown(80), [true; 3]);
        assert_eq!(shown(45), [false, true, true]);
        assert_eq!(shown(34), [false, false, true]);
        assert_eq!(shown(25), [false; 3]);
    }
}
