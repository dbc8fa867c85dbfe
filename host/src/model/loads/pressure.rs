//! `[[pressure]]`: a number, that of a liquid at rest, or values at points.

use super::{NodalForce, over_faces, scaled};
use crate::element::shape::At;
use crate::mesh::faces::Face;
use crate::mesh::vector::{dot, sub, unit};
use crate::model::Checked;
use crate::model::case::tables::PressureTable;
use crate::model::scattered::Scattered;
use crate::model::select::Selector;
use crate::parallel;

/// The nodal forces `-int N_a p n dA`.
pub(super) fn forces(selector: &Selector<'_>, table: &PressureTable) -> Checked<Vec<NodalForce>> {
    let (case, mesh) = (selector.case, selector.mesh);
    let faces = selector.faces(&table.on)?;
    if faces.iter().any(|face| face.beyond.is_some()) {
        return Err(selector.inside_the_body(&table.on));
    }
    if let Some(value) = &table.value {
        let value = *value.get_ref();
        return Ok(over_faces(selector, &faces, |_, normal| scaled(normal, -value)));
    }
    if let Some(file) = &table.file {
        let points = Scattered::read(case, file, &["p", "pressure", "value"], mesh.extent())?;
        let at_node = |face: &Face, at: &At| {
            let values = face.nodes().iter().map(|&node| points.at(mesh.coords[node as usize]));
            values.zip(&at.n).map(|(value, n)| n * value).sum()
        };
        return Ok(varying(selector, &faces, at_node));
    }
    let (gradient, level, down) = case.liquid(table)?;
    let plane_z = mesh.coords.first().map_or(0.0, |x| x[2]);
    let level = level.with_z(plane_z);
    let below = |face: &Face, at: &At| {
        let place = at.place(|b| mesh.coords[face.nodes()[b] as usize]);
        gradient * dot(sub(place, level), unit(down)).max(0.0)
    };
    Ok(varying(selector, &faces, below))
}

/// The nodal forces of a pressure that varies.
fn varying(selector: &Selector<'_>, faces: &[Face], pressure: impl Fn(&Face, &At) -> f64 + Sync) -> Vec<NodalForce> {
    let (thickness, analysis, coords) = (selector.case.thickness(), selector.case.analysis(), &selector.mesh.coords);
    parallel::flat_map(faces.len(), &|i, all: &mut Vec<NodalForce>| {
        let face = &faces[i];
        let first = all.len();
        all.extend(face.nodes().iter().map(|&node| (node, [0.0; 3])));
        for at in &face.kind.table().curved {
            let around = analysis.around(at.place(|b| coords[face.nodes()[b] as usize]));
            let push = scaled(face.area_vector(at, coords), -thickness * around * at.weight * pressure(face, at));
            for ((_, force), n) in all[first..].iter_mut().zip(&at.n) {
                (0..3).for_each(|c| force[c] += n * push[c]);
            }
        }
    })
}
