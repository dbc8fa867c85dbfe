//! Shape and volume of the solids.
//!
//! Measures, 1 for the regular element and 0 for a flat one: tet4 `6 sqrt(2) V / l_rms^3` with the root-mean-square of
//! its six edges (Parthasarathy, Graichen, Hathaway 1994); hex8 and quad4 the smallest scaled Jacobian over the corners (Knupp
//! 2000); tri3 `4 A / (sqrt(3) l_rms^2)`.

use rayon::prelude::*;

use super::check::{corner_jacobian, corners};
use super::{Cells, Mesh};
use crate::element::ElementKind::{Hex8, Quad4, Tet4};

/// How many of the worst elements are kept.
const WORST: usize = 5;

/// The shapes of all solids.
#[derive(Debug, Clone, PartialEq)]
pub struct Quality {
    /// The smallest measure.
    pub min: f64,
    /// The mean.
    pub mean: f64,
    /// How many lie in each tenth of 0 to 1.
    pub histogram: [usize; 10],
    /// Tags and measures of the worst, the worst first.
    pub worst: Vec<(u64, f64)>,
}

impl Quality {
    /// The shapes of the solids of `mesh`; `None` if it has none.
    pub fn of(mesh: &Mesh) -> Option<Quality> {
        let mut all = Vec::new();
        for (_, cells) in mesh.solids() {
            all.par_extend((0..cells.len()).into_par_iter().map(|i| (shape(mesh, cells, i), cells.tags[i])));
        }
        let mut histogram = [0; 10];
        for (measure, _) in &all {
            histogram[((measure * 10.0) as usize).min(9)] += 1;
        }
        let mean = all.iter().map(|(measure, _)| measure).sum::<f64>() / all.len() as f64;
        let kept = WORST.min(all.len());
        if kept < all.len() {
            all.select_nth_unstable_by(kept, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        }
        all.truncate(kept);
        all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let min = all.first()?.0;
        Some(Quality { min, mean, histogram, worst: all.into_iter().map(|(measure, tag)| (tag, measure)).collect() })
    }
}

fn sub(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [0, 1, 2].map(|c| a[c] - b[c])
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|c| a[c] * b[c]).sum()
}

fn det(a: [f64; 3], b: [f64; 3], c: [f64; 3]) -> f64 {
    dot(a, [b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2], b[0] * c[1] - b[1] * c[0]])
}

/// The shape measure of cell `i`, between 0 and 1.
pub fn shape(mesh: &Mesh, cells: &Cells, i: usize) -> f64 {
    let cell = cells.cell(i);
    let x = |k: usize| mesh.coords[cell[k] as usize];
    let info = cells.kind.info();
    let measure = match cells.kind {
        Hex8 | Quad4 => corners(cells.kind).iter().fold(1.0, |least: f64, &corner| {
            let edges = || corner[1..info.dim + 1].iter().map(|&k| sub(x(k), x(corner[0])));
            let product = edges().map(|e| dot(e, e).sqrt()).product::<f64>();
            least.min(corner_jacobian(mesh, cell, corner, info.dim).0 / product)
        }),
        kind => {
            let n = info.n_nodes;
            let pairs = (0..n).flat_map(|a| (0..a).map(move |b| (a, b)));
            let square = pairs.map(|(a, b)| sub(x(a), x(b))).map(|e| dot(e, e)).sum::<f64>() / (n * (n - 1) / 2) as f64;
            let jacobian = corner_jacobian(mesh, cell, corners(kind)[0], info.dim).0;
            if kind == Tet4 { 2f64.sqrt() * jacobian / square.powf(1.5) } else { 2.0 / 3f64.sqrt() * jacobian / square }
        }
    };
    measure.clamp(0.0, 1.0)
}

/// The volume of the solids (in two dimensions, the area).
///
/// Exact for trilinear hexahedra.
pub fn volume(mesh: &Mesh) -> f64 {
    let blocks = mesh.solids().map(|(_, cells)| {
        let parts: Vec<f64> = cells
            .nodes
            .par_chunks(4096 * cells.kind.info().n_nodes)
            .map(|part| part.chunks_exact(cells.kind.info().n_nodes).map(|cell| cell_volume(mesh, cells, cell)).sum())
            .collect();
        parts.iter().sum::<f64>()
    });
    blocks.sum()
}

