//! Couplings of unknowns, `u = T u_m + g`, on a device: [`Constrained`] is `T^T K T` without a matrix of its own.
//!
//! T is the identity but for the rows of slaves. A product gathers slaves from their masters, multiplies by K, and gathers
//! what masters have of their slaves; rows of slaves are 0 in the result, and what vectors have there does not count. Sums of
//! many unknowns that are 0 are projected out instead, before slaves follow their masters: [`ZeroSums`].

use super::products::Epilogue;
use super::sums::{Lists, SparseSums};
use super::{LinOp, ZeroSums};
use crate::device::{Buffer, running_sums};
use crate::linalg::Space;
use crate::result::Result;
use kernels_rs::coupling::NONE;
use kernels_rs::real::Real;
use kernels_rs::vectors::WIDTH;
use std::cell::RefCell;
use std::cmp::Reverse;
use std::slice;

/// Entries that one thread adds up, and one block of a GPU's threads; what is longer is cut into chunks.
const SHORT: usize = 64;
const CHUNK: usize = 4096;

/// A master of more slaves than this is a hub, which multigrid holds on coarse levels.
const MOST_FOLLOWERS: usize = 4096;
/// Hubs at most: each has a vector of its own.
const MOST_HUBS: usize = 24;

/// The rows of T that belong to slaves, on the host: each is `u_slave = sum factor u_master`. No master is a slave.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CoupledRows {
    /// Unknowns of the whole system.
    pub n: usize,
    /// The slaves, ascending.
    pub slaves: Vec<u32>,
    /// Entries before each row, `[n_slaves + 1]`.
    pub starts: Vec<u64>,
    /// Masters, ascending in each row.
    pub masters: Vec<u32>,
    /// Their factors.
    pub factors: Vec<f64>,
    /// Sums of unknowns, no slaves, that are 0.
    pub sums: Vec<ZeroSums>,
    /// Masters that many slaves follow, and the unknown that each follows on coarse levels: what is between them is left to
    /// the smoother.
    pub shut: Vec<[u32; 2]>,
    /// Masters that thousands of slaves follow, up to two dozen.
    pub hubs: Vec<u32>,
}

impl CoupledRows {
    /// From rows in any order: a slave, and its masters with their factors.
    pub fn new(n: usize, mut rows: Vec<(u32, Vec<(u32, f64)>)>) -> Self {
        rows.sort_unstable_by_key(|(slave, _)| *slave);
        rows.iter_mut().for_each(|(_, terms)| terms.sort_unstable_by_key(|(master, _)| *master));
        let starts = running_sums(rows.iter().map(|(_, terms)| terms.len() as u64));
        let entries = || rows.iter().flat_map(|(_, terms)| terms.iter().copied());
        let masters: Vec<u32> = entries().map(|entry| entry.0).collect();
        let factors = entries().map(|entry| entry.1).collect();
        let slaves = rows.iter().map(|row| row.0).collect();
        CoupledRows { n, slaves, starts, masters, factors, ..CoupledRows::default() }
    }

    /// Whether nothing is coupled.
    pub fn is_empty(&self) -> bool {
        self.slaves.is_empty() && self.sums.is_empty()
    }

    /// Each slave with its masters and factors.
    pub fn rows(&self) -> impl Iterator<Item = (usize, impl Iterator<Item = (usize, f64)> + '_)> + '_ {
        self.slaves.iter().enumerate().map(|(row, slave)| (*slave as usize, self.row(row)))
    }

    /// The masters and factors of a row.
    pub fn row(&self, row: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let places = self.starts[row] as usize..self.starts[row + 1] as usize;
        places.map(|k| (self.masters[k] as usize, self.factors[k]))
    }

    /// The row of each unknown, [`NONE`] of those that are no slaves, `[n]`.
    pub fn row_of(&self) -> Vec<u32> {
        let mut row_of = vec![NONE; self.n];
        self.slaves.iter().zip(0..).for_each(|(slave, row)| row_of[*slave as usize] = row);
        row_of
    }

    /// Unknowns that are not free on coarse levels, with those that they follow there; those of sums and hubs are held.
    pub fn bound(&self) -> impl Iterator<Item = (u32, Vec<(u32, f64)>)> + '_ {
        let pins = self.sums.iter().flat_map(|sums| &sums.pins).chain(&self.hubs).map(|pin| (*pin, Vec::new()));
        pins.chain(self.shut.iter().map(|[master, other]| (*master, vec![(*other, 1.0)])))
    }

