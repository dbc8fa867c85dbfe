//! One material, clamped at one end, pulled, bent and sheared at the other: cubes, beams, plates, flat and long
//! elements, hardly compressible ones; brackets and a shell.

use super::shapes::{Body, even};
use super::text::{clamp, fix, material, model, traction};
use super::{Models, Size};
use std::f64::consts::FRAC_PI_2;
use warpfem::element::ElementKind::{self, Hex8, Hex20, Pyramid5, Pyramid13, Tet4, Tet10, Wedge6, Wedge15};
use warpfem::mesh::Mesh;
use warpfem::model::Model;
use warpfem::model::Result;

/// What a box is.
#[derive(Clone, Copy)]
struct Block {
    kind: ElementKind,
    size: [f64; 3],
    cells: [usize; 3],
    poisson: f64,
}

/// A box's mesh, all of it the group "body".
pub fn block(kind: ElementKind, size: [f64; 3], cells: [usize; 3]) -> Result<Mesh> {
    let planes = [0, 1, 2].map(|axis| even(size[axis], cells[axis]));
    Ok(Body { kind, planes, place: &|_| Some("body") }.mesh()?)
}

/// All of them.
pub fn add(models: &mut Models, size: Size) {
    for (name, block) in blocks(size) {
        models.add(name, move |name| {
            let tables = [material("body", 210e9, block.poisson), clamp("xmin"), traction("xmax", [1e6, 3e5, 2e6])];
            model(name, self::block(block.kind, block.size, block.cells)?, &tables)
        });
    }
    for (i, n) in size.of([[1, 1], [2, 1], [2, 2]], [[2, 2], [4, 4], [6, 6]]).into_iter().enumerate() {
        models.add(format!("bracket_tet10_{}", i + 1), move |name| bracket(name, n));
    }
    models.add("shell_hex20", move |name| shell(name, size.of(6, 16)));
}

/// Boxes by name: those of the study of thin bodies, and those of `benches/hard` on fewer elements.
fn blocks(size: Size) -> Vec<(&'static str, Block)> {
    let cube = [1.0; 3];
    let beam = [100.0, 1.0, 1.0];
    let long = [20.0, 1.0, 1.0];
    let plate = |thickness: f64| [1.0, 1.0, thickness];
    let n = |short: usize, full: usize| [size.of(short, full); 3];
    let along = |short: usize, full: usize, across: usize| {
        let across = size.of(1, across);
        [size.of(short, full), across, across]
    };
    let flat = |short: usize, full: usize| [size.of(short, full), size.of(short, full), 1];
    let list = [
        ("cube_hex8", Hex8, cube, n(6, 24), 0.3),
        ("cube_tet4", Tet4, cube, n(5, 20), 0.3),
        ("cube_tet10", Tet10, cube, n(3, 10), 0.3),
        ("cube_hex20", Hex20, cube, n(3, 10), 0.3),
        ("cube_wedge6", Wedge6, cube, n(5, 20), 0.3),
        ("cube_pyramid5", Pyramid5, cube, n(4, 14), 0.3),
        ("cube_wedge15", Wedge15, cube, n(3, 9), 0.3),
        ("cube_pyramid13", Pyramid13, cube, n(2, 7), 0.3),
        ("beam_hex8", Hex8, beam, along(50, 400, 4), 0.3),
        ("beam_hex8_fine", Hex8, beam, [size.of(40, 800), size.of(2, 8), size.of(2, 8)], 0.3),
        ("beam_tet10", Tet10, beam, along(25, 200, 2), 0.3),
        ("beam_hex20", Hex20, beam, along(25, 200, 2), 0.3),
        ("plate_hex8", Hex8, plate(0.01), flat(10, 100), 0.3),
        ("plate_hex8_fine", Hex8, plate(0.005), flat(12, 200), 0.3),
        ("plate_tet10", Tet10, plate(0.025), flat(6, 40), 0.3),
        ("plate_hex20", Hex20, plate(0.02), flat(6, 50), 0.3),
        ("flat_hex20", Hex20, plate(0.005), flat(6, 25), 0.3),
        ("stretched_hex8", Hex8, long, n(5, 24), 0.3),
        ("stretched_tet4", Tet4, long, n(5, 20), 0.3),
        ("nu_0.499_hex8", Hex8, cube, n(5, 20), 0.499),
        ("nu_0.499_tet10", Tet10, cube, n(3, 10), 0.499),
        ("nu_0.4999_hex8", Hex8, cube, n(5, 16), 0.4999),
        ("nu_0.4999_tet10", Tet10, cube, n(2, 8), 0.4999),
        ("hard_beam", Hex8, beam, along(60, 600, 6), 0.3),
        ("hard_cube_hex20", Hex20, cube, n(2, 12), 0.3),
        ("hard_cube_tet10", Tet10, cube, n(2, 12), 0.3),
        ("hard_incompressible", Hex8, cube, n(6, 24), 0.49),
        ("hard_plate", Hex8, plate(0.0025), flat(10, 80), 0.3),
        ("hard_stretched_hex8", Hex8, long, n(4, 20), 0.3),
        ("hard_stretched_tet4", Tet4, long, n(4, 24), 0.3),
    ];
    list.map(|(name, kind, size, cells, poisson)| (name, Block { kind, size, cells, poisson })).into()
}

/// An L of quadratic tetrahedra, held above, pressed down at its tip; so many elements through its thickness and across.
fn bracket(name: &str, [n, across]: [usize; 2]) -> Result<Model> {
    let planes = [even(0.08, 4 * n), even(0.04, across), even(0.08, 4 * n)];
    let place = |x: [f64; 3]| (x[0] < 0.02 || x[2] < 0.02).then_some("steel");
    let mesh = Body { kind: Tet10, planes, place: &place }.mesh()?;
    let tables = [material("steel", 210e9, 0.3), clamp("zmax"), super::text::force("xmax", [0.0, 0.0, -1500.0])];
    model(name, mesh, &tables)
}

/// An eighth of the pinched cylinder (Belytschko et al. 1985), `n x n` elements and one through the thickness: radius
/// and half its length 300, thickness 3, a rigid diaphragm at its end.
fn shell(name: &str, n: usize) -> Result<Model> {
    const RADIUS: f64 = 300.0;
    const THICKNESS: f64 = 3.0;
    let planes = [even(FRAC_PI_2, n), even(RADIUS, n), vec![-0.5 * THICKNESS, 0.5 * THICKNESS]];
    let mut mesh = Body { kind: Hex20, planes, place: &|_| Some("body") }.mesh()?;
    for x in &mut mesh.coords {
        let (sine, cosine) = x[0].sin_cos();
        let radius = RADIUS + x[2];
        *x = [radius * sine, x[1], radius * if x[0] == FRAC_PI_2 { 0.0 } else { cosine }];
    }
    let pinch =
        format!("[[point_force]]\nat = [0.0, 0.0, {:e}]\nvector = [0.0, 0.0, -0.25]\n", RADIUS + 0.5 * THICKNESS);
    let tables =
        [material("body", 3e6, 0.3), fix("xmin", "x"), fix("xmax", "z"), fix("ymin", "y"), fix("ymax", "xz"), pinch];
    model(name, mesh, &tables)
}
