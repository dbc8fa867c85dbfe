//! What is integrated over an element: linear elasticity, or conduction, which is Laplace's and Poisson's equation
//! `-div(k grad u) = s`. Assembly, loads and internal forces are written once over [`Form`].
//!
//! Both are sums over pairs of nodes of `M_ab = int g_a g_b^T dV`, with `g` the gradients of the shape functions:
//! [`Elasticity`] and [`Conduction`] have the few constants of an isotropic material, [`General`] and [`Scalar`] all that
//! a material may have. Results and internal forces are computed with the latter two.

use crate::element::Element;
use crate::material::{Lame, stiffness_block};
use crate::real::{Real, add_outer, dot3, fma};
use cuda_std::prelude::{DeviceCopy, Number};

/// What is integrated: how many unknowns a node has, and what a block of the matrix is made of.
pub trait Form: Copy + Send + Sync + 'static {
    /// Unknowns of a node in so many dimensions.
    const UNKNOWNS: [usize; 4];
    /// Whether compilers may unroll the loops of its stiffness, as [`Element::UNROLLS`]: those that most models are made of.
    const UNROLLS: bool = false;
    /// What is summed over quadrature points for a pair of nodes.
    type Product<T: Real>: Copy;
    /// Constants of a material.
    type Constants<T: Number>: Copy;
    /// These as [`MeshView::constants`](crate::assembly::MeshView) has them, one after the other.
    type Stored: DeviceCopy;

    /// A sum of nothing.
    fn zero<T: Real>() -> Self::Product<T>;
    /// Adds what a quadrature point gives for nodes a and b of gradients `w |J| ga` and `gb`.
    fn add<E: Element, T: Real>(sum: &mut Self::Product<T>, ga: [T; 3], gb: [T; 3]);
    /// The block of the matrix; entries past the unknowns of a node are 0.
    fn block<E: Element, T: Real>(product: Self::Product<T>, constants: Self::Constants<T>) -> [[T; 3]; 3];
    /// The constants of a material.
    fn constants<T: Real>(stored: Self::Stored) -> Self::Constants<T>;
    /// The constants times a thickness.
    fn scaled<T: Real>(constants: Self::Constants<T>, thickness: T) -> Self::Constants<T>;
}

/// A form with all constants of a material: stress from strain, or the flux from a potential's gradient.
pub trait Constitutive: Form {
    /// A strain or a stress, a gradient or a flux.
    type Strain: DeviceCopy + Copy;

    /// The strain of a field with gradient `h[i][j] = du_i/dx_j`.
    fn strain<E: Element>(h: [[f64; 3]; 3]) -> Self::Strain;
    /// A strain less so many degrees of thermal strain; a gradient as it is.
    fn less(strain: Self::Strain, per_degree: [f64; 6], degrees: f64) -> Self::Strain;
    /// Its stress.
    fn stress(strain: Self::Strain, constants: Self::Constants<f64>) -> Self::Strain;
    /// `sigma : eps`.
    fn product(stress: Self::Strain, strain: Self::Strain) -> f64;
    /// The stress times a node's gradient: the integrand of internal forces.
    fn force<E: Element>(stress: Self::Strain, g: [f64; 3]) -> [f64; 3];
}

/// A form by what it does to a field: products with K that need no K.
pub trait Flux: Form {
    /// The stress s of a field with gradient `h[i][j] = du_i/dx_j`, or C times a potential's gradient in the first row: the
    /// force on node a is `f_a = int s g_a dV`. In a body of revolution the third column of h is `u_i / r`, and that of s
    /// belongs to the third component of g.
    fn flux<E: Element, T: Number>(h: [[T; 3]; 3], constants: Self::Constants<T>) -> [[T; 3]; 3];
}

/// Unknowns of a node, the size of a block.
#[inline(always)]
pub const fn size<E: Element, P: Form>() -> usize {
    P::UNKNOWNS[E::DIM]
}

/// Whether the loops of an element's stiffness are unrolled.
pub const fn unrolls<E: Element, P: Form>() -> bool {
    E::UNROLLS && P::UNROLLS
}

