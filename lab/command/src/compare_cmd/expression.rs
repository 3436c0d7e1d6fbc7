//! The language of bounds on figures: what is written, read into a tree.
//!
//! ```text
//! bound       [TRACE: ] comparison { (and | &&) comparison }
//! comparison  sum (<= | < | >= | > | == | !=) sum
//! sum         product { (+ | -) product }
//! product     value { (* | /) value }
//! value       number [unit] | ALLOCATOR.figure | "ALLOCATOR".figure | ( sum )
//! unit        K M G (of 1024 bytes), B, ns, us, ms, s, %, x
//! ```
//! Units are checked when a bound is read: bytes are not compared with nanoseconds. A number
//! without a unit goes with any.

use anyhow::{Result, anyhow, bail};

use super::figures::{self, Figure, Unit};

/// Parentheses within parentheses.
const MOST_DEPTH: usize = 32;

/// Two sums and how they are compared.
#[derive(Debug)]
pub(super) struct Comparison {
    pub(super) left: Sum,
    pub(super) relation: Relation,
    pub(super) right: Sum,
}

/// How two figures are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    AtMost,
    Below,
    AtLeast,
    Above,
    Equal,
    Unequal,
}

const RELATIONS: [(&str, Relation); 6] = [
    ("<=", Relation::AtMost),
    (">=", Relation::AtLeast),
    ("==", Relation::Equal),
    ("!=", Relation::Unequal),
    ("<", Relation::Below),
    (">", Relation::Above),
];

impl Relation {
    /// Whether it holds.
    pub(super) fn holds(self, left: f64, right: f64) -> bool {
        match self {
            Self::AtMost => left <= right,
            Self::Below => left < right,
            Self::AtLeast => left >= right,
            Self::Above => left > right,
            Self::Equal => (left - right).abs() == 0.0,
            Self::Unequal => (left - right).abs() > 0.0,
        }
    }

    /// As it is written.
    pub(super) fn sign(self) -> &'static str {
        let found = RELATIONS.iter().find(|(_, relation)| *relation == self);
        found.map_or("", |(sign, _)| sign)
    }
}

