//! Reference elements: one file each, with shape functions, their gradients, and a quadrature rule.
//!
//! An element is data and two pure functions; stiffness, loads and stress are written once over [`Element`]. Points
//! have three coordinates throughout: plane elements use the first two and leave the third 0.

pub mod domain;
mod hex20;
mod hex8;
mod incompatible;
mod pyramid13;
mod pyramid5;
mod quad4;
mod quad8;
mod reduced;
mod revolved;
pub mod rules;
mod sides;
mod tet10;
mod tet4;
mod tri3;
mod tri6;
mod wedge15;
mod wedge6;

pub use domain::Domain;
pub use hex8::Hex8;
pub use hex20::Hex20;
pub use incompatible::{Hex8I, Incompatible, mode_gradients};
pub use pyramid5::Pyramid5;
pub use pyramid13::Pyramid13;
pub use quad4::Quad4;
pub use quad8::Quad8;
pub use reduced::{Hex20R, Quad8R, Reduced};
pub use revolved::Revolved;
pub use sides::{Line2, Line3, Point1};
pub use tet4::Tet4;
pub use tet10::Tet10;
pub use tri3::Tri3;
pub use tri6::Tri6;
pub use wedge6::Wedge6;
pub use wedge15::Wedge15;

use crate::real::{Real, add_outer, dot3, fma};
use core::ops::{Index, IndexMut};

/// The only list of elements: first those that are sides alone, then those of the plane and of solids, then those that are
/// solved by the kernels of the element with the same nodes. Calls `$then!` of this crate with them and with what follows.
#[macro_export]
macro_rules! element_list {
    ($then:ident $($rest:tt)*) => {
        $crate::$then! {
            [Point1, Line2, Line3]
            [Tri3, Quad4, Tri6, Quad8]
            [Tet4, Hex8, Tet10, Hex20, Wedge6, Pyramid5, Wedge15, Pyramid13]
            [Quad8R, Hex20R, Hex8I]
            $($rest)*
        }
    };
}

/// Calls `$callback! { $arguments Tri3, Quad4, .. }` with every element that has kernels.
#[macro_export]
macro_rules! for_each_element {
    ([$($Side:ident),+] [$($P:ident),+] [$($S:ident),+] [$($V:ident),+] $callback:ident $(, $argument:tt)*) => {
        $callback! { $($argument)* $($P),+, $($S),+ }
    };
    ($callback:ident $(, $argument:tt)*) => { $crate::element_list! { for_each_element $callback $(, $argument)* } };
}

/// The same with those of the plane alone.
#[macro_export]
macro_rules! for_each_plane_element {
    ([$($Side:ident),+] [$($P:ident),+] [$($S:ident),+] [$($V:ident),+] $callback:ident $(, $argument:tt)*) => {
        $callback! { $($argument)* $($P),+ }
    };
    ($callback:ident $(, $argument:tt)*) => { $crate::element_list! { for_each_plane_element $callback $(, $argument)* } };
}

/// The same with every element, and behind them those of bodies of revolution: what kernels are for that take all constants
/// of a material.
#[macro_export]
macro_rules! for_each_body {
    ([$($Side:ident),+] [$($P:ident),+] [$($S:ident),+] [$($V:ident),+] $callback:ident $(, $argument:tt)*) => {
        $callback! { $($argument)* $($P),+, $($S),+, $(Revolved<$P>),+ }
    };
    ($callback:ident $(, $argument:tt)*) => { $crate::element_list! { for_each_body $callback $(, $argument)* } };
}

/// Every element that can be solved with: those of [`for_each_element`], and those that take the kernels of these.
#[macro_export]
macro_rules! for_each_solvable {
    ([$($Side:ident),+] [$($P:ident),+] [$($S:ident),+] [$($V:ident),+] $callback:ident $(, $argument:tt)*) => {
        $callback! { $($argument)* $($P),+, $($S),+, $($V),+ }
    };
    ($callback:ident $(, $argument:tt)*) => { $crate::element_list! { for_each_solvable $callback $(, $argument)* } };
}

/// As [`for_each_solvable`], with sides before them.
#[macro_export]
macro_rules! for_each_kind {
    ([$($Side:ident),+] [$($P:ident),+] [$($S:ident),+] [$($V:ident),+] $callback:ident $(, $argument:tt)*) => {
        $callback! { $($argument)* $($Side),+, $($P),+, $($S),+, $($V),+ }
    };
    ($callback:ident $(, $argument:tt)*) => { $crate::element_list! { for_each_kind $callback $(, $argument)* } };
}

