//! Numbers in columns of 12 characters, as C's `%12.5E` writes them.

/// Powers of ten that a single-precision number is scaled by.
const POWERS: [f64; 51] = {
    let (mut powers, mut i) = ([1.0; 51], 1);
    while i < 51 {
        powers[i] = 10.0 * powers[i - 1];
        i += 1;
    }
    powers
};

/// Appends a number in single precision; what that cannot hold becomes the largest it can.
pub(super) fn write(text: &mut Vec<u8>, value: f64) {
    let single = (value as f32).clamp(f32::MIN, f32::MAX);
    let (mut digits, exponent) = decimal(f64::from(single.abs()));
    let mut column = *b" 0.00000E+00";
    if single.is_sign_negative() {
        column[0] = b'-';
    }
    for place in [7, 6, 5, 4, 3, 1] {
        column[place] = b'0' + (digits % 10) as u8;
        digits /= 10;
    }
    if exponent < 0 {
        column[9] = b'-';
    }
    let exponent = exponent.unsigned_abs() as u8;
    (column[10], column[11]) = (b'0' + exponent / 10, b'0' + exponent % 10);
    text.extend_from_slice(&column);
}

/// Six decimal digits and the exponent of the first, rounded.
fn decimal(x: f64) -> (u32, i32) {
    if x == 0.0 || x.is_nan() {
        return (0, 0);
    }
    let exponent = exponent_of(x);
    let shift = 5 - exponent;
    let power = POWERS[shift.unsigned_abs() as usize];
    let scaled = if shift < 0 { x / power } else { x * power };
    // The scaled number is right to 1e-8: nearer to a tie, all digits have to be looked at.
    if (scaled.fract() - 0.5).abs() < 1e-6 {
        return exact(x);
    }
    match scaled.round() as u32 {
        1_000_000 => (100_000, exponent + 1),
        digits => (digits, exponent),
    }
}

/// The exponent of the first decimal digit, from the binary one: `1233 / 4096` is `log10 2`.
fn exponent_of(x: f64) -> i32 {
    let low = (((x.to_bits() >> 52) as i32 - 1023) * 1233) >> 12;
    let next = POWERS[(low + 1).unsigned_abs() as usize];
    let is_reached = if low + 1 < 0 { x * next >= 1.0 } else { x >= next };
    low + i32::from(is_reached)
}

fn exact(x: f64) -> (u32, i32) {
    let text = format!("{x:.5e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    (digits.replace('.', "").parse().unwrap_or(0), exponent.parse().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(value: f64) -> String {
        let mut text = Vec::new();
        write(&mut text, value);
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn numbers_fill_their_column() {
        for (value, text) in [
            (0.0, " 0.00000E+00"),
            (-1.0, "-1.00000E+00"),
            (999_999.5, " 1.00000E+06"),
            (-4.606271e-5, "-4.60627E-05"),
            (0.1, " 1.00000E-01"),
            (1e-45, " 1.40130E-45"),
            (1e300, " 3.40282E+38"),
            (f64::NEG_INFINITY, "-3.40282E+38"),
            (1e-60, " 0.00000E+00"),
        ] {
            assert_eq!(written(value), text, "{value:e}");
        }
    }

    /// Every exponent, ties and their neighbours.
    #[test]
    fn digits_are_those_of_the_exact_number() {
        for bits in (1..0x7f80_0000_u32).step_by(65_521) {
            for bits in [bits, bits & 0xffff_f000] {
                let x = f64::from(f32::from_bits(bits));
                if x != 0.0 {
                    assert_eq!(decimal(x), exact(x), "{x:e}");
                }
            }
        }
        for tie in [100_000.5, 123_456.5, 0.5 * 262_145.0, 1.5 * 262_145.0] {
            assert_eq!(decimal(tie), exact(tie), "{tie}");
        }
    }
}
