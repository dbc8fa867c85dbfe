//! Which element is made of what.

use std::sync::Arc;

use toml::Spanned;

use super::case::Case;
use super::case::tables::MaterialTable;
use super::law::{self, Axes};
use super::names::{list, suggest, words};
use super::problems::Problems;
use super::scattered;
use super::select::Selector;
use super::{CaseError, Checked, Material, Place};
use crate::mesh::Mesh;

/// No material yet.
const NONE: u32 = u32::MAX;
/// Element tags shown in a message.
const TAGS_SHOWN: usize = 5;

/// The materials in the case file's order, and for each block of `mesh.cells` that of each cell; empty for blocks that are
/// not solid.
pub fn resolve(selector: &Selector<'_>, problems: &mut Problems) -> (Vec<Material>, Vec<Vec<u32>>) {
    let tables = &selector.case.tables.material;
    let mut of_table = |table: &MaterialTable| {
        let mut material = selector.case.material(table);
        if let Some(file) = table.axes.as_ref().and_then(|axes| axes.get_ref().file.as_ref()) {
            material.axes = problems.take(axes_of(selector, file)).unwrap_or_default();
        }
        material
    };
    let materials = tables.iter().map(|table| of_table(table.get_ref())).collect();
    let mut of_cell: Vec<Vec<u32>> = vec![Vec::new(); selector.mesh.cells.len()];
    selector.mesh.solids().for_each(|(block, cells)| of_cell[block] = vec![NONE; cells.len()]);
    problems.take(selector.case.check_stiffness(selector.mesh.dim(), selector.mesh.longest_side()));
    let found = problems.count();
    for (index, table) in tables.iter().enumerate() {
        problems.take(assign(selector, index as u32, table.get_ref(), &mut of_cell));
    }
    // What misses a material because of a misspelt group, or because there is none, is said by that error.
    if problems.count() == found && !tables.is_empty() {
        problems.take(check_complete(selector, &of_cell));
    }
    (materials, of_cell)
}

/// The columns of a file of axes: the components of x, then of y.
const COLUMNS: [&[&str]; 6] = [&["x_x"], &["x_y"], &["x_z"], &["y_x"], &["y_y"], &["y_z"]];

/// The axes of points in a file.
fn axes_of(selector: &Selector<'_>, file: &Spanned<String>) -> Checked<Axes> {
    let (points, vectors) = scattered::read(selector.case, file, COLUMNS, selector.mesh.extent())?;
    let axes = vectors.iter().zip(1..).map(|(&[a, b, c, d, e, f], number)| {
        law::spanned([a, b, c], [d, e, f]).ok_or_else(|| {
            let path = file.get_ref();
            let message = format!("{path}: x and y of point {number} are parallel, or one of them is 0");
            selector.case.error_at(file.span(), message, "let them span a plane")
        })
    });
    Ok(Axes::Nearest(Arc::new(law::Field::new(points, axes.collect::<Checked<_>>()?))))
}

/// Gives one material to the solids of its groups.
fn assign(selector: &Selector<'_>, index: u32, table: &MaterialTable, of_cell: &mut [Vec<u32>]) -> Checked {
    let Some(on) = &table.on else {
        // Of several, each of which has to say what is made of it, the first is described.
        of_cell.iter_mut().flatten().filter(|slot| **slot == NONE).for_each(|slot| *slot = index);
        return Ok(());
    };
    for (name, place) in on.get_ref().with_places(on.span()) {
        let group = selector.mesh.body(name).or_else(|| selector.mesh.group(name));
        let group = group.ok_or_else(|| unknown_body(selector, name, place.clone()))?;
        if group.dim != selector.mesh.dim() {
            let bodies = words(selector.mesh.dim()).bodies;
            let message =
                format!("`{name}` is a group of dimension {}; a material is of groups of {bodies}", group.dim);
            let help = format!("groups of {bodies}: {}", list(&bodies_of(selector.mesh)));
            return Err(selector.case.error_at(place, message, help));
        }
        for (block, cells) in &group.members {
            for &cell in cells {
                let slot = &mut of_cell[*block][cell as usize];
                if *slot != NONE && *slot != index {
                    let tag = selector.mesh.cells[*block].tags[cell as usize];
                    return Err(two_materials(selector.case, *slot, index, tag, name, place));
                }
                *slot = index;
            }
        }
    }
    Ok(())
}

/// The groups that may be made of something.
fn bodies_of(mesh: &Mesh) -> Vec<&str> {
    mesh.groups.iter().filter(|group| group.dim == mesh.dim()).map(|group| group.name.as_str()).collect()
}

fn unknown_body(selector: &Selector<'_>, name: &str, place: Place) -> Box<CaseError> {
    let message = format!("{} has no group `{name}`", selector.case.mesh_name());
    let what = format!("groups of {}", words(selector.mesh.dim()).bodies);
    let mut help = suggest(name, &what, &bodies_of(selector.mesh));
    if selector.case.tables.material.len() == 1 {
        help.push_str("; a single material may leave `on` out");
    }
    selector.case.error_at(place, message, help)
}

fn two_materials(case: &Case, first: u32, second: u32, tag: u64, name: &str, place: Place) -> Box<CaseError> {
    let table = |index: u32| case.tables.material[index as usize].get_ref();
    let line = case.source.line_of(&table(first).name.span());
    let (first, second) = (table(first).name.get_ref(), table(second).name.get_ref());
    let message = format!("element {tag} of `{name}` has two materials: `{first}` ({line}) and `{second}`");
    case.error_at(place, message, "every element has exactly one material")
}

/// Refuses elements without a material, by group and element tag.
fn check_complete(selector: &Selector<'_>, of_cell: &[Vec<u32>]) -> Checked {
    let mesh = selector.mesh;
    let bare: Vec<u64> = (mesh.cells.iter().zip(of_cell))
        .flat_map(|(block, of)| of.iter().zip(&block.tags).filter(|(m, _)| **m == NONE).map(|(_, &tag)| tag))
        .collect();
    if bare.is_empty() {
        return Ok(());
    }
    let holds_bare = |members: &[(usize, Vec<u32>)]| {
        members.iter().any(|(block, cells)| cells.iter().any(|&cell| of_cell[*block][cell as usize] == NONE))
    };
    let (dim, words) = (mesh.dim(), words(mesh.dim()));
    let groups: Vec<&str> =
        mesh.groups.iter().filter(|g| g.dim == dim && holds_bare(&g.members)).map(|g| g.name.as_str()).collect();
    let tags: Vec<String> = bare.iter().take(TAGS_SHOWN).map(u64::to_string).collect();
    let more = if bare.len() > TAGS_SHOWN { ", .." } else { "" };
    let message = format!("{} {}s have no material: {}{more}", bare.len(), words.solid, tags.join(", "));
    let help = match groups.is_empty() {
        true => format!("they are in no group of {}; with a single material, leave its `on` out", words.bodies),
        false => format!("add a [[material]] with `on` for: {}", list(&groups)),
    };
    let last = selector.case.tables.material.last();
    let place = last.and_then(|table| table.get_ref().on.as_ref().map(Spanned::span));
    Err(match place {
        Some(place) => selector.case.error_at(place, message, help),
        None => selector.case.source.error_anywhere(message, help),
    })
}
