//! What hierarchies of matrices with the same blocks have in common.

use super::fine::Fine;
use super::setup::Symbolic;
use super::strength::{REACH, Strength};
use crate::backend::{Backend, Vector};
use crate::result::Result;
use crate::sparse::Pattern;
use kernels_rs::real::Real;
use std::cell::RefCell;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::{Rc, Weak};

/// The symbolic part of a hierarchy, kept for the next one: of a mesh whose materials change, but not where it is
/// supported. The first hierarchy that is made with it fills it, and those after take the numeric part of the set-up
/// alone. A matrix with other blocks or other supported components is recognised, and fills it anew. The nodes are
/// taken to be where they were.
pub struct Kept<B: Backend> {
    /// The matrix that it was made from.
    made_from: RefCell<Option<Matrix<B>>>,
    /// The ways from level to level; nothing after the last one.
    levels: RefCell<Vec<Option<Rc<Symbolic<B>>>>>,
}

/// What a hierarchy's symbolic part depends on of a matrix.
struct Matrix<B: Backend> {
    /// Which blocks it has, while they live: mostly the next matrix has the same.
    pattern: Weak<Pattern<B>>,
    /// Their checksum.
    blocks: u64,
    /// Unknowns of a node.
    size: usize,
    /// A bit for each component that is free, `[n_rows]`.
    free: Vec<u8>,
}

impl<B: Backend> Kept<B> {
    /// Nothing yet.
    pub fn new() -> Self {
        Kept { made_from: RefCell::new(None), levels: RefCell::new(Vec::new()) }
    }

    /// Forgets what is kept if it is of another matrix than this one, whose blocks are `pattern`, shared, and whose
    /// nodes are at `coords`.
    ///
    /// Supported components are found by two launches, and copied to the host, a byte per node. The blocks are copied
    /// there only where they are not the very ones seen before.
    pub(super) fn recognise<R: Real>(
        &self,
        backend: &B,
        fine: &Fine<B, R>,
        pattern: &Rc<Pattern<B>>,
        coords: &Vector<B, [f64; 3]>,
    ) -> Result<()> {
        let size = fine.entries.size;
        let free = backend.take(Strength::new(backend, fine, coords, 0, REACH)?.free)?;
        let mut made_from = self.made_from.borrow_mut();
        let known = made_from.as_ref().filter(|known| std::ptr::eq(known.pattern.as_ptr(), Rc::as_ptr(pattern)));
        let blocks = known.map_or_else(|| checksum(backend, pattern), |known| Ok(known.blocks))?;
        if made_from.as_ref().is_none_or(|known| (known.blocks, known.size, &known.free) != (blocks, size, &free)) {
            self.levels.borrow_mut().clear();
        }
        *made_from = Some(Matrix { pattern: Rc::downgrade(pattern), blocks, size, free });
        Ok(())
    }

    /// The way from a level to the next, if it is known whether there is one.
    pub(super) fn get(&self, level: usize) -> Option<Option<Rc<Symbolic<B>>>> {
        self.levels.borrow().get(level).cloned()
    }

    /// Adds the way from the last level.
    pub(super) fn push(&self, way: Option<Rc<Symbolic<B>>>) {
        self.levels.borrow_mut().push(way);
    }
}

/// A checksum of which blocks there are.
fn checksum<B: Backend>(backend: &B, pattern: &Pattern<B>) -> Result<u64> {
    let sparsity = pattern.download(backend)?;
    let mut hasher = DefaultHasher::new();
    sparsity.row_start.hash(&mut hasher);
    sparsity.columns.hash(&mut hasher);
    Ok(hasher.finish())
}

impl<B: Backend> Default for Kept<B> {
    fn default() -> Self {
        Kept::new()
    }
}
