//! Suggests the name that a mistyped word may have meant.

/// The least similarity of a suggestion: it allows one wrong, missing or extra letter in a short
/// name.
const ALIKE: f64 = 0.75;

/// The known name that is most similar to `word`, as a question to append to an error; empty if no
/// name is similar enough.
#[must_use]
pub fn did_you_mean(word: &str, known: &[&str]) -> String {
    let alike = |name: &&&str| strsim::jaro_winkler(word, name);
    let closest = known.iter().max_by(|a, b| alike(a).total_cmp(&alike(b)));
    closest
        .filter(|name| alike(name) >= ALIKE)
        .map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

#[cfg(test)]
mod tests {
    use super::did_you_mean;

    #[test]
    fn one_wrong_letter_is_forgiven_and_another_word_is_not() {
        let known = ["tlsf", "tree-fit", "half-fit", "segregated"];
        assert_eq!(did_you_mean("tslf", &known), "; did you mean `tlsf`?");
        assert_eq!(
            did_you_mean("segregatd", &known),
            "; did you mean `segregated`?"
        );
        assert_eq!(did_you_mean("mimalloc", &known), "");
        assert_eq!(did_you_mean("", &known), "");
        assert_eq!(did_you_mean("x", &[]), "");
    }
}
