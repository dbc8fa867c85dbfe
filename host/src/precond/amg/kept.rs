//! What hierarchies of matrices with the same blocks have in common.

use super::setup::Symbolic;
use crate::backend::Backend;
use std::cell::RefCell;
use std::rc::Rc;

/// The symbolic part of a hierarchy, kept for the next one: of a mesh whose materials change, but not where it is supported. The
/// first hierarchy that is made with it fills it, and those after take the numeric part of the set-up alone. A matrix with other
/// numbers of rows or blocks is a panic; one with as many that lie elsewhere, or with other supports, makes a poor preconditioner.
pub struct Kept<B: Backend> {
    /// The ways from level to level; nothing after the last one.
    levels: RefCell<Vec<Option<Rc<Symbolic<B>>>>>,
}

impl<B: Backend> Kept<B> {
    /// Nothing yet.
    pub fn new() -> Self {
        Kept { levels: RefCell::new(Vec::new()) }
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

impl<B: Backend> Default for Kept<B> {
    fn default() -> Self {
        Kept::new()
    }
}
