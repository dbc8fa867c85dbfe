//! What can be wrong with a mesh.

/// What can be wrong with a mesh, with the place.
#[derive(Debug, thiserror::Error)]
pub enum MeshError {}