    /// Whether an unknown is a slave, a master or in a sum, `[n]`.
    pub fn is_coupled(&self) -> Vec<bool> {
        let mut coupled = vec![false; self.n];
        let of_sums = self.sums.iter().flat_map(|sums| &sums.unknowns);
        self.slaves.iter().chain(&self.masters).chain(of_sums).for_each(|of| coupled[*of as usize] = true);
        coupled
    }

    /// `x = T x`.
    pub fn expand(&self, x: &mut [f64]) {
        self.sums.iter().for_each(|sums| sums.project(x));
        for (slave, masters) in self.rows() {
            x[slave] = masters.map(|(master, factor)| factor * x[master]).sum();
        }
    }

    /// `y = T^T y`.
    pub fn restrict(&self, y: &mut [f64]) {
        for (slave, masters) in self.rows() {
            let own = std::mem::take(&mut y[slave]);
            masters.for_each(|(master, factor)| y[master] += factor * own);
        }
        self.sums.iter().for_each(|sums| sums.project(y));
    }

    /// `S^-1 T S` for `S = D^-1/2`, from `D^-1`: the couplings of the scaled matrix `S K S`.
    pub fn scaled(&self, inverse: &[f64]) -> CoupledRows {
        let mut scaled = self.clone();
        for (row, slave) in self.slaves.iter().enumerate() {
            let own = inverse[*slave as usize].sqrt();
            for k in self.starts[row] as usize..self.starts[row + 1] as usize {
                let other = inverse[self.masters[k] as usize].sqrt();
                // A slave without stiffness of its own adds nothing to its masters.
                scaled.factors[k] = if own > 0.0 { self.factors[k] * other / own } else { 0.0 };
            }
        }
        scaled.sums.iter_mut().for_each(|sums| *sums = sums.scaled(|unknown| inverse[unknown].sqrt()));
        scaled
    }

    /// The columns of T as rows: what each master has of its slaves.
    fn transposed(&self) -> Lists {
        let followed = self.followed();
        let mut next = running_sums(followed.iter().map(|of| of.1 as u64));
        let n = self.masters.len();
        let mut lists = Lists {
            starts: next.clone(),
            columns: vec![0; n],
            factors: vec![0.0; n],
            targets: followed.iter().map(|of| of.0).collect(),
        };
        for (slave, masters) in self.rows() {
            for (master, factor) in masters {
                let next = &mut next[lists.targets.partition_point(|of| (*of as usize) < master)];
                (lists.columns[*next as usize], lists.factors[*next as usize]) = (slave as u32, factor);
                *next += 1;
            }
        }
        lists
    }

    /// The masters, ascending, and how many slaves follow each.
    fn followed(&self) -> Vec<(u32, usize)> {
        let mut masters = self.masters.clone();
        masters.sort_unstable();
        masters.chunk_by(|a, b| a == b).map(|same| (same[0], same.len())).collect()
    }

    /// The masters that thousands of slaves follow: see [`CoupledRows::hubs`].
    pub fn most_followed(&self) -> Vec<u32> {
        let mut hubs = self.followed();
        hubs.retain(|of| of.1 > MOST_FOLLOWERS);
        hubs.sort_by_key(|of| Reverse(of.1));
        hubs.into_iter().map(|of| of.0).take(MOST_HUBS).collect()
    }
}

/// A launch of some sums.
struct Step<T: Real> {
    sums: SparseSums<T>,
    kind: Kind,
}

/// What a launch does with its rows.
#[derive(Clone, Copy)]
struct Kind {
    is_long: bool,
    adds: bool,
    /// Whether it reads, and whether it writes, the partial sums instead of the vector.
    of_partials: [bool; 2],
}

/// Sums of entries of a vector that go into the same vector, long ones in parallel: see [`kernels_rs::coupling::GatherRows`].
struct Gather<T: Real> {
    steps: Vec<Step<T>>,
    partials: RefCell<Buffer<T>>,
}

