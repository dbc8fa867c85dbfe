//! Cantilevers against beam theory: WARP's, with every solid element, and the straight slender beam of MacNeal and Harder
//! ("A proposed standard set of problems to test finite element accuracy", Finite Elements in Analysis and Design 1, 1985).

mod common;

use common::assert_close;
use common::elements::Reference;
use common::fields::{node_at, solve};
use common::meshes::{CLAMP, analysis, model};
use warpfem::element::ElementKind::{self, *};
use warpfem::mesh::{generate::generate_box, rectangle::generate_rectangle};
use warpfem::model::{Analysis, Model};
use warpfem::pipeline::Solution;

/// The mean displacement of the nodes at the end of a beam.
fn at_end(beam: &Model, solution: &Solution, length: f64) -> [f64; 3] {
    let nodes = beam.mesh.coords.iter().zip(&solution.displacement).filter(|(x, _)| x[0] == length);
    let ends: Vec<[f64; 3]> = nodes.map(|(_, u)| *u).collect();
    [0, 1, 2].map(|i| ends.iter().map(|u| u[i]).sum::<f64>() / ends.len() as f64)
}

/// The deflection of WARP's cantilever of 16 x 2 x 2 m, `E = 200 GPa`, `nu = 0.333`, over that of Timoshenko's beam.
fn warp_cantilever(kind: ElementKind, cells: [usize; 3]) -> f64 {
    let (size, young, poisson, force) = ([16.0, 2.0, 2.0], 200e9, 0.333, -1e6);
    let tables = format!(
        "[[material]]\nname = \"steel\"\nyoung = {young:?}\npoisson = {poisson:?}\n{CLAMP}\
         [[force]]\non = \"xmax\"\ntotal = [0.0, 0.0, {force:?}]\n"
    );
    let mut beam = model(&tables, generate_box(kind, size, cells).unwrap());
    let solution = solve(&mut beam, 1e-9);
    assert_close("reaction", &solution.reactions[0], &[0.0, 0.0, -force], 1e-7, force.abs());
    let [length, width, height] = size;
    let (area, inertia) = (width * height, width * height.powi(3) / 12.0);
    // Shear coefficient of a rectangular section (Cowper 1966).
    let kappa = 10.0 * (1.0 + poisson) / (12.0 + 11.0 * poisson);
    let shear_modulus = young / (2.0 * (1.0 + poisson));
    let exact = force * length.powi(3) / (3.0 * young * inertia) + force * length / (kappa * shear_modulus * area);
    at_end(&beam, &solution, length)[2] / exact
}

#[test]
fn warps_cantilever_bends_as_timoshenko_says() {
    for (kind, cells, within) in
        [(Tet4, [16, 2, 2], 0.1), (Hex8, [16, 2, 2], 0.03), (Tet10, [8, 1, 1], 0.015), (Hex20, [8, 1, 1], 0.015)]
    {
        let ratios = [1, 2, 4].map(|by| warp_cantilever(kind, cells.map(|n| by * n)));
        println!("{kind:?}, from {cells:?} cells: {ratios:.4?} of Timoshenko's deflection");
        // All are too stiff, and the less so the finer they are.
        assert!(ratios.windows(2).all(|pair| pair[0] < pair[1]), "{kind:?}: {ratios:?}");
        assert!(ratios[2] < 1.005 && ratios[2] > 1.0 - within, "{kind:?}: {ratios:?}");
    }
}

/// Length, depth and thickness of MacNeal and Harder's beam.
const SLENDER: [f64; 3] = [6.0, 0.2, 0.1];
/// Its displacements by beam theory (their table 2): extension, shear in the plane, out of it, and twist, each under a unit
/// load at the end.
const THEORY: [f64; 4] = [3.0e-5, 0.1081, 0.4321, 0.03208];
/// The matrices of so slender elements are ill-conditioned.
const SLENDER_TOLERANCE: f64 = 1e-7;