/// The elements that the papers' strategies of assembly and FEMSES have kernels for.
#[macro_export]
macro_rules! for_each_paper_element {
    ($callback:ident $(, $argument:tt)*) => {
        $callback! { $($argument)* Tri3, Quad4, Tri6, Quad8, Tet4, Hex8, Tet10, Hex20 }
    };
}

/// A quadrature point: reference coordinates `xi` and weight.
pub type Point = ([f64; 3], f64);

/// An array of fixed length, `[X; N]`.
pub trait Array<X>: Copy + Index<usize, Output = X> + IndexMut<usize> {
    /// The array of `f(0), f(1), ..`.
    fn from_fn(f: impl FnMut(usize) -> X) -> Self;
}

impl<X: Copy, const N: usize> Array<X> for [X; N] {
    #[inline(always)]
    fn from_fn(f: impl FnMut(usize) -> X) -> Self {
        core::array::from_fn(f)
    }
}

/// Which of the `n` nodes of a cell `node` is.
#[inline(always)]
pub fn local_number(nodes: &impl Index<usize, Output = usize>, n: usize, node: usize) -> usize {
    let mut a = 0;
    for b in 1..n {
        if nodes[b] == node {
            a = b;
        }
    }
    a
}

/// A reference element.
pub trait Element: Copy + Send + Sync + 'static {
    /// Its name: `tet4`.
    const NAME: &'static str;
    /// Its shape.
    const DOMAIN: Domain;
    /// Number of coordinates.
    const DIM: usize = Self::DOMAIN.dim();
    /// Whether it is of a body of revolution, `[r, z]` in the plane.
    const REVOLVED: bool = false;
    /// Element type code in MSH files, which number the nodes as here.
    const GMSH: i32;
    /// Cell type code in VTK files.
    const VTK: u8;
    /// Which of the nodes VTK has at each place; empty where its order is Gmsh's.
    const VTK_ORDER: &'static [usize] = &[];
    /// Name and code in Abaqus's decks of the element that is integrated at [`Self::SAMPLED`] by this one's kernels, if there is
    /// one.
    const REDUCED: Option<[&'static str; 2]> = None;
    /// The same of the element that has [incompatible modes](Incompatible) beside this one's shape functions.
    const WITH_MODES: Option<[&'static str; 2]> = None;
    /// Its code in Abaqus's decks behind the family (C3D; CPS, CPE or CAX), which have the nodes in VTK's order; empty if there is
    /// none.
    const ABAQUS: &'static str = "";
    /// Reference coordinates of the nodes, `[N]`: the shape's corners first, in its order.
    const NODES: &'static [[f64; 3]];
    /// Number of nodes.
    const N: usize = Self::NODES.len();
    /// One `X` per node: `[X; N]`.
    type Nodal<X: Copy>: Array<X>;
    /// The rule of the stiffness: exact for the undistorted element, but for one of reduced integration.
    const QUADRATURE: &'static [Point];
    /// Points where derivatives are most accurate (Barlow 1976), on the lines from the centroid to the corners: the 2 x
    /// 2 (x 2) Gauss points of squares and cubes, the points of the rule of degree 2 of quadratic simplices, the
    /// centroid of linear ones, and of wedges and pyramids what these make in planes and along.
    const SAMPLED: &'static [Point] = Self::QUADRATURE;
    /// One `X` per quadrature point.
    type Points<X: Copy>: Array<X>;
    /// Whether compilers may unroll the loops of its stiffness: what is solved on less often shall not take as much text.
    const UNROLLS: bool = false;
    /// Centroid of the reference element, where output stresses are evaluated.
    const CENTROID: [f64; 3] = Self::DOMAIN.centroid();

    /// One value per node.
    #[inline(always)]
    fn nodal<X: Copy>(f: impl FnMut(usize) -> X) -> Self::Nodal<X> {
        if Self::UNROLLS { Array::from_fn(f) } else { one_by_one(Self::N, f) }
    }
    /// One value per quadrature point.
    #[inline(always)]
    fn points<X: Copy>(f: impl FnMut(usize) -> X) -> Self::Points<X> {
        Array::from_fn(f)
    }
    /// Shape function `N_b(xi)`.
    fn shape<T: Real>(b: usize, xi: [T; 3]) -> T;
    /// Its gradient `dN_b/dxi`.
    fn shape_gradient<T: Real>(b: usize, xi: [T; 3]) -> [T; 3];
}

/// A loop over the numbers below `n`, or over the points of a rule, that may be unrolled or not: kernels that run once in
/// a solution are not worth the text.
macro_rules! in_steps {
    ($unrolls:expr, $i:ident in 0..$n:expr, $body:block) => {
        if const { $unrolls } {
            for $i in 0..$n $body
        } else {
            let mut next = 0;
            while next < $n {
                let $i = next;
                $body
                next = cuda_std::opaque(next + 1);
            }
        }
    };
    ($unrolls:expr, ($xi:ident, $weight:pat) in $points:expr, $body:block) => {
        if const { $unrolls } {
            for &($xi, $weight) in $points $body
        } else {
            $crate::element::in_steps!(false, q in 0..$points.len(), {
                let ($xi, $weight) = $points[q];
                $body
            });
        }
    };
}
pub(crate) use in_steps;

/// What an element made of another, E, has of it: shape, codes of files, nodes and shape functions.
macro_rules! delegate_element {
    () => {
        const DOMAIN: Domain = E::DOMAIN;
        const GMSH: i32 = E::GMSH;
        const VTK: u8 = E::VTK;
        type Nodal<X: Copy> = E::Nodal<X>;
        const NODES: &'static [[f64; 3]] = E::NODES;
        type Points<X: Copy> = E::Points<X>;

        #[inline(always)]
        fn shape<T: Real>(b: usize, xi: [T; 3]) -> T {
            E::shape(b, xi)
        }

        #[inline(always)]
        fn shape_gradient<T: Real>(b: usize, xi: [T; 3]) -> [T; 3] {
            E::shape_gradient(b, xi)
        }
    };
}
pub(crate) use delegate_element;

/// The array of `f(0), f(1), ..`, not unrolled.
#[inline(always)]
pub fn one_by_one<X: Copy, A: Array<X>>(n: usize, mut f: impl FnMut(usize) -> X) -> A {
    let first = f(0);
    let mut all = A::from_fn(|_| first);
    in_steps!(false, b in 0..n, {
        all[b] = f(b);
    });
    all
}

/// Barycentric coordinate `b` of a simplex of `dim` dimensions: `1 - xi - ..` for 0, else `xi_(b-1)`. By selection:
/// indexing by a `b` that is known only at run time would put `xi` in local memory.
#[inline(always)]
fn barycentric<T: Real>(dim: usize, b: usize, xi: [T; 3]) -> T {
    let mut chosen = T::ONE;
    for i in 0..dim {
        chosen -= xi[i];
    }
    for i in 0..dim {
        if b == i + 1 {
            chosen = xi[i];
        }
    }
    chosen
}

/// Its gradient.
#[inline(always)]
fn barycentric_gradient<T: Real>(dim: usize, b: usize) -> [T; 3] {
    let slope = |i: usize| {
        if b == 0 {
            -T::ONE
        } else if b == i + 1 {
            T::ONE
        } else {
            T::ZERO
        }
    };
    core::array::from_fn(|i| if i < dim { slope(i) } else { T::ZERO })
}

/// The nodes of a quadratic element: corners, then the middles of edges.
const fn with_middles<const N: usize>(corners: &[[f64; 3]], edges: &[[usize; 2]]) -> [[f64; 3]; N] {
    let mut nodes = [[0.0; 3]; N];
    let mut k = 0;
    while k < 3 * N {
        let (b, c) = (k / 3, k % 3);
        let [i, j] = if b < corners.len() { [b, b] } else { edges[b - corners.len()] };
        nodes[b][c] = 0.5 * (corners[i][c] + corners[j][c]);
        k += 1;
    }
    nodes
}

/// How an element maps its reference to space at a point.
#[derive(Clone, Copy)]
pub struct Mapping<T: Real> {
    /// `J^-T`.
    pub inverse: [[T; 3]; 3],
    /// `det(dx/dxi)`, positive for a well-oriented element; of a body of revolution times `2 pi r`.
    pub det_j: T,
    /// Of a body of revolution `1 / r`.
    pub per_radius: T,
}

impl<T: Real> Mapping<T> {
    /// At `xi` for nodes at `x`: `J = sum_b x_b (dN_b/dxi)^T`.
    #[inline(always)]
    pub fn at<E: Element>(x: &E::Nodal<[T; 3]>, xi: [T; 3]) -> Self {
        Self::of_jacobian::<E>(jacobian::<E, T>(x, |b| E::shape_gradient(b, xi)), radius::<E, T>(|b| x[b][0], xi))
    }

    /// From the Jacobian, and the radius of a body of revolution.
    #[inline(always)]
    pub fn of_jacobian<E: Element>(jac: [[T; 3]; 3], radius: T) -> Self {
        let (inverse, det_j) = invert(E::DIM, jac);
        match E::REVOLVED {
            false => Mapping { inverse, det_j, per_radius: T::ZERO },
            true => {
                let around = T::from_f64(2.0 * core::f64::consts::PI) * radius;
                Mapping { inverse, det_j: around * det_j, per_radius: T::ONE / radius }
            }
        }
    }

    /// See [`gradient`].
    #[inline(always)]
    pub fn gradient<E: Element>(&self, b: usize, xi: [T; 3]) -> [T; 3] {
        gradient::<E, T>(self.inverse, self.per_radius, b, xi)
    }
}

/// `r = sum_b N_b r_b` of a body of revolution, 0 of others.
#[inline(always)]
pub fn radius<E: Element, T: Real>(r: impl Fn(usize) -> T, xi: [T; 3]) -> T {
    let mut radius = T::ZERO;
    if const { E::REVOLVED } {
        for b in 0..E::N {
            radius = fma(E::shape(b, xi), r(b), radius);
        }
    }
    radius
}

/// The gradient of node b in space, `J^-T dN_b/dxi`; of a body of revolution its third component is `N_b / r`.
#[inline(always)]
pub fn gradient<E: Element, T: Real>(inverse: [[T; 3]; 3], per_radius: T, b: usize, xi: [T; 3]) -> [T; 3] {
    with_hoop::<E, T>(transform(E::DIM, inverse, E::shape_gradient(b, xi)), per_radius, b, xi)
}

/// `N_b / r` as the third component of a gradient in a body of revolution.
#[inline(always)]
fn with_hoop<E: Element, T: Real>(mut gradient: [T; 3], per_radius: T, b: usize, xi: [T; 3]) -> [T; 3] {
    if const { E::REVOLVED } {
        gradient[2] = E::shape(b, xi) * per_radius;
    }
    gradient
}

/// Gradients in space and the Jacobian's determinant at one point of one element.
#[derive(Clone, Copy)]
pub struct Gradients<E: Element, T: Real> {
    /// `dN_b/dx`, one per node; see [`gradient`].
    pub dn_dx: E::Nodal<[T; 3]>,
    /// See [`Mapping::det_j`].
    pub det_j: T,
}

/// Evaluates [`Gradients`] at `xi` for nodes at `x`.
#[inline(always)]
pub fn gradients<E: Element, T: Real>(x: &E::Nodal<[T; 3]>, xi: [f64; 3]) -> Gradients<E, T> {
    let xi = xi.map(T::from_f64);
    let dn = E::nodal(|b| E::shape_gradient(b, xi));
    let at = Mapping::of_jacobian::<E>(jacobian::<E, T>(x, |b| dn[b]), radius::<E, T>(|b| x[b][0], xi));
    Gradients {
        dn_dx: E::nodal(|b| with_hoop::<E, T>(transform(E::DIM, at.inverse, dn[b]), at.per_radius, b, xi)),
        det_j: at.det_j,
    }
}

/// `J[i][j] = dx_i/dxi_j = sum_b x_b (dN_b/dxi)^T` from the nodes' coordinates and the shape functions' gradients.
#[inline(always)]
pub fn jacobian<E: Element, T: Real>(x: &E::Nodal<[T; 3]>, dn: impl Fn(usize) -> [T; 3]) -> [[T; 3]; 3] {
    let mut jac = [[T::ZERO; 3]; 3];
    in_steps!(E::UNROLLS, b in 0..E::N, {
        add_outer(E::DIM, &mut jac, x[b], dn(b));
    });
    jac
}

/// `J^-T` and `det J` of the leading `dim x dim` block; the rest is 0.
#[inline(always)]
pub fn invert<T: Real>(dim: usize, jac: [[T; 3]; 3]) -> ([[T; 3]; 3], T) {
    let [r, s, t] = jac;
    let o = T::ZERO;
    // J^-T is the cofactor matrix over the determinant.
    let (cof, det_j) = if dim == 2 {
        ([[s[1], -s[0], o], [-r[1], r[0], o], [o; 3]], r[0] * s[1] - r[1] * s[0])
    } else {
        let cof = [cross(s, t), cross(t, r), cross(r, s)];
        (cof, dot3(r, cof[0]))
    };
    let inverse = T::ONE / det_j;
    (cof.map(|row| row.map(|c| inverse * c)), det_j)
}

/// `J^-T g` over the first `dim` components.
#[inline(always)]
pub fn transform<T: Real>(dim: usize, inverse: [[T; 3]; 3], g: [T; 3]) -> [T; 3] {
    if dim == 2 {
        let row = |i: usize| fma(inverse[i][0], g[0], inverse[i][1] * g[1]);
        [row(0), row(1), T::ZERO]
    } else {
        inverse.map(|row| dot3(row, g))
    }
}

#[inline(always)]
fn cross<T: Real>(a: [T; 3], b: [T; 3]) -> [T; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

#[cfg(test)]
mod tests;
