//! Isotropic linear elasticity: `sigma = lambda tr(eps) I + 2 mu eps`.
//!
//! Voigt order everywhere is xx, yy, zz, xy, yz, xz, with engineering shear strains (DSM's order; WARP orders yz, xz,
//! xy and, with its engineering shears, writes `1 - 2 nu` in D where `(1 - 2 nu) / 2` belongs).

use crate::real::{Real, fma};

/// Lame's parameters.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lame<T> {
    /// First parameter.
    pub lambda: T,
    /// Shear modulus.
    pub mu: T,
}

/// The stiffness block of nodes a and b, from `M = int g_a g_b^T dV`, with `g` the gradients `dN/dx`:
/// `lambda M + mu M^T + mu tr(M) I`, which equals `int B_a^T D B_b dV`.
///
/// Nine fused operations a quadrature point and 30 a block, against 135 a point of the product with D.
#[inline(always)]
pub fn stiffness_block<T: Real>(dim: usize, m: [[T; 3]; 3], lame: Lame<T>) -> [[T; 3]; 3] {
    let mut trace = m[0][0];
    for i in 1..dim {
        trace += m[i][i];
    }
    let mut block = [[T::ZERO; 3]; 3];
    for i in 0..dim {
        for j in 0..dim {
            block[i][j] = fma(lame.lambda, m[i][j], lame.mu * m[j][i]);
        }
        block[i][i] = fma(lame.mu, trace, block[i][i]);
    }
    block
}

/// Von Mises stress. DSM's report (eq. 4) lost the factor 6 and two squares; its poster has
/// `s_v^2 = ((s_xx - s_yy)^2 + (s_yy - s_zz)^2 + (s_zz - s_xx)^2 + 6 (s_xy^2 + s_yz^2 + s_zx^2)) / 2`.
#[inline(always)]
pub fn von_mises<T: Real>(s: [T; 6]) -> T {
    let (a, b, c) = (s[0] - s[1], s[1] - s[2], s[2] - s[0]);
    let normal = a * a + b * b + c * c;
    let shear = s[3] * s[3] + s[4] * s[4] + s[5] * s[5];
    (T::from_f64(0.5) * normal + T::from_f64(3.0) * shear).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    #[test]
    fn von_mises_of_known_states() {
        assert_relative_eq!(von_mises([5.0, 0.0, 0.0, 0.0, 0.0, 0.0]), 5.0);
        assert_relative_eq!(von_mises([7.0, 7.0, 7.0, 0.0, 0.0, 0.0]), 0.0);
        for shear in 3..6 {
            let mut s = [0.0; 6];
            s[shear] = 2.0;
            assert_relative_eq!(von_mises(s), 2.0 * 3.0_f64.sqrt(), max_relative = 1e-15);
        }
    }
}
