//! What follows from a mesh and is found once.

use std::sync::OnceLock;

/// A value that is found when it is first asked for. It makes no two meshes differ, and a copy of a mesh, which may yet be
/// changed, begins without.
#[derive(Debug)]
pub struct Cached<T>(OnceLock<T>);

impl<T> Cached<T> {
    /// The value, or what `find` makes of it: from then on the mesh is to stay as it is.
    pub(super) fn get(&self, find: impl FnOnce() -> T) -> &T {
        self.0.get_or_init(find)
    }
}

impl<T> Default for Cached<T> {
    fn default() -> Self {
        Cached(OnceLock::new())
    }
}

impl<T> Clone for Cached<T> {
    fn clone(&self) -> Self {
        Cached::default()
    }
}

impl<T> PartialEq for Cached<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
