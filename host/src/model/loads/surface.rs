//! Integrals of shape functions over faces: what a surface load puts on each node.

use crate::element::MAX_FACE_NODES;
use crate::element::shape::At;
use crate::mesh::faces::Face;
use crate::mesh::vector::{cross, norm};
use crate::model::Analysis;

/// Normals that turn by less than this angle are those of a flat face.
const FLAT: f64 = 1e-10;

/// For each node `a` of a face: `int N_a dA` and `int N_a n dA`, with the face's own normal.
#[derive(Debug, Clone, Copy, Default)]
pub struct FaceIntegral {
    /// `int N_a dA`, `[n_nodes]`.
    pub area: [f64; MAX_FACE_NODES],
    /// `int N_a n dA`, `[n_nodes][3]`.
    pub normal: [[f64; 3]; MAX_FACE_NODES],
}

impl FaceIntegral {
    /// Integrates over a face: `int N_a n dA` exactly, `int N_a dA` exactly if the face is flat, and to 1e-9 if it turns
    /// by a quarter of a circle. The edge of a body of revolution goes once round the axis.
    pub fn of(face: &Face, coords: &[[f64; 3]], analysis: Analysis) -> FaceIntegral {
        let (mut integral, table) = (FaceIntegral::default(), face.kind.table());
        let normal = |at: &At| face.area_vector(at, coords);
        let around = |at: &At| analysis.around(at.place(|b| coords[face.nodes()[b] as usize]));
        let first = normal(&table.rule[0]);
        let mut is_flat = true;
        for at in &table.rule {
            let normal = normal(at);
            let weight = around(at) * at.weight;
            at.n.iter().enumerate().for_each(|(a, n)| integral.add(a, weight * n, normal));
            is_flat &= norm(cross(first, normal)) <= FLAT * norm(first) * norm(normal);
        }
        if !is_flat {
            integral.area = [0.0; MAX_FACE_NODES];
            for at in &table.curved {
                let size = around(at) * at.weight * norm(normal(at));
                integral.area.iter_mut().zip(&at.n).for_each(|(sum, n)| *sum += size * n);
            }
        }
        integral
    }

    fn add(&mut self, a: usize, weight: f64, normal: [f64; 3]) {
        self.area[a] += weight * norm(normal);
        for (sum, component) in self.normal[a].iter_mut().zip(normal) {
            *sum += weight * component;
        }
    }

    pub fn total_area(&self) -> f64 {
        self.area.iter().sum()
    }
}

/// `int N_a N_b C dA` over a face for each pair of its nodes, exactly if it is flat; `per_area` gives C at a place from
/// the area vector there.
pub fn facet_mass(
    face: &Face,
    coords: &[[f64; 3]],
    analysis: Analysis,
    per_area: impl Fn([f64; 3]) -> [[f64; 3]; 3],
) -> Vec<(u32, u32, [[f64; 3]; 3])> {
    let (nodes, table) = (face.nodes(), face.kind.table());
    let n = nodes.len();
    let mut blocks = vec![[[0.0; 3]; 3]; n * n];
    for at in &table.mass {
        let normal = face.area_vector(at, coords);
        let c = per_area(normal);
        let around = analysis.around(at.place(|b| coords[nodes[b] as usize]));
        let weight = around * at.weight * norm(normal);
        for (pair, block) in blocks.iter_mut().enumerate() {
            let share = weight * (at.n[pair / n] * at.n[pair % n]);
            (0..9).for_each(|k| block[k / 3][k % 3] += share * c[k / 3][k % 3]);
        }
    }
    blocks.into_iter().enumerate().map(|(pair, block)| (nodes[pair / n], nodes[pair % n], block)).collect()
}

#[cfg(test)]
mod tests {
    use approx::assert_relative_eq;

    use super::*;
    use crate::element::ElementKind::{self, Hex20, Quad4, Quad8, Tet10, Tri3, Tri6};
    use crate::mesh::Mesh;
    use crate::mesh::annulus::generate_annulus;
    use crate::mesh::generate::generate_box;
    use crate::mesh::quality::volume;
    use crate::mesh::rectangle::generate_rectangle;
    use crate::mesh::vector::dot;

    /// A body of two cells a side, bent so that faces and edges are curved and no two normals agree.
    fn bent(kind: ElementKind) -> Mesh {
        let mut mesh = match kind.info().dim {
            2 => generate_rectangle(kind, [1.0; 2], [2; 2]).unwrap(),
            _ => generate_box(kind, [1.0; 3], [2; 3]).unwrap(),
        };
        let plane = kind.info().dim == 2;
        mesh.coords.iter_mut().for_each(|x| {
            let [a, b, c] = *x;
            let z = if plane { 0.0 } else { c + 0.2 * a * a - 0.1 * a * b };
            *x = [a + 0.3 * b * b + 0.1 * c * c, b - 0.2 * a * a + 0.1 * a * c, z];
        });
        mesh
    }

