//! The equations of a model by themselves, for right-hand sides and stiffnesses that no case file has: what derivatives and
//! optimisation need.

use super::{Phase, System, Timings};
use crate::linalg::Space;
use crate::model::Model;
use crate::parallel;
use crate::result::choices::Preconditioner;
use crate::result::{Outcome, Plan, Result};
use crate::solve::energy::Equations;
use crate::solve::{CgOptions, Iteration, Monitor, Silent, iteration};
use crate::sparse::{Coupled, Sparsity};
use crate::stress;

/// K of a model on a device, its supports eliminated, in double precision. Vectors are in the mesh's numbering,
/// `[n_nodes][components]` flat.
pub struct LinearSystem {
    iteration: Option<Box<dyn Iteration<f64>>>,
    system: System<f64>,
    model: Model,
    space: Space,
}

/// The blocks of a matrix in the mesh's numbering: row `i` has those from `row_start[i]` to `row_start[i + 1]`.
pub struct BlockMatrix {
    /// Rows of a block.
    pub size: usize,
    /// `[n_rows + 1]`.
    pub row_start: Vec<u64>,
    /// Columns, ascending in each row, `[n_blocks]`.
    pub columns: Vec<u32>,
    /// `[n_blocks][size][size]`, flat.
    pub values: Vec<f64>,
}

impl LinearSystem {
    /// Assembles a model; of several load cases it has the loads of the first.
    ///
    /// # Errors
    ///
    /// Those of assembly.
    pub fn new(space: Space, model: Model) -> Result<Self> {
        let system = assembled(&space, &model)?;
        Ok(LinearSystem { iteration: None, system, model, space })
    }

    /// Components of a node.
    pub fn components(&self) -> usize {
        self.system.body.supports.components
    }

    /// Number of rows.
    pub fn n(&self) -> usize {
        self.system.f.len()
    }

    /// The device's name.
    pub fn device(&self) -> String {
        self.space.name()
    }

    /// The right-hand side of the loads and of prescribed values; 0 where these are.
    pub fn load(&self) -> Result<Vec<f64>> {
        let f = self.space.download(&self.system.f)?;
        Ok(self.to_mesh(&f))
    }

    /// `K u`.
    pub fn apply(&self, u: &[f64]) -> Result<Vec<f64>> {
        let x = self.space.upload_vec(self.to_solver(u))?;
        let mut y = self.space.zeros(x.len())?;
        self.coupled().operator().apply(&self.space, &x, &mut y)?;
        Ok(self.to_mesh(&self.space.take(y)?))
    }

    /// `K^-1 f` by conjugate gradients with multigrid; f counts where nothing is held, and there alone is the solution not 0.
    /// Without f the displacement under the load, prescribed values among it. Tolerances are on the residual.
    pub fn solve(
        &mut self,
        f: Option<&[f64]>,
        options: CgOptions,
        monitor: &dyn Monitor,
    ) -> Result<(Vec<f64>, Outcome)> {
        if self.iteration.is_none() {
            let (context, matrix) = (self.system.body.context(self.model.solver.order), self.system.matrix());
            let by = self.model.solver.preconditioner.unwrap_or(Preconditioner::Amg);
            self.iteration = Some(iteration::plain(by, &context, &self.space, matrix)?);
        }
        let Some(iteration) = &self.iteration else { unreachable!("it has been made") };
        let given = f.map(|f| {
            let mut f = self.to_solver(f);
            self.system.body.free(&mut f);
            self.space.upload_vec(f)
        });
        let (given, coupled) = (given.transpose()?, self.coupled());
        let equations = Equations::new(coupled.operator(), given.as_ref().unwrap_or(&self.system.f));
        let mut v = self.space.zeros(self.n())?;
        let outcome = iteration.solve(&self.space, &equations, &mut v, options, monitor)?;
        let (mut u, supports) = (self.system.displacements(&self.space, v)?, &self.system.body.supports);
        if f.is_none() {
            let prescribed = supports.with_motion(&supports.prescribed);
            u.iter_mut().zip(prescribed).for_each(|(u, prescribed)| *u += prescribed);
        }
        Ok((self.to_mesh(&u), outcome))
    }

