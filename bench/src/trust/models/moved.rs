//! Clamps that are moved far by comparison with what strains the body: thin plates and beams moved by 1 to 100 mm, or
//! turned, under 0.1 to 100 N.

use super::boxes::block;
use super::text::{clamp, fix, force, material, model, moved, turn};
use super::{Models, Size};
use warpfem::element::ElementKind::{self, Hex8, Hex20, Tet10};

/// Degrees.
const DEGREES: f64 = std::f64::consts::PI / 180.0;

/// All of them.
pub fn add(models: &mut Models, size: Size) {
    for (kind, millimetres, newtons) in [
        (Hex8, 1.0, 100.0),
        (Hex8, 10.0, 10.0),
        (Hex8, 10.0, 1.0),
        (Hex8, 100.0, 0.1),
        (Hex20, 1.0, 100.0),
        (Hex20, 10.0, 1.0),
        (Hex20, 100.0, 1.0),
    ] {
        add_moved(models, "plate", kind, plate(kind, size), [millimetres, newtons]);
    }
    for (kind, millimetres, newtons) in [(Hex8, 10.0, 1.0), (Tet10, 100.0, 10.0), (Hex20, 1.0, 0.1)] {
        add_moved(models, "beam", kind, beam(kind, size), [millimetres, newtons]);
    }
    for (name, axis, angle, is_small, newtons) in [
        ("turned_y_5", 1, 5.0 * DEGREES, false, 1.0),
        ("turned_z_5", 2, 5.0 * DEGREES, false, 1.0),
        ("turned_y_rigid", 1, 0.01, true, 1.0),
        ("turned_y_unloaded", 1, 0.01, true, 0.0),
    ] {
        let (lengths, cells) = plate(Hex8, size);
        models.add(name, move |name| {
            let tables = [steel(), clamp("xmin"), force("xmax", [0.0, 0.0, newtons])];
            let mut model = model(name, block(Hex8, lengths, cells)?, &tables)?;
            turn(&mut model, "xmin", axis, angle, is_small);
            Ok(model)
        });
    }
    add_both_ends(models, size);
}

type Box = ([f64; 3], [usize; 3]);

fn plate(kind: ElementKind, size: Size) -> Box {
    let n = if kind == Hex20 { size.of(5, 10) } else { 10 };
    ([1.0, 1.0, 0.01], [n, n, 1])
}

fn beam(kind: ElementKind, size: Size) -> Box {
    let n = if kind == Hex8 { size.of(40, 200) } else { size.of(20, 100) };
    ([1.0, 0.02, 0.02], [n, size.of(1, 2), size.of(1, 2)])
}

fn steel() -> String {
    material("body", 210e9, 0.3)
}

/// The clamp moved across, a force at the other end.
fn add_moved(
    models: &mut Models,
    what: &str,
    kind: ElementKind,
    (lengths, cells): Box,
    [millimetres, newtons]: [f64; 2],
) {
    let name = format!("{what}_{}_{millimetres}mm_{newtons}N", kind.info().name);
    models.add(name, move |name| {
        let tables = [steel(), moved("xmin", [0.0, 0.0, 1e-3 * millimetres]), force("xmax", [0.0, 0.0, newtons])];
        model(name, block(kind, lengths, cells)?, &tables)
    });
}

/// Both ends prescribed, which no rigid motion fits.
fn add_both_ends(models: &mut Models, size: Size) {
    let (lengths, cells) = beam(Hex8, size);
    for (name, newtons) in [("both_ends", 0.0), ("both_ends_1N", 1.0)] {
        models.add(name, move |name| {
            let tables = [
                steel(),
                moved("xmin", [0.0, 0.0, 10e-3]),
                moved("xmax", [0.0, 0.0, 11e-3]),
                force("zmax", [0.0, 0.0, newtons]),
            ];
            model(name, block(Hex8, lengths, cells)?, &tables)
        });
    }
    let n = size.of(6, 14);
    models.add("squeezed", move |name| {
        let tables = [material("body", 5e6, 0.45), clamp("zmin"), moved("zmax", [0.02, 0.0, -0.01]), fix("ymin", "y")];
        model(name, block(Hex8, [1.0; 3], [n; 3])?, &tables)
    });
}