    #[test]
    fn pressure_on_a_closed_curved_skin_has_no_force_and_no_moment() {
        for kind in [Tet10, Hex20, Tri3, Quad4, Tri6, Quad8] {
            let mesh = bent(kind);
            let (mut force, mut moment, mut flux) = ([0.0; 3], [0.0; 3], 0.0);
            for face in mesh.skin() {
                let integral = FaceIntegral::of(face, &mesh.coords, Analysis::default());
                for (&node, n) in face.nodes().iter().zip(integral.normal) {
                    let x = mesh.coords[node as usize];
                    let arm = cross(x, n);
                    (0..3).for_each(|c| force[c] += n[c]);
                    (0..3).for_each(|c| moment[c] += arm[c]);
                    flux += dot(x, n);
                }
            }
            assert!(force.iter().chain(&moment).all(|v| v.abs() < 1e-13), "{kind:?} {force:?} {moment:?}");
            // The divergence theorem.
            assert_relative_eq!(flux / kind.info().dim as f64, volume(&mesh), max_relative = 1e-12);
        }
    }

    /// The shares of one face of each kind, flat and undistorted, of its area.
    #[test]
    fn flat_faces_share_their_area_as_textbooks_say() {
        let third = 1.0 / 3.0;
        let corner = -1.0 / 12.0;
        let expected: [(ElementKind, &[f64]); 4] = [
            (Tet10, &[0.0, 0.0, 0.0, third, third, third]),
            (Hex20, &[corner, corner, corner, corner, third, third, third, third]),
            (Quad8, &[1.0 / 6.0, 1.0 / 6.0, 2.0 / 3.0]),
            (Quad4, &[0.5, 0.5]),
        ];
        for (kind, shares) in expected {
            let mesh = match kind.info().dim {
                2 => generate_rectangle(kind, [3.0, 2.0], [2, 1]).unwrap(),
                _ => generate_box(kind, [3.0, 2.0, 1.0], [2, 1, 1]).unwrap(),
            };
            let side = mesh.faces_on("xmax").unwrap();
            let area: f64 =
                side.iter().map(|face| FaceIntegral::of(face, &mesh.coords, Analysis::default()).total_area()).sum();
            assert_relative_eq!(area, 2.0, max_relative = 1e-14);
            for face in &side {
                let integral = FaceIntegral::of(face, &mesh.coords, Analysis::default());
                for (a, share) in shares.iter().enumerate() {
                    assert_relative_eq!(integral.area[a] / integral.total_area(), *share, epsilon = 1e-14);
                    assert_relative_eq!(integral.normal[a][0], integral.area[a], epsilon = 1e-14);
                    assert!(integral.normal[a][1].abs() < 1e-14 && integral.normal[a][2].abs() < 1e-14);
                }
            }
        }
    }

    #[test]
    fn a_curved_face_has_its_area_and_a_curved_edge_its_length() {
        // Along the parabola z = x^2 / 5 from 0 to 1 the length is sqrt(1 + 0.16) / 2 + asinh(0.4) / 0.8.
        let length = 0.5 * 1.16f64.sqrt() + 0.4f64.asinh() / 0.8;
        for kind in [Hex20, Tet10] {
            let mut mesh = generate_box(kind, [1.0, 3.0, 1.0], [1, 1, 1]).unwrap();
            mesh.coords.iter_mut().for_each(|x| x[2] += 0.2 * x[0] * x[0]);
            let top = mesh.faces_on("zmax").unwrap();
            let area: f64 =
                top.iter().map(|face| FaceIntegral::of(face, &mesh.coords, Analysis::default()).total_area()).sum();
            assert_relative_eq!(area, 3.0 * length, max_relative = 1e-12);
        }
        for kind in [Quad8, Tri6] {
            let mut mesh = generate_rectangle(kind, [1.0; 2], [1; 2]).unwrap();
            mesh.coords.iter_mut().for_each(|x| x[1] += 0.2 * x[0] * x[0]);
            let top = mesh.faces_on("ymax").unwrap();
            assert_relative_eq!(
                FaceIntegral::of(&top[0], &mesh.coords, Analysis::default()).total_area(),
                length,
                max_relative = 1e-12
            );
        }
    }

    /// Against the parabolas through the same nodes, each as 200,000 chords.
    #[test]
    fn a_flux_on_a_coarse_ring_is_that_of_its_curved_edges() {
        for kind in [Tri6, Quad8] {
            let mesh = generate_annulus(kind, [1.0, 2.0], [1, 8]).unwrap();
            for side in ["inner", "outer"] {
                for face in mesh.faces_on(side).unwrap() {
                    let x = |a: usize| mesh.coords[face.nodes()[a] as usize];
                    let [a, b, m] = [x(0), x(1), x(2)];
                    let (n, mut expected) = (200_000, [0.0; 3]);
                    for i in 0..n {
                        let xi = (2 * i + 1) as f64 / n as f64 - 1.0;
                        let slope = |c: usize| (xi - 0.5) * a[c] + (xi + 0.5) * b[c] - 2.0 * xi * m[c];
                        let length = slope(0).hypot(slope(1)) * 2.0 / n as f64;
                        let shares = [0.5 * xi * (xi - 1.0), 0.5 * xi * (xi + 1.0), 1.0 - xi * xi];
                        (0..3).for_each(|k| expected[k] += shares[k] * length);
                    }
                    let found = FaceIntegral::of(&face, &mesh.coords, Analysis::default()).area;
                    (0..3).for_each(|k| assert_relative_eq!(found[k], expected[k], max_relative = 1e-9));
                }
            }
        }
    }
}
