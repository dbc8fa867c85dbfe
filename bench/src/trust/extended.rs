//! Numbers of twice the precision: an unevaluated sum of two doubles (Dekker 1971; Hida, Li and Bailey 2001).

use std::ops::{Add, AddAssign, Neg, Sub};

/// `high + low`, with `|low|` at most half a unit in the last place of `high`: about 32 decimal digits.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Extended {
    high: f64,
    low: f64,
}

/// `a + b` and its rounding error (Knuth).
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let of_b = sum - a;
    (sum, (a - (sum - of_b)) + (b - of_b))
}

/// The same where `|a| >= |b|` (Dekker).
fn quick_two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    (sum, b - (sum - a))
}

impl Extended {
    /// Zero.
    pub const ZERO: Extended = Extended { high: 0.0, low: 0.0 };

    /// The exact product of two doubles.
    pub fn product(a: f64, b: f64) -> Extended {
        let high = a * b;
        Extended { high, low: a.mul_add(b, -high) }
    }

    /// The product with a double.
    pub fn times(self, factor: f64) -> Extended {
        let Extended { high, low } = Extended::product(self.high, factor);
        let (high, low) = quick_two_sum(high, self.low.mul_add(factor, low));
        Extended { high, low }
    }

    /// The product with another.
    pub fn by(self, other: Extended) -> Extended {
        self.times(other.high) + Extended::from(self.high * other.low)
    }

    /// The nearest double.
    pub fn rounded(self) -> f64 {
        self.high
    }
}

impl From<f64> for Extended {
    fn from(value: f64) -> Extended {
        Extended { high: value, low: 0.0 }
    }
}

impl Add for Extended {
    type Output = Extended;

    fn add(self, other: Extended) -> Extended {
        let (high, low) = two_sum(self.high, other.high);
        let (more, least) = two_sum(self.low, other.low);
        let (high, low) = quick_two_sum(high, low + more);
        let (high, low) = quick_two_sum(high, low + least);
        Extended { high, low }
    }
}

impl AddAssign for Extended {
    fn add_assign(&mut self, other: Extended) {
        *self = *self + other;
    }
}

impl Neg for Extended {
    type Output = Extended;

    fn neg(self) -> Extended {
        Extended { high: -self.high, low: -self.low }
    }
}

impl Sub for Extended {
    type Output = Extended;

    fn sub(self, other: Extended) -> Extended {
        self + -other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_keep_what_doubles_lose() {
        let (large, small) = (Extended::from(1e10), Extended::from(1e-12));
        assert_eq!((large + small - large).rounded(), 1e-12);
        // In doubles the sum is 0.
        let sum = [1e20, 1.0, -1e20, 1e-9].map(Extended::from).into_iter().fold(Extended::ZERO, Add::add);
        assert_eq!(sum.rounded(), 1.0 + 1e-9);
    }

    #[test]
    fn products_are_exact() {
        let a = 1.0 + f64::EPSILON;
        // (1 + e)^2 - 1 - 2 e = e^2.
        let square = Extended::product(a, a) - Extended::from(1.0) - Extended::from(2.0 * f64::EPSILON);
        assert_eq!(square.rounded(), f64::EPSILON * f64::EPSILON);
        let third = Extended::from(1.0) - Extended::from(1.0 / 3.0).times(3.0);
        assert_eq!(third.rounded(), 2.0_f64.powi(-54));
    }

    #[test]
    fn products_of_sums_are_right_to_thirty_digits() {
        // (1e8 + 1e-8)^2 = 1e16 + 2 + 1e-16.
        let x = Extended::product(1e8, 1.0) + Extended::from(1e-8);
        let rest = x.by(x) - Extended::from(1e16) - Extended::from(2.0);
        // 1e-8 itself is rounded: by 2e-25 at most, which counts 2e8-fold.
        assert!((rest.rounded() - 1e-16).abs() < 1e-15, "{rest:?}");
    }
}
