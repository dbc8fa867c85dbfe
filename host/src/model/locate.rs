//! Finds the cells around many points: cells are listed by the boxes of a grid that they reach into.

use super::probes::{MARGIN, inside, shares_in};
use crate::mesh::Mesh;

/// A grid over a mesh.
pub struct Locator<'a> {
    mesh: &'a Mesh,
    low: [f64; 3],
    /// The edge of a box.
    size: f64,
    /// Boxes along each axis.
    n: [usize; 3],
    /// Block and cell of those that reach into each box, by box.
    cells: Vec<Vec<(u32, u32)>>,
}

impl<'a> Locator<'a> {
    /// Of a mesh; about a box for each cell.
    pub fn new(mesh: &'a Mesh) -> Locator<'a> {
        let (low, high) = mesh.extent();
        let n_cells = mesh.n_solids();
        let longest = mesh.longest_side();
        let extents = [0, 1, 2].map(|c| (high[c] - low[c]).max(1e-3 * longest));
        let dim = mesh.dim() as f64;
        let content: f64 = extents[..mesh.dim()].iter().product();
        let size = (content / n_cells.max(1) as f64).powf(1.0 / dim).max(longest / 1e3);
        let n = extents.map(|extent| ((extent / size).ceil() as usize).max(1));
        let mut locator = Locator { mesh, low, size, n, cells: vec![Vec::new(); n[0] * n[1] * n[2]] };
        for (block, cells) in mesh.solids() {
            for cell in 0..cells.len() {
                let x = || cells.cell(cell).iter().map(|&node| mesh.coords[node as usize]);
                let bounds = [0, 1, 2].map(|c| x().fold((f64::MAX, f64::MIN), |(a, b), x| (a.min(x[c]), b.max(x[c]))));
                let margin = MARGIN * bounds.iter().map(|(a, b)| b - a).fold(0.0, f64::max);
                let first = locator.place(bounds.map(|(a, _)| a - margin));
                let last = locator.place(bounds.map(|(_, b)| b + margin));
                for k in first[2]..=last[2] {
                    for j in first[1]..=last[1] {
                        for i in first[0]..=last[0] {
                            locator.cells[(k * n[1] + j) * n[0] + i].push((block as u32, cell as u32));
                        }
                    }
                }
            }
        }
        locator
    }

    /// The box that a point is in, or the nearest.
    fn place(&self, x: [f64; 3]) -> [usize; 3] {
        [0, 1, 2].map(|c| (((x[c] - self.low[c]) / self.size).max(0.0) as usize).min(self.n[c] - 1))
    }

    /// The nodes of the cell around a point and their shape functions there; none outside of all cells.
    pub fn shares(&self, at: [f64; 3]) -> Option<Vec<(u32, f64)>> {
        let [i, j, k] = self.place(at);
        let near = self.cells[(k * self.n[1] + j) * self.n[0] + i].iter();
        let found = near.filter_map(|&(block, cell)| {
            let cells = &self.mesh.cells[block as usize];
            inside(self.mesh, cells, cell as usize, at).map(|(outside, xi)| (outside, cells, cell as usize, xi))
        });
        let (_, cells, cell, xi) = found.min_by(|a, b| a.0.total_cmp(&b.0))?;
        Some(shares_in(cells, cell, xi))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::ElementKind::{Hex8, Tet10, Tri6};
    use crate::mesh::generate::generate_box;
    use crate::mesh::rectangle::generate_rectangle;

    #[test]
    fn points_are_found_in_their_cells() {
        let meshes = [
            generate_box(Hex8, [2.0, 1.0, 0.1], [7, 5, 2]).unwrap(),
            generate_box(Tet10, [2.0, 1.0, 0.5], [3, 2, 2]).unwrap(),
            generate_rectangle(Tri6, [2.0, 1.0], [6, 5]).unwrap(),
        ];
        for mesh in &meshes {
            let locator = Locator::new(mesh);
            let thick = if mesh.dim() == 2 { 0.0 } else { 0.07 };
            for at in [[0.013, 0.5, thick], [1.999, 0.998, 0.0], [1.2345, 0.321, thick], [0.0, 0.0, 0.0]] {
                let shares = locator.shares(at).unwrap();
                let place = |c: usize| shares.iter().map(|(node, n)| n * mesh.coords[*node as usize][c]).sum::<f64>();
                assert!((0..3).all(|c| (place(c) - at[c]).abs() < 1e-9), "{at:?}: {shares:?}");
            }
            assert_eq!(locator.shares([9.0, 9.0, 9.0]), None);
        }
    }
}