/// Elasticity of an isotropic material: `K_ab = lambda M + mu M^T + mu tr(M) I`; see [`stiffness_block`].
#[derive(Debug, Clone, Copy)]
pub struct Elasticity;

impl Form for Elasticity {
    const UNROLLS: bool = true;
    const UNKNOWNS: [usize; 4] = [0, 1, 2, 3];
    type Product<T: Real> = [[T; 3]; 3];
    type Constants<T: Number> = Lame<T>;
    type Stored = [f64; 2];

    #[inline(always)]
    fn zero<T: Real>() -> [[T; 3]; 3] {
        [[T::ZERO; 3]; 3]
    }

    #[inline(always)]
    fn add<E: Element, T: Real>(sum: &mut [[T; 3]; 3], ga: [T; 3], gb: [T; 3]) {
        add_outer(E::DIM, sum, ga, gb);
    }

    #[inline(always)]
    fn block<E: Element, T: Real>(product: [[T; 3]; 3], lame: Lame<T>) -> [[T; 3]; 3] {
        stiffness_block(E::DIM, product, lame)
    }

    #[inline(always)]
    fn constants<T: Real>([lambda, mu]: [f64; 2]) -> Lame<T> {
        Lame { lambda: T::from_f64(lambda), mu: T::from_f64(mu) }
    }

    #[inline(always)]
    fn scaled<T: Real>(lame: Lame<T>, thickness: T) -> Lame<T> {
        Lame { lambda: lame.lambda * thickness, mu: lame.mu * thickness }
    }
}

impl Flux for Elasticity {
    #[inline(always)]
    fn flux<E: Element, T: Number>(h: [[T; 3]; 3], Lame { lambda, mu }: Lame<T>) -> [[T; 3]; 3] {
        let mut trace = h[0][0];
        for i in 1..E::DIM {
            trace += h[i][i];
        }
        let pressure = lambda * trace;
        let mut stress = [[T::ZERO; 3]; 3];
        for i in 0..E::DIM {
            stress[i][i] = fma(mu + mu, h[i][i], pressure);
            for j in 0..i {
                stress[i][j] = mu * (h[i][j] + h[j][i]);
                stress[j][i] = stress[i][j];
            }
        }
        stress
    }
}

/// Conduction of an isotropic material: `K_ab = k int g_a . g_b dV`, k times the trace of M.
///
/// On linear triangles that is `k (b_a b_b + c_a c_b) / (4 A)` with A the triangle's area, whatever the triangles'
/// sizes. FEMSES divides by `Delta^2 / 4`, then `Delta^3 / 4`, of one Delta for all (eq. 2.76-2.77), which holds only
/// where all triangles have the same size.
#[derive(Debug, Clone, Copy)]
pub struct Conduction;

impl Form for Conduction {
    const UNROLLS: bool = true;
    const UNKNOWNS: [usize; 4] = [1; 4];
    type Product<T: Real> = T;
    type Constants<T: Number> = T;
    type Stored = [f64; 2];

    #[inline(always)]
    fn zero<T: Real>() -> T {
        T::ZERO
    }

    #[inline(always)]
    fn add<E: Element, T: Real>(sum: &mut T, ga: [T; 3], gb: [T; 3]) {
        for i in 0..E::DIM {
            *sum = fma(ga[i], gb[i], *sum);
        }
    }

