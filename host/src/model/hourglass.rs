//! The warning of motions that reduced integration leaves free: the matrix is singular, and only loads that do not drive them
//! have an answer.
//!
//! A box of hex20r has six motions beside the rigid ones that strain none of its 2 x 2 x 2 points, a rectangle of quad8r has
//! one. By the eigenvalues of regular meshes, neighbours stop them all, but in rows of hex20r that are one element across: there
//! one motion of each section is left, however the ends are held. A support along the row stops it. quad8r is left with its
//! motion only if it is alone, and if no more is held of it than the rigid motions need.

use std::collections::HashMap;

use super::{Analysis, Support};
use crate::element::ElementKind;
use crate::mesh::{Cells, Mesh};

/// Components that hold the rigid motions of a plane body.
const RIGID: usize = 3;

/// One line for each block of cells of which some have such motions.
pub fn warnings(analysis: Analysis, mesh: &Mesh, supports: &[&Support]) -> Vec<String> {
    let reduced = || mesh.solids().filter(|(_, cells)| cells.kind.is_reduced());
    if analysis.physics().is_scalar() || reduced().all(|(_, cells)| cells.is_empty()) {
        return Vec::new();
    }
    let mut held: HashMap<u32, usize> = HashMap::new();
    supports
        .iter()
        .flat_map(|support| support.held(&mesh.coords))
        .for_each(|(node, ..)| *held.entry(node).or_default() += 1);
    let mut on_skin: HashMap<(usize, u32), Vec<usize>> = HashMap::new();
    for face in mesh.skin() {
        let cells = &mesh.cells[face.block];
        let nodes = cells.cell(face.cell as usize);
        let sides =
            cells.kind.faces().iter().position(|(_, local)| local.iter().all(|&k| face.nodes().contains(&nodes[k])));
        on_skin.entry((face.block, face.cell)).or_default().extend(sides);
    }
    let of_block = |(block, cells): (usize, &Cells)| {
        let sides = |cell: usize| on_skin.get(&(block, cell as u32)).map_or(&[][..], Vec::as_slice);
        let is_loose = |cell: &usize| is_loose(cells.kind, sides(*cell), |k| held.get(&cells.cell(*cell)[k]).copied());
        let loose: Vec<usize> = (0..cells.len()).filter(is_loose).collect();
        Some(message(cells, loose.len(), *loose.first()?))
    };
    reduced().filter_map(of_block).collect()
}

fn message(cells: &Cells, n: usize, first: usize) -> String {
    let (name, full, tag) = (cells.kind.info().name, cells.kind.of_kernels().info().name, cells.tags[first]);
    format!(
        "{name}: reduced integration leaves motions free of {n} elements that stand alone or in a row (element {tag}): the \
         matrix is singular, and a direct solver fails. Put two elements across, or use {full}"
    )
}

/// Whether a cell with these sides on the skin, of whose nodes so many components are held, has a motion that nothing stops.
fn is_loose(kind: ElementKind, on_skin: &[usize], held: impl Fn(usize) -> Option<usize>) -> bool {
    let info = kind.info();
    if info.dim == 2 {
        let n: usize = (0..info.n_nodes).filter_map(held).sum();
        return on_skin.len() == kind.faces().len() && n <= RIGID;
    }
    let x = |k: usize, along: usize| info.shape.nodes[k][along];
    (0..info.dim).any(|along| {
        let is_end = |(_, local): &(ElementKind, Vec<usize>)| local.iter().all(|&k| x(k, along) == x(local[0], along));
        let is_free = |side: usize| is_end(&kind.faces()[side]) || on_skin.contains(&side);
        let is_held = |k: usize| x(k, along) == 0.0 && held(k).is_some();
        (0..kind.faces().len()).all(is_free) && !(0..info.n_nodes).any(is_held)
    })
}

#[cfg(test)]
mod tests {
    use crate::element::ElementKind::{Hex20, Hex20R, Quad8R};
    use crate::mesh::{generate::generate_box, rectangle::generate_rectangle};
    use crate::verify::model;

    const STEEL: &str = "[[material]]\nname = \"steel\"\nyoung = 2e11\npoisson = 0.3\n";

    fn is_warned(tables: &str, mesh: crate::mesh::Mesh) -> bool {
        let model = model(&format!("{STEEL}{tables}"), mesh).unwrap();
        model.warnings.iter().any(|warning| warning.contains("reduced integration leaves motions free"))
    }

    #[test]
    fn rows_one_across_are_loose_unless_they_are_held_along() {
        let clamp = "[[support]]\non = \"xmin\"\nfix = \"xyz\"\n";
        let rollers = "[[support]]\non = \"ymin\"\nfix = \"y\"\n";
        let boxed = |kind, cells| generate_box(kind, [4.0, 1.0, 1.0], cells).unwrap();
        assert!(is_warned(clamp, boxed(Hex20R, [1, 1, 1])) && is_warned(clamp, boxed(Hex20R, [4, 1, 1])));
        assert!(!is_warned(&format!("{clamp}{rollers}"), boxed(Hex20R, [4, 1, 1])));
        assert!(!is_warned(clamp, boxed(Hex20R, [4, 2, 1])) && !is_warned(clamp, boxed(Hex20, [4, 1, 1])));
    }

    #[test]
    fn a_plane_element_alone_is_loose_if_nothing_but_its_rigid_motions_is_held() {
        let plane = "[analysis]\nkind = \"plane_stress\"\n";
        let pinned = "[[support]]\nnodes = [1]\nfix = \"xy\"\n[[support]]\nnodes = [2]\nfix = \"y\"\n";
        let clamp = "[[support]]\non = \"xmin\"\nfix = \"xy\"\n";
        let square = |n| generate_rectangle(Quad8R, [1.0, 1.0], [n, 1]).unwrap();
        assert!(is_warned(&format!("{plane}{pinned}"), square(1)) && !is_warned(&format!("{plane}{clamp}"), square(1)));
        assert!(!is_warned(&format!("{plane}{pinned}"), square(2)));
    }
}
