//! Meshes of bricks in a lattice whose planes may lie anywhere: bodies of several materials, with corners cut out, and
//! several of them side by side.

use warpfem::element::ElementKind;
use warpfem::mesh::generate::generate_box;
use warpfem::mesh::{Cells, Group, Mesh, MeshError};

/// A body in a lattice: the planes along each axis, ascending, and what is in a cell by its centre: the name of a group,
/// or nothing.
pub struct Body<'a> {
    pub kind: ElementKind,
    pub planes: [Vec<f64>; 3],
    pub place: &'a dyn Fn([f64; 3]) -> Option<&'static str>,
}

/// `n` equal steps from 0 to `length`, as planes.
pub fn even(length: f64, n: usize) -> Vec<f64> {
    (0..=n).map(|i| length * i as f64 / n as f64).collect()
}

impl Body<'_> {
    /// Its mesh, with groups of the places and "xmin" .. "zmax" for what is left of the lattice's sides.
    pub fn mesh(&self) -> Result<Mesh, MeshError> {
        let cells = [0, 1, 2].map(|axis| self.planes[axis].len() - 1);
        let mut mesh = generate_box(self.kind, cells.map(|n| n as f64), cells)?;
        mesh.coords.iter_mut().for_each(|x| *x = [0, 1, 2].map(|axis| between(&self.planes[axis], x[axis])));
        let solids = &mesh.cells[0];
        let n_corners = solids.kind.info().n_corners;
        let places: Vec<Option<&str>> = (0..solids.len())
            .map(|i| {
                (self.place)(warpfem::mesh::middle(
                    solids.cell(i)[..n_corners].iter().map(|n| mesh.coords[*n as usize]),
                ))
            })
            .collect();
        let mut used = vec![false; mesh.coords.len()];
        for (i, _) in places.iter().enumerate().filter(|(_, place)| place.is_some()) {
            solids.cell(i).iter().for_each(|&node| used[node as usize] = true);
        }
        let is_used = |facets: &Cells| {
            (0..facets.len()).map(|i| facets.cell(i).iter().all(|&node| used[node as usize])).collect()
        };
        let mut keeps: Vec<Vec<bool>> = vec![places.iter().map(Option::is_some).collect()];
        keeps.extend(mesh.cells[1..].iter().map(is_used));
        mesh.groups = named(&places, &mesh.groups[1..], &keeps);
        let numbers = renumbered(&used);
        mesh.cells = mesh.cells.iter().zip(&keeps).map(|(cells, keep)| kept(cells, keep, &numbers)).collect();
        let mut used = used.into_iter();
        mesh.coords.retain(|_| used.next() == Some(true));
        Ok(numbered(mesh))
    }
}

/// Where a point of a lattice of unit steps comes to lie.
fn between(planes: &[f64], at: f64) -> f64 {
    let below = (at.floor() as usize).min(planes.len() - 2);
    let share = at - below as f64;
    (1.0 - share) * planes[below] + share * planes[below + 1]
}

/// New numbers of what is kept.
fn renumbered(keep: &[bool]) -> Vec<u32> {
    let mut count = 0;
    let number = |keep: &bool| {
        count += u32::from(*keep);
        count - u32::from(*keep)
    };
    keep.iter().map(number).collect()
}

/// The groups of the places, and what is left of the sides.
fn named(places: &[Option<&str>], sides: &[Group], keeps: &[Vec<bool>]) -> Vec<Group> {
    let numbers: Vec<Vec<u32>> = keeps.iter().map(|keep| renumbered(keep)).collect();
    let mut names: Vec<&str> = places.iter().copied().flatten().collect();
    names.sort_unstable();
    names.dedup();
    let body = |name: &str| {
        let cells = (0..places.len()).filter(|&i| places[i] == Some(name)).map(|i| numbers[0][i]).collect();
        Group { name: name.into(), dim: 3, members: vec![(0, cells)] }
    };
    let side = |side: &Group| {
        let of = |(block, facets): &(usize, Vec<u32>)| {
            let facets = facets.iter().filter(|&&i| keeps[*block][i as usize]);
            (*block, facets.map(|&i| numbers[*block][i as usize]).collect())
        };
        Group { name: side.name.clone(), dim: 2, members: side.members.iter().map(of).collect() }
    };
    names
        .into_iter()
        .map(body)
        .chain(sides.iter().map(side).filter(|side| side.members.iter().any(|(_, facets)| !facets.is_empty())))
        .collect()
}

