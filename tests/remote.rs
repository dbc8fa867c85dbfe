//! Remote points against beam theory, against supports, and against each other.

use crate::common::devices;
use crate::common::fields::converged;
use approx::assert_relative_eq;
use std::path::Path;
use warpfem::device::DeviceName;
use warpfem::element::ElementKind::{self, Hex8, Hex20, Tet4, Tet10};
use warpfem::mesh::generate::generate_box;
use warpfem::model::{Case, Model};
use warpfem::pipeline::Solution;
use warpfem::result::choices::{Method, Precision, Preconditioner};

/// A bar along x of length 4 with a square section of side 1, without contraction across.
const BAR: &str = "[mesh]\nfile = \"bar.msh\"\n[[material]]\nname = \"steel\"\nyoung = 1000.0\npoisson = 0.0\n";
const CLAMP: &str = "[[support]]\non = \"xmin\"\nfix = \"xyz\"\n";
const HELD: &str = "[[remote]]\nname = \"wall\"\non = \"xmin\"\nfix = \"xyz rx ry rz\"\n";
/// E I, and the length.
const STIFFNESS: f64 = 1000.0 / 12.0;
const LENGTH: f64 = 4.0;

fn solved_by(kind: ElementKind, text: &str, device: DeviceName, change: impl Fn(&mut Model)) -> Solution {
    let mesh = generate_box(kind, [LENGTH, 1.0, 1.0], [4, 2, 2]).unwrap();
    let text = format!("{BAR}{text}");
    let case = Case::parse(Path::new("bar.toml"), &text).unwrap();
    let mut model = Model::resolve(&case, mesh).unwrap_or_else(|error| panic!("{error}"));
    model.solver.method = Some(Method::Direct);
    model.solver.residual_tolerance = Some(1e-12);
    change(&mut model);
    converged(&model, device)
}

fn solved(kind: ElementKind, text: &str, device: DeviceName) -> Solution {
    solved_by(kind, text, device, |_| {})
}

fn row<'a>(solution: &'a Solution, table: &str, number: usize) -> &'a [f64] {
    solution.step.row(table, number)
}

/// Pure bending, which quadratic elements have exactly: at either end the section stays plane, whether it is held or not.
#[test]
fn a_moment_bends_a_bar_as_beam_theory_says() {
    let turn = 0.5 * LENGTH / STIFFNESS;
    for device in devices() {
        for kind in [Hex20, Tet10] {
            for of_end in ["distributing", "rigid"] {
                for held in [CLAMP, HELD, &format!("{HELD}kind = \"rigid\"\n")] {
                    let end = format!(
                        "[[remote]]\nname = \"end\"\non = \"xmax\"\nkind = \"{of_end}\"\nmoment = [0.0, 0.5, 0.0]\n"
                    );
                    let solution = solved(kind, &format!("{end}{held}"), device);
                    let name = format!("{kind:?}, {of_end}, {held}");
                    assert_relative_eq!(row(&solution, "remote_rotations", 0)[1], turn, max_relative = 1e-9);
                    let drop = -0.5 * turn * LENGTH;
                    assert_relative_eq!(row(&solution, "remote_displacements", 0)[2], drop, max_relative = 1e-9);
                    assert!(solution.equilibrium_error < 1e-9, "{name}: {}", solution.equilibrium_error);
                    if held != CLAMP {
                        assert_relative_eq!(row(&solution, "remote_moments", 1)[1], -0.5, max_relative = 1e-9);
                    }
                }
            }
        }
    }
}

/// A force beside the bar, held away from its other end: what holds it balances the force and its moment.
#[test]
fn what_holds_a_remote_point_balances_the_loads() {
    for kind in ["distributing", "rigid"] {
        for element in [Hex8, Tet4] {
            let text = format!(
                "[[remote]]\nname = \"wall\"\non = \"xmin\"\nat = [-1.0, 0.5, 0.5]\nfix = \"xyz rx ry rz\"\nkind = \"{kind}\"\n\
                 [[remote]]\nname = \"end\"\non = \"xmax\"\nat = [5.0, 0.5, 0.5]\nforce = [0.0, 0.0, -2.0]\n"
            );
            let solution = solved(element, &text, DeviceName::Cpu);
            assert_relative_eq!(row(&solution, "remote_forces", 0)[..], [0.0, 0.0, 2.0][..], epsilon = 1e-9);
            // At x = 5, six away from the wall's point: the force turns y by +12.
            assert_relative_eq!(row(&solution, "remote_moments", 0)[..], [0.0, -12.0, 0.0][..], epsilon = 1e-8);
            assert_relative_eq!(solution.reaction_sum[..], [0.0, 0.0, 2.0][..], epsilon = 1e-9);
            for table in ["remote_displacements", "remote_rotations"] {
                assert_relative_eq!(row(&solution, table, 0)[..], [0.0; 3][..], epsilon = 1e-10);
            }
        }
    }
}

