//! The keys of an allocator on the command line: `key=value,…`.

use anyhow::{Result, anyhow, bail};

use crate::suggest::did_you_mean;

/// The value of a key that was given without a value.
const FLAG: &str = "";

/// The keys of one name with their values; each key occurs at most once.
#[derive(Clone, Debug, Default)]
pub struct Keys(Vec<(String, String)>);

impl Keys {
    /// Reads the text after an allocator's name and colon; without a colon there are no keys.
    ///
    /// # Errors
    /// A piece is not a key, or a key is given twice.
    pub(crate) fn parse(rest: Option<&str>) -> Result<Self> {
        let mut keys: Vec<(String, String)> = Vec::new();
        for piece in rest.into_iter().flat_map(|rest| rest.split(',')) {
            let (key, value) = match piece.split_once('=') {
                Some((key, value)) if !key.is_empty() && !value.is_empty() => (key, value),
                None if !piece.is_empty() => (piece, FLAG),
                _ => bail!("`{piece}` is not key=value"),
            };
            if keys.iter().any(|(known, _)| known == key) {
                bail!("key `{key}` is given twice");
            }
            keys.push((key.to_owned(), value.to_owned()));
        }
        Ok(Self(keys))
    }

    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| known == key);
        found.map(|(_, value)| value.as_str())
    }

    /// Whether a key without a value is given.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// The names of all keys.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(key, _)| key.as_str())
    }

    /// All keys but one.
    pub(crate) fn without(&self, key: &str) -> Self {
        let others = self.0.iter().filter(|(known, _)| known != key);
        Self(others.cloned().collect())
    }

    /// Adds a key, which is none of these; without a value it is empty.
    pub(crate) fn add(&mut self, key: &str, value: &str) {
        self.0.push((key.to_owned(), value.to_owned()));
    }

    /// Refuses keys that an allocator does not know; `known` lists them as `key=values`, or `key`
    /// if it takes no value.
    ///
    /// # Errors
    /// An unknown key, or one with a wrong form; the error lists the known keys.
    pub fn only(&self, known: &[&str]) -> Result<()> {
        for (key, value) in &self.0 {
            let form = known
                .iter()
                .find(|form| form.split('=').next() == Some(key));
            match form {
                Some(form) if form.contains('=') == (value != FLAG) => {}
                Some(form) if value == FLAG => bail!("`{key}` needs a value: write {form}"),
                Some(_) => bail!("`{key}` takes no value: write {key}"),
                None if known.is_empty() => bail!("there is no key `{key}`: this name has no keys"),
                None => {
                    let names = known.iter().filter_map(|form| form.split('=').next());
                    let hint = did_you_mean(key, &names.collect::<Vec<_>>());
                    bail!(
                        "there is no key `{key}`; the keys are {}{hint}",
                        known.join(", ")
                    )
                }
            }
        }
        Ok(())
    }

    /// The value of a key as a number.
    ///
    /// # Errors
    /// The value is not a number; the error names the key, the value and the right form.
    pub fn number(&self, key: &str) -> Result<Option<u32>> {
        let Some(value) = self.get(key) else {
            return Ok(None);
        };
        let number = value.parse();
        let number = number.map_err(|_| anyhow!("{key}={value}: write a whole number"));
        number.map(Some)
    }
}
