//! Suggests the name that a mistyped word may have meant.

/// The known name that is most similar to `word`, as a question to append to an error; empty if no
/// name is similar enough.
///
/// One wrong, missing, extra or transposed letter is forgiven, two in words of more than eight
/// letters. Capitals do not count, and `peer-` may be missing.
#[must_use]
pub fn did_you_mean(word: &str, known: &[&str]) -> String {
    let word = word.to_lowercase();
    let most = if word.chars().count() > 8 { 2 } else { 1 };
    let errors = |name: &&&str| {
        let bare = name.strip_prefix("peer-").unwrap_or(name);
        strsim::osa_distance(&word, name).min(strsim::osa_distance(&word, bare))
    };
    let closest = known.iter().min_by_key(errors);
    closest
        .filter(|name| errors(name) <= most && errors(name) < name.chars().count())
        .map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

#[cfg(test)]
mod tests {
    use super::did_you_mean;

    #[test]
    fn a_slip_is_forgiven_and_another_word_is_not() {
        let known = [
            "cf",
            "cf-direct",
            "tlsf",
            "segregated",
            "peer-talc",
            "peer-dlmalloc",
        ];
        let meant = |word| {
            let text = did_you_mean(word, &known);
            text.split('`').nth(1).map(ToOwned::to_owned)
        };
        for (word, name) in [
            ("tslf", "tlsf"),
            ("TLSF", "tlsf"),
            ("CF", "cf"),
            ("segregatd", "segregated"),
            ("talc", "peer-talc"),
            ("dlmaloc", "peer-dlmalloc"),
            ("cf-drect", "cf-direct"),
        ] {
            assert_eq!(meant(word).as_deref(), Some(name), "{word}");
        }
        for word in ["jemalloc", "rpmalloc", "mimalloc", "cf-shared", "x", ""] {
            assert_eq!(meant(word), None, "{word}");
        }
        assert_eq!(did_you_mean("x", &[]), "");
    }
}
