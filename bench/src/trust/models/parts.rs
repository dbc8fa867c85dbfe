//! Several parts that do not touch, of which one stores nearly all the energy; and potentials.

use super::boxes::block;
use super::shapes::{Body, beside, even};
use super::text::{clamp, conductor, flux, force, held_at, material, model, moved};
use super::{Models, Size};
use warpfem::element::ElementKind::{Hex8, Tet4};

/// All of them.
pub fn add(models: &mut Models, size: Size) {
    add_rubber_beside_steel(models, size);
    add_ratio_of_stiffnesses(models, size);
    add_ratio_of_loads(models, size);
    add_potentials(models, size);
}

const STEEL: f64 = 210e9;
const RUBBER: f64 = 2e6;

/// A rubber cantilever beside a steel cube that is moved by 1 mm and strained by nothing; and strained by its own ends.
fn add_rubber_beside_steel(models: &mut Models, size: Size) {
    for name in ["rubber_beside_moved_steel", "rubber_beside_squeezed_steel"] {
        let n = size.of(3, 8);
        let is_moved = name.contains("moved");
        models.add(name, move |name| {
            let beam = block(Hex8, [8.0, 1.0, 1.0], [8 * n / 2, n, n])?;
            let cube = block(Hex8, [1.0; 3], [n; 3])?;
            let held = match is_moved {
                true => moved("b_xmin", [0.0, 0.0, 1e-3]),
                false => clamp("b_xmin") + &moved("b_xmax", [1e-3, 0.0, 1e-3]),
            };
            let tables = [
                material("a_body", RUBBER, 0.45),
                material("b_body", STEEL, 0.3),
                clamp("a_xmin"),
                force("a_xmax", [0.0, 0.0, -1.0]),
                held,
            ];
            model(name, beside(beam, cube, [0.0, 5.0, 0.0]), &tables)
        });
    }
}

/// Two loaded blocks, one 1e5 times as stiff as the other.
fn add_ratio_of_stiffnesses(models: &mut Models, size: Size) {
    let n = size.of(3, 8);
    models.add("two_parts_stiffness_1e5", move |name| {
        let cube = || block(Tet4, [1.0; 3], [n; 3]);
        let tables = [
            material("a_body", STEEL / 1e5, 0.3),
            material("b_body", STEEL, 0.3),
            clamp("a_xmin"),
            clamp("b_xmin"),
            force("a_xmax", [1.0, 0.5, 2.0]),
            force("b_xmax", [1.0, 0.5, 2.0]),
        ];
        model(name, beside(cube()?, cube()?, [0.0, 3.0, 0.0]), &tables)
    });
}

/// A block under 1e6 N beside a slender beam under 1 mN, and under 1 N: forces 1e9 and 1e6 times apart.
fn add_ratio_of_loads(models: &mut Models, size: Size) {
    for (name, newtons) in [("two_parts_load_1e9", 1e-3), ("two_parts_load_1e6", 1.0)] {
        let (n, along) = (size.of(3, 8), size.of(40, 200));
        models.add(name, move |name| {
            let cube = block(Hex8, [1.0; 3], [n; 3])?;
            let beam = block(Hex8, [100.0, 1.0, 1.0], [along, size.of(1, 2), size.of(1, 2)])?;
            let tables = [
                material("a_body", STEEL, 0.3),
                material("b_body", STEEL, 0.3),
                clamp("a_xmin"),
                clamp("b_xmin"),
                force("a_xmax", [1e6, 0.0, 1e6]),
                force("b_xmax", [0.0, 0.0, newtons]),
            ];
            model(name, beside(cube, beam, [0.0, 5.0, 0.0]), &tables)
        });
    }
}

/// Heat that flows in on one side of what is held hot on the other; through two layers; in two bodies.
fn add_potentials(models: &mut Models, size: Size) {
    const LAPLACE: &str = "[analysis]\nkind = \"laplace\"\n";
    let n = size.of(4, 16);
    for (name, kind) in [("potential_flux_hex8", Hex8), ("potential_flux_tet4", Tet4)] {
        models.add(name, move |name| {
            let tables = [LAPLACE.into(), conductor("body", 50.0), held_at("xmin", 1000.0), flux("zmax", 1e-3)];
            model(name, block(kind, [2.0, 1.0, 1.0], [2 * n, n, n])?, &tables)
        });
    }
    models.add("potential_layers_1e6", move |name| {
        let place = |x: [f64; 3]| Some(if x[0] < 1.0 { "wool" } else { "copper" });
        let mesh = Body { kind: Hex8, planes: [even(2.0, 2 * n), even(1.0, n), even(1.0, n)], place: &place }.mesh()?;
        let tables = [
            LAPLACE.into(),
            conductor("wool", 4e-4),
            conductor("copper", 400.0),
            held_at("xmin", 300.0),
            held_at("xmax", 301.0),
            flux("zmax", 1e-3),
        ];
        model(name, mesh, &tables)
    });
    models.add("potential_two_parts", move |name| {
        let cube = || block(Hex8, [1.0; 3], [n; 3]);
        let tables = [
            LAPLACE.into(),
            conductor("a_body", 50.0),
            conductor("b_body", 50.0),
            held_at("a_xmin", 0.0),
            held_at("a_xmax", 1e6),
            held_at("b_xmin", 20.0),
            flux("b_xmax", 1e-3),
        ];
        model(name, beside(cube()?, cube()?, [0.0, 3.0, 0.0]), &tables)
    });
}