#[test]
fn a_rigid_point_that_is_moved_along_moves_its_face_as_supports_do() {
    for kind in [Hex8, Hex20, Tet4, Tet10] {
        let by_support = format!("{CLAMP}[[support]]\non = \"xmax\"\nfix = \"yz\"\ndisplacement = {{ x = 0.01 }}\n");
        let by_point = format!(
            "{CLAMP}[[remote]]\non = \"xmax\"\nkind = \"rigid\"\nfix = \"yz rx ry rz\"\ndisplacement = {{ x = 0.01 }}\n"
        );
        let [one, other] = [by_support, by_point].map(|text| solved(kind, &text, DeviceName::Cpu));
        for (u, v) in one.displacement().iter().zip(other.displacement()) {
            assert_relative_eq!(u[..], v[..], epsilon = 1e-11);
        }
        assert_relative_eq!(one.reaction(1)[0], row(&other, "remote_forces", 0)[0], max_relative = 1e-9);
    }
}

#[test]
fn iterations_find_what_the_direct_solver_finds() {
    let text = format!("{CLAMP}[[remote]]\non = \"xmax\"\nkind = \"rigid\"\nforce = [1.0, 0.0, -1.0]\nfix = \"ry\"\n");
    let exact = solved(Hex8, &text, DeviceName::Cpu);
    for device in devices() {
        for preconditioner in [Preconditioner::Jacobi, Preconditioner::Chebyshev, Preconditioner::Amg] {
            let found = solved_by(Hex8, &text, device, |model| {
                model.solver.method = Some(Method::Cg);
                model.solver.preconditioner = Some(preconditioner);
            });
            for (u, v) in exact.displacement().iter().zip(found.displacement()) {
                assert_relative_eq!(u[..], v[..], epsilon = 1e-10);
            }
        }
    }
}

/// A rigid face on a layer of flat elements; of more nodes so many unknowns follow its six that multigrid holds these, and
/// has a vector for each.
#[test]
fn multigrid_of_a_large_rigid_face_takes_about_as_many_iterations_as_without() {
    for n in [40, 72] {
        let plate = |load: &str, change: &dyn Fn(&mut Model)| {
            let mesh = generate_box(Hex8, [1.0, 4.0, 4.0], [3, n, n]).unwrap();
            let case = Case::parse(Path::new("bar.toml"), &format!("{BAR}{CLAMP}{load}")).unwrap();
            let mut model = Model::resolve(&case, mesh).unwrap();
            (model.solver.method, model.solver.preconditioner) = (Some(Method::Cg), Some(Preconditioner::Amg));
            change(&mut model);
            converged(&model, DeviceName::Cpu)
        };
        let rigid = "[[remote]]\non = \"xmax\"\nkind = \"rigid\"\nforce = [1.0, 2.0, -1.0]\nmoment = [3.0, 1.0, 2.0]\n";
        let free = plate("[[traction]]\non = \"xmax\"\nvector = [1.0, 2.0, -1.0]\n", &|_| {});
        let exact = plate(rigid, &|model| model.solver.preconditioner = Some(Preconditioner::Jacobi));
        let scale = exact.displacement().iter().flatten().fold(0.0, |most, u| f64::max(most, u.abs()));
        for precision in [Precision::Double, Precision::Mixed] {
            let found = plate(rigid, &|model| model.solver.precision = Some(precision));
            let [one, other] = [&free, &found].map(|solution| solution.outcome.iterations);
            assert!(other <= one + 2, "{n}, {precision:?}: {other} iterations, and {one} without");
            for (u, v) in exact.displacement().iter().zip(found.displacement()) {
                assert_relative_eq!(u[..], v[..], epsilon = 1e-5 * scale);
            }
        }
    }
}