/// A sum, a product, or a value.
#[derive(Debug)]
pub(super) enum Sum {
    Number(f64, Option<Unit>),
    Figure(String, &'static Figure),
    Of(Box<Sum>, char, Box<Sum>),
}

impl Sum {
    /// Its value, where the figures of allocators come from `figure`.
    pub(super) fn value(
        &self,
        figure: &impl Fn(&str, &'static Figure) -> Result<f64>,
    ) -> Result<f64> {
        match self {
            Self::Number(number, _) => Ok(*number),
            Self::Figure(allocator, of) => figure(allocator, of),
            Self::Of(left, sign, right) => {
                let (left, right) = (left.value(figure)?, right.value(figure)?);
                let value = match sign {
                    '+' => left + right,
                    '-' => left - right,
                    '*' => left * right,
                    _ => left / right,
                };
                if value.is_finite() {
                    Ok(value)
                } else {
                    bail!("{left} {sign} {right} has no value")
                }
            }
        }
    }

    /// The figures in it.
    pub(super) fn each_figure(&self, then: &mut impl FnMut(&str, &'static Figure)) {
        match self {
            Self::Number(..) => {}
            Self::Figure(allocator, figure) => then(allocator, figure),
            Self::Of(left, _, right) => {
                left.each_figure(then);
                right.each_figure(then);
            }
        }
    }

    /// Its unit; `None` for a number that goes with any.
    pub(super) fn unit(&self) -> Result<Option<Unit>> {
        match self {
            Self::Number(_, unit) => Ok(*unit),
            Self::Figure(_, figure) => Ok(Some(figure.unit)),
            Self::Of(left, sign, right) => {
                let (left, right) = (left.unit()?, right.unit()?);
                let is_plain = |unit| matches!(unit, None | Some(Unit::Plain));
                match sign {
                    '*' if is_plain(left) => Ok(right),
                    '*' | '/' if is_plain(right) => Ok(left),
                    '/' if left == right => Ok(Some(Unit::Plain)),
                    '+' | '-' => alike(left, right),
                    _ => bail!("`{sign}` of {} and {}", named(left), named(right)),
                }
            }
        }
    }
}

/// The unit of two sides of which neither is of another unit.
fn alike(left: Option<Unit>, right: Option<Unit>) -> Result<Option<Unit>> {
    match (left, right) {
        (None, unit) | (unit, None) => Ok(unit),
        _ if left == right => Ok(left),
        _ => bail!("{} and {} cannot be compared", named(left), named(right)),
    }
}

fn named(unit: Option<Unit>) -> &'static str {
    match unit {
        Some(Unit::Bytes) => "bytes",
        Some(Unit::Nanoseconds) => "a time",
        _ => "a plain number",
    }
}

/// Reads comparisons that are joined by `and`.
///
/// # Errors
/// One line that names the place and the remedy.
pub(super) fn parse(text: &str) -> Result<Vec<Comparison>> {
    let tokens = tokens(text)?;
    let mut parser = Parser {
        tokens: &tokens,
        at: 0,
        depth: 0,
    };
    let mut comparisons = vec![parser.comparison()?];
    while parser.takes(|token| matches!(token, Token::And)) {
        comparisons.push(parser.comparison()?);
    }
    match parser.peek() {
        None => Ok(comparisons),
        Some(token) => bail!(
            "{} is not expected there; join bounds with `and`",
            token.shown()
        ),
    }
}

#[derive(Clone, Debug)]
enum Token {
    Relation(Relation),
    /// One of `+ - * / ( )`.
    Sign(char),
    And,
    /// A number, or the name of an allocator with a figure.
    Word(String),
    /// The name of an allocator in quotes, without them.
    Quoted(String),
}

impl Token {
    fn shown(&self) -> String {
        match self {
            Self::Relation(relation) => format!("`{}`", relation.sign()),
            Self::Sign(sign) => format!("`{sign}`"),
            Self::And => "`and`".to_owned(),
            Self::Word(word) | Self::Quoted(word) => format!("`{word}`"),
        }
    }
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | ':' | '%' | 'µ')
}

fn tokens(text: &str) -> Result<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, length) = if let Some(after) = rest.strip_prefix("&&") {
            (Token::And, rest.len() - after.len())
        } else if let Some((sign, relation)) =
            RELATIONS.iter().find(|(sign, _)| rest.starts_with(sign))
        {
            (Token::Relation(*relation), sign.len())
        } else if first == '"' {
            let end = rest[1..]
                .find('"')
                .ok_or_else(|| anyhow!("a name in quotes does not end: write \"NAME\".figure"))?;
            (Token::Quoted(rest[1..=end].to_owned()), end + 2)
        } else if matches!(first, '+' | '-' | '*' | '/' | '(' | ')') {
            (Token::Sign(first), 1)
        } else if is_of_word(first) {
            let word = word(rest);
            let token = match word {
                "and" => Token::And,
                _ => Token::Word(word.to_owned()),
            };
            (token, word.len())
        } else {
            bail!("`{first}` has no meaning there; put a name with other signs in quotes")
        };
        tokens.push(token);
        rest = rest[length..].trim_start();
    }
    Ok(tokens)
}

/// The word at the beginning: a hyphen belongs to it between two of its letters.
fn word(text: &str) -> &str {
    let mut end = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let joins = c == '-' && chars.peek().is_some_and(|(_, next)| next.is_alphanumeric());
        if !is_of_word(c) && !joins {
            break;
        }
        end = at + c.len_utf8();
    }
    &text[..end]
}

struct Parser<'t> {
    tokens: &'t [Token],
    at: usize,
    depth: usize,
}

