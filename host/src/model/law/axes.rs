//! The axes that a material's constants are in.

use std::sync::Arc;

use crate::mesh::vector::{cross, dot, sub, unit};
use crate::model::scattered::nearest::Tree;
use nalgebra::{Matrix3, Matrix6};

/// A material's own axes.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize)]
pub enum Axes {
    /// Those of the mesh.
    #[default]
    Global,
    /// The same everywhere: unit vectors along x, y and z, one per row.
    Fixed(Matrix3<f64>),
    /// Round an axis: x is radial, y runs around it, z along it.
    Cylinder {
        /// A point of the axis.
        at: [f64; 3],
        /// Its direction, of length 1.
        along: [f64; 3],
    },
    /// Those of the nearest of some points.
    Nearest(Arc<Field>),
}

/// Points with axes of their own.
#[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Field {
    points: Tree,
    /// Of each point as [`Axes::Fixed`].
    axes: Vec<Matrix3<f64>>,
}

impl Field {
    /// Of points and their axes, as many.
    pub fn new(points: Tree, axes: Vec<Matrix3<f64>>) -> Field {
        Field { points, axes }
    }
}

impl Axes {
    /// From two vectors: x, and y as far as it is at right angles to it. Nothing if they are parallel.
    pub fn fixed(x: [f64; 3], y: [f64; 3]) -> Option<Axes> {
        spanned(x, y).map(Axes::Fixed)
    }

    /// Whether they change from place to place.
    pub fn vary(&self) -> bool {
        matches!(self, Axes::Cylinder { .. } | Axes::Nearest(_))
    }

    /// The unit vectors at a place, one per row. On the axis of a cylinder any radial direction is taken.
    pub fn at(&self, place: [f64; 3]) -> Matrix3<f64> {
        match self {
            Axes::Global => Matrix3::identity(),
            Axes::Fixed(axes) => *axes,
            Axes::Nearest(field) => field.axes[field.points.nearest(place, 1)[0].1],
            &Axes::Cylinder { at, along } => {
                let from = sub(place, at);
                let off = |v: [f64; 3]| unit(sub(v, along.map(|c| c * dot(v, along))));
                let radial = [off(from), off([1.0, 0.0, 0.0]), off([0.0, 1.0, 0.0])];
                let radial = radial.into_iter().find(|r| *r != [0.0; 3]).unwrap_or(from);
                rows(radial, cross(along, radial), along)
            }
        }
    }

    /// D in global axes of D in these, at a place: `T^T D T`, with `eps = T eps_global` (Bond 1943).
    pub fn to_global(&self, d: &Matrix6<f64>, place: [f64; 3]) -> Matrix6<f64> {
        if *self == Axes::Global {
            return *d;
        }
        let t = strain_rotation(&self.at(place));
        t.transpose() * d * t
    }

    /// The same of a symmetric tensor with these values along the axes.
    pub fn tensor(&self, diagonal: [f64; 3], place: [f64; 3]) -> Matrix3<f64> {
        let r = self.at(place);
        r.transpose() * Matrix3::from_diagonal(&diagonal.into()) * r
    }
}

/// Unit vectors, one per row: x, y as far as it is at right angles to it, and z. Nothing if they are parallel.
pub fn spanned(x: [f64; 3], y: [f64; 3]) -> Option<Matrix3<f64>> {
    let x = unit(x);
    let z = unit(cross(x, y));
    (z != [0.0; 3]).then(|| rows(x, cross(z, x), z))
}

fn rows(x: [f64; 3], y: [f64; 3], z: [f64; 3]) -> Matrix3<f64> {
    Matrix3::from_rows(&[x, y, z].map(nalgebra::RowVector3::from))
}

/// The indices of the strain components in the order xx, yy, zz, xy, yz, xz.
const PAIRS: [(usize, usize); 6] = [(0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (0, 2)];

/// T of `eps_local = T eps_global`, from the rows of the local axes: `eps_local_ij = r_ik r_jl eps_kl`.
fn strain_rotation(r: &Matrix3<f64>) -> Matrix6<f64> {
    Matrix6::from_fn(|row, column| {
        let ((i, j), (k, l)) = (PAIRS[row], PAIRS[column]);
        // Engineering shears count an off-diagonal entry twice.
        let of_row = if row < 3 { 1.0 } else { 2.0 };
        match column < 3 {
            true => of_row * r[(i, k)] * r[(j, l)],
            false => of_row * 0.5 * (r[(i, k)] * r[(j, l)] + r[(i, l)] * r[(j, k)]),
        }
    })
}
