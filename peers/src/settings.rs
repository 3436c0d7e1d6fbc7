//! The command line: `DEPTH [KEY=VALUE]…`, the same for all binaries; which keys there are is each
//! collector's own.

/// Depths above this need more memory than a peer should be given.
const DEEPEST: u32 = 24;

/// What the command line says.
#[derive(Clone, Debug)]
pub struct Settings {
    depth: u32,
    unused: Vec<(String, String)>,
    known: Vec<&'static str>,
}

impl Settings {
    /// Reads the words after the program's name.
    pub(crate) fn from_args(words: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let mut words = words.into_iter();
        let depth = words.next().and_then(|word| word.parse().ok());
        let depth = depth
            .filter(|depth| (4..=DEEPEST).contains(depth))
            .ok_or(format!("the first word is the depth: 4 to {DEEPEST}"))?;
        let unused = words.map(|word| match word.split_once('=') {
            Some((key, value)) => Ok((key.to_owned(), value.to_owned())),
            None => Err(format!("`{word}` is no setting: say KEY=VALUE")),
        });
        Ok(Self {
            depth,
            unused: unused.collect::<Result<_, _>>()?,
            known: Vec::new(),
        })
    }

    /// The depth of the deepest trees.
    #[must_use]
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// A number, if it is set.
    ///
    /// # Errors
    /// The value is none.
    pub fn number<N: std::str::FromStr>(&mut self, key: &'static str) -> Result<Option<N>, String> {
        let Some(value) = self.take(key) else {
            return Ok(None);
        };
        let number = value.parse().map(Some);
        number.map_err(|_| format!("{key}={value}: a number is needed"))
    }

    /// A number of bytes, if it is set: a plain number, or one with `K` or `M`.
    ///
    /// # Errors
    /// The value is none.
    pub fn bytes(&mut self, key: &'static str) -> Result<Option<usize>, String> {
        let Some(value) = self.take(key) else {
            return Ok(None);
        };
        bytes(&value)
            .map(Some)
            .ok_or(format!("{key}={value}: bytes are needed, as in 8M or 512K"))
    }

    /// Refuses what nobody asked for.
    pub(crate) fn all_used(&self) -> Result<(), String> {
        match self.unused.first() {
            None => Ok(()),
            Some((key, _)) if self.known.is_empty() => {
                Err(format!("`{key}`: this binary has no settings"))
            }
            Some((key, _)) => {
                let known = self.known.join(", ");
                Err(format!("there is no setting `{key}`; there are: {known}"))
            }
        }
    }

    fn take(&mut self, key: &'static str) -> Option<String> {
        self.known.push(key);
        let place = self.unused.iter().position(|(set, _)| set == key)?;
        Some(self.unused.swap_remove(place).1)
    }
}

fn bytes(text: &str) -> Option<usize> {
    let (digits, shift) = match text.strip_suffix('M') {
        Some(digits) => (digits, 20),
        None => text
            .strip_suffix('K')
            .map_or((text, 0), |digits| (digits, 10)),
    };
    let number: usize = digits.parse().ok()?;
    number.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::{Settings, bytes};

    fn settings(line: &str) -> Result<Settings, String> {
        Settings::from_args(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn what_nobody_asked_for_is_refused() {
        let mut settings = settings("16 heap=8M divisor=3").expect("well formed");
        assert_eq!(settings.bytes("heap"), Ok(Some(8 << 20)));
        assert_eq!(settings.number::<f64>("sleep"), Ok(None));
        let refused = settings.all_used().expect_err("divisor is unknown");
        assert_eq!(
            refused,
            "there is no setting `divisor`; there are: heap, sleep"
        );
    }

    #[test]
    fn bad_input_is_one_line() {
        assert!(settings("").is_err());
        assert!(settings("40").is_err());
        assert!(settings("16 heap").is_err());
        assert!(
            settings("16 heap=x")
                .and_then(|mut s| s.bytes("heap"))
                .is_err()
        );
        assert_eq!(
            [bytes("7"), bytes("2K"), bytes("K")],
            [Some(7), Some(2048), None]
        );
    }
}