impl<'t> Parser<'t> {
    fn peek(&self) -> Option<&'t Token> {
        self.tokens.get(self.at)
    }

    fn next(&mut self) -> Option<&'t Token> {
        let token = self.peek()?;
        self.at += 1;
        Some(token)
    }

    fn takes(&mut self, is: impl Fn(&Token) -> bool) -> bool {
        let found = self.peek().is_some_and(is);
        self.at += usize::from(found);
        found
    }

    fn comparison(&mut self) -> Result<Comparison> {
        let left = self.sum()?;
        let relation = match self.next() {
            Some(Token::Relation(relation)) => *relation,
            Some(token) => bail!(
                "{} stands where <=, <, >=, >, == or != belongs",
                token.shown()
            ),
            None => bail!("it compares nothing: write ALLOCATOR.figure <= NUMBER"),
        };
        let right = self.sum()?;
        alike(left.unit()?, right.unit()?)?;
        Ok(Comparison {
            left,
            relation,
            right,
        })
    }

    fn sum(&mut self) -> Result<Sum> {
        self.chain(&['+', '-'], Self::product)
    }

    fn product(&mut self) -> Result<Sum> {
        self.chain(&['*', '/'], Self::value)
    }

    fn chain(&mut self, signs: &[char], part: fn(&mut Self) -> Result<Sum>) -> Result<Sum> {
        let mut sum = part(self)?;
        while let Some(Token::Sign(sign)) = self.peek() {
            if !signs.contains(sign) {
                break;
            }
            self.at += 1;
            sum = Sum::Of(Box::new(sum), *sign, Box::new(part(self)?));
        }
        Ok(sum)
    }

    fn value(&mut self) -> Result<Sum> {
        match self.next() {
            Some(Token::Word(word)) => value(word),
            Some(Token::Quoted(name)) => match self.next() {
                Some(Token::Word(word)) if word.starts_with('.') => of(name, &word[1..]),
                _ => bail!("\"{name}\" names no figure: write \"{name}\".min_heap_bytes"),
            },
            Some(Token::Sign('(')) => {
                self.depth += 1;
                if self.depth > MOST_DEPTH {
                    bail!("more than {MOST_DEPTH} parentheses are open");
                }
                let sum = self.sum()?;
                self.depth -= 1;
                if self.takes(|token| matches!(token, Token::Sign(')'))) {
                    Ok(sum)
                } else {
                    bail!("a parenthesis is not closed")
                }
            }
            Some(token) => bail!(
                "{} stands where a figure or a number belongs",
                token.shown()
            ),
            None => bail!("it ends where a figure or a number belongs"),
        }
    }
}

/// A word as a number with a unit, or as an allocator with a figure.
fn value(word: &str) -> Result<Sum> {
    if let Some(number) = number(word) {
        return Ok(number);
    }
    match word.rsplit_once('.') {
        Some((allocator, figure)) if !allocator.is_empty() => of(allocator, figure),
        _ => bail!(
            "`{word}` is neither a number nor ALLOCATOR.figure, such as cf.min_heap_over_live"
        ),
    }
}

const UNITS: [(&str, f64, Option<Unit>); 11] = [
    ("K", 1024.0, Some(Unit::Bytes)),
    ("M", 1_048_576.0, Some(Unit::Bytes)),
    ("G", 1_073_741_824.0, Some(Unit::Bytes)),
    ("B", 1.0, Some(Unit::Bytes)),
    ("ns", 1.0, Some(Unit::Nanoseconds)),
    ("us", 1e3, Some(Unit::Nanoseconds)),
    ("µs", 1e3, Some(Unit::Nanoseconds)),
    ("ms", 1e6, Some(Unit::Nanoseconds)),
    ("s", 1e9, Some(Unit::Nanoseconds)),
    ("%", 0.01, Some(Unit::Plain)),
    ("x", 1.0, Some(Unit::Plain)),
];

fn number(word: &str) -> Option<Sum> {
    if !word.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    let (digits, scale, unit) = UNITS
        .iter()
        .filter_map(|(name, scale, unit)| Some((word.strip_suffix(name)?, *scale, *unit)))
        .max_by_key(|(digits, ..)| word.len() - digits.len())
        .unwrap_or((word, 1.0, None));
    let number: f64 = digits.parse().ok()?;
    number
        .is_finite()
        .then_some(Sum::Number(number * scale, unit))
}

