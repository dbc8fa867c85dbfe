//! Bodies with known solutions, from model to stress: patch tests, simple stress states. The cells are distorted, and
//! curved where the element is.

use crate::common::elements::solvable;
use crate::common::fields::{Displacement, converged, errors, lame, solve};
use crate::common::meshes::{
    CLAMP, POISSON, SOFT, YOUNG, analyses, analysis, distorted_box, elastic, model, on_skin, prescribe, regular_box,
    straighten,
};
use crate::common::{assert_close, largest, reference};
use nalgebra::{Matrix3, SVector, Vector3};
use std::collections::HashSet;
use std::path::Path;
use warpfem::device::DeviceName;
use warpfem::element::ElementKind::{self, Quad4, Quad8, Tet4};
use warpfem::mesh::Mesh;
use warpfem::model::law::{self, LAWS};
use warpfem::model::{Analysis, Axes, Model};
use warpfem::pipeline::Solution;
use warpfem::verify::patch::{self as verify, FIELD};

/// That of what is in a plane; a solid is 1 thick.
const THICKNESS: f64 = 0.05;

/// Rollers on the lower sides, so that the body may stretch freely.
fn rollers(dim: usize) -> String {
    let roller = |(on, axis): &(&str, &str)| format!("[[support]]\non = \"{on}\"\nfix = \"{axis}\"\n");
    [("xmin", "x"), ("ymin", "y"), ("zmin", "z")][..dim].iter().map(roller).collect()
}

/// The body of a patch test on rollers under a load.
fn on_rollers(kind: ElementKind, of: Analysis, load: &str) -> Model {
    let tables = format!("{}{SOFT}{}{load}", analysis(of, THICKNESS), rollers(kind.info().dim));
    model(&tables, verify::mesh(kind).unwrap())
}

pub fn check_displacements(solution: &Solution, coords: &[[f64; 3]], exact: impl Fn([f64; 3]) -> [f64; 3]) {
    let expected: Vec<f64> = coords.iter().flat_map(|x| exact(*x)).collect();
    let found = solution.displacement().as_flattened();
    assert_close(&format!("displacements, {} nodes", coords.len()), found, &expected, 1e-10, largest(&expected));
}

fn check_stress(solution: &Solution, expected: [f64; 6]) {
    for stress in ["stress", "stress_points"].iter().flat_map(|name| solution.step.lists(name)) {
        stress.chunks_exact(6).for_each(|stress| assert_close("stress", stress, &expected, 1e-9, largest(&expected)));
    }
}

/// What is computed on request, at centres and at nodes.
fn check_derived(solution: &Solution, stress: [f64; 6], strain: [f64; 6]) {
    let [xx, yy, zz, xy, yz, xz] = stress;
    let tensor = Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz);
    let mut principal: Vec<f64> = tensor.symmetric_eigenvalues().iter().copied().collect();
    principal.sort_by(|a, b| b.total_cmp(a));
    for suffix in ["", "_nodal"] {
        let list = |name: &str| &solution.step.lists(&format!("{name}{suffix}"))[0];
        let expected = |i: usize| if i == 2 && stress[2] == 0.0 { list("strain")[2] } else { strain[i] };
        list("strain")
            .chunks(6)
            .for_each(|found| assert_close("strain", found, &[0, 1, 2, 3, 4, 5].map(expected), 1e-9, 1e-2));
        list("tresca").iter().for_each(|found| {
            assert_close("Tresca", &[*found], &[principal[0] - principal[2]], 1e-9, principal[0]);
        });
        for (values, n) in list("principal_stress").chunks(3).zip(list("principal_directions").chunks(9)) {
            assert_close("principal stress", values, &principal, 1e-9, principal[0].abs());
            let n = Matrix3::from_row_slice(n);
            let again = n.transpose() * Matrix3::from_diagonal(&Vector3::from_row_slice(values)) * n;
            assert!((again - tensor).amax() < 1e-9 * tensor.amax(), "{again} {tensor}");
        }
    }
}

#[test]
fn a_linear_field_on_the_skin_is_linear_inside() {
    for (kind, of) in elastic() {
        let dim = kind.info().dim;
        let mut patch = verify::elastic(kind, of).unwrap().model;
        patch.thickness = if dim == 2 { THICKNESS } else { 1.0 };
        let names = ["strain", "tresca", "principal_stress", "principal_directions"];
        patch.fields = names.iter().flat_map(|name| [name.to_string(), format!("{name}_nodal")]).collect();
        patch.fields.push("stress_points".into());
        let solution = solve(&mut patch, 1e-13);
        check_displacements(&solution, &patch.mesh.coords, |x| verify::field(dim, x));
        let h = |i: usize, j: usize| if i < dim && j < dim { FIELD[i][j] } else { 0.0 };
        let shear = |i, j| h(i, j) + h(j, i);
        let eps = SVector::from([h(0, 0), h(1, 1), h(2, 2), shear(0, 1), shear(1, 2), shear(0, 2)]);
        let stress: [f64; 6] = (reference::elasticity(of, &patch.materials[0], [0.0; 3]) * eps).into();
        check_stress(&solution, stress);
        check_derived(&solution, stress, eps.into());
        assert_close("what verify has", &verify::stress(of), &stress, 1e-14, largest(&stress));
        // The strain energy of a unit volume, or of a unit square as thick as this.
        let energy = 0.5 * patch.thickness * SVector::from(stress).dot(&eps);
        assert_close("energy", &[solution.strain_energy()], &[energy], 1e-10, energy);
    }
}

