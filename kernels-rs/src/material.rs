//! Isotropic linear elasticity: `sigma = lambda tr(eps) I + 2 mu eps`.
//!
//! Voigt order everywhere is xx, yy, zz, xy, yz, xz, with engineering shear strains (DSM's order; WARP orders yz, xz,
//! xy and, with its engineering shears, writes `1 - 2 nu` in D where `(1 - 2 nu) / 2` belongs).

use crate::real::{Real, dot3, fma};

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

/// Strain `[xx, yy, zz, xy, yz, xz]` (engineering shears) of a displacement gradient `h[i][j] = du_i/dx_j`.
#[inline(always)]
pub fn strain<T: Real>(h: [[T; 3]; 3]) -> [T; 6] {
    [h[0][0], h[1][1], h[2][2], h[0][1] + h[1][0], h[1][2] + h[2][1], h[0][2] + h[2][0]]
}

/// Stress of a strain.
#[inline(always)]
pub fn stress<T: Real>(eps: [T; 6], lame: Lame<T>) -> [T; 6] {
    let pressure = lame.lambda * (eps[0] + eps[1] + eps[2]);
    let two_mu = lame.mu + lame.mu;
    [
        fma(two_mu, eps[0], pressure),
        fma(two_mu, eps[1], pressure),
        fma(two_mu, eps[2], pressure),
        lame.mu * eps[3],
        lame.mu * eps[4],
        lame.mu * eps[5],
    ]
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

/// `sigma : eps` for Voigt vectors with engineering shears, so a plain product.
#[inline(always)]
pub fn double_dot<T: Real>(sigma: [T; 6], eps: [T; 6]) -> T {
    let mut sum = T::ZERO;
    for i in 0..6 {
        sum = fma(sigma[i], eps[i], sum);
    }
    sum
}

/// Stress tensor (Voigt) times a vector: `sigma g`.
#[inline(always)]
pub fn traction<T: Real>(s: [T; 6], g: [T; 3]) -> [T; 3] {
    [dot3([s[0], s[3], s[5]], g), dot3([s[3], s[1], s[4]], g), dot3([s[5], s[4], s[2]], g)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::real::add_outer;
    use approx::assert_relative_eq;

    const STEEL: Lame<f64> = Lame { lambda: 1.2e11, mu: 8.0e10 };

    /// `B_a` of one node, 6x3, in the project's Voigt order.
    fn b_matrix(g: [f64; 3]) -> [[f64; 3]; 6] {
        let [x, y, z] = g;
        [[x, 0.0, 0.0], [0.0, y, 0.0], [0.0, 0.0, z], [y, x, 0.0], [0.0, z, y], [z, 0.0, x]]
    }

    #[test]
    fn block_is_b_transposed_d_b() {
        let (ga, gb, w) = ([0.3, -1.2, 0.7], [1.1, 0.4, -0.9], 0.37);
        let mut product = [[0.0; 3]; 3];
        add_outer(3, &mut product, ga.map(|g| w * g), gb);
        let block = stiffness_block(3, product, STEEL);
        let (ba, bb) = (b_matrix(ga), b_matrix(gb));
        for j in 0..3 {
            let column: [f64; 6] = core::array::from_fn(|v| bb[v][j]);
            let db = stress(column, STEEL);
            for i in 0..3 {
                let expected: f64 = (0..6).map(|v| ba[v][i] * db[v]).sum::<f64>() * w;
                assert_relative_eq!(block[i][j], expected, max_relative = 1e-12);
            }
        }
    }

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

    #[test]
    fn uniaxial_stress_gives_youngs_modulus() {
        let (young, nu) = (210e9, 0.3);
        let lame = Lame { lambda: young * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)), mu: young / (2.0 * (1.0 + nu)) };
        let s = stress([1e-3, -nu * 1e-3, -nu * 1e-3, 0.0, 0.0, 0.0], lame);
        assert_relative_eq!(s[0], young * 1e-3, max_relative = 1e-12);
        assert_relative_eq!(s[1], 0.0, epsilon = 1e-4);
    }

    #[test]
    fn traction_is_the_tensor_times_the_normal() {
        assert_eq!(traction([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [1.0, 0.0, 0.0]), [1.0, 4.0, 6.0]);
        assert_eq!(traction([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [0.0, 0.0, 1.0]), [6.0, 5.0, 3.0]);
    }
}
