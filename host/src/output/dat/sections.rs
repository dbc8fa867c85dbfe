//! `*SECTION PRINT`: the force and the moment that a body's stress has on a surface, as CalculiX integrates them: of the averages at
//! the nodes.

use std::collections::HashMap;
use std::io::{self, Write};

use super::{numbers, scientific};
use crate::element::shape::At;
use crate::mesh::vector::{add, cross, dot, norm, sub};
use crate::model::Model;
use crate::model::case::{SectionPrint, Side};
use crate::result::Step;

/// What is integrated over a surface.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    force: [f64; 3],
    /// About the origin.
    moment: [f64; 3],
    area: f64,
    /// The area times its centre, and times its normal.
    centre: [f64; 3],
    normal: [f64; 3],
}

/// Writes the table of a surface.
pub fn write(
    file: &mut impl Write,
    print: &SectionPrint,
    (model, step): (&Model, &Step),
    nodes: &HashMap<u64, usize>,
    time: f64,
) -> io::Result<()> {
    let SectionPrint { surface: name, sides, .. } = print;
    let Sums { force, moment, area, centre, normal } = sums(sides, model, step, nodes);
    let [centre, normal] = [centre, normal].map(|of| of.map(|c| c / area));
    let about_centre = sub(moment, cross(centre, force));
    let along = |v: [f64; 3]| dot(v, normal);
    let across = |v: [f64; 3]| norm(sub(v, normal.map(|c| c * along(v))));
    writeln!(file, "\n\n\n statistics for surface set {name} and time {:>14}", scientific(time, 7, true))?;
    let of_both = |a: [f64; 3], b: [f64; 3]| [a, b].concat();
    let rows = [
        ("total surface force (fx,fy,fz) and moment about the origin(mx,my,mz)", of_both(force, moment)),
        ("center of gravity and mean normal", of_both(centre, normal)),
        ("moment about the center of gravity(mx,my,mz)", about_centre.to_vec()),
        (
            "area, normal force (+ = tension), shear force (size), torque and bending moment (size)",
            vec![area, along(force), across(force), along(about_centre), across(about_centre)],
        ),
    ];
    rows.iter().try_for_each(|(title, values)| writeln!(file, "\n   {title}\n\n  {}", numbers(values)))
}

fn sums(sides: &[Side], model: &Model, step: &Step, nodes: &HashMap<u64, usize>) -> Sums {
    let stress = step.vectors::<6>("stress_nodal");
    let mut sums = Sums::default();
    for Side { kind, nodes: tags } in sides {
        let places: Option<Vec<usize>> = tags.iter().map(|tag| nodes.get(tag).copied()).collect();
        let Some(places) = places else { continue };
        let x = |b: usize| model.mesh.coords[places[b]];
        for at in &kind.table().quadrature {
            let (place, [r, s, _]) = (at.place(x), at.tangents(x));
            let normal = cross(r, s).map(|c| at.weight * c);
            let force = traction(at, |b| stress.get(places[b]).copied().unwrap_or_default(), normal);
            let area = norm(normal);
            sums.force = add(sums.force, force);
            sums.moment = add(sums.moment, cross(place, force));
            sums.area += area;
            sums.centre = add(sums.centre, place.map(|c| area * c));
            sums.normal = add(sums.normal, normal);
        }
    }
    sums
}

/// The stress at a point times a vector.
fn traction(at: &At, stress: impl Fn(usize) -> [f64; 6], normal: [f64; 3]) -> [f64; 3] {
    let mut tensor = [0.0; 6];
    for (b, n) in at.n.iter().enumerate() {
        stress(b).iter().zip(&mut tensor).for_each(|(of_node, sum)| *sum += n * of_node);
    }
    let [xx, yy, zz, xy, yz, xz] = tensor;
    [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]].map(|row| dot(row, normal))
}
