//! Writes a mesh as the geometry of a deck for CalculiX or Abaqus.
//!
//! Groups of bodies become element sets, groups of faces surfaces and node sets, others node sets.

use std::fmt::Write;

use super::codes::faces;
use crate::mesh::faces::Face;
use crate::mesh::{Cells, Group, Mesh};

/// Entries of a line.
const OF_LINE: usize = 16;
/// Characters of a number that CalculiX reads.
const OF_NUMBER: usize = 20;

/// What decks have no type of.
#[derive(Debug, thiserror::Error)]
#[error("decks have no element like {0}\nhelp: files of Gmsh (.msh) and ParaView (.vtu) have")]
pub struct NoType(pub &'static str);

/// The text; plane elements are of this family: `CPS`, `CPE` or `CAX`.
///
/// # Errors
///
/// The first kind of elements that decks do not have.
pub fn to_text(mesh: &Mesh, plane: &str) -> Result<String, NoType> {
    let mut out = String::from("*NODE\n");
    for (tag, x) in mesh.node_tags.iter().zip(&mesh.coords) {
        let [x, y, z] = x.map(coordinate);
        add(&mut out, format_args!("{tag}, {x}, {y}, {z}\n"));
    }
    let family = if mesh.dim() == 3 { "C3D" } else { plane };
    for (_, cells) in mesh.solids().filter(|(_, cells)| !cells.is_empty()) {
        elements(&mut out, mesh, cells, family)?;
    }
    for group in &mesh.groups {
        write_group(&mut out, mesh, group);
    }
    Ok(out)
}

fn elements(out: &mut String, mesh: &Mesh, cells: &Cells, family: &str) -> Result<(), NoType> {
    let info = cells.kind.info();
    if info.abaqus.is_empty() {
        return Err(NoType(info.name));
    }
    add(out, format_args!("*ELEMENT, TYPE={family}{}, ELSET={}\n", info.abaqus, info.name));
    for (i, tag) in cells.tags.iter().enumerate() {
        let nodes = cells.cell(i);
        let in_order = |k: usize| nodes[info.vtk_order.get(k).copied().unwrap_or(k)];
        list(out, std::iter::once(*tag).chain((0..nodes.len()).map(|k| mesh.node_tags[in_order(k) as usize])));
    }
    Ok(())
}

fn write_group(out: &mut String, mesh: &Mesh, group: &Group) {
    let name = name_of(mesh, group);
    if group.dim == mesh.dim() {
        add(out, format_args!("*ELSET, ELSET={name}\n"));
        let tags = |(block, cells): &(usize, Vec<u32>)| {
            let tags = &mesh.cells[*block].tags;
            cells.iter().map(|&cell| tags[cell as usize]).collect::<Vec<_>>()
        };
        return list(out, group.members.iter().flat_map(tags));
    }
    add(out, format_args!("*NSET, NSET={name}\n"));
    list(out, mesh.nodes_of(group).into_iter().map(|node| mesh.node_tags[node as usize]));
    let on = if group.dim + 1 == mesh.dim() { mesh.faces_on(&group.name) } else { None };
    let numbered = on.into_iter().flatten().filter_map(|face| number(mesh, &face));
    for (i, (tag, side)) in numbered.enumerate() {
        if i == 0 {
            add(out, format_args!("*SURFACE, NAME={name}, TYPE=ELEMENT\n"));
        }
        add(out, format_args!("{tag}, S{side}\n"));
    }
}

/// The element that a face is of, and its number there.
fn number(mesh: &Mesh, face: &Face) -> Option<(u64, usize)> {
    let (cells, cell) = (&mesh.cells[face.block], face.cell as usize);
    let nodes = cells.cell(cell);
    let corners = &face.nodes()[..face.kind.info().n_corners];
    let is_it = |side: &&[usize]| side.len() == corners.len() && side.iter().all(|&k| corners.contains(&nodes[k]));
    let side = faces(cells.kind.info().domain).iter().position(is_it)?;
    Some((cells.tags[cell], side + 1))
}

/// The group's name, in quotes unless it is a plain word that no other name is but for upper and lower case.
fn name_of(mesh: &Mesh, group: &Group) -> String {
    let name = group.name.replace(['"', '\n', '\r'], "'");
    let is_like = |other: &Group| other.name != group.name && other.name.eq_ignore_ascii_case(&group.name);
    let is_plain = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c));
    if is_plain && !mesh.groups.iter().any(is_like) { name } else { format!("\"{name}\"") }
}

