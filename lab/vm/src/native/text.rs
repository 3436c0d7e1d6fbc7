//! Floating-point numbers as Java writes them.

use std::fmt::LowerExp;

/// A number as Java writes it: with the fewest digits that read back as the same number, but of
/// those with two digits the nearest. From 10⁻³ to 10⁷ there is no exponent; there always is a
/// digit behind the point.
pub(super) fn decimal(number: impl LowerExp) -> String {
    let shortest = format!("{number:e}");
    let digits = shortest.bytes().take_while(|&byte| byte != b'e');
    if digits.filter(u8::is_ascii_digit).count() > 1 {
        written(&shortest)
    } else {
        written(&format!("{number:.1e}"))
    }
}

/// A number that Rust writes with an exponent, `-1.25e-7`.
fn written(number: &str) -> String {
    let (sign, number) = match number.strip_prefix('-') {
        Some(number) => ("-", number),
        None => ("", number),
    };
    let Some((mantissa, exponent)) = number.split_once('e') else {
        let word = if number == "inf" { "Infinity" } else { "NaN" };
        return format!("{sign}{word}");
    };
    let digits = mantissa
        .strip_suffix(".0")
        .unwrap_or(mantissa)
        .replace('.', "");
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let text = match exponent {
        -3..0 => format!("0.{}{digits}", "0".repeat((-exponent) as usize - 1)),
        0..7 => {
            let whole = exponent as usize + 1;
            let padded = format!("{digits:0<whole$}");
            let (whole, rest) = padded.split_at(whole);
            format!("{whole}.{}", or_zero(rest))
        }
        _ => {
            let (first, rest) = digits.split_at(1);
            format!("{first}.{}E{exponent}", or_zero(rest))
        }
    };
    format!("{sign}{text}")
}

fn or_zero(digits: &str) -> &str {
    if digits.is_empty() { "0" } else { digits }
}

#[cfg(test)]
mod tests {
    use super::decimal;

    #[test]
    fn numbers_are_written_as_by_java() {
        let cases: [(f64, &str); 19] = [
            (5e-324, "4.9E-324"),
            (0.002, "0.002"),
            (2e23, "2.0E23"),
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (-1.5, "-1.5"),
            (100.0, "100.0"),
            (1234567.0, "1234567.0"),
            (9_999_999.5, "9999999.5"),
            (1e7, "1.0E7"),
            (12_345_678.9, "1.23456789E7"),
            (0.001, "0.001"),
            (0.00123, "0.00123"),
            (0.000_999, "9.99E-4"),
            (f64::MAX, "1.7976931348623157E308"),
            (f64::MIN_POSITIVE, "2.2250738585072014E-308"),
            (f64::INFINITY, "Infinity"),
            (f64::NEG_INFINITY, "-Infinity"),
        ];
        for (value, text) in cases {
            assert_eq!(decimal(value), text);
        }
        assert_eq!(decimal(f64::NAN), "NaN");
        assert_eq!(decimal(3.4e38_f32), "3.4E38");
        assert_eq!(decimal(f32::from_bits(1)), "1.4E-45");
    }
}
