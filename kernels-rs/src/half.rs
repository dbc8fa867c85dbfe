//! Half precision (IEEE 754 binary16) as a way to store values: kernels read it and compute in single.
//!
//! For the scaled copy of a matrix, whose entries are at most 1: 11 significant bits are worth more there than the
//! range of bfloat16, which keeps 8, and entries too small for a half do not matter beside a diagonal of 1.

use crate::real::Stored;
use cuda_std::prelude::*;

/// A number of 16 bits: 11 significant ones, up to 65,504; below 6.1e-5 fewer, in steps of 6.0e-8.
#[repr(transparent)]
#[derive(Debug, Clone, Copy)]
pub struct F16(u16);

// SAFETY: the bits of zero are a number, and so are all others, without padding.
unsafe impl bytemuck::Zeroable for F16 {}
// SAFETY: as above.
unsafe impl bytemuck::Pod for F16 {}

// SAFETY: transparent over `u16`, which is loaded and stored in its place.
unsafe impl DeviceCopy for F16 {
    #[inline(always)]
    unsafe fn load(p: *const Self) -> Self {
        F16(u16::load(p.cast()))
    }
    #[inline(always)]
    unsafe fn stream(p: *const Self) -> Self {
        F16(u16::stream(p.cast()))
    }
    #[inline(always)]
    unsafe fn get(p: *const Self) -> Self {
        F16(u16::get(p.cast()))
    }
    #[inline(always)]
    unsafe fn put(p: *mut Self, value: Self) {
        u16::put(p.cast(), value.0);
    }
}

impl Stored for F16 {
    type Arithmetic = f32;
    const NAME: &'static str = "f16";
    fn numbers(_: View<Self>) -> Option<View<f32>> {
        None
    }

    #[inline(always)]
    fn rounded(value: f32) -> Self {
        F16(narrow(value))
    }

    #[inline(always)]
    fn value(self) -> f32 {
        widen(self.0)
    }
}

/// The nearest half, to even between two.
#[cfg(target_arch = "nvptx64")]
#[inline(always)]
fn narrow(value: f32) -> u16 {
    let bits: u16;
    // SAFETY: an instruction on registers.
    unsafe { core::arch::asm!("cvt.rn.f16.f32 {}, {};", out(reg16) bits, in(reg32) value, options(pure, nomem)) };
    bits
}

#[cfg(target_arch = "nvptx64")]
#[inline(always)]
fn widen(bits: u16) -> f32 {
    let value: f32;
    // SAFETY: an instruction on registers.
    unsafe { core::arch::asm!("cvt.f32.f16 {}, {};", out(reg32) value, in(reg16) bits, options(pure, nomem)) };
    value
}

/// The nearest half, to even between two.
#[cfg(not(target_arch = "nvptx64"))]
#[inline(always)]
fn narrow(value: f32) -> u16 {
    // The smallest regular half, and what lies above all halves.
    const SMALLEST: u32 = (127 - 14) << 23;
    const ABOVE: u32 = (127 + 16) << 23;
    let (bits, sign) = (value.to_bits() & 0x7fff_ffff, (value.to_bits() >> 16) as u16 & 0x8000);
    let magnitude = match bits {
        0x7f80_0001.. => 0x7e00,
        ABOVE.. => 0x7c00,
        // Beside 1/2, single precision has the steps of the smallest halves: the sum rounds.
        ..SMALLEST => (f32::from_bits(bits) + 0.5).to_bits() - 0.5_f32.to_bits(),
        // Half a step less a bit, and that bit if the last one kept is odd; a carry goes on to the exponent, up to
        // infinity.
        _ => (bits - ((127 - 15) << 23) + 0xfff + (bits >> 13 & 1)) >> 13,
    };
    sign | magnitude as u16
}

/// Without branches, so that products vectorise.
#[cfg(not(target_arch = "nvptx64"))]
#[inline(always)]
fn widen(bits: u16) -> f32 {
    // 2^112: the difference of the exponents' offsets. The product is exact, for subnormal halves too.
    const OFFSETS: f32 = f32::from_bits((127 + 112) << 23);
    let (bits, sign) = (u32::from(bits & 0x7fff), u32::from(bits & 0x8000) << 16);
    let infinite = if bits >= 0x7c00 { 0xff << 23 } else { 0 };
    f32::from_bits((f32::from_bits(bits << 13) * OFFSETS).to_bits() | infinite | sign)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By its definition, in double.
    fn defined(bits: u16) -> f64 {
        let (sign, exponent, fraction) = (bits >> 15, i32::from(bits >> 10 & 31), f64::from(bits & 1023) / 1024.0);
        let magnitude = match exponent {
            0 => fraction * 2_f64.powi(-14),
            31 if fraction > 0.0 => f64::NAN,
            31 => f64::INFINITY,
            _ => (1.0 + fraction) * 2_f64.powi(exponent - 15),
        };
        if sign == 1 { -magnitude } else { magnitude }
    }

    #[test]
    fn every_half_is_what_it_is_defined_to_be_and_comes_back() {
        for bits in 0..=u16::MAX {
            let (value, expected) = (f64::from(F16(bits).value()), defined(bits));
            if expected.is_nan() {
                assert!(value.is_nan() && F16::rounded(value as f32).value().is_nan(), "{bits:#x}: {value}");
                continue;
            }
            assert_eq!(value.to_bits(), expected.to_bits(), "{bits:#x}: {value}, not {expected}");
            assert_eq!(F16::rounded(value as f32).0, bits);
        }
    }

    /// Between every two neighbours: the middle goes to the even one, and what is next to it to the nearer one.
    #[test]
    fn rounding_is_to_the_nearest_and_to_even() {
        for low in 0..0x7c00_u16 {
            let above = if low + 1 == 0x7c00 { 65_536.0 } else { defined(low + 1) };
            let middle = ((defined(low) + above) / 2.0) as f32;
            assert_eq!(f64::from(middle), (defined(low) + above) / 2.0, "single holds the middle");
            let even = low + low % 2;
            let cases = [(middle.next_down(), low), (middle, even), (middle.next_up(), low + 1)];
            for (value, expected) in cases {
                assert_eq!(F16::rounded(value).0, expected, "{value}");
                assert_eq!(F16::rounded(-value).0, expected | 0x8000, "{value}");
            }
        }
    }

    #[test]
    fn random_numbers_go_to_the_nearest() {
        let mut state = 1_u64;
        for _ in 0..200_000 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let value = f32::from_bits((state >> 32) as u32);
            let found = F16::rounded(value);
            if value.is_nan() {
                assert!(found.value().is_nan());
            } else if value.abs() >= 65_520.0 {
                assert_eq!(f64::from(found.value()), f64::INFINITY.copysign(value.into()));
            } else {
                let error = (f64::from(found.value()) - f64::from(value)).abs();
                let step = f64::max(2_f64.powi(-24), f64::from(value.abs()) * 2_f64.powi(-10));
                assert!(error <= 0.5 * step, "{value}: {}", found.value());
                assert_eq!(found.value().is_sign_negative(), value.is_sign_negative());
            }
        }
    }
}
