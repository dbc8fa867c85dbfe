//! What hierarchies of matrices with the same blocks have in common.

use super::fine::Fine;
use super::setup::Symbolic;
use super::strength::{REACH, Strength};
use crate::device::Buffer;
use crate::linalg::Space;
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
#[derive(Default)]
pub struct SetupCache {
    made_from: RefCell<Option<Matrix>>,
    /// The ways from level to level; nothing after the last one.
    levels: RefCell<Vec<Option<Rc<Symbolic>>>>,
}

/// What a hierarchy's symbolic part depends on of a matrix.
struct Matrix {
    /// Which blocks it has, while they live: mostly the next matrix has the same.
    pattern: Weak<Pattern>,
    blocks: u64,
    size: usize,
    /// A bit for each component that is free, `[n_rows]`.
    free: Vec<u8>,
}

impl SetupCache {
    /// Forgets what is kept if it is of another matrix than this one, whose blocks are `pattern`, shared, and whose
    /// nodes are at `coords`.
    ///
    /// Supported components are found by two launches, and copied to the host, a byte per node. The blocks are copied
    /// there only where they are not the very ones seen before.
    pub(super) fn recognise<R: Real>(
        &self,
        space: &Space,
        fine: &Fine<R>,
        pattern: &Rc<Pattern>,
        coords: &Buffer<[f64; 3]>,
    ) -> Result<()> {
        let size = fine.size;
        let free = space.take(Strength::new(space, fine, coords, 0, REACH)?.free)?;
        let mut made_from = self.made_from.borrow_mut();
        let known = made_from.as_ref().filter(|known| std::ptr::eq(known.pattern.as_ptr(), Rc::as_ptr(pattern)));
        let blocks = known.map_or_else(|| checksum(space, pattern), |known| Ok(known.blocks))?;
        if made_from.as_ref().is_none_or(|known| (known.blocks, known.size, &known.free) != (blocks, size, &free)) {
            self.levels.borrow_mut().clear();
        }
        *made_from = Some(Matrix { pattern: Rc::downgrade(pattern), blocks, size, free });
        Ok(())
    }

    /// The way from a level to the next, if it is known whether there is one.
    pub(super) fn get(&self, level: usize) -> Option<Option<Rc<Symbolic>>> {
        self.levels.borrow().get(level).cloned()
    }

    /// Adds the way from the last level.
    pub(super) fn push(&self, way: Option<Rc<Symbolic>>) {
        self.levels.borrow_mut().push(way);
    }
}

fn checksum(space: &Space, pattern: &Pattern) -> Result<u64> {
    let sparsity = pattern.download(space)?;
    let mut hasher = DefaultHasher::new();
    sparsity.row_start.hash(&mut hasher);
    sparsity.columns.hash(&mut hasher);
    Ok(hasher.finish())
}
