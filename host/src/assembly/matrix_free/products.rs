//! Launches of the products of the patches of one element type.

use super::{Formulas, MatrixFree, on_cpu};
use crate::device::MOST_SHARED;
use crate::device::widest::{Work, widest};
use crate::linalg::Space;
use crate::model::Physics;
use crate::result::Result;
use cuda_std::prelude::View;
use kernels_rs::form::Elasticity;
use kernels_rs::matrix_free::fixed::{
    FixedPatchProduct, FixedPatchProductSingle, Hex20PatchProduct, Hex20PatchProductSingle, MediumPatchProductSingle,
    SEVERAL, SeveralPatchProductsSingle, SmallPatchProduct, SmallPatchProductSingle, SmallSeveralPatchProductsSingle,
    WidePatchProduct, WideSeveralPatchProductsSingle, fixed_products, vectors_at_once,
};
use kernels_rs::matrix_free::product::{AllSums, GeneralPatchProduct, PatchProduct, products};
use kernels_rs::matrix_free::{
    CurvedTet10, FixedCell, LinearTet4, Operator, Plane, Ring, SerendipityHex20, Solid, StraightTet10, Sums,
    TrilinearHex8,
};
use kernels_rs::real::{Real, Stored};
use kernels_rs::vectors::Vectors;
use std::marker::PhantomData;
use std::ops::Range;

/// [`fixed_products`] in wide vectors.
struct FixedProducts<'a, C, T: Real> {
    patches: Range<usize>,
    memory: &'a mut [u128],
    operator: Operator<T>,
    x: View<T>,
    to: Sums<T>,
    of: PhantomData<C>,
}

impl<C: FixedCell, T: Real> Work for FixedProducts<'_, C, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        // SAFETY: views of a mesh, of its patches and of vectors of its nodes, which live; each sum is written by one patch,
        // to a place of its own, and the memory is enough for the largest.
        unsafe { fixed_products::<C, T>(self.patches, self.memory, self.operator, self.x, self.to) }
    }
}

impl<T: Real> MatrixFree<T> {
    /// The products of the patches of one element type.
    pub(super) fn multiply(&self, space: &Space, i: usize, x: View<T>, to: Sums<T>) -> Result<()> {
        if space.on_host() && self.by_formulas_on_cpu(i, x, to) {
            return Ok(());
        }
        let (list, operator) = (&self.patches.lists[i], self.operator(i));
        let (grid, dim) = (list.grid::<T>([1, 1]), self.mesh.blocks[i].cells.kind.info().dim);
        macro_rules! run {
            ($Kernel:ident, $E:ident, $P:ident) => {{
                if space.on_host() {
                    // SAFETY: views of this mesh, of its patches and of vectors of its nodes, which live; each sum is
                    // written by one patch, to a place of its own.
                    on_cpu(grid, list, &|patches, memory| unsafe {
                        products::<$E, $P, T>(patches, memory, operator, x, to)
                    });
                    return Ok(());
                }
                run!($Kernel::<$E, $P, T>)
            }};
            ($Double:ident or $Single:ident, $C:ident) => {
                if T::NAME == f64::NAME { run!($Double::<$C, T>) } else { run!($Single::<$C, T>) }
            };
            // SAFETY: as above.
            ($($Kernel:tt)+) => { unsafe { space.launch(grid, $($Kernel)+::new(operator, x, to)) } };
        }
        match self.formulas[i] {
            Formulas::LinearTet4 => run!(WidePatchProduct::<LinearTet4, T>),
            Formulas::StraightTet10 => run!(SmallPatchProduct or SmallPatchProductSingle, StraightTet10),
            Formulas::CurvedTet10 => run!(FixedPatchProduct or MediumPatchProductSingle, CurvedTet10),
            Formulas::TrilinearHex8 => run!(FixedPatchProduct or FixedPatchProductSingle, TrilinearHex8),
            Formulas::SerendipityHex20 if T::NAME == f64::NAME => run!(Hex20PatchProduct::<T>),
            Formulas::SerendipityHex20 => run!(Hex20PatchProductSingle::<T>),
            Formulas::Isotropic if dim == 2 => run!(PatchProduct, Plane, Elasticity),
            Formulas::Isotropic => run!(PatchProduct, Solid, Elasticity),
            Formulas::General => with_general!(self.mesh, dim, E, P => run!(GeneralPatchProduct, E, P)),
        }
    }

    /// The products of the patches of one element type with several vectors; false, and nothing done, where there is no
    /// faster way than one after the other.
    pub(super) fn multiply_several(
        &self,
        space: &Space,
        i: usize,
        x: Vectors<T, SEVERAL>,
        to: AllSums<T, SEVERAL>,
    ) -> Result<bool> {
        let (list, operator) = (&self.patches.lists[i], self.operator(i));
        macro_rules! run {
            ($Kernel:ident, $C:ident, $at_once:literal) => {{
                let grid = list.grid::<T>(vectors_at_once::<$at_once, SEVERAL>());
                if grid.shared_bytes > MOST_SHARED {
                    return Ok(false);
                }
                // SAFETY: as in `multiply`, of each vector.
                unsafe { space.launch(grid, $Kernel::<$C, T>::new(operator, x, to)) }?;
            }};
        }
        // In double precision what vectors have in common is too little: they would gain 6 to 25 %.
        match self.formulas[i] {
            _ if T::NAME == f64::NAME || space.on_host() => return Ok(false),
            Formulas::TrilinearHex8 => run!(SeveralPatchProductsSingle, TrilinearHex8, 2),
            Formulas::StraightTet10 => run!(SmallSeveralPatchProductsSingle, StraightTet10, 1),
            Formulas::LinearTet4 => run!(WideSeveralPatchProductsSingle, LinearTet4, 2),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The products on a CPU of the patches of one element type, if there are formulas for it.
    fn by_formulas_on_cpu(&self, i: usize, x: View<T>, to: Sums<T>) -> bool {
        let (list, operator) = (&self.patches.lists[i], self.operator(i));
        macro_rules! run {
            ($C:ident) => {
                on_cpu(list.grid::<T>([1, 1]), list, &|patches, memory| {
                    widest(FixedProducts::<$C, T> { patches, memory, operator, x, to, of: PhantomData });
                })
            };
        }
        match self.formulas[i] {
            Formulas::LinearTet4 => run!(LinearTet4),
            Formulas::StraightTet10 => run!(StraightTet10),
            Formulas::CurvedTet10 => run!(CurvedTet10),
            Formulas::TrilinearHex8 => run!(TrilinearHex8),
            Formulas::SerendipityHex20 => run!(SerendipityHex20),
            Formulas::Isotropic | Formulas::General => return false,
        }
        true
    }
}