    #[inline(always)]
    fn block<E: Element, T: Real>(product: T, conductivity: T) -> [[T; 3]; 3] {
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
}

/// The strain component that `du_i/dx_j` is part of, in the order xx, yy, zz, xy, yz, xz.
const SOLID: [[usize; 3]; 3] = [[0, 3, 5], [3, 1, 4], [5, 4, 2]];
/// The same of a body of revolution, with `u_r / r` in the place of `du_r/dz`: the hoop strain. `u_z / r` is part of none.
const REVOLVED: [[usize; 3]; 3] = [[0, 3, 2], [3, 1, NONE], [NONE; 3]];
const NONE: usize = 6;

/// [`SOLID`] or [`REVOLVED`].
#[inline(always)]
const fn voigt<E: Element>() -> [[usize; 3]; 3] {
    if E::REVOLVED { REVOLVED } else { SOLID }
}

/// Components of a node's gradient.
#[inline(always)]
pub const fn directions<E: Element>() -> usize {
    if E::REVOLVED { 3 } else { E::DIM }
}

/// The place of entry (i, j) of a symmetric matrix of `n` rows among those of its upper triangle, row by row.
#[inline(always)]
pub const fn upper(n: usize, i: usize, j: usize) -> usize {
    let (i, j) = if i < j { (i, j) } else { (j, i) };
    i * (2 * n - 1 - i) / 2 + j
}

/// Elasticity with the 21 constants of `D`, the upper triangle row by row: `K_ij = sum_kl D_(ik)(jl) M_kl`, which equals
/// `int B_a^T D B_b dV`.
#[derive(Debug, Clone, Copy)]
pub struct General;

impl Form for General {
    const UNKNOWNS: [usize; 4] = [0, 1, 2, 3];
    type Product<T: Real> = [[T; 3]; 3];
    type Constants<T: Number> = [T; 21];
    type Stored = [f64; 21];

    #[inline(always)]
    fn zero<T: Real>() -> [[T; 3]; 3] {
        [[T::ZERO; 3]; 3]
    }

    #[inline(always)]
    fn add<E: Element, T: Real>(sum: &mut [[T; 3]; 3], ga: [T; 3], gb: [T; 3]) {
        add_outer(directions::<E>(), sum, ga, gb);
    }

    #[inline(always)]
    fn block<E: Element, T: Real>(m: [[T; 3]; 3], d: [T; 21]) -> [[T; 3]; 3] {
        let mut block = [[T::ZERO; 3]; 3];
        for i in 0..E::DIM {
            for j in 0..E::DIM {
                for k in 0..directions::<E>() {
                    for l in 0..directions::<E>() {
                        let (row, column) = (voigt::<E>()[i][k], voigt::<E>()[j][l]);
                        if row != NONE && column != NONE {
                            block[i][j] = fma(d[upper(6, row, column)], m[k][l], block[i][j]);
                        }
                    }
                }
            }
        }
        block
    }

    #[inline(always)]
    fn constants<T: Real>(stored: [f64; 21]) -> [T; 21] {
        stored.map(T::from_f64)
    }

    #[inline(always)]
    fn scaled<T: Real>(d: [T; 21], thickness: T) -> [T; 21] {
        d.map(|d| thickness * d)
    }
}

impl Constitutive for General {
    /// In the order xx, yy, zz, xy, yz, xz, with engineering shear strains.
    type Strain = [f64; 6];

    #[inline(always)]
    fn strain<E: Element>(h: [[f64; 3]; 3]) -> [f64; 6] {
        strain_of::<E, f64>(h)
    }

    #[inline(always)]
    fn less(mut strain: [f64; 6], per_degree: [f64; 6], degrees: f64) -> [f64; 6] {
        for i in 0..6 {
            strain[i] = fma(-degrees, per_degree[i], strain[i]);
        }
        strain
    }

    #[inline(always)]
    fn stress(strain: [f64; 6], d: [f64; 21]) -> [f64; 6] {
        stress_of(strain, d)
    }

    #[inline(always)]
    fn product(stress: [f64; 6], strain: [f64; 6]) -> f64 {
        let mut sum = 0.0;
        for i in 0..6 {
            sum = fma(stress[i], strain[i], sum);
        }
        sum
    }

