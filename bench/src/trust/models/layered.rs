//! Bodies of a hard and a soft material: bonded bars, coats, flaps; loaded or moved on either side, with stiffnesses up
//! to a thousand million times apart.

use super::shapes::{Body, even};
use super::text::{clamp, force, material, model, moved};
use super::{Models, Size};
use warpfem::element::ElementKind::{self, Hex8, Tet4};
use warpfem::model::{Model, Result};

/// Young's modulus of what is soft.
const SOFT: f64 = 1e3;

/// How a body of a soft and a hard end is held and loaded.
#[derive(Debug, Clone, Copy)]
enum Load {
    /// The soft end clamped, a force on the hard one.
    ForceOnHard,
    /// The hard end clamped, a force on the soft one.
    ForceOnSoft,
    /// The soft end clamped, the hard one moved by 10 mm.
    HardMoved,
    /// The hard end clamped, the soft one moved by 10 mm.
    SoftMoved,
    /// The hard end moved by 10 mm, a force on the soft one.
    HardMovedForceOnSoft,
}

use Load::{ForceOnHard, ForceOnSoft, HardMoved, HardMovedForceOnSoft, SoftMoved};

impl Load {
    fn name(self) -> &'static str {
        match self {
            ForceOnHard => "force_on_hard",
            ForceOnSoft => "force_on_soft",
            HardMoved => "hard_moved",
            SoftMoved => "soft_moved",
            HardMovedForceOnSoft => "hard_moved_force_on_soft",
        }
    }

    /// Supports and loads of a body with these ends.
    fn tables(self, soft: &str, hard: &str) -> [String; 2] {
        let (pull, by) = ([0.1, 0.2, 0.5], [2e-3, 0.0, 10e-3]);
        match self {
            ForceOnHard => [clamp(soft), force(hard, pull)],
            ForceOnSoft => [clamp(hard), force(soft, pull)],
            HardMoved => [clamp(soft), moved(hard, by)],
            SoftMoved => [clamp(hard), moved(soft, by)],
            HardMovedForceOnSoft => [moved(hard, by), force(soft, pull)],
        }
    }
}

/// All of them.
pub fn add(models: &mut Models, size: Size) {
    for (load, ratios) in [
        (ForceOnHard, &[1e3, 1e5, 1e6, 1e7, 1e9][..]),
        (ForceOnSoft, &[1e3, 1e6, 1e9]),
        (HardMoved, &[1e3, 1e5, 1e7, 1e9]),
        (SoftMoved, &[1e3, 1e6, 1e9]),
        (HardMovedForceOnSoft, &[1e3, 1e6, 1e9]),
    ] {
        for &ratio in ratios {
            let n = size.of(3, 10);
            models.add(format!("bonded_{}_{ratio:.0e}", load.name()), move |name| {
                bonded(name, load, ratio, [even(2.0, 2 * n), even(1.0, n), even(1.0, n)], 0, 1.0, Hex8)
            });
        }
    }
    for (load, ratios) in
        [(ForceOnHard, &[1e3, 1e6, 1e9][..]), (ForceOnSoft, &[1e3, 1e9]), (SoftMoved, &[1e3, 1e6, 1e9])]
    {
        for &ratio in ratios {
            models.add(format!("coat_{}_{ratio:.0e}", load.name()), move |name| coat(name, load, ratio, size, Hex8));
        }
    }
    models.add("coat_tet4_soft_moved_1e6", move |name| coat(name, SoftMoved, 1e6, size, Tet4));
    add_flaps(models, size);
}

/// A body that is soft below a plane of an axis and hard above, of one kind of element.
fn bonded(
    name: &str,
    load: Load,
    ratio: f64,
    planes: [Vec<f64>; 3],
    axis: usize,
    plane: f64,
    kind: ElementKind,
) -> Result<Model> {
    let place = |x: [f64; 3]| Some(if x[axis] < plane { "soft" } else { "hard" });
    let mesh = Body { kind, planes, place: &place }.mesh()?;
    let [soft, hard] = [["xmin", "xmax"], ["ymin", "ymax"], ["zmin", "zmax"]][axis];
    let materials = [material("soft", SOFT, 0.3), material("hard", SOFT * ratio, 0.3)];
    model(name, mesh, &[&materials[..], &load.tables(soft, hard)].concat())
}

/// A hard layer of a thousandth of the thickness on a soft block.
fn coat(name: &str, load: Load, ratio: f64, size: Size, kind: ElementKind) -> Result<Model> {
    let (n, layers) = (size.of(5, 12), size.of(3, 6));
    let mut through = even(1.0, layers);
    through.push(1.001);
    bonded(name, load, ratio, [even(1.0, n), even(1.0, n), through], 2, 1.0, kind)
}

/// A stiff block that takes nearly all the energy, and a flap or a fin on it that bends under little.
fn add_flaps(models: &mut Models, size: Size) {
    for (name, young) in [("flap_rubber", 5e6), ("flap_steel", 210e9)] {
        let n = size.of(3, 6);
        models.add(name, move |name| {
            let place = |x: [f64; 3]| match x {
                [x, _, _] if x < 1.0 => Some("block"),
                [_, _, z] if z > 0.8 => Some("flap"),
                _ => None,
            };
            let planes =
                [[even(1.0, n), vec![1.25, 1.5, 1.75, 2.0]].concat(), even(1.0, n), vec![0.0, 0.4, 0.8, 0.9, 1.0]];
            let mesh = Body { kind: Hex8, planes, place: &place }.mesh()?;
            let tables = [
                material("block", 210e9, 0.3),
                material("flap", young, 0.3),
                clamp("zmin"),
                force("xmin", [1e6, 0.0, 0.0]),
                force("xmax", [0.0, 0.0, 1.0]),
            ];
            model(name, mesh, &tables)
        });
    }
    for (name, newtons) in [("fin_1N", 1.0), ("fin_1mN", 1e-3)] {
        let n = size.of(3, 6);
        models.add(name, move |name| {
            let place = |x: [f64; 3]| (x[0] < 1.0 || x[2] > 0.99).then_some("steel");
            let fin: Vec<f64> = even(1.0, 2 * n).into_iter().skip(1).map(|x| 1.0 + x).collect();
            let planes = [[even(1.0, n), fin].concat(), even(1.0, n), vec![0.0, 0.33, 0.66, 0.99, 1.0]];
            let mesh = Body { kind: Hex8, planes, place: &place }.mesh()?;
            let tables = [
                material("steel", 210e9, 0.3),
                clamp("zmin"),
                force("xmin", [1e6, 0.0, 0.0]),
                force("xmax", [0.0, 0.0, newtons]),
            ];
            model(name, mesh, &tables)
        });
    }
}
