//! Cells with [incompatible modes](crate::element::Incompatible), condensed one by one: no node knows the modes, so their
//! amplitudes follow from the displacements, `alpha = -K_mm^-1 (K_mu u - f_m)`, and the stiffness of a cell is
//!
//! `K_uu - K_um K_mm^-1 K_mu = K_uu - C^T C`, with `K_mm = L L^T` and `C = L^-1 K_mu`.
//!
//! `K_uu` is that of the element without modes, and assembled as there; what is here takes `C^T C` off. It is no sum over
//! pairs of nodes: every block of a cell depends on all of its nodes.

use super::{Destination, MeshView};
use crate::eigenstrain::Eigenstrain;
use crate::element::*;
use crate::form::{Constitutive, Form, General};
use crate::real::{Real, fma};
use crate::stress::{Deformation, Displacements, deformation};
use cuda_std::prelude::*;

/// The modes of a cell.
const MODES: usize = 3;
/// Their amplitudes.
const M: usize = 3 * MODES;

type Block = [[f64; 3]; 3];

/// `L` of `K_mm = L L^T`, in the lower triangle.
type Factor = [[f64; M]; M];

/// Cholesky's decomposition of the lower triangle.
#[inline(always)]
fn factor(a: &mut Factor) {
    in_steps!(false, j in 0..M, {
        in_steps!(false, below in 0..(M - j), {
            let i = j + below;
            let mut sum = a[i][j];
            in_steps!(false, k in 0..j, {
                sum = fma(-a[i][k], a[j][k], sum);
            });
            a[i][j] = if i == j { sum.sqrt() } else { sum / a[j][j] };
        });
    });
}

/// `L^-1 b`.
#[inline(always)]
fn forward(l: &Factor, b: &mut [f64; M]) {
    in_steps!(false, i in 0..M, {
        let mut sum = b[i];
        in_steps!(false, k in 0..i, {
            sum = fma(-l[i][k], b[k], sum);
        });
        b[i] = sum / l[i][i];
    });
}

/// `L^-T b`.
#[inline(always)]
fn backward(l: &Factor, b: &mut [f64; M]) {
    in_steps!(false, step in 0..M, {
        let i = M - 1 - step;
        let mut sum = b[i];
        in_steps!(false, below in 0..step, {
            let k = i + 1 + below;
            sum = fma(-l[k][i], b[k], sum);
        });
        b[i] = sum / l[i][i];
    });
}

/// The sums over the points that a cell's blocks are made of, [`General::block`] of each: of every mode with every node, and
/// with every mode.
struct Products<E: Element> {
    nodes: [E::Nodal<Block>; MODES],
    modes: [[Block; MODES]; MODES],
}

impl<E: Element> Products<E> {
    #[inline(always)]
    fn of(x: &E::Nodal<[f64; 3]>) -> Self {
        let zero = General::zero::<f64>();
        let mut sums: Self = Products { nodes: [E::nodal(|_| zero); MODES], modes: [[zero; MODES]; MODES] };
        let centre = Mapping::at::<E>(x, E::CENTROID);
        in_steps!(false, (xi, weight) in E::QUADRATURE, {
            let at = gradients::<E, f64>(x, xi);
            let modes = mode_gradients::<E>(&centre, at.det_j, xi);
            in_steps!(false, m in 0..MODES, {
                let g = modes[m].map(|g| weight * at.det_j * g);
                in_steps!(false, b in 0..E::N, {
                    General::add::<E, f64>(&mut sums.nodes[m][b], g, at.dn_dx[b]);
                });
                in_steps!(false, n in 0..MODES, {
                    General::add::<E, f64>(&mut sums.modes[m][n], g, modes[n]);
                });
            });
        });
        sums
    }

    /// `L`.
    #[inline(always)]
    fn factor(&self, d: [f64; 21]) -> Factor {
        let mut matrix = [[0.0; M]; M];
        in_steps!(false, m in 0..MODES, {
            in_steps!(false, n in 0..(m + 1), {
                let block = General::block::<E, f64>(self.modes[m][n], d);
                for i in 0..3 {
                    for j in 0..3 {
                        matrix[3 * m + i][3 * n + j] = block[i][j];
                    }
                }
            });
        });
        factor(&mut matrix);
        matrix
    }
}