    #[inline(always)]
    fn force<E: Element>(stress: [f64; 6], g: [f64; 3]) -> [f64; 3] {
        let mut force = [0.0; 3];
        for i in 0..E::DIM {
            for k in 0..directions::<E>() {
                if voigt::<E>()[i][k] != NONE {
                    force[i] = fma(stress[voigt::<E>()[i][k]], g[k], force[i]);
                }
            }
        }
        force
    }
}

/// Strains in Voigt's order, with engineering shears.
#[inline(always)]
fn strain_of<E: Element, T: Number>(h: [[T; 3]; 3]) -> [T; 6] {
    let mut strain = [T::ZERO; 6];
    for i in 0..E::DIM {
        for k in 0..directions::<E>() {
            if voigt::<E>()[i][k] != NONE {
                strain[voigt::<E>()[i][k]] += h[i][k];
            }
        }
    }
    strain
}

/// `D eps`.
#[inline(always)]
fn stress_of<T: Number>(strain: [T; 6], d: [T; 21]) -> [T; 6] {
    let mut stress = [T::ZERO; 6];
    for i in 0..6 {
        for j in 0..6 {
            stress[i] = fma(d[upper(6, i, j)], strain[j], stress[i]);
        }
    }
    stress
}

impl Flux for General {
    #[inline(always)]
    fn flux<E: Element, T: Number>(h: [[T; 3]; 3], d: [T; 21]) -> [[T; 3]; 3] {
        let stress = stress_of(strain_of::<E, T>(h), d);
        let mut flux = [[T::ZERO; 3]; 3];
        for i in 0..E::DIM {
            for k in 0..directions::<E>() {
                if voigt::<E>()[i][k] != NONE {
                    flux[i][k] = stress[voigt::<E>()[i][k]];
                }
            }
        }
        flux
    }
}

/// A potential with the 6 constants of a symmetric tensor C, the upper triangle row by row: `K_ab = sum_kl C_kl M_kl`.
#[derive(Debug, Clone, Copy)]
pub struct Scalar;

impl Form for Scalar {
    const UNKNOWNS: [usize; 4] = [1; 4];
    type Product<T: Real> = [[T; 3]; 3];
    type Constants<T: Number> = [T; 6];
    type Stored = [f64; 6];

    #[inline(always)]
    fn zero<T: Real>() -> [[T; 3]; 3] {
        [[T::ZERO; 3]; 3]
    }

    #[inline(always)]
    fn add<E: Element, T: Real>(sum: &mut [[T; 3]; 3], ga: [T; 3], gb: [T; 3]) {
        add_outer(E::DIM, sum, ga, gb);
    }

    #[inline(always)]
    fn block<E: Element, T: Real>(m: [[T; 3]; 3], c: [T; 6]) -> [[T; 3]; 3] {
        let mut block = [[T::ZERO; 3]; 3];
        for k in 0..E::DIM {
            for l in 0..E::DIM {
                block[0][0] = fma(c[upper(3, k, l)], m[k][l], block[0][0]);
            }
        }
        block
    }

    #[inline(always)]
    fn constants<T: Real>(stored: [f64; 6]) -> [T; 6] {
        stored.map(T::from_f64)
    }

    #[inline(always)]
    fn scaled<T: Real>(c: [T; 6], thickness: T) -> [T; 6] {
        c.map(|c| thickness * c)
    }
}

impl Constitutive for Scalar {
    /// The gradient, or C times it: the flux is the opposite.
    type Strain = [f64; 3];

    #[inline(always)]
    fn strain<E: Element>(h: [[f64; 3]; 3]) -> [f64; 3] {
        let mut gradient = h[0];
        for i in E::DIM..3 {
            gradient[i] = 0.0;
        }
        gradient
    }

    #[inline(always)]
    fn less(gradient: [f64; 3], _: [f64; 6], _: f64) -> [f64; 3] {
        gradient
    }

    #[inline(always)]
    fn stress(gradient: [f64; 3], c: [f64; 6]) -> [f64; 3] {
        times(c, gradient)
    }

    #[inline(always)]
    fn product(flux: [f64; 3], gradient: [f64; 3]) -> f64 {
        dot3(flux, gradient)
    }

