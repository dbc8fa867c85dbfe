//! What is solved: linear elasticity, or conduction, which is Laplace's and Poisson's equation
//! `-div(k grad u) = s`. Assembly, loads and internal forces are written once over [`Physics`].

use crate::element::Element;
use crate::material::{Lame, stiffness_block, strain, stress, traction};
use crate::real::{Real, add_outer, dot3, fma};

/// The physics of an element: how many unknowns a node has, and what a block of the matrix is made of.
pub trait Physics: Copy + Send + Sync + 'static {
    /// Whether the unknown is a vector, with a component for each coordinate.
    const IS_VECTOR: bool;
    /// What is summed over quadrature points for a pair of nodes.
    type Product<T: Real>: Copy;
    /// Constants of a material.
    type Constants<T: Real>: Copy;

    /// A sum of nothing.
    fn zero<T: Real>() -> Self::Product<T>;
    /// Adds what a quadrature point gives for nodes a and b of gradients `w |J| ga` and `gb`.
    fn add<T: Real>(dim: usize, sum: &mut Self::Product<T>, ga: [T; 3], gb: [T; 3]);
    /// The block of the matrix; entries past the unknowns of a node are 0.
    fn block<T: Real>(dim: usize, product: Self::Product<T>, constants: Self::Constants<T>) -> [[T; 3]; 3];
    /// The constants of a material from what [`MeshView`](crate::assembly::MeshView) keeps of it.
    fn constants<T: Real>(kept: [f64; 2]) -> Self::Constants<T>;
    /// The constants times a thickness.
    fn scaled<T: Real>(constants: Self::Constants<T>, thickness: T) -> Self::Constants<T>;
    /// The flux of a field with gradient `h[i][j] = du_i/dx_j`, times `g`: the integrand of internal forces.
    fn flux(h: [[f64; 3]; 3], constants: Self::Constants<f64>, g: [f64; 3]) -> [f64; 3];
}

/// Unknowns of a node, the size of a block.
#[inline(always)]
pub const fn size<E: Element, P: Physics>() -> usize {
    if P::IS_VECTOR { E::DIM } else { 1 }
}

/// `K_ab = lambda M + mu M^T + mu tr(M) I` with `M = int g_a g_b^T dV`: see [`stiffness_block`].
#[derive(Debug, Clone, Copy)]
pub struct Elasticity;

impl Physics for Elasticity {
    const IS_VECTOR: bool = true;
    type Product<T: Real> = [[T; 3]; 3];
    type Constants<T: Real> = Lame<T>;

    #[inline(always)]
    fn zero<T: Real>() -> [[T; 3]; 3] {
        [[T::ZERO; 3]; 3]
    }

    #[inline(always)]
    fn add<T: Real>(dim: usize, sum: &mut [[T; 3]; 3], ga: [T; 3], gb: [T; 3]) {
        add_outer(dim, sum, ga, gb);
    }

    #[inline(always)]
    fn block<T: Real>(dim: usize, product: [[T; 3]; 3], lame: Lame<T>) -> [[T; 3]; 3] {
        stiffness_block(dim, product, lame)
    }

    #[inline(always)]
    fn constants<T: Real>([lambda, mu]: [f64; 2]) -> Lame<T> {
        Lame { lambda: T::from_f64(lambda), mu: T::from_f64(mu) }
    }

    #[inline(always)]
    fn scaled<T: Real>(lame: Lame<T>, thickness: T) -> Lame<T> {
        Lame { lambda: lame.lambda * thickness, mu: lame.mu * thickness }
    }

    #[inline(always)]
    fn flux(h: [[f64; 3]; 3], lame: Lame<f64>, g: [f64; 3]) -> [f64; 3] {
        traction(stress(strain(h), lame), g)
    }
}

/// `K_ab = k int g_a . g_b dV`, the trace of elasticity's M.
///
/// On linear triangles that is `k (b_a b_b + c_a c_b) / (4 A)` with A the triangle's area, whatever the triangles'
/// sizes. FEMSES divides by `Delta^2 / 4`, then `Delta^3 / 4`, of one Delta for all (eq. 2.76-2.77), which holds only
/// where all triangles have the same size.
#[derive(Debug, Clone, Copy)]
pub struct Conduction;

impl Physics for Conduction {
    const IS_VECTOR: bool = false;
    type Product<T: Real> = T;
    type Constants<T: Real> = T;

    #[inline(always)]
    fn zero<T: Real>() -> T {
        T::ZERO
    }

    #[inline(always)]
    fn add<T: Real>(dim: usize, sum: &mut T, ga: [T; 3], gb: [T; 3]) {
        for i in 0..dim {
            *sum = fma(ga[i], gb[i], *sum);
        }
    }

    #[inline(always)]
    fn block<T: Real>(_: usize, product: T, conductivity: T) -> [[T; 3]; 3] {
        let mut block = [[T::ZERO; 3]; 3];
        block[0][0] = conductivity * product;
        block
    }

    #[inline(always)]
    fn constants<T: Real>([conductivity, _]: [f64; 2]) -> T {
        T::from_f64(conductivity)
    }

    #[inline(always)]
    fn scaled<T: Real>(conductivity: T, thickness: T) -> T {
        conductivity * thickness
    }

    #[inline(always)]
    fn flux(h: [[f64; 3]; 3], conductivity: f64, g: [f64; 3]) -> [f64; 3] {
        [conductivity * dot3(h[0], g), 0.0, 0.0]
    }
}