/// The beam of 6 x 1 x 1 regular elements; plane elements in plane stress.
fn slender(kind: ElementKind, load: &str) -> Model {
    let tables = format!("[[material]]\nname = \"soft\"\nyoung = 1e7\npoisson = 0.3\n{load}");
    let [length, depth, thickness] = SLENDER;
    if kind.info().dim == 2 {
        let tables = format!("{}{tables}{}", analysis(Analysis::PlaneStress, thickness), CLAMP.replace("xyz", "xy"));
        return model(&tables, generate_rectangle(kind, [length, depth], [6, 1]).unwrap());
    }
    model(&format!("{tables}{CLAMP}"), generate_box(kind, SLENDER, [6, 1, 1]).unwrap())
}

/// The end's displacement along axis `i` under a unit force along it, over theory.
fn pulled(kind: ElementKind, i: usize) -> f64 {
    let force: Vec<&str> = (0..kind.info().dim).map(|axis| if axis == i { "1.0" } else { "0.0" }).collect();
    let mut beam = slender(kind, &format!("[[force]]\non = \"xmax\"\ntotal = [{}]\n", force.join(", ")));
    let solution = solve(&mut beam, SLENDER_TOLERANCE);
    at_end(&beam, &solution, SLENDER[0])[i] / THEORY[i]
}

/// The end's turn under a unit torque, by tractions that grow with the distance from the axis, over theory.
fn twisted(kind: ElementKind) -> f64 {
    let mut beam = slender(kind, "");
    let [length, depth, thickness] = SLENDER;
    let polar = depth * thickness * (depth * depth + thickness * thickness) / 12.0;
    let (coords, facets) = (&beam.mesh.coords, &beam.mesh.cells[1]);
    for nodes in (0..facets.len()).map(|facet| facets.cell(facet)) {
        let section: Vec<[f64; 3]> = nodes.iter().map(|node| coords[*node as usize]).collect();
        if section.iter().any(|x| x[0] != length) {
            continue;
        }
        let section: Vec<[f64; 3]> =
            section.iter().map(|[_, y, z]| [y - 0.5 * depth, z - 0.5 * thickness, 0.0]).collect();
        for point in Reference::of(facets.kind).fine.iter().map(|at| at.of(&section)) {
            let at = |i: usize| point.shape.iter().zip(&section).map(|(shape, x)| shape * x[i]).sum::<f64>();
            let traction = [0.0, -at(1) / polar, at(0) / polar];
            for (node, shape) in nodes.iter().zip(&point.shape) {
                let f = &mut beam.nodal_forces[*node as usize];
                (0..3).for_each(|i| f[i] += point.weight * shape * traction[i]);
            }
        }
    }
    let solution = solve(&mut beam, SLENDER_TOLERANCE);
    let height = |side: f64| {
        let node = node_at(&beam, [length, side, 0.0]);
        solution.displacement[node][2]
    };
    (height(depth) - height(0.0)) / depth / THEORY[3]
}

/// Displacements over theory for every load: quadratic elements are within a few per cent of it, where linear ones, fully
/// integrated, lock in bending. For the hexahedron of twenty nodes MacNeal and Harder's table 3 has these very numbers.
#[test]
fn the_slender_beam_of_macneal_and_harder() {
    for kind in [Quad4, Tri6, Quad8, Hex8, Tet10, Hex20] {
        let mut found: Vec<f64> = (0..kind.info().dim).map(|i| pulled(kind, i)).collect();
        if kind.info().dim == 3 {
            found.push(twisted(kind));
        }
        println!("{kind:?}: {found:.4?} of theory");
        match kind {
            Hex20 => assert_close("hex20", &found, &[0.994, 0.970, 0.961, 0.904], 6e-4, 1.0),
            _ if kind.info().is_quadratic() => {
                assert!(
                    found[..kind.info().dim].iter().all(|ratio| (0.95..1.0).contains(ratio)),
                    "{kind:?}: {found:?}"
                );
            }
            _ => {
                let bending = &found[1..kind.info().dim];
                assert!(found[0] > 0.98 && bending.iter().all(|ratio| *ratio < 0.1), "{kind:?}: {found:?}");
            }
        }
        assert!(found.get(3).is_none_or(|twist| (0.88..1.0).contains(twist)), "{kind:?}: {found:?}");
    }
}
