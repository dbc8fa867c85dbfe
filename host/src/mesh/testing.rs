//! What tests of meshes share.

pub use super::generate::generate_box;
pub use super::parts::connected_parts;
pub use super::quadratic::quadratic;
pub use super::quality::volume;
pub use super::rectangle::generate_rectangle;
pub(super) use super::vector::sub;
pub use super::{Cells, Group, Mesh};
pub use crate::element::ElementKind::{self, *};
pub use crate::element::MAX_NODES;

/// A unit cube of so many cells along each edge.
pub fn cube(kind: ElementKind, n: usize) -> Mesh {
    generate_box(kind, [1.0; 3], [n; 3]).unwrap()
}

/// What some work makes on so many threads.
pub fn on_threads<T: Send>(n: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap().install(work)
}