fn cell_volume(mesh: &Mesh, cells: &Cells, cell: &[u32]) -> f64 {
    let x = |k: usize| mesh.coords[cell[k] as usize];
    match cells.kind {
        Tet4 => det(sub(x(1), x(0)), sub(x(2), x(0)), sub(x(3), x(0))) / 6.0,
        Hex8 => {
            // The divergence theorem: the flux of x through a bilinear face is that of its two triangulations' mean.
            let flux = |a: usize, b: usize, c: usize| det(sub(x(a), x(0)), sub(x(b), x(0)), sub(x(c), x(0)));
            let faces = Hex8.info().faces.iter().map(|(_, f)| {
                flux(f[0], f[1], f[2]) + flux(f[0], f[2], f[3]) + flux(f[0], f[1], f[3]) + flux(f[1], f[2], f[3])
            });
            faces.sum::<f64>() / 12.0
        }
        Quad4 => {
            let (d, e) = (sub(x(2), x(0)), sub(x(3), x(1)));
            (d[0] * e[1] - d[1] * e[0]) / 2.0
        }
        kind => corner_jacobian(mesh, cell, corners(kind)[0], 2).0 / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::generate::generate_box;

    #[test]
    fn cubes_are_perfect_and_volumes_add_up() {
        let hexes = generate_box(Hex8, [2.0, 2.0, 2.0], [3; 3]).unwrap();
        let quality = Quality::of(&hexes).unwrap();
        assert!((quality.min - 1.0).abs() < 1e-12 && quality.histogram[9] == 27 && quality.worst.len() == 5);
        assert!((volume(&hexes) - 8.0).abs() < 1e-12);
        let tets = generate_box(Tet4, [1.0, 2.0, 4.0], [4, 3, 2]).unwrap();
        assert!((volume(&tets) - 8.0).abs() < 1e-12);
        assert_eq!(Quality::of(&tets).unwrap().histogram.iter().sum::<usize>(), 144);
    }

    #[test]
    fn the_regular_tet_has_measure_one_and_a_sliver_is_worst() {
        let mut mesh = generate_box(Tet4, [1.0; 3], [1; 3]).unwrap();
        mesh.coords = vec![[1., 1., 1.], [-1., -1., 1.], [-1., 1., -1.], [1., -1., -1.], [0.0, 0.0, 0.999]];
        mesh.cells.truncate(1);
        mesh.cells[0] = Cells { kind: Tet4, nodes: vec![0, 2, 1, 3, 0, 2, 1, 4], tags: vec![7, 9] };
        let one = shape(&mesh, &mesh.cells[0], 0).max(shape(
            &mesh,
            &Cells { nodes: vec![0, 1, 2, 3], ..mesh.cells[0].clone() },
            0,
        ));
        assert!((one - 1.0).abs() < 1e-12, "{one}");
        mesh.cells[0].nodes = vec![0, 1, 2, 3, 0, 1, 2, 4];
        let worst = Quality::of(&mesh).unwrap().worst;
        assert_eq!(worst[0].0, 9);
        assert!(worst[0].1 < worst[1].1);
    }

    #[test]
    fn a_warped_hexahedron_has_the_volume_of_its_quadrature() {
        let mut mesh = generate_box(Hex8, [1.0; 3], [1; 3]).unwrap();
        mesh.coords[7] = [1.3, 1.1, 1.4];
        mesh.coords[4] = [0.1, -0.2, 0.9];
        let gauss = [0.5 - 0.5 / 3f64.sqrt(), 0.5 + 0.5 / 3f64.sqrt()];
        let corners = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]];
        let mut expected = 0.0;
        for point in 0..8 {
            let xi = [gauss[point & 1], gauss[point >> 1 & 1], gauss[point >> 2]];
            let mut rows = [[0.0; 3]; 3];
            for (corner, &node) in corners.iter().zip(mesh.cells[0].cell(0)) {
                let n = |c: usize| if corner[c] == 1 { xi[c] } else { 1.0 - xi[c] };
                for c in 0..3 {
                    let slope = if corner[c] == 1 { 1.0 } else { -1.0 } * n((c + 1) % 3) * n((c + 2) % 3);
                    (0..3).for_each(|d| rows[c][d] += slope * mesh.coords[node as usize][d]);
                }
            }
            expected += det(rows[0], rows[1], rows[2]) / 8.0;
        }
        assert!((volume(&mesh) - expected).abs() < 1e-13, "{} {expected}", volume(&mesh));
    }
}