fn of(allocator: &str, name: &str) -> Result<Sum> {
    let figure = figures::find(name).ok_or_else(|| {
        let known: Vec<_> = figures::all().map(|figure| figure.name).collect();
        anyhow!(
            "there is no figure `{name}`; the figures are {}",
            known.join(", ")
        )
    })?;
    Ok(Sum::Figure(allocator.to_owned(), figure))
}

#[cfg(test)]
mod tests {
    use super::{Sum, parse};

    /// The value of the left side; every figure is 100.
    fn left(text: &str) -> f64 {
        let comparisons = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let value = comparisons[0].left.value(&|_, _| Ok(100.0));
        value.expect("a value")
    }

    #[test]
    fn signs_bind_as_in_arithmetic() {
        assert!((left("1 + 2 * 3 < 9") - 7.0).abs() < 1e-9);
        assert!((left("(1 + 2) * 3 < 9") - 9.0).abs() < 1e-9);
        assert!((left("8 - 2 - 1 < 9") - 5.0).abs() < 1e-9);
        assert!((left("cf.min_heap_bytes / tlsf.min_heap_bytes <= 1") - 1.0).abs() < 1e-9);
        assert!((left("1.5K < cf.heap_bytes") - 1536.0).abs() < 1e-9);
        assert!((left("20us < cf.free_ns_max") - 20_000.0).abs() < 1e-9);
        assert!((left("2e3 <= 9") - 2000.0).abs() < 1e-9);
        assert!((left("50% <= 9") - 0.5).abs() < 1e-9);
    }

    #[test]
    fn names_of_allocators_may_have_hyphens_digits_and_keys() {
        for (text, name) in [
            ("cf-direct.free_ns_max < 20us", "cf-direct"),
            ("1-cf.free_ns_max<20us", "1-cf"),
            ("\"cf:k=1,page=4K\".free_ns_max < 1", "cf:k=1,page=4K"),
            ("libmimalloc.so.2.free_ns_max < 1", "libmimalloc.so.2"),
        ] {
            let comparisons = parse(text).expect(text);
            let Sum::Figure(allocator, _) = &comparisons[0].left else {
                panic!("{text}");
            };
            assert_eq!(allocator, name);
        }
    }

    #[test]
    fn several_bounds_are_joined() {
        let both = "cf.completed == 1 and cf.moves_total > 0 && tlsf.completed != 0";
        assert_eq!(parse(both).expect("three").len(), 3);
    }

    #[test]
    fn what_is_no_bound_says_where_and_how_to_mend() {
        for (text, word) in [
            ("", "ends where"),
            ("cf.min_heap_bytes", "compares nothing"),
            ("cf.min_heap_bytes <=", "ends where"),
            ("cf.min_heap <= 1", "no figure `min_heap`"),
            ("cf <= 1", "neither a number nor"),
            ("cf.free_ns_max <= 64M", "a time and bytes"),
            ("cf.min_heap_over_live <= 64M", "a plain number and bytes"),
            ("cf.moves_total < 5M", "a plain number and bytes"),
            ("cf.min_heap_bytes * cf.heap_bytes < 1", "`*` of bytes"),
            ("(cf.completed == 1", "not closed"),
            ("cf.completed == 1 tlsf.completed == 1", "join bounds"),
            ("cf.completed = 1", "`=` has no meaning"),
            ("\"cf.completed == 1", "does not end"),
            ("\"cf\" == 1", "names no figure"),
            ("1 < 2 < 3", "`<` is not expected"),
            ("é < 1", "neither a number nor"),
            ("; < 1", "`;` has no meaning"),
        ] {
            let error = parse(text).expect_err(text).to_string();
            assert!(error.contains(word), "{text}: {error}");
        }
        let deep = "(".repeat(100_000);
        assert!(
            parse(&deep)
                .expect_err("deep")
                .to_string()
                .contains("parentheses")
        );
    }

    #[test]
    fn a_division_by_nothing_has_no_value() {
        let comparisons = parse("cf.heap_bytes / 0 < 1").expect("a bound");
        assert!(comparisons[0].left.value(&|_, _| Ok(1.0)).is_err());
    }
}