impl<T: Real> Gather<T> {
    /// Of some rows; `cleared` entries become 0 afterwards.
    fn new(space: &Space, rows: Lists, adds: bool, cleared: &[u32]) -> Result<Self> {
        let (mut steps, mut n_partials) = (Vec::new(), 0u32);
        Gather::add_sums(space, rows, adds, false, (&mut steps, &mut n_partials))?;
        let mut zeros = Lists::empty();
        cleared.iter().for_each(|target| zeros.push(*target, std::iter::empty()));
        let kind = Kind { is_long: false, adds: false, of_partials: [false, false] };
        steps.extend(Step::new(space, zeros, kind)?);
        Ok(Gather { steps, partials: RefCell::new(space.zeros(n_partials as usize)?) })
    }

    /// Takes off what sums forbid: the sums, then `x -= Q^T Q x`.
    fn projector(space: &Space, of: &[ZeroSums]) -> Result<Self> {
        let (mut sums, mut taken) = (Lists::empty(), Lists::empty());
        for of in of {
            let first = sums.targets.len() as u32;
            let targets = first..first + of.basis.len() as u32;
            for (target, row) in targets.clone().zip(&of.basis) {
                sums.push(target, of.unknowns.iter().copied().zip(row.iter().copied()));
            }
            for (i, unknown) in of.unknowns.iter().enumerate() {
                taken.push(*unknown, targets.clone().zip(of.basis.iter().map(|row| -row[i])));
            }
        }
        let (mut steps, mut n_partials) = (Vec::new(), sums.targets.len() as u32);
        Gather::add_sums(space, sums, false, true, (&mut steps, &mut n_partials))?;
        let kind = Kind { is_long: false, adds: true, of_partials: [true, false] };
        steps.extend(Step::new(space, taken, kind)?);
        Ok(Gather { steps, partials: RefCell::new(space.zeros(n_partials as usize)?) })
    }

    /// Adds the steps of some rows, whose targets are places of the vector or of partial sums.
    fn add_sums(
        space: &Space,
        mut rows: Lists,
        adds: bool,
        to_partials: bool,
        (steps, n_partials): (&mut Vec<Step<T>>, &mut u32),
    ) -> Result<()> {
        let (mut from_partials, chunk) = (false, if space.on_host() { SHORT } else { CHUNK });
        while !rows.targets.is_empty() {
            let [mut short, mut long, mut chunks, mut more] = std::array::from_fn(|_| Lists::empty());
            for (row, target) in rows.targets.iter().enumerate() {
                let places = rows.starts[row] as usize..rows.starts[row + 1] as usize;
                if places.len() <= SHORT {
                    short.push(*target, rows.terms(places));
                } else if places.len() <= chunk {
                    long.push(*target, rows.terms(places));
                } else {
                    let first = *n_partials;
                    for start in places.clone().step_by(chunk) {
                        chunks.push(*n_partials, rows.terms(start..places.end.min(start + chunk)));
                        *n_partials += 1;
                    }
                    more.push(*target, (first..*n_partials).map(|partial| (partial, 1.0)));
                }
            }
            let kind = |is_long, adds, to| Kind { is_long, adds, of_partials: [from_partials, to] };
            steps.extend(Step::new(space, short, kind(false, adds, to_partials))?);
            steps.extend(Step::new(space, long, kind(true, adds, to_partials))?);
            steps.extend(Step::new(space, chunks, kind(true, false, true))?);
            (rows, from_partials) = (more, true);
        }
        Ok(())
    }

    fn apply(&self, space: &Space, x: &mut Buffer<T>) -> Result<()> {
        let partials = &mut *self.partials.borrow_mut();
        for Step { sums, kind } in &self.steps {
            let [from, to] = kind.of_partials;
            let source = if from { partials.view() } else { x.view() };
            let y = if to { partials.view_mut() } else { x.view_mut() };
            // SAFETY: all live; no target of a launch is a column of it, as no master is a slave and each level of
            // partial sums has places of its own.
            unsafe { sums.launch(space, kind.is_long, kind.adds, source, y) }?;
        }
        Ok(())
    }
}

impl<T: Real> Step<T> {
    /// None without rows.
    fn new(space: &Space, rows: Lists, kind: Kind) -> Result<Option<Self>> {
        if rows.targets.is_empty() { Ok(None) } else { Ok(Some(Step { sums: SparseSums::new(space, rows)?, kind })) }
    }
}

/// T on a device.
pub struct Coupling<T: Real> {
    expand: Gather<T>,
    restrict: Gather<T>,
    project: Gather<T>,
    scratch: RefCell<Vec<Buffer<T>>>,
}