    /// `u . K_e u` of each element, in the order of the mesh's solids.
    pub fn energies(&self, u: &[f64]) -> Result<Vec<f64>> {
        let (mesh, u) = (&self.system.body.mesh, self.space.upload_vec(self.to_solver(u))?);
        let mut of_blocks = vec![Vec::new(); self.model.mesh.cells.len()];
        for (block, energies) in mesh.blocks.iter().zip(stress::cell_energies(&self.space, mesh, &u)?) {
            of_blocks[block.cells.index] = energies;
        }
        Ok(of_blocks.concat())
    }

    /// Makes each element so many times as stiff as its material; in the order of the mesh's solids. Loads stay.
    pub fn scale(&mut self, factors: &[f64]) -> Result<()> {
        let is_assembled_so = !self.model.cell_factors.is_empty();
        self.model.cell_factors = vec![Vec::new(); self.model.mesh.cells.len()];
        let mut rest = factors;
        for (block, cells) in self.model.mesh.solids() {
            let (own, others) = rest.split_at(cells.len());
            self.model.cell_factors[block] = own.to_vec();
            rest = others;
        }
        self.iteration = None;
        if is_assembled_so {
            return self.system.set_materials(&self.space, &self.model);
        }
        self.system = assembled(&self.space, &self.model)?;
        Ok(())
    }

    /// Number of elements.
    pub fn n_elements(&self) -> usize {
        self.model.mesh.n_solids()
    }

    /// K, with 0 in rows and columns of held components, but for their diagonal; of what couplings leave free.
    pub fn matrix(&self) -> Result<BlockMatrix> {
        let (space, size) = (&self.space, self.components());
        let (pattern, values) =
            self.system.on_reduced(space, |matrix| Ok((matrix.pattern().download(space)?, matrix.blocks(space)?)))?;
        Ok(self.renumbered(size, &pattern, &values))
    }

    /// Blocks in the mesh's numbering.
    fn renumbered(&self, size: usize, pattern: &Sparsity, values: &[f64]) -> BlockMatrix {
        let (numbering, block) = (&self.system.body.numbering, size * size);
        let mut row_start = vec![0];
        let (mut columns, mut sorted) = (Vec::new(), Vec::with_capacity(values.len()));
        for row in &numbering.to_solver {
            let first = pattern.row_start[*row as usize] as usize;
            let own = pattern.row(*row as usize).iter().map(|column| numbering.to_mesh[*column as usize]);
            let mut own: Vec<(u32, usize)> = own.zip(first..).collect();
            own.sort_unstable();
            columns.extend(own.iter().map(|(column, _)| *column));
            own.iter().for_each(|(_, k)| sorted.extend_from_slice(&values[k * block..(k + 1) * block]));
            row_start.push(columns.len() as u64);
        }
        BlockMatrix { size, row_start, columns, values: sorted }
    }

    fn coupled(&self) -> Coupled<'_, f64> {
        Coupled::new(self.system.operator.product(), self.system.coupling.as_deref())
    }

    fn to_mesh(&self, values: &[f64]) -> Vec<f64> {
        self.in_order(values, &self.system.body.numbering.to_solver)
    }

    fn to_solver(&self, values: &[f64]) -> Vec<f64> {
        self.in_order(values, &self.system.body.numbering.to_mesh)
    }

    /// The values of these nodes.
    fn in_order<T: Copy + Send + Sync>(&self, values: &[T], nodes: &[u32]) -> Vec<T> {
        let size = self.components();
        assert_eq!(values.len(), self.n(), "a vector of another model");
        parallel::map_indices(values.len(), &|k| values[nodes[k / size] as usize * size + k % size])
    }
}

fn assembled(space: &Space, model: &Model) -> Result<System<f64>> {
    let plan = Plan::plain(model, space.on_host());
    System::assemble(space, model, &plan, &mut Phase::begin(&Silent, "setup"), &mut Timings::default())
}