/// A coordinate: to the same bits, or to the digits that there is space for.
fn coordinate(x: f64) -> String {
    let exact = format!("{x:?}");
    if exact.len() <= OF_NUMBER { exact } else { format!("{x:.12e}") }
}

/// Numbers separated by commas; a comma at the end of a line says that it goes on.
fn list(out: &mut String, tags: impl Iterator<Item = u64>) {
    for (i, tag) in tags.enumerate() {
        let before = match i {
            0 => "",
            i if i % OF_LINE == 0 => ",\n",
            _ => ", ",
        };
        add(out, format_args!("{before}{tag}"));
    }
    out.push('\n');
}

fn add(out: &mut String, text: std::fmt::Arguments) {
    // Writing to a string cannot fail.
    let _ = out.write_fmt(text);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::ElementKind;
    use crate::mesh::generate::generate_box;
    use crate::mesh::rectangle::generate_rectangle;

    #[test]
    fn a_deck_has_nodes_elements_sets_and_surfaces() {
        let mut mesh = generate_box(ElementKind::Hex20, [1.0, 2.0, 3.0], [1; 3]).unwrap();
        mesh.groups.retain(|group| ["body", "xmax"].contains(&group.name.as_str()));
        mesh.groups[1].name = "the \"end\"".into();
        mesh.coords[1] = [1e-7, -0.12345678901234568, 1.2345678901234567e-5];
        let text = to_text(&mesh, "CPS").unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[..3], ["*NODE", "1, 0.0, 0.0, 0.0", "2, 1e-7, -0.12345678901234568, 1.234567890123e-5"]);
        assert_eq!(lines[21], "*ELEMENT, TYPE=C3D20, ELSET=hex20");
        let nodes: Vec<usize> = lines[22..24].join(" ").split(", ").map(|tag| tag.trim().parse().unwrap()).collect();
        let cell = &mesh.cells[0];
        assert_eq!(nodes[0], cell.tags[0] as usize);
        let order = cell.kind.info().vtk_order;
        assert_eq!(nodes[1..], order.iter().map(|&k| cell.nodes[k] as usize + 1).collect::<Vec<_>>());
        let rest = lines[24..].join("\n");
        assert!(rest.starts_with("*ELSET, ELSET=body\n1\n*NSET, NSET=\"the 'end'\"\n"), "{rest}");
        assert!(rest.ends_with("\n*SURFACE, NAME=\"the 'end'\", TYPE=ELEMENT\n1, S4"), "{rest}");
    }

    /// A side is the one whose corners decks list: each of a group's sides once, on its plane.
    #[test]
    fn sides_have_the_numbers_of_decks() {
        for kind in [ElementKind::Hex8, ElementKind::Tet10, ElementKind::Wedge15] {
            let mesh = generate_box(kind, [1.0; 3], [2; 3]).unwrap();
            for group in mesh.groups.iter().filter(|group| group.dim == 2) {
                let faces_of = mesh.faces_on(&group.name).unwrap();
                for face in &faces_of {
                    let (_, side) = number(&mesh, face).unwrap();
                    let nodes = mesh.cells[face.block].cell(face.cell as usize);
                    let mut corners: Vec<u32> = faces(kind.info().domain)[side - 1].iter().map(|&k| nodes[k]).collect();
                    let mut expected = face.nodes()[..face.kind.info().n_corners].to_vec();
                    corners.sort_unstable();
                    expected.sort_unstable();
                    assert_eq!(corners, expected, "{kind:?}");
                }
                assert!(faces_of.len() >= 4);
            }
        }
        let text = to_text(&generate_rectangle(ElementKind::Quad8, [1.0; 2], [1; 2]).unwrap(), "CAX").unwrap();
        assert!(text.contains("TYPE=CAX8") && text.contains("*SURFACE, NAME=xmax, TYPE=ELEMENT\n1, S2\n"), "{text}");
    }

    #[test]
    fn names_alike_are_quoted_and_pyramids_refused() {
        let mut mesh = generate_box(ElementKind::Pyramid5, [1.0; 3], [1; 3]).unwrap();
        assert!(to_text(&mesh, "CPS").unwrap_err().to_string().contains("pyramid5"));
        mesh.groups[1].name = mesh.groups[0].name.to_uppercase();
        let name = |i: usize| name_of(&mesh, &mesh.groups[i]);
        assert_eq!([name(0), name(1), name(2)].map(|name| name.starts_with('"')), [true, true, false]);
    }
}
