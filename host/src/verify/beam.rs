//! Cantilevers: WARP's against Timoshenko's theory, and the straight slender beam of MacNeal and Harder ("A proposed
//! standard set of problems to test finite element accuracy", Finite Elements in Analysis and Design 1, 1985).

use super::recovery::mean_at_x;
use super::{Measure, Problem, model_to};
use crate::element::ElementKind::{self, *};
use crate::error::Result;
use crate::mesh::{generate::generate_box, rectangle::generate_rectangle};
use crate::model::Model;
use crate::pipeline::Solution;
use crate::result::choices::Preconditioner;

/// Held at its root.
const CLAMP: &str = "[[support]]\non = \"xmin\"\nfix = \"xyz\"\n";

/// The mean displacement of the end along axis `i`, over what theory says.
fn of_theory(length: f64, i: usize, theory: f64) -> impl Fn(&Model, &Solution) -> f64 {
    move |model, solution| mean_at_x(model, solution.displacement(), length)[i] / theory
}

/// WARP's cantilever of 16 x 2 x 2 m, `E = 200 GPa`, `nu = 0.333`, 1 MN down on its end: its deflection over that of
/// Timoshenko's beam.
pub fn cantilever(kind: ElementKind, cells: [usize; 3], tolerance: f64) -> Result<Problem> {
    let (size, young, poisson, force) = ([16.0, 2.0, 2.0], 200e9, 0.333, -1e6);
    let tables = format!(
        "[[material]]\nname = \"steel\"\nyoung = {young:?}\npoisson = {poisson:?}\n{CLAMP}\
         [[force]]\non = \"xmax\"\ntotal = [0.0, 0.0, {force:?}]\n"
    );
    let model = model_to(1e-9, &tables, generate_box(kind, size, cells)?)?;
    let [length, width, height] = size;
    let (area, inertia) = (width * height, width * height * height * height / 12.0);
    // Shear coefficient of a rectangular section (Cowper 1966).
    let kappa = 10.0 * (1.0 + poisson) / (12.0 + 11.0 * poisson);
    let shear_modulus = young / (2.0 * (1.0 + poisson));
    let theory = force * length.powi(3) / (3.0 * young * inertia) + force * length / (kappa * shear_modulus * area);
    let source = "Timoshenko; Cowper 1966";
    let measure = Measure::new("deflection / theory", [1.0, tolerance], source, of_theory(length, 2, theory));
    Ok(Problem::new("cantilever", kind, model, [measure]))
}

/// Length, depth and thickness of MacNeal and Harder's beam.
pub const SLENDER: [f64; 3] = [6.0, 0.2, 0.1];
/// Its displacements by beam theory (their table 2): extension, shear in the plane, out of it, and twist, each under a
/// unit load at the end.
pub const THEORY: [f64; 4] = [3.0e-5, 0.1081, 0.4321, 0.03208];
/// The matrices of so slender elements are ill-conditioned.
const SLENDER_TOLERANCE: f64 = 1e-7;

/// The beam of 6 x 1 x 1 regular elements under these loads; plane elements in plane stress.
pub fn slender(kind: ElementKind, load: &str) -> Result<Model> {
    let tables = format!("[[material]]\nname = \"soft\"\nyoung = 1e7\npoisson = 0.3\n{load}");
    let [length, depth, thickness] = SLENDER;
    let mut model = if kind.info().dim == 2 {
        let clamp = CLAMP.replace("xyz", "xy");
        let tables = format!("[analysis]\nkind = \"plane_stress\"\nthickness = {thickness:?}\n{tables}{clamp}");
        model_to(SLENDER_TOLERANCE, &tables, generate_rectangle(kind, [length, depth], [6, 1])?)
    } else {
        model_to(SLENDER_TOLERANCE, &format!("{tables}{CLAMP}"), generate_box(kind, SLENDER, [6, 1, 1])?)
    }?;
    // With Jacobi rounding keeps the residual above 1e-7 (tet10).
    model.solver.preconditioner = Some(Preconditioner::Amg);
    Ok(model)
}

/// The beam under a unit force along axis `i` at its end: that displacement over theory, beside what is published of
/// the element.
pub fn pulled(kind: ElementKind, i: usize, published: f64, tolerance: f64) -> Result<Problem> {
    let force: Vec<&str> = (0..kind.info().dim).map(|axis| if axis == i { "1.0" } else { "0.0" }).collect();
    let model = slender(kind, &format!("[[force]]\non = \"xmax\"\ntotal = [{}]\n", force.join(", ")))?;
    let quantity = ["extension", "bending in", "bending out"][i];
    let of = of_theory(SLENDER[0], i, THEORY[i]);
    let measure = Measure::new(quantity, [published, tolerance], "MacNeal and Harder 1985, table 3", of);
    Ok(Problem::new("slender beam", kind, model, [measure]))
}

/// Cantilevers of what is made for bending; the slender beam of the element of which its authors published results.
pub(super) fn problems() -> Result<Vec<Problem>> {
    Ok(vec![
        pulled(Hex20, 0, 0.994, 1e-3)?,
        pulled(Hex20, 1, 0.970, 1e-3)?,
        pulled(Hex20, 2, 0.961, 1e-3)?,
        cantilever(Hex8, [48, 6, 6], 0.035)?,
        cantilever(Tet10, [24, 3, 3], 0.015)?,
        cantilever(Hex20, [24, 3, 3], 0.015)?,
    ])
}
