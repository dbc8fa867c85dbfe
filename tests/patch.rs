//! Solids with known solutions, from model to stress: patch tests, simple stress states, a hanging bar. The cells are
//! distorted, and curved where the element is.

use crate::common::elements::SOLID;
use crate::common::fields::{Displacement, errors, lame, solve};
use crate::common::meshes::{
    CLAMP, SOFT, analyses, analysis, distorted_box, model, on_skin, prescribe, regular_box, straighten,
};
use crate::common::{assert_close, largest};
use warpfem::element::ElementKind::{self, Hex8, Hex20, Quad8, Tet4, Tet10, Tri6};
use warpfem::mesh::Mesh;
use warpfem::mesh::generate::generate_box;
use warpfem::model::Analysis;
use warpfem::pipeline::Solution;
use warpfem::verify::patch::{self as verify, FIELD};

/// [`SOFT`]'s constants.
const YOUNG: f64 = 1000.0;
const POISSON: f64 = 0.3;
const WEIGHT: f64 = 2.0 * 10.0;

/// Rollers on three sides, so that the box may stretch freely.
fn rollers() -> String {
    let roller = |(on, axis)| format!("[[support]]\non = \"{on}\"\nfix = \"{axis}\"\n");
    [("xmin", "x"), ("ymin", "y"), ("zmin", "z")].map(roller).concat()
}

fn patch(kind: ElementKind) -> Mesh {
    verify::mesh(kind).unwrap()
}

fn check_displacements(solution: &Solution, coords: &[[f64; 3]], exact: impl Fn([f64; 3]) -> [f64; 3]) {
    let expected: Vec<f64> = coords.iter().flat_map(|x| exact(*x)).collect();
    let found = solution.displacement.as_flattened();
    assert_close(&format!("displacements, {} nodes", coords.len()), found, &expected, 1e-10, largest(&expected));
}

fn check_stress(solution: &Solution, expected: [f64; 6]) {
    for stress in &solution.stresses.stress[0] {
        assert_close("stress", stress, &expected, 1e-9, largest(&expected));
    }
}

#[test]
fn a_linear_field_on_the_skin_is_linear_inside() {
    let (h, exact, stress) = (FIELD, |x| verify::field(3, x), verify::stress(Analysis::Elasticity));
    for kind in SOLID {
        let mut patch = verify::elastic(kind, Analysis::Elasticity).unwrap().model;
        let coords = patch.mesh.coords.clone();
        let solution = solve(&mut patch, 1e-13);
        check_displacements(&solution, &coords, exact);
        check_stress(&solution, stress);
        // The strain energy of a unit volume.
        let eps = [h[0][0], h[1][1], h[2][2], h[0][1] + h[1][0], h[1][2] + h[2][1], h[0][2] + h[2][0]];
        let energy = 0.5 * stress.iter().zip(eps).map(|(s, e)| s * e).sum::<f64>();
        assert_close("energy", &[solution.stresses.strain_energy], &[energy], 1e-10, energy);
    }
}

#[test]
fn a_bar_pulled_at_its_end_stretches_evenly() {
    let pull = 3.0;
    for kind in SOLID {
        let load = format!("[[traction]]\non = \"xmax\"\nvector = [{pull:?}, 0.0, 0.0]\n");
        let mut bar = model(&format!("{SOFT}{}{load}", rollers()), patch(kind));
        let coords = bar.mesh.coords.clone();
        let solution = solve(&mut bar, 1e-13);
        let side = -POISSON * pull / YOUNG;
        check_displacements(&solution, &coords, |[x, y, z]| [pull / YOUNG * x, side * y, side * z]);
        check_stress(&solution, [pull, 0.0, 0.0, 0.0, 0.0, 0.0]);
        assert_close("reaction", &solution.reactions[0], &[-pull, 0.0, 0.0], 1e-10, pull);
        for von_mises in &solution.stresses.von_mises[0] {
            assert_close("von Mises", &[*von_mises], &[pull], 1e-9, pull);
        }
    }
}

#[test]
fn pressure_from_all_sides_shrinks_evenly() {
    let pressure = 5.0;
    for kind in SOLID {
        let load = format!("[[pressure]]\non = [\"xmax\", \"ymax\", \"zmax\"]\nvalue = {pressure:?}\n");
        let mut block = model(&format!("{SOFT}{}{load}", rollers()), patch(kind));
        let coords = block.mesh.coords.clone();
        let solution = solve(&mut block, 1e-13);
        let strain = -pressure * (1.0 - 2.0 * POISSON) / YOUNG;
        check_displacements(&solution, &coords, |x| x.map(|c| strain * c));
        check_stress(&solution, [-pressure, -pressure, -pressure, 0.0, 0.0, 0.0]);
        assert!(largest(&solution.stresses.von_mises[0]) < 1e-8 * pressure);
    }
}

/// The bar of unit length that hangs from its upper end under its own weight (Timoshenko and Goodier, art. 96).
fn hanging([x, y, z]: [f64; 3]) -> [f64; 3] {
    let c = WEIGHT / YOUNG;
    let [x, y] = [x - 0.5, y - 0.5];
    [-POISSON * c * x * z, -POISSON * c * y * z, 0.5 * c * (z * z + POISSON * (x * x + y * y) - 1.0)]
}