/// The cells that are kept, with their nodes' new numbers.
fn kept(cells: &Cells, keep: &[bool], numbers: &[u32]) -> Cells {
    let kept = (0..cells.len()).filter(|&i| keep[i]).flat_map(|i| cells.cell(i));
    let nodes: Vec<u32> = kept.map(|&node| numbers[node as usize]).collect();
    let n = nodes.len() / cells.kind.info().n_nodes;
    Cells { kind: cells.kind, nodes, tags: vec![0; n] }
}

/// The mesh with tags from 1 on.
fn numbered(mut mesh: Mesh) -> Mesh {
    mesh.node_tags = (1..=mesh.coords.len() as u64).collect();
    let mut last = 0;
    for cells in &mut mesh.cells {
        let n = cells.len() as u64;
        cells.tags = (last + 1..=last + n).collect();
        last += n;
    }
    mesh
}

/// Two meshes of the same kinds as one, the second moved; groups are called "a_xmin", "b_xmin" and so on.
pub fn beside(first: Mesh, second: Mesh, shift: [f64; 3]) -> Mesh {
    let (n_nodes, n_cells) = (first.coords.len() as u32, [first.cells[0].len() as u32, first.cells[1].len() as u32]);
    let renamed = |prefix: &str, groups: &[Group], after: [u32; 2]| -> Vec<Group> {
        let members = |group: &Group| {
            let members = group.members.iter();
            members.map(|(block, cells)| (*block, cells.iter().map(|cell| cell + after[*block]).collect())).collect()
        };
        let group =
            |group: &Group| Group { name: format!("{prefix}{}", group.name), dim: group.dim, members: members(group) };
        groups.iter().map(group).collect()
    };
    let groups = [renamed("a_", &first.groups, [0, 0]), renamed("b_", &second.groups, n_cells)].concat();
    let mut mesh = Mesh { groups, ..first };
    mesh.coords.extend(second.coords.iter().map(|x| [0, 1, 2].map(|c| x[c] + shift[c])));
    for (cells, more) in mesh.cells.iter_mut().zip(&second.cells) {
        cells.nodes.extend(more.nodes.iter().map(|node| node + n_nodes));
    }
    for cells in &mut mesh.cells {
        cells.tags = vec![0; cells.nodes.len() / cells.kind.info().n_nodes];
    }
    numbered(mesh)
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpfem::element::ElementKind::{Hex8, Tet10};
    use warpfem::mesh::parts::connected_parts;

    fn bracket(kind: ElementKind) -> Mesh {
        let place = |x: [f64; 3]| (x[0] < 1.0 || x[2] < 1.0).then_some(if x[2] < 1.0 { "foot" } else { "wall" });
        Body { kind, planes: [even(3.0, 3), even(1.0, 1), vec![0.0, 1.0, 1.5, 3.0]], place: &place }.mesh().unwrap()
    }

    #[test]
    fn a_corner_is_cut_out() {
        let mesh = bracket(Hex8);
        assert_eq!((mesh.cells[0].len(), mesh.coords.len()), (5, 24));
        let size =
            |name: &str| mesh.groups.iter().find(|group| group.name == name).map(|group| group.members[0].1.len());
        assert_eq!([size("foot"), size("wall"), size("zmax"), size("xmax"), size("ymin")], [3, 2, 1, 1, 5].map(Some));
        assert_eq!(mesh.extent(), ([0.0; 3], [3.0, 1.0, 3.0]));
        for &i in &mesh.groups.iter().find(|group| group.name == "zmax").unwrap().members[0].1 {
            assert!(mesh.cells[1].cell(i as usize).iter().all(|&node| mesh.coords[node as usize][2] == 3.0));
        }
        assert!(bracket(Tet10).cells[0].len() == 30 && connected_parts(&bracket(Tet10)).1 == 1);
    }

    #[test]
    fn two_bodies_stay_apart() {
        let mesh = beside(bracket(Hex8), bracket(Hex8), [0.0, 5.0, 0.0]);
        assert_eq!((connected_parts(&mesh).1, mesh.coords.len(), mesh.cells[0].len()), (2, 48, 10));
        let nodes = mesh.nodes_on("b_zmax").unwrap();
        assert!(nodes.len() == 4 && nodes.iter().all(|&n| mesh.coords[n as usize][1] >= 5.0));
        let tags: Vec<u64> = mesh.cells.iter().flat_map(|cells| cells.tags.clone()).collect();
        assert!(tags.into_iter().eq(1..=2 * (5 + mesh.cells[1].len() as u64 / 2)));
    }
}
