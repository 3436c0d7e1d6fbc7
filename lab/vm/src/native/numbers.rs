//! Floating-point numbers.
//!
//! # Departures
//! The functions of `Math` are those of the platform's library. Numbers are written with the fewest
//! digits that read back as the same number, as HotSpot does since Java 19.

use super::arguments::{Reply, Run, int, object};
use super::read::{DOUBLE, FLOAT, Format, read};
use super::text::decimal;
use crate::stop::Trap;
use crate::vm::Vm;
use crate::world::Slot;

/// A function of one double.
macro_rules! of_one {
    ($name:ident) => {
        |vm, at| Ok(Reply::Two(f64::$name(vm.double_at(at)).to_bits()))
    };
}

pub(super) const FUNCTIONS: &[(&str, Run)] = &[
    ("java/lang/Math.sin(D)D", of_one!(sin)),
    ("java/lang/Math.cos(D)D", of_one!(cos)),
    ("java/lang/Math.tan(D)D", of_one!(tan)),
    ("java/lang/Math.asin(D)D", of_one!(asin)),
    ("java/lang/Math.acos(D)D", of_one!(acos)),
    ("java/lang/Math.atan(D)D", of_one!(atan)),
    ("java/lang/Math.exp(D)D", of_one!(exp)),
    ("java/lang/Math.log(D)D", of_one!(ln)),
    ("java/lang/Math.log10(D)D", of_one!(log10)),
    ("java/lang/Math.sqrt(D)D", of_one!(sqrt)),
    ("java/lang/Math.cbrt(D)D", of_one!(cbrt)),
    ("java/lang/Math.floor(D)D", of_one!(floor)),
    ("java/lang/Math.ceil(D)D", of_one!(ceil)),
    ("java/lang/Math.rint(D)D", of_one!(round_ties_even)),
    ("java/lang/Math.atan2(DD)D", |vm, at| {
        let (y, x) = (vm.double_at(at), vm.double_at(at + 2));
        Ok(Reply::Two(y.atan2(x).to_bits()))
    }),
    ("java/lang/Math.pow(DD)D", |vm, at| {
        let (base, power) = (vm.double_at(at), vm.double_at(at + 2));
        Ok(Reply::Two(pow(base, power).to_bits()))
    }),
    ("java/lang/Double.doubleToRawLongBits(D)J", |vm, at| {
        Ok(Reply::Two(vm.bits_at(at)))
    }),
    ("java/lang/Double.longBitsToDouble(J)D", |vm, at| {
        Ok(Reply::Two(vm.bits_at(at)))
    }),
    ("java/lang/Float.floatToRawIntBits(F)I", |vm, at| {
        int(vm.int_at(at))
    }),
    ("java/lang/Float.intBitsToFloat(I)F", |vm, at| {
        int(vm.int_at(at))
    }),
    (
        "java/lang/Double.toString(D)Ljava/lang/String;",
        |vm, at| {
            let value = vm.double_at(at);
            string(vm, &decimal(value))
        },
    ),
    ("java/lang/Float.toString(F)Ljava/lang/String;", |vm, at| {
        let value = f32::from_bits(vm.int_at(at) as u32);
        string(vm, &decimal(value))
    }),
    ("java/lang/Double.parse0(Ljava/lang/String;)D", |vm, at| {
        let value = parsed(vm, at, DOUBLE, |text| text.parse().ok())?;
        Ok(Reply::Two(value.to_bits()))
    }),
    ("java/lang/Float.parse0(Ljava/lang/String;)F", |vm, at| {
        let value = parsed(vm, at, FLOAT, |text| text.parse().ok().map(f32::into))?;
        Ok(Reply::One(Slot::word((value as f32).to_bits())))
    }),
];

/// Java says that 1 to the power of what is no number is no number, and −1 to an infinite power.
fn pow(base: f64, power: f64) -> f64 {
    if power.is_nan() || (base.abs() == 1.0 && power.is_infinite()) {
        f64::NAN
    } else {
        base.powf(power)
    }
}

fn string(vm: &mut Vm<'_>, text: &str) -> Result<Reply, Trap> {
    let text: Vec<u16> = text.encode_utf16().collect();
    object(vm.new_string(&text)?)
}

/// The number of a text.
fn parsed(
    vm: &mut Vm<'_>,
    at: usize,
    format: Format,
    decimal: impl Fn(&str) -> Option<f64>,
) -> Result<f64, Trap> {
    let text = vm.object_of(at, vm.known.string)?;
    let text = String::from_utf16_lossy(&vm.text(text));
    let found = read(&text, format, decimal);
    found.ok_or_else(|| {
        let text = format!("For input string: \"{}\"", text.trim_matches(|c| c <= ' '));
        vm.throw("java/lang/NumberFormatException", &text)
    })
}