/// The example of every law, with axes of its own.
#[test]
fn a_linear_field_is_linear_in_every_law() {
    let bodies =
        [(Tet4, Analysis::Elasticity), (Quad4, Analysis::PlaneStress), (Quad8, Analysis::PlaneStrain)].into_iter();
    for ((kind, of), law) in bodies.flat_map(|body| LAWS.iter().map(move |law| (body, law))) {
        let mut patch = verify::elastic(kind, of).unwrap().model;
        let law = law::read(&law.example).unwrap();
        assert!(law.stiffness() == law.stiffness().transpose() && law.stiffness().symmetric_eigenvalues().min() > 0.0);
        patch.materials[0].law = law;
        patch.materials[0].axes = Axes::fixed([1.0, 2.0, 0.5], [0.0, 1.0, -1.0]).unwrap();
        let (dim, solution) = (kind.info().dim, solve(&mut patch, 1e-13));
        check_displacements(&solution, &patch.mesh.coords, |x| verify::field(dim, x));
        let h = |i: usize, j: usize| if i < dim && j < dim { FIELD[i][j] } else { 0.0 };
        let shear = |i, j| h(i, j) + h(j, i);
        let eps = SVector::from([h(0, 0), h(1, 1), h(2, 2), shear(0, 1), shear(1, 2), shear(0, 2)]);
        check_stress(&solution, (reference::elasticity(of, &patch.materials[0], [0.0; 3]) * eps).into());
    }
}

/// Points in the middle of the elements have the axes that a cylinder has there.
#[test]
fn axes_of_a_file_are_those_of_the_nearest_point() {
    let folder = tempfile::tempdir().unwrap();
    let load = |axes: &str| {
        let text = format!(
            "[mesh]\ngenerate = {{ kind = \"box\", element = \"hex8\", size = [3.0, 2.0, 1.0], cells = [3, 2, 2] }}\n\
             [[material]]\nname = \"wood\"\nyoung = [1200.0, 900.0, 600.0]\npoisson = [0.4, 0.35, 0.3]\n\
             shear = [300.0, 250.0, 50.0]\naxes = {{ {axes} }}\n[[support]]\non = \"xmin\"\nfix = \"xyz\"\n\
             [[traction]]\non = \"xmax\"\nvector = [1.0, -2.0, 0.5]\n"
        );
        let path = folder.path().join("wood.toml");
        std::fs::write(&path, text).unwrap();
        Model::load(&path)
    };
    let (at, along) = ([-1.0, 0.5, 0.0], [0.0, 0.0, 1.0]);
    let mut lines = String::from("x,y,z,x_x,x_y,x_z,y_x,y_y,y_z\n");
    for (i, j, k) in (0..3).flat_map(|i| (0..2).flat_map(move |j| (0..2).map(move |k| (i, j, k)))) {
        let middle = [f64::from(i) + 0.5, f64::from(j) + 0.5, 0.5 * f64::from(k) + 0.25];
        let rows = Axes::Cylinder { at, along }.at(middle);
        let numbers =
            middle.into_iter().chain((0..2).flat_map(|row| rows.row(row).iter().copied().collect::<Vec<_>>()));
        lines.push_str(&numbers.map(|number| format!("{number:?}")).collect::<Vec<_>>().join(","));
        lines.push('\n');
    }
    std::fs::write(folder.path().join("grain.csv"), &lines).unwrap();
    let [by_file, by_cylinder, plain] = [
        "file = \"grain.csv\"",
        "axis = [0.0, 0.0, 1.0], at = [-1.0, 0.5, 0.0]",
        "x = [1.0, 0.0, 0.0], y = [0.0, 1.0, 0.0]",
    ]
    .map(|axes| converged(&load(axes).unwrap(), DeviceName::Cpu).displacement().as_flattened().to_vec());
    assert_close("displacements", &by_file, &by_cylinder, 1e-9, largest(&by_cylinder));
    assert!(by_file.iter().zip(&plain).any(|(a, b)| (a - b).abs() > 1e-2 * largest(&plain)));
    std::fs::write(folder.path().join("along.csv"), "1 1 1 0 1 0 0 2 0\n").unwrap();
    std::fs::write(folder.path().join("short.csv"), "x,y,z,x_x,x_y,x_z\n1,1,1,0,1,0\n").unwrap();
    for (axes, words) in [
        ("file = \"along.csv\"", "x and y of point 1 are parallel"),
        ("file = \"short.csv\"", "no column y_x"),
        ("file = \"none.csv\"", "cannot read"),
        ("file = \"grain.csv\", x = [1.0, 0.0, 0.0]", "stands alone"),
    ] {
        let said = load(axes).unwrap_err().to_string();
        assert!(said.contains(words), "{said}");
    }
}

