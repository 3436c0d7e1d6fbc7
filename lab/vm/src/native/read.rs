//! Floating-point numbers as Java reads them (`Double.valueOf`).
//!
//! ```text
//! [sign] NaN | Infinity
//! [sign] digits . digits [e [sign] digits] [f|d]
//! [sign] 0x hexadecimal . hexadecimal p [sign] digits [f|d]    at least one digit before the p
//! ```
//! White space around it is what `String.trim` takes away.

/// A format: bits of a significand, and the exponent of the lowest bit of all.
#[derive(Clone, Copy)]
pub(super) struct Format {
    bits: i64,
    lowest: i64,
}

pub(super) const DOUBLE: Format = Format {
    bits: 53,
    lowest: -1074,
};

pub(super) const FLOAT: Format = Format {
    bits: 24,
    lowest: -149,
};

/// Reads a number; `decimal` reads one without sign and suffix. `None` if it is none.
pub(super) fn read(
    text: &str,
    format: Format,
    decimal: impl Fn(&str) -> Option<f64>,
) -> Option<f64> {
    let text = text.trim_matches(|c| c <= ' ');
    let (is_negative, bare) = signed(text);
    let value = match bare {
        "NaN" => f64::NAN,
        "Infinity" => f64::INFINITY,
        _ => {
            let number = bare.strip_suffix(['d', 'D', 'f', 'F']).unwrap_or(bare);
            match bare.strip_prefix("0x").or(bare.strip_prefix("0X")) {
                Some(_) => hexadecimal(&number[2..], format)?,
                None => {
                    let is_of_digits = number.starts_with(|c: char| c == '.' || c.is_ascii_digit())
                        && number
                            .bytes()
                            .all(|b| b.is_ascii_digit() || b".eE+-".contains(&b));
                    decimal(number).filter(|_| is_of_digits)?
                }
            }
        }
    };
    Some(if is_negative { -value } else { value })
}

/// Takes a sign away.
fn signed(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

/// What follows `0x`.
fn hexadecimal(text: &str, format: Format) -> Option<f64> {
    let (significand, exponent) = text.split_once(['p', 'P'])?;
    let (whole, part) = significand.split_once('.').unwrap_or((significand, ""));
    let (is_below, digits) = signed(exponent);
    if digits.is_empty() || (whole.is_empty() && part.is_empty()) {
        return None;
    }
    let mut exponent = digits.bytes().try_fold(0_i64, |sum, digit| {
        let digit = char::from(digit).to_digit(10)?;
        Some(sum.saturating_mul(10).saturating_add(digit.into()))
    })?;
    exponent = (if is_below { -exponent } else { exponent }).clamp(-(1 << 50), 1 << 50);
    // At most 60 bits; the lowest says whether bits below it are not zero.
    let mut value = 0_u64;
    for (digits, below) in [(whole, 0), (part, 4)] {
        for digit in digits.chars() {
            let digit = u64::from(digit.to_digit(16)?);
            if value >> 56 == 0 {
                value = value << 4 | digit;
                exponent -= below;
            } else {
                value |= u64::from(digit != 0);
                exponent += 4 - below;
            }
        }
    }
    Some(rounded(value, exponent, format))
}

/// The number of a format that is next to `value` × 2^`exponent`; of two the even one.
fn rounded(value: u64, exponent: i64, format: Format) -> f64 {
    if value == 0 {
        return 0.0;
    }
    let bits = i64::from(u64::BITS - value.leading_zeros());
    let lowest = (exponent + bits - format.bits).max(format.lowest);
    let (value, exponent) = match u32::try_from(lowest - exponent) {
        Err(_) | Ok(0) => (value, exponent),
        Ok(shift @ 1..=63) => {
            let (whole, rest) = (value >> shift, value & ((1 << shift) - 1));
            let half = 1 << (shift - 1);
            let is_up = rest > half || (rest == half && whole & 1 == 1);
            (whole + u64::from(is_up), lowest)
        }
        Ok(_) => (0, lowest),
    };
    // The product is exact, or infinite: two powers, as one may be out of the range.
    let exponent = exponent.clamp(-1200, 1200);
    let first = exponent / 2;
    value as f64 * power(first) * power(exponent - first)
}

/// 2^`exponent`, of one from −1022 to 1023.
const fn power(exponent: i64) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::{DOUBLE, FLOAT, read};

    fn double(text: &str) -> Option<f64> {
        read(text, DOUBLE, |text| text.parse().ok())
    }

    #[test]
    fn numbers_are_read_as_by_java() {
        let cases = [
            ("1.5", 1.5),
            (" \u{1}-1.5e2\t", -150.0),
            ("+.5f", 0.5),
            ("1.D", 1.0),
            ("-Infinity", f64::NEG_INFINITY),
            ("0x1.8p1", 3.0),
            ("-0X.8P-1d", -0.25),
            ("0x1.p0", 1.0),
            ("0x10p-4", 1.0),
            ("0x0.0000000000001p-1022", 5e-324),
            ("0x0.00000000000008p-1022", 0.0),
            ("0x0.00000000000008000000000001p-1022", 5e-324),
            ("0x1.fffffffffffffp1023", f64::MAX),
            ("0x1.fffffffffffff8p1023", f64::INFINITY),
            ("0x1.00000000000008p0", 1.0),
            ("0x1.00000000000018p0", 1.0 + 2.0 * f64::EPSILON),
            ("0x1p99999999999999999999", f64::INFINITY),
            ("0x0p99999999999999999999", 0.0),
            ("0x1p-99999999999999999999", 0.0),
        ];
        for (text, value) in cases {
            assert_eq!(double(text), Some(value), "{text}");
        }
        assert!(double("NaN").is_some_and(f64::is_nan));
        assert!(double("-0.0").is_some_and(f64::is_sign_negative));
        let float = read("0x1.000001p0", FLOAT, |text| text.parse().ok());
        assert_eq!(float, Some(1.0));
        let float = read("0x1.000003p0", FLOAT, |text| text.parse().ok());
        assert_eq!(float, Some(1.0 + 4.0 * 2f64.powi(-24)));
    }

    #[test]
    fn what_is_no_number_for_java_is_none() {
        for text in [
            "",
            " ",
            ".",
            "-",
            "+-1",
            "e5",
            ".e5",
            "1e",
            "1dd",
            "NaNd",
            "nan",
            "inf",
            "infinity",
            "\u{a0}1.5",
            "1 5",
            "1_0",
            "0x1",
            "0x1.8",
            "0xp1",
            "0x.p1",
            "0x1p",
            "0x1p+",
            "0xgp1",
            "0x1p1.0",
            "0x+1p1",
        ] {
            assert_eq!(double(text), None, "{text}");
        }
    }
}