/// Errors of the hanging bar on a mesh of `n` cells a side, root mean squares over cells: of displacement in the
/// middle, and of stress at the nodes.
fn hanging_errors(kind: ElementKind, n: usize) -> [f64; 2] {
    let gravity = "[gravity]\nacceleration = [0.0, 0.0, -10.0]\n";
    let mut mesh = generate_box(kind, [1.0; 3], [n; 3]).unwrap();
    // A smooth distortion that keeps the skin's planes, so that no symmetry of the mesh helps.
    let bump = |x: f64| x + 0.3 * x * (1.0 - x) * (x - 0.3);
    mesh.coords
        .iter_mut()
        .for_each(|[x, y, z]| (*x, *y, *z) = (bump(*x) + 0.1 * *y * *x * (1.0 - *x), bump(*y), bump(*z)));
    let mut bar = model(&format!("{SOFT}{}{gravity}", rollers()), mesh);
    prescribe(&mut bar, |x| on_skin(3, x).then(|| hanging(x)));
    let (coords, cells) = (bar.mesh.coords.clone(), bar.mesh.cells[0].clone());
    let solution = solve(&mut bar, 1e-13);
    let mean = |values: &[[f64; 3]], cell: &[u32], i: usize| {
        cell.iter().map(|node| values[*node as usize][i]).sum::<f64>() / cell.len() as f64
    };
    let mut displacement = 0.0;
    for cell in 0..cells.len() {
        let exact = hanging([0, 1, 2].map(|i| mean(&coords, cells.cell(cell), i)));
        let error = [0, 1, 2].map(|i| exact[i] - mean(&solution.displacement, cells.cell(cell), i));
        displacement += error.iter().map(|e| e * e).sum::<f64>();
    }
    let mut stress = 0.0;
    for (cell, sigma) in solution.stresses.stress[0].iter().enumerate() {
        for node in cells.cell(cell) {
            let exact = [0.0, 0.0, WEIGHT * coords[*node as usize][2], 0.0, 0.0, 0.0];
            stress += exact.iter().zip(sigma).map(|(exact, s)| (exact - s) * (exact - s)).sum::<f64>();
        }
    }
    [(displacement / cells.len() as f64).sqrt(), (stress / cells.nodes.len() as f64).sqrt()]
}

#[test]
fn errors_fall_with_the_square_of_the_cell_size_and_stresses_with_the_cell_size() {
    for kind in [Tet4, Hex8] {
        let [coarse, fine] = [8, 16].map(|n| hanging_errors(kind, n));
        let rates = [0, 1].map(|i| (coarse[i] / fine[i]).log2());
        println!("{kind:?}: errors {coarse:?}, {fine:?}, rates {rates:?}");
        assert!((1.8..2.2).contains(&rates[0]), "{kind:?}: displacement {rates:?}");
        assert!((0.9..1.1).contains(&rates[1]), "{kind:?}: stress {rates:?}");
        let (largest_u, largest_stress) = (0.5 * WEIGHT / YOUNG, WEIGHT);
        assert!(fine[0] < 2e-3 * largest_u && fine[1] < 0.1 * largest_stress, "{kind:?}: {fine:?}");
    }
}

/// Straight-sided meshes whose elements hold all quadratic polynomials: distorted simplices; rectangles and bricks of
/// many sizes (on other quadrilaterals serendipity elements hold linear ones only).
fn straight(kind: ElementKind) -> Mesh {
    if kind.info().is_simplex() {
        let mut mesh = distorted_box(kind, [3, 2, 2], 0.2);
        straighten(&mut mesh);
        return mesh;
    }
    let mut mesh = regular_box(kind, [3, 3, 2]);
    let graded = |x: f64| x + 0.8 * x * (1.0 - x) * (x - 0.3);
    mesh.coords.iter_mut().for_each(|x| *x = x.map(graded));
    straighten(&mut mesh);
    mesh
}

/// Displacements `u_i = x^T A_i x` under the constant force per volume that they need: nothing is left to approximate.
#[test]
fn quadratic_elements_hold_quadratic_fields() {
    let a = [
        [[1.0, 0.4, -0.3], [0.4, -0.7, 0.6], [-0.3, 0.6, 0.2]],
        [[-0.5, 0.9, 0.1], [0.9, 0.3, -0.8], [0.1, -0.8, 0.7]],
        [[0.6, -0.2, 0.8], [-0.2, 1.1, 0.5], [0.8, 0.5, -0.9]],
    ];
    for kind in [Tri6, Quad8, Tet10, Hex20] {
        let dim = kind.info().dim;
        for plane in analyses(kind) {
            let exact = |x: [f64; 3]| {
                let row = |i: usize, j: usize| (0..dim).map(|k| a[i][j][k] * x[k]).sum::<f64>();
                let (mut u, mut h) = ([0.0; 3], [[0.0; 3]; 3]);
                for i in 0..dim {
                    u[i] = (0..dim).map(|j| x[j] * row(i, j)).sum();
                    (0..dim).for_each(|j| h[i][j] = 2.0 * row(i, j));
                }
                Displacement { u, h }
            };
            let clamp = CLAMP.replace("xyz", &"xyz"[..dim]);
            let mut model = model(&format!("{}{SOFT}{clamp}", analysis(*plane, 0.3)), straight(kind));
            prescribe(&mut model, |x| on_skin(dim, x).then(|| exact(x).u));
            let [lambda, mu] = lame(&model);
            // `-(lambda + mu) grad div u - mu laplace u`, per mass.
            let acceleration = |i: usize| {
                let grad_div: f64 = (0..dim).map(|j| 2.0 * a[j][j][i]).sum();
                let laplace: f64 = (0..dim).map(|j| 2.0 * a[i][j][j]).sum();
                if i < dim { -((lambda + mu) * grad_div + mu * laplace) / 2.0 } else { 0.0 }
            };
            model.gravity = Some([0, 1, 2].map(acceleration));
            let solution = solve(&mut model, 1e-13);
            let errors = errors(&model, &solution.displacement, exact);
            assert!(errors.iter().all(|error| *error < 1e-11), "{kind:?}, {plane:?}: {errors:?}");
        }
    }
}
