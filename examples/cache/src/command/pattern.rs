//! Patterns of `SCAN`, as Redis and shells write them.

/// The longest pattern, in bytes.
pub(super) const MOST_PATTERN: usize = 1024;

/// Whether a text matches a pattern of `*`, `?`, sets as `[a-z_]` and `[^a-z]`, `\` before a byte
/// that means itself, and other bytes. A set without its end goes to the pattern's end.
///
/// Where bytes do not match, only the last star is tried again, with one byte more.
///
/// # Complexity
/// O(pattern * text), without recursion.
pub(super) fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at, mut seen) = (0, 0);
    // Behind the last star, and where the text goes on that it does not take.
    let mut star = None;
    while seen < text.len() {
        if pattern.get(at) == Some(&b'*') {
            at += 1;
            star = Some((at, seen));
        } else if let Some(len) = matched(&pattern[at..], text[seen]) {
            (at, seen) = (at + len, seen + 1);
        } else if let Some((behind, from)) = star {
            star = Some((behind, from + 1));
            (at, seen) = (behind, from + 1);
        } else {
            return false;
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}

/// The length of what a pattern begins with, if a byte matches that.
fn matched(pattern: &[u8], byte: u8) -> Option<usize> {
    let (is_match, len) = match pattern {
        [] => return None,
        [b'?', ..] => (true, 1),
        [b'\\', itself, ..] => (*itself == byte, 2),
        [b'[', b'^', set @ ..] => {
            let (is_in, len) = set_has(set, byte);
            (!is_in, 2 + len)
        }
        [b'[', set @ ..] => {
            let (is_in, len) = set_has(set, byte);
            (is_in, 1 + len)
        }
        [itself, ..] => (*itself == byte, 1),
    };
    is_match.then_some(len)
}

/// Whether a set has a byte, and the set's length with its end.
fn set_has(set: &[u8], byte: u8) -> (bool, usize) {
    let (mut is_in, mut at) = (false, 0);
    loop {
        let (low, high, len) = match &set[at..] {
            [] => return (is_in, at),
            [b']', ..] => return (is_in, at + 1),
            [b'\\', itself, ..] => (*itself, *itself, 2),
            [low, b'-', high, ..] => (*low.min(high), *low.max(high), 3),
            [itself, ..] => (*itself, *itself, 1),
        };
        is_in |= (low..=high).contains(&byte);
        at += len;
    }
}

#[cfg(test)]
mod tests {
    use super::{matched, matches};

    #[test]
    fn patterns_match_as_those_of_redis() {
        for (pattern, text, is_match) in [
            ("*", "", true),
            ("a*c", "abbc", true),
            ("a*c", "abbd", false),
            ("a*b*c", "aXbYbZc", true),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("a\\*c", "a*c", true),
            ("a\\*c", "abc", false),
            ("abc", "abcd", false),
            ("abcd", "abc", false),
            ("", "", true),
            ("h[ae]llo", "hello", true),
            ("h[ae]llo", "hillo", false),
            ("h[^e]llo", "hallo", true),
            ("h[^e]llo", "hello", false),
            ("h[a-b]llo", "hbllo", true),
            ("h[b-a]llo", "hallo", true),
            ("h[a-b]llo", "hcllo", false),
            ("[\\]]", "]", true),
            ("[a-", "-", true),
            ("*[0-9]", "key:17", true),
            ("x[", "x", false),
            ("[^", "x", true),
            ("\\", "\\", true),
        ] {
            let said = matches(pattern.as_bytes(), text.as_bytes());
            assert_eq!(said, is_match, "{pattern} {text}");
        }
    }

    /// What a star means, said with recursion.
    fn by_definition(pattern: &[u8], text: &[u8]) -> bool {
        match (pattern, text) {
            ([b'*', rest @ ..], _) => {
                by_definition(rest, text) || !text.is_empty() && by_definition(pattern, &text[1..])
            }
            (_, []) => pattern.is_empty(),
            (_, [byte, rest @ ..]) => {
                matched(pattern, *byte).is_some_and(|len| by_definition(&pattern[len..], rest))
            }
        }
    }

    #[test]
    fn all_short_patterns_match_what_they_mean() {
        const PATTERN: &[u8] = b"ab*?\\[^-]";
        const TEXT: &[u8] = b"ab-";
        let words = |letters: &[u8], most: u32| -> Vec<Vec<u8>> {
            let count = letters.len() + 1;
            let all = 0..count.pow(most);
            let letter = |word: usize, place: u32| letters.get(word / count.pow(place) % count);
            all.map(|word| {
                (0..most)
                    .filter_map(|it| letter(word, it))
                    .copied()
                    .collect()
            })
            .collect()
        };
        let texts = words(TEXT, 3);
        for pattern in words(PATTERN, 5) {
            for text in &texts {
                let said = matches(&pattern, text);
                assert_eq!(
                    said,
                    by_definition(&pattern, text),
                    "{} {}",
                    pattern.escape_ascii(),
                    text.escape_ascii()
                );
            }
        }
    }

    #[test]
    fn a_pattern_that_nearly_matches_everywhere_takes_no_time_that_grows_by_powers() {
        let pattern = [b"*a".repeat(500), b"b".to_vec()].concat();
        assert!(!matches(&pattern, &[b'a'; 60_000]));
    }
}