/// Computes: `C = L^-1 K_mu` of each cell.
///
/// Parameters: `condensed [n_cells][N][3]`, blocks of 3 x 3: amplitudes of a mode by components of a node. Thread mapping: an
/// item per cell. Memory moved: the nodes and constants of a cell, 1,728 B written. Operations: 20,000 a cell.
#[kernel(items)]
pub unsafe fn condense(cell: usize, mesh: MeshView, condensed: ViewMut<[[f64; 3]; 3]>) {
    let (_, x) = mesh.gather::<Hex8, f64>(cell);
    let d = mesh.cell_constants::<General, f64>(cell);
    let products = Products::<Hex8>::of(&x);
    let l = products.factor(d);
    in_steps!(false, b in 0..Hex8::N, {
        // Column by column: M amplitudes of each of a node's components.
        let mut columns = [[0.0; M]; 3];
        in_steps!(false, m in 0..MODES, {
            let block = General::block::<Hex8, f64>(products.nodes[m][b], d);
            for i in 0..3 {
                for j in 0..3 {
                    columns[j][3 * m + i] = block[i][j];
                }
            }
        });
        in_steps!(false, j in 0..3, {
            forward(&l, &mut columns[j]);
        });
        in_steps!(false, m in 0..MODES, {
            let block = core::array::from_fn(|i| core::array::from_fn(|j| columns[j][3 * m + i]));
            condensed.set((cell * Hex8::N + b) * MODES + m, block);
        });
    });
}

/// Computes: takes `C_a^T C_b` of the cells around a node off its row of K.
///
/// Parameters: `condensed`, of [`condense`]; `to`, the matrix with the stiffness of these cells without modes. Thread mapping:
/// an item per node. Memory moved: `C` of a cell for each of its nodes, 1,728 B, and the row's values read and written once per cell
/// that shares its edge.
#[kernel(items, T = [f32, f64])]
pub unsafe fn take_off<T: Real>(row: usize, mesh: MeshView, condensed: View<[[f64; 3]; 3]>, to: Destination<T>) {
    let places = to.entries.row(row, 3);
    for pair in mesh.pairs(row) {
        let cell = mesh.cells.at(pair) as usize;
        let nodes = mesh.cell_nodes::<Hex8>(cell);
        let a = local_number(&nodes, Hex8::N, row);
        let mode = |b: usize, m: usize| condensed.at((cell * Hex8::N + b) * MODES + m);
        let of_a: [Block; MODES] = core::array::from_fn(|m| mode(a, m));
        in_steps!(false, b in 0..Hex8::N, {
            let mut block = [[0.0; 3]; 3];
            for m in 0..MODES {
                let of_b = mode(b, m);
                for k in 0..3 {
                    for i in 0..3 {
                        for j in 0..3 {
                            block[i][j] = fma(of_a[m][k][i], of_b[k][j], block[i][j]);
                        }
                    }
                }
            }
            let start = to.start::<Hex8>(places, [cell, a, b]);
            for i in 0..3 {
                for j in 0..3 {
                    let place = start[i] + j * to.entries.column;
                    to.values.set(place, T::from_f64(to.values.at(place).to_f64() - block[i][j]));
                }
            }
        });
    }
}

/// Computes: the amplitudes of the modes of each cell, `alpha = -K_mm^-1 (K_mu u - f_m)`, from the stresses that it has
/// without them; with `f_m` of the thermal strains.
///
/// Parameters: `u [n_nodes][3]`; `amplitudes [n_cells]`, a vector for each mode. Thread mapping: an item per cell. Memory moved: as
/// [`crate::stress::sample`], 72 B written. Operations: 10,000 a cell.
#[kernel(items)]
pub unsafe fn find_amplitudes(
    cell: usize,
    mesh: MeshView,
    eigen: Eigenstrain,
    u: View<f64>,
    amplitudes: ViewMut<[[f64; 3]; 3]>,
) {
    let (nodes, x) = mesh.gather::<Hex8, f64>(cell);
    let d = mesh.cell_constants::<General, f64>(cell);
    let centre = Mapping::at::<Hex8>(&x, Hex8::CENTROID);
    let mut alpha = [0.0; M];
    in_steps!(false, (xi, weight) in Hex8::QUADRATURE, {
        let u = Displacements::of_nodes(u);
        let Deformation { h, mapping } = deformation::<Hex8, General>(cell, &nodes, &x, xi, u);
        let strain = eigen.elastic::<Hex8, General>(mesh, cell, &nodes, xi, General::strain::<Hex8>(h));
        let stress = General::stress(strain, d);
        let modes = mode_gradients::<Hex8>(&centre, mapping.det_j, xi);
        in_steps!(false, m in 0..MODES, {
            let force = General::force::<Hex8>(stress, modes[m]);
            for i in 0..3 {
                alpha[3 * m + i] -= weight * mapping.det_j * force[i];
            }
        });
    });
    let l = Products::<Hex8>::of(&x).factor(d);
    forward(&l, &mut alpha);
    backward(&l, &mut alpha);
    amplitudes.set(cell, core::array::from_fn(|m| core::array::from_fn(|i| alpha[3 * m + i])));
}
