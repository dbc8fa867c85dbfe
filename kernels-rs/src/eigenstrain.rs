//! Thermal strain, `eps_th = alpha (T - T_0)`: the strain that a cell takes without stress, `sigma = D (eps - eps_th)`.

use crate::assembly::MeshView;
use crate::element::*;
use crate::form::Constitutive;
use crate::real::fma;
use cuda_std::prelude::*;

/// What thermal strains of a mesh are made of; without `per_degree` there are none.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Eigenstrain {
    /// Strain per degree in global axes, for each set of constants: `[n_sets]`, in the order xx, yy, zz, xy, yz, xz with
    /// engineering shears.
    pub per_degree: View<[f64; 6]>,
    /// Temperatures less the reference at the nodes, `[n_nodes]`.
    pub nodal: View<f64>,
    /// Those of the cells that have one of their own, NaN of others, `[n_cells]`; empty if no cell has.
    pub of_cells: View<f64>,
}

impl Eigenstrain {
    /// No thermal strain.
    pub const NONE: Eigenstrain = Eigenstrain {
        per_degree: View::from_slice(&[]),
        nodal: View::from_slice(&[]),
        of_cells: View::from_slice(&[]),
    };

    /// The temperature less the reference at a point of a cell: the cell's own, or else `sum_b N_b T_b`.
    #[inline(always)]
    unsafe fn temperature<E: Element>(self, cell: usize, nodes: &E::Nodal<usize>, xi: [f64; 3]) -> f64 {
        if !self.of_cells.is_empty() {
            let own = self.of_cells.at(cell);
            if !own.is_nan() {
                return own;
            }
        }
        let mut sum = 0.0;
        in_steps!(false, b in 0..E::N, {
            sum = fma(E::shape(b, xi), self.nodal.at(nodes[b]), sum);
        });
        sum
    }

    /// The part of a strain that makes stress: all of it without thermal strain.
    #[inline(always)]
    pub unsafe fn elastic<E: Element, P: Constitutive>(
        self,
        mesh: MeshView,
        cell: usize,
        nodes: &E::Nodal<usize>,
        xi: [f64; 3],
        strain: P::Strain,
    ) -> P::Strain {
        if self.per_degree.is_empty() {
            return strain;
        }
        let temperature = self.temperature::<E>(cell, nodes, xi);
        P::less(strain, self.per_degree.at(mesh.material.at(cell) as usize), temperature)
    }
}
