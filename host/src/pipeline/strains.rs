//! How a body strains under an iterate: what its error is judged by beside vectors.

use super::loaded::{Loaded, Loading};
use crate::assembly::DeviceSupports;
use crate::device::Buffer;
use crate::linalg::{Quotient, Space};
use crate::result::Result;
use crate::solve::energy::Body;
use crate::sparse::Coupling;
use crate::stress;
use kernels_rs::assembly::supports::TotalDisplacement;
use kernels_rs::real::Real;
use std::cell::OnceCell;

/// How a body strains.
pub(super) struct Strains<'a, T: Real> {
    space: &'a Space,
    body: &'a Loaded,
    loading: &'a Loading,
    coupling: Option<&'a Coupling<T>>,
    loaded: OnceCell<OnDevice>,
}

/// Supports and loads on the device.
struct OnDevice {
    held: DeviceSupports,
    applied: Buffer<f64>,
}

impl<'a, T: Real> Strains<'a, T> {
    pub(super) fn new(
        space: &'a Space,
        body: &'a Loaded,
        loading: &'a Loading,
        coupling: Option<&'a Coupling<T>>,
    ) -> Self {
        Strains { space, body, loading, coupling, loaded: OnceCell::new() }
    }

    /// v as it is, or with what is prescribed, in double.
    fn displacement(&self, v: &Buffer<T>, total: bool) -> Result<Buffer<f64>> {
        let couplings = self.body.couplings.as_ref();
        let prescribed = self.space.upload(if total { &self.body.supports.prescribed[..] } else { &[] })?;
        let nothing = self.space.upload::<f64>(&[])?;
        let mut w = self.space.zeros(v.len())?;
        // Slaves follow v, not what is prescribed, which is added after that.
        let at_once = if couplings.is_some() { &nothing } else { &prescribed };
        let kernel = TotalDisplacement { v: v.view(), prescribed: at_once.view(), w: w.view_mut() };
        // SAFETY: all live until `finish`, and have the body's unknowns.
        unsafe { self.space.run(v.len(), kernel) }?;
        self.body.expand(self.space, &mut w)?;
        self.body.ghosts.as_ref().map_or(Ok(()), |ghosts| ghosts.fill(self.space, &mut w))?;
        if couplings.is_some() && total {
            self.space.axpy(Quotient::ONE, &prescribed, &mut w)?;
        }
        self.space.finish()?;
        Ok(w)
    }

    /// Supports and loads on the device.
    fn loads(&self) -> Result<&OnDevice> {
        if let Some(loads) = self.loaded.get() {
            return Ok(loads);
        }
        let held = self.body.supports.upload(self.space)?;
        let loads = OnDevice { held, applied: self.space.upload(&self.loading.loads.all)? };
        Ok(self.loaded.get_or_init(|| loads))
    }
}

impl<T: Real> Body<T> for Strains<'_, T> {
    fn strain_energies(&self, v: &Buffer<T>, total: bool) -> Result<Vec<f64>> {
        let Some((of_cells, _)) = &self.body.parts.several else { return Ok(Vec::new()) };
        let mesh = &self.body.mesh;
        let cells = stress::cell_energies(self.space, mesh, &self.displacement(v, total)?)?;
        let mut energies = vec![0.0; self.body.parts.layout.part.len()];
        for (block, cells) in mesh.blocks.iter().zip(cells) {
            for (group, energy) in of_cells[block.cells.index].iter().zip(cells) {
                // Cells that another rank counts are of no group.
                if let Some(sum) = energies.get_mut(*group as usize) {
                    *sum += energy;
                }
            }
        }
        self.space.add_ranks(&mut energies)?;
        Ok(energies)
    }

    fn residual(&self, v: &Buffer<T>, r: &mut Buffer<T>) -> Result<()> {
        let forces = self.body.mesh.internal_force(self.space, &self.displacement(v, true)?, None)?;
        let OnDevice { held, applied } = self.loads()?;
        held.free(self.space, applied, &forces, r)?;
        self.coupling.map_or(Ok(()), |coupling| coupling.restrict(self.space, r))?;
        self.space.finish()
    }
}
