//! The patch test: a linear field prescribed on the skin of distorted cells is linear inside (Irons; Zienkiewicz and
//! Taylor, "The Finite Element Method", ch. 9), so that every cell has the same stress, or gradient.

use super::meshes::{distorted_box, on_skin, prescribe, straighten};
use super::{Measure, Problem, model_to};
use crate::element::ElementKind;
use crate::error::Result;
use crate::mesh::{Mesh, generate};
use crate::model::{Analysis, Model, Physics};
use crate::pipeline::Solution;
use crate::result::Field;

/// Rounding of the solver, amplified by the condition of a few hundred unknowns.
const TOLERANCE: f64 = 1e-8;
const SOURCE: &str = "exact, by the patch test";

/// Young's modulus and Poisson's ratio.
const YOUNG: f64 = 1000.0;
const POISSON: f64 = 0.3;
const CONDUCTIVITY: f64 = 3.0;

/// `h[i][j] = du_i/dx_j` of the field.
pub const FIELD: [[f64; 3]; 3] = [[1e-3, -2e-3, 5e-4], [3e-3, 4e-3, -1e-3], [-6e-4, 2e-3, -3e-3]];

/// The field in the first `dim` components.
pub fn field(dim: usize, x: [f64; 3]) -> [f64; 3] {
    let along = |i: usize| 0.01 + (0..dim).map(|j| FIELD[i][j] * x[j]).sum::<f64>();
    [0, 1, 2].map(|i| if i < dim { along(i) } else { 0.0 })
}

/// Distorted cells, curved where the element is. Of curved tetrahedra the four points of their rule integrate
/// stresses only nearly: `int sigma grad N_a dV` is of degree 3, the rule of degree 2; so do those of curved pyramids and of
/// reduced integration. Theirs stay straight.
pub fn mesh(kind: ElementKind) -> Result<Mesh> {
    let cells = if kind.info().is_quadratic() { [2, 3, 2] } else { [4, 5, 3] };
    let mut mesh = distorted_box(kind, cells, 0.2)?;
    if kind.info().dim == 3 && (kind.is_reduced() || !kind.info().domain.is_layered()) {
        straighten(&mut mesh);
    }
    Ok(mesh)
}

/// The stress of [`FIELD`] by Hooke's law, xx, yy, zz, xy, yz, xz; in the plane, of its first two components.
pub fn stress(analysis: Analysis) -> [f64; 6] {
    let (mu, nu) = (YOUNG / (2.0 * (1.0 + POISSON)), POISSON);
    let lambda = match analysis.is_thin() {
        true => YOUNG * nu / (1.0 - nu * nu),
        false => YOUNG * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)),
    };
    let dim = analysis.components();
    let h = |i: usize, j: usize| if i < dim && j < dim { FIELD[i][j] } else { 0.0 };
    let pressure = lambda * (0..3).map(|i| h(i, i)).sum::<f64>();
    let normal = |i: usize| pressure + 2.0 * mu * h(i, i);
    let shear = |i: usize, j: usize| mu * (h(i, j) + h(j, i));
    let across = if analysis.is_thin() { 0.0 } else { normal(2) };
    [normal(0), normal(1), across, shear(0, 1), shear(1, 2), shear(0, 2)]
}

/// Of its own, as what is checked is the kernels'.
fn von_mises([xx, yy, zz, xy, yz, xz]: [f64; 6]) -> f64 {
    let differences = (xx - yy).powi(2) + (yy - zz).powi(2) + (zz - xx).powi(2);
    (0.5 * differences + 3.0 * (xy * xy + yz * yz + xz * xz)).sqrt()
}

/// Of the cells' values the one furthest from what all should have.
fn worst(values: &[Vec<f64>], expected: f64) -> f64 {
    let off = |value: &f64| if value.is_nan() { f64::INFINITY } else { (value - expected).abs() };
    let worst = values.iter().flatten().max_by(|a, b| off(a).total_cmp(&off(b)));
    worst.copied().unwrap_or(f64::NAN)
}

/// The patch of an element in an analysis of elasticity.
pub fn elastic(kind: ElementKind, analysis: Analysis) -> Result<Problem> {
    let (name, dim) = (kind.info().name, analysis.components());
    let axes = &"xyz"[..dim];
    let tables = format!(
        "[analysis]\nkind = \"{}\"\n[[material]]\nname = \"soft\"\nyoung = {YOUNG:?}\npoisson = {POISSON:?}\n\
         [[support]]\non = \"xmin\"\nfix = \"{axes}\"\n",
        analysis.name()
    );
    let mut model = model_to(1e-13, &tables, mesh(kind)?)?;
    prescribe(&mut model, |x| on_skin(dim, x).then(|| field(dim, x)));
    let published = von_mises(stress(analysis));
    let of = move |_: &Model, solution: &Solution| worst(solution.step.lists("von_mises"), published);
    let measure = Measure::new("von Mises stress, worst cell", [published, TOLERANCE], SOURCE, of);
    Ok(Problem { name: format!("patch, {name}, {}", analysis.name()), model, measures: vec![measure] })
}

/// The patch of an element in an analysis of a potential.
pub fn potential(kind: ElementKind, analysis: Analysis) -> Result<Problem> {
    let dim = kind.info().dim;
    let tables = format!(
        "[analysis]\nkind = \"{}\"\n[[material]]\nname = \"body\"\nconductivity = {CONDUCTIVITY:?}\n\
         [[support]]\non = \"xmin\"\nvalue = 0.0\n",
        analysis.name()
    );
    let mut mesh = mesh(kind)?;
    // On curved triangles and squares, too, the rule's degree is short of what gradients take.
    straighten(&mut mesh);
    let mut model = model_to(1e-13, &tables, mesh)?;
    prescribe(&mut model, |x| on_skin(dim, x).then(|| [field(dim, x)[0], 0.0, 0.0]));
    let (words, is_flux) = (analysis.physics().words(), analysis.physics() == Physics::Heat);
    let slope = FIELD[0][..dim].iter().map(|slope| slope * slope).sum::<f64>().sqrt();
    let published = if is_flux { CONDUCTIVITY * slope } else { slope };
    let of = move |_: &Model, solution: &Solution| {
        worst(&solution.step.field(words.centres).map_or(vec![], Field::magnitudes), published)
    };
    let quantity = if is_flux { "heat flux, worst cell" } else { "gradient, worst cell" };
    let measure = Measure::new(quantity, [published, TOLERANCE], SOURCE, of);
    Ok(Problem { name: format!("patch, {}, {}", kind.info().name, analysis.name()), model, measures: vec![measure] })
}

/// Every element in every analysis that it is made for, but of bodies of revolution: there the hoop strain of a linear
/// field is none.
pub(super) fn problems() -> Result<Vec<Problem>> {
    let kinds = [2, 3].into_iter().flat_map(generate::kinds);
    let analyses = |kind: ElementKind| {
        let fits = move |of: &Analysis| of.fits(kind.info().dim) && !of.is_revolved();
        Analysis::ALL.into_iter().filter(fits).map(move |of| (kind, of))
    };
    let patch = |(kind, of): (_, Analysis)| match of.physics() {
        Physics::Elasticity => elastic(kind, of),
        Physics::Potential | Physics::Heat => potential(kind, of),
    };
    kinds.flat_map(analyses).map(patch).collect()
}
