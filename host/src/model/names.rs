//! Words for the pieces of a body in messages, and the extreme planes.

pub use warpfem_text::names::{list, nearest, suggest};

/// Names that mean the mesh's extreme planes where no group has them.
const PLANES: [&str; 6] = ["xmin", "xmax", "ymin", "ymax", "zmin", "zmax"];

/// The extreme planes of a space of two or three dimensions.
pub fn planes(dim: usize) -> &'static [&'static str] {
    &PLANES[..2 * dim]
}

/// Words for the pieces of a body in space, or in the plane.
#[derive(Debug)]
pub struct Words {
    /// An element.
    pub solid: &'static str,
    /// The groups that bodies are.
    pub bodies: &'static str,
    /// The groups that surfaces are.
    pub sides: &'static str,
    /// A side of an element.
    pub face: &'static str,
    /// The outside of a body.
    pub skin: &'static str,
    /// All components.
    pub components: &'static str,
}

/// The words for bodies of two or three dimensions.
pub fn words(dim: usize) -> &'static Words {
    match dim {
        2 => &Words {
            solid: "plane element",
            bodies: "surfaces",
            sides: "curves",
            face: "edge",
            skin: "outline",
            components: "xy",
        },
        _ => &Words {
            solid: "solid element",
            bodies: "volumes",
            sides: "surfaces",
            face: "face",
            skin: "surface",
            components: "xyz",
        },
    }
}
