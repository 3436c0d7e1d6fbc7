//! The table of figures: what the search found of each event, and beside it the bound.

use std::fmt;

use anyhow::{Context, Result, bail};

/// The first line of the table.
const HEADER: &str = "heap,event,instructions,bound,per_copied_byte,stack_bytes,compiler";

/// What is known of an event of a heap.
#[derive(Clone, Debug)]
pub struct Figure {
    /// The heap.
    pub heap: String,
    /// The event.
    pub event: String,
    /// The most instructions that the search found, less those of copied bytes.
    pub instructions: u32,
    /// The bound, of the same.
    pub bound: Option<u32>,
    /// Instructions for each copied byte, which count apart.
    pub per_byte: f64,
    /// Instructions for each copied byte, bytes of stack and the compiler, as in the file.
    rest: String,
}

impl Figure {
    /// That of a call that does nothing.
    pub const fn of_nothing() -> Self {
        Self {
            heap: String::new(),
            event: String::new(),
            instructions: 0,
            bound: None,
            per_byte: 0.0,
            rest: String::new(),
        }
    }

    /// The function that is called; `None` if it has no bound yet.
    ///
    /// # Errors
    /// There is no such event.
    pub fn call(&self) -> Result<Option<&'static str>> {
        Ok(match self.event.split(' ').next().unwrap_or_default() {
            "malloc" | "alloc" => Some("allocate"),
            "free" => Some("free"),
            "access" => Some("access"),
            "resize" => None,
            _ => bail!("no such event: {}", self.event),
        })
    }
}

/// All lines of the table.
#[derive(Clone, Debug)]
pub struct Figures(Vec<Figure>);

impl Figures {
    /// Reads a table.
    ///
    /// # Errors
    /// Another first line; a line that cannot be read.
    pub fn read(text: &str) -> Result<Self> {
        let mut lines = text.lines();
        if lines.next() != Some(HEADER) {
            bail!("the table does not begin with {HEADER}");
        }
        lines.map(figure).collect::<Result<_>>().map(Self)
    }

    /// The events of a heap.
    pub fn of(&mut self, heap: &str) -> impl Iterator<Item = &mut Figure> {
        self.0.iter_mut().filter(move |figure| figure.heap == heap)
    }
}

fn figure(line: &str) -> Result<Figure> {
    let cells: Vec<&str> = line.splitn(5, ',').collect();
    let [heap, event, instructions, bound, rest] = cells[..] else {
        bail!("too few cells: {line}");
    };
    let number = |cell: &str| cell.parse::<u32>().with_context(|| line.to_owned());
    let per_byte = rest.split(',').next().unwrap_or_default();
    Ok(Figure {
        per_byte: per_byte.parse().with_context(|| line.to_owned())?,
        heap: heap.to_owned(),
        event: event.to_owned(),
        instructions: number(instructions)?,
        bound: (!bound.is_empty()).then(|| number(bound)).transpose()?,
        rest: rest.to_owned(),
    })
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{HEADER}")?;
        for figure in &self.0 {
            let Figure {
                heap,
                event,
                instructions,
                rest,
                ..
            } = figure;
            let bound = figure
                .bound
                .map_or(String::new(), |bound| bound.to_string());
            writeln!(f, "{heap},{event},{instructions},{bound},{rest}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Figures, HEADER};

    #[test]
    fn a_table_is_written_as_it_was_read() {
        let text = format!(
            "{HEADER}\nHeap,free F2,299,339,1.00,108,rustc 1\nrlsf,free,9,,0.00,4,rustc 1\n"
        );
        let mut figures = Figures::read(&text).expect("a table");
        assert_eq!(figures.to_string(), text);
        let figure = figures.of("Heap").next().expect("an event");
        assert_eq!((figure.bound, figure.per_byte), (Some(339), 1.0));
        assert!(Figures::read("heap,event\n").is_err());
    }
}