    #[inline(always)]
    fn force<E: Element>(flux: [f64; 3], g: [f64; 3]) -> [f64; 3] {
        let mut force = 0.0;
        for i in 0..E::DIM {
            force = fma(flux[i], g[i], force);
        }
        [force, 0.0, 0.0]
    }
}

/// `C grad u`.
#[inline(always)]
fn times<T: Number>(c: [T; 6], gradient: [T; 3]) -> [T; 3] {
    core::array::from_fn(|i| dot3([c[upper(3, i, 0)], c[upper(3, i, 1)], c[upper(3, i, 2)]], gradient))
}

impl Flux for Scalar {
    #[inline(always)]
    fn flux<E: Element, T: Number>(h: [[T; 3]; 3], c: [T; 6]) -> [[T; 3]; 3] {
        let mut gradient = h[0];
        for i in E::DIM..3 {
            gradient[i] = T::ZERO;
        }
        let mut flux = [[T::ZERO; 3]; 3];
        flux[0] = times(c, gradient);
        for i in E::DIM..3 {
            flux[0][i] = T::ZERO;
        }
        flux
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::{Quad4, Revolved, Tet4, Tri3};
    use approx::assert_relative_eq;

    /// `B_a` of one node, 6x3, in the project's Voigt order; `[g_r, g_z, N / r]` in a body of revolution.
    fn b_matrix<E: Element>([x, y, z]: [f64; 3]) -> [[f64; 3]; 6] {
        match E::REVOLVED {
            false => [[x, 0.0, 0.0], [0.0, y, 0.0], [0.0, 0.0, z], [y, x, 0.0], [0.0, z, y], [z, 0.0, x]],
            true => [[x, 0.0, 0.0], [0.0, y, 0.0], [z, 0.0, 0.0], [y, x, 0.0], [0.0; 3], [0.0; 3]],
        }
    }

    /// Block, strain and force of a form against `B_a^T D B_b`, `B u` and `B_a^T sigma`.
    fn is_by_the_textbook<E: Element>(d: [f64; 21], block: impl Fn([[f64; 3]; 3]) -> [[f64; 3]; 3]) {
        let last = if directions::<E>() == 3 { 1.0 } else { 0.0 };
        let (ga, gb, w) = ([0.3, -1.2, 0.7 * last], [1.1, 0.4, -0.9 * last], 0.37);
        let mut product = General::zero();
        General::add::<E, f64>(&mut product, ga.map(|g| w * g), gb);
        let (found, ba, bb) = (block(product), b_matrix::<E>(ga), b_matrix::<E>(gb));
        for j in 0..E::DIM {
            let column: [f64; 6] = core::array::from_fn(|v| bb[v][j]);
            let mut h = [[0.0; 3]; 3];
            h[j] = gb;
            assert_eq!(General::strain::<E>(h), column);
            let stress = General::stress(column, d);
            let force = General::force::<E>(stress, ga);
            for i in 0..E::DIM {
                let expected: f64 = (0..6).map(|v| ba[v][i] * stress[v]).sum();
                assert_relative_eq!(found[i][j], w * expected, max_relative = 1e-12);
                assert_relative_eq!(force[i], expected, max_relative = 1e-12);
            }
        }
    }

    #[test]
    fn blocks_are_b_transposed_d_b() {
        let any: [f64; 21] = core::array::from_fn(|i| 1.0 + ((7 * i + 3) % 11) as f64);
        is_by_the_textbook::<Tet4>(any, |m| General::block::<Tet4, f64>(m, any));
        is_by_the_textbook::<Tri3>(any, |m| General::block::<Tri3, f64>(m, any));
        is_by_the_textbook::<Revolved<Quad4>>(any, |m| General::block::<Revolved<Quad4>, f64>(m, any));
        let steel = Lame { lambda: 1.2e11, mu: 8.0e10 };
        let mut d = [0.0; 21];
        for i in 0..3 {
            (0..3).for_each(|j| d[upper(6, i, j)] = steel.lambda);
            d[upper(6, i, i)] += 2.0 * steel.mu;
            d[upper(6, i + 3, i + 3)] = steel.mu;
        }
        is_by_the_textbook::<Tet4>(d, |m| Elasticity::block::<Tet4, f64>(m, steel));
        is_by_the_textbook::<Tri3>(d, |m| Elasticity::block::<Tri3, f64>(m, steel));
    }
}