/// Meshes of Gmsh: wedges, layers of wedges and hexahedra, pyramids between tetrahedra and hexahedra.
#[test]
fn a_linear_field_is_linear_across_elements_of_all_shapes() {
    for name in ["wedge6", "layers", "pyramids5", "pyramids"] {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/{name}.msh"));
        let mesh = Mesh::read(&file).unwrap();
        let bits = |x: [f64; 3]| x.map(f64::to_bits);
        let skin = mesh.skin().iter().flat_map(|face| face.nodes()).map(|&node| bits(mesh.coords[node as usize]));
        let skin: HashSet<[u64; 3]> = skin.collect();
        let mut patch = model(&format!("{SOFT}{CLAMP}"), mesh);
        prescribe(&mut patch, |x| skin.contains(&bits(x)).then(|| verify::field(3, x)));
        let solution = solve(&mut patch, 1e-13);
        check_displacements(&solution, &patch.mesh.coords, |x| verify::field(3, x));
        let expected = verify::stress(Analysis::Elasticity);
        for stress in solution
            .step
            .lists("stress")
            .iter()
            .chain(solution.step.lists("stress_nodal"))
            .flat_map(|list| list.chunks(6))
        {
            assert_close(name, stress, &expected, 1e-9, largest(&expected));
        }
    }
}

#[test]
fn a_bar_pulled_at_its_end_stretches_evenly() {
    let pull = 3.0;
    let load = format!("[[traction]]\non = \"xmax\"\nvector = [{pull:?}, 0.0, 0.0]\n");
    for (kind, of) in elastic() {
        // A prism that cannot change its length is stiffer: E / (1 - nu^2), nu / (1 - nu).
        let (young, poisson, across) = match of {
            Analysis::PlaneStrain => (YOUNG / (1.0 - POISSON * POISSON), POISSON / (1.0 - POISSON), POISSON * pull),
            _ => (YOUNG, POISSON, 0.0),
        };
        let mut bar = on_rollers(kind, of, &load);
        let solution = solve(&mut bar, 1e-13);
        let side = -poisson * pull / young;
        let through = if kind.info().dim == 3 { side } else { 0.0 };
        check_displacements(&solution, &bar.mesh.coords, |[x, y, z]| [pull / young * x, side * y, through * z]);
        check_stress(&solution, [pull, 0.0, across, 0.0, 0.0, 0.0]);
        let force = pull * bar.thickness;
        assert_close("reaction", solution.reaction(0), &[-force, 0.0, 0.0], 1e-10, force);
        for von_mises in solution.step.lists("von_mises")[0].iter().filter(|_| across == 0.0) {
            assert_close("von Mises", &[*von_mises], &[pull], 1e-9, pull);
        }
    }
}

#[test]
fn pressure_from_all_sides_shrinks_evenly() {
    let p = 5.0;
    for (kind, of) in elastic() {
        let sides = &["xmax", "ymax", "zmax"][..kind.info().dim];
        let load = format!("[[pressure]]\non = {sides:?}\nvalue = {p:?}\n");
        let mut block = on_rollers(kind, of, &load);
        let solution = solve(&mut block, 1e-13);
        let (strain, across) = match of {
            Analysis::PlaneStress => (-p * (1.0 - POISSON) / YOUNG, 0.0),
            Analysis::PlaneStrain => (-p * (1.0 + POISSON) * (1.0 - 2.0 * POISSON) / YOUNG, -2.0 * POISSON * p),
            _ => (-p * (1.0 - 2.0 * POISSON) / YOUNG, -p),
        };
        let through = if kind.info().dim == 3 { strain } else { 0.0 };
        check_displacements(&solution, &block.mesh.coords, |[x, y, z]| [strain * x, strain * y, through * z]);
        check_stress(&solution, [-p, -p, across, 0.0, 0.0, 0.0]);
        assert!(of != Analysis::Elasticity || largest(&solution.step.lists("von_mises")[0]) < 1e-8 * p);
    }
}

/// Straight-sided meshes whose elements hold all quadratic polynomials: distorted simplices; rectangles and bricks of
/// many sizes (on other quadrilaterals serendipity elements hold linear ones only).
fn straight(kind: ElementKind) -> Mesh {
    if kind.info().domain.is_simplex() {
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
    for kind in solvable().filter(|kind| kind.info().is_quadratic()) {
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
            let mut model = model(&format!("{}{SOFT}{clamp}", analysis(plane, 0.3)), straight(kind));
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
            let errors = errors(&model, solution.displacement(), exact);
            assert!(errors.iter().all(|error| *error < 1e-11), "{kind:?}, {plane:?}: {errors:?}");
        }
    }
}