impl<T: Real> Coupling<T> {
    /// Moves the rows of T to a device.
    pub fn new(space: &Space, rows: &CoupledRows) -> Result<Self> {
        let CoupledRows { n, slaves, starts, masters, factors, sums, .. } = rows.clone();
        let forward = Lists { starts, columns: masters, factors, targets: slaves };
        Ok(Coupling {
            expand: Gather::new(space, forward, false, &[])?,
            restrict: Gather::new(space, rows.transposed(), true, &rows.slaves)?,
            project: Gather::projector(space, &sums)?,
            scratch: RefCell::new(vec![space.zeros(n)?]),
        })
    }

    /// `x = T x`: slaves follow their masters.
    pub fn expand(&self, space: &Space, x: &mut Buffer<T>) -> Result<()> {
        self.project.apply(space, x)?;
        self.expand.apply(space, x)
    }

    /// `y = T^T y`: masters take over what slaves have, which is 0 then.
    pub fn restrict(&self, space: &Space, y: &mut Buffer<T>) -> Result<()> {
        self.restrict.apply(space, y)?;
        self.project.apply(space, y)
    }
}

/// `T^T K T` of an operator K.
pub struct Constrained<'a, T: Real> {
    /// K.
    pub operator: &'a dyn LinOp<T>,
    /// T.
    pub coupling: &'a Coupling<T>,
}

impl<T: Real> Constrained<'_, T> {
    /// `T x` of some vectors.
    fn expanded(&self, space: &Space, x: &[Buffer<T>], to: &mut Vec<Buffer<T>>) -> Result<()> {
        space.widen(to, self.operator.n(), x.len())?;
        x.iter().zip(to).try_for_each(|(x, to)| {
            space.copy(x, to)?;
            self.coupling.expand(space, to)
        })
    }
}

impl<T: Real> LinOp<T> for Constrained<'_, T> {
    fn n(&self) -> usize {
        self.operator.n()
    }

    fn apply(&self, space: &Space, x: &Buffer<T>, y: &mut Buffer<T>) -> Result<()> {
        self.apply_all(space, slice::from_ref(x), slice::from_mut(y))
    }

    unsafe fn apply_then(&self, space: &Space, x: &Buffer<T>, y: &mut Buffer<T>, epilogue: Epilogue<T>) -> Result<()> {
        if let Epilogue::Dot(_) = epilogue {
            let moved = &mut *self.coupling.scratch.borrow_mut();
            self.expanded(space, slice::from_ref(x), moved)?;
            // SAFETY: this is no step. `x . T^T K T x = T x . K T x`, which the product with K has in passing.
            unsafe { self.operator.apply_then(space, &moved[0], y, epilogue) }?;
            return self.coupling.restrict(space, y);
        }
        self.apply(space, x, y)?;
        // SAFETY: the caller's promise.
        unsafe { epilogue.after(space, x, y) }
    }

    fn apply_all(&self, space: &Space, x: &[Buffer<T>], y: &mut [Buffer<T>]) -> Result<()> {
        let moved = &mut *self.coupling.scratch.borrow_mut();
        for (x, y) in x.chunks(WIDTH).zip(y.chunks_mut(WIDTH)) {
            self.expanded(space, x, moved)?;
            self.operator.apply_all(space, &moved[..x.len()], y)?;
            y.iter_mut().try_for_each(|y| self.coupling.restrict(space, y))?;
        }
        Ok(())
    }

    /// Those of K, which its rounding errors go by.
    fn row_sums(&self, space: &Space) -> Result<Buffer<f64>> {
        self.operator.row_sums(space)
    }
}

/// K, or `T^T K T` where something is coupled.
pub struct Coupled<'a, T: Real>(Option<Constrained<'a, T>>, &'a dyn LinOp<T>);

impl<'a, T: Real> Coupled<'a, T> {
    /// Of an operator and its couplings, if there are any.
    pub fn new(operator: &'a dyn LinOp<T>, coupling: Option<&'a Coupling<T>>) -> Self {
        Coupled(coupling.map(|coupling| Constrained { operator, coupling }), operator)
    }

    /// The operator of the equations.
    pub fn operator(&self) -> &dyn LinOp<T> {
        self.0.as_ref().map_or(self.1, |constrained| constrained)
    }
}
