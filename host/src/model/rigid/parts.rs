//! The connected parts of a mesh, and the rigid motions of each.

use crate::mesh::Mesh;
use kernels_rs::parts::rigid_motion;
use nalgebra::{Matrix6, Vector6};

/// The motions `(t, w)` among those of [`rigid_motion`], whose rotations are in the planes xy, yz and zx.
const MOTIONS: [usize; 6] = [0, 1, 2, 4, 5, 3];

/// Where a part is: its rigid motions are measured about `centre`, in units of `size`.
#[derive(Debug, Clone, Copy)]
pub(in crate::model) struct Frame {
    pub(in crate::model) min: [f64; 3],
    pub(in crate::model) max: [f64; 3],
    pub(in crate::model) n_nodes: usize,
}

impl Frame {
    pub(super) const EMPTY: Frame = Frame { min: [f64::INFINITY; 3], max: [f64::NEG_INFINITY; 3], n_nodes: 0 };

    pub(super) fn add(&mut self, x: [f64; 3]) {
        for (c, &value) in x.iter().enumerate() {
            self.min[c] = self.min[c].min(value);
            self.max[c] = self.max[c].max(value);
        }
        self.n_nodes += 1;
    }

    pub(super) fn centre(&self) -> [f64; 3] {
        [0, 1, 2].map(|c| 0.5 * (self.min[c] + self.max[c]))
    }

    /// Half the longest edge of the bounding box.
    pub(in crate::model) fn size(&self) -> f64 {
        (0..3).map(|c| 0.5 * (self.max[c] - self.min[c])).fold(f64::MIN_POSITIVE, f64::max)
    }

    /// What component `c` at `x` sees of the six motions.
    pub(super) fn row(&self, x: [f64; 3], c: usize) -> Vector6<f64> {
        let (centre, size) = (self.centre(), self.size());
        let r = [0, 1, 2].map(|k| (x[k] - centre[k]) / size);
        Vector6::from(MOTIONS.map(|motion| rigid_motion(3, motion, c, r)))
    }
}

/// The connected parts of a mesh with the frames their motions are measured in.
pub(in crate::model) struct Parts<'a> {
    pub(in crate::model) mesh: &'a Mesh,
    /// The part of each node; `u32::MAX` for a node without a solid.
    pub(in crate::model) labels: Vec<u32>,
    pub(in crate::model) frames: Vec<Frame>,
}

impl<'a> Parts<'a> {
    pub(in crate::model) fn of(mesh: &'a Mesh) -> Parts<'a> {
        let (mut labels, count) = mesh.parts().clone();
        let mut frames = vec![Frame::EMPTY; count];
        for (&label, &x) in labels.iter().zip(&mesh.coords) {
            if let Some(frame) = frames.get_mut(label as usize) {
                frame.add(x);
            }
        }
        // Nodes without a solid are no parts of the body.
        if frames.iter().any(|frame| frame.n_nodes == 1) {
            let mut parts = 0..u32::MAX;
            let rank = |frame: &Frame| if frame.n_nodes > 1 { parts.next() } else { None };
            let new: Vec<u32> = frames.iter().map(rank).map(|part| part.unwrap_or(u32::MAX)).collect();
            labels.iter_mut().for_each(|label| *label = new[*label as usize]);
            frames.retain(|frame| frame.n_nodes > 1);
        }
        Parts { mesh, labels, frames }
    }

    /// The Gram matrix of a body that no support holds: that of the motions it cannot make anyway, out of the plane of
    /// a plane mesh.
    pub(super) fn at_rest(&self) -> Matrix6<f64> {
        let held = if self.mesh.dim() == 2 { 1.0 } else { 0.0 };
        Matrix6::from_diagonal(&Vector6::new(0.0, 0.0, held, held, held, 0.0))
    }

    /// Adds the rows of some components at some nodes to the Gram matrices of the parts they belong to.
    pub(super) fn add(&self, grams: &mut [Matrix6<f64>], nodes: &[u32], held: [bool; 3]) {
        for &node in nodes {
            let part = self.labels[node as usize] as usize;
            let Some(frame) = self.frames.get(part) else { continue };
            for c in (0..3).filter(|&c| held[c]) {
                let row = frame.row(self.mesh.coords[node as usize], c);
                grams[part] += row * row.transpose();
            }
        }
    }
}
