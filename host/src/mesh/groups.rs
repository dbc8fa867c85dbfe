//! Group names resolved to nodes.

use super::{Group, Mesh};

/// How far from an extreme plane a node may be and still lie on it, against the diagonal of the mesh's extent.
const ON_PLANE: f64 = 1e-6;

/// The extreme planes, the lower and the upper one along each axis.
const PLANES: [&str; 6] = ["xmin", "xmax", "ymin", "ymax", "zmin", "zmax"];

impl Mesh {
    /// The nodes of the group with this name, ascending and unique.
    ///
    /// "xmin" .. "zmax" mean the mesh's extreme planes where no group has that name. `None` if there is no such group.
    pub fn nodes_on(&self, name: &str) -> Option<Vec<u32>> {
        let marked = self.mark(name)?;
        Some((0..self.coords.len() as u32).filter(|&node| marked[node as usize]).collect())
    }

    /// The nodes of a group, ascending and unique.
    pub fn nodes_of(&self, group: &Group) -> Vec<u32> {
        let marked = self.mark_group(group);
        (0..self.coords.len() as u32).filter(|&node| marked[node as usize]).collect()
    }

    /// Whether each node lies in the group, or on the extreme plane, with this name.
    pub(super) fn mark(&self, name: &str) -> Option<Vec<bool>> {
        match self.group(name) {
            Some(group) => Some(self.mark_group(group)),
            None => self.mark_plane(name),
        }
    }

    fn mark_group(&self, group: &Group) -> Vec<bool> {
        let mut marked = vec![false; self.coords.len()];
        for (block, members) in &group.members {
            for &cell in members {
                for &node in self.cells[*block].cell(cell as usize) {
                    marked[node as usize] = true;
                }
            }
        }
        marked
    }

    fn mark_plane(&self, name: &str) -> Option<Vec<bool>> {
        let at = PLANES.iter().position(|known| *known == name)?;
        let (axis, (low, high)) = (at / 2, self.extent());
        let diagonal = (0..3).map(|c| (high[c] - low[c]).powi(2)).sum::<f64>().sqrt();
        let plane = if at % 2 == 1 { high[axis] } else { low[axis] };
        Some(self.coords.iter().map(|x| (x[axis] - plane).abs() <= ON_PLANE * diagonal).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::PLANES;
    use crate::mesh::testing::*;

    #[test]
    fn groups_and_extreme_planes_give_the_same_nodes() {
        let mut mesh = generate_box(Tet4, [1.0, 2.0, 3.0], [2, 3, 4]).unwrap();
        let grouped = PLANES.map(|name| mesh.nodes_on(name).unwrap());
        mesh.groups.clear();
        assert_eq!(PLANES.map(|name| mesh.nodes_on(name).unwrap()), grouped);
        assert_eq!(grouped[0].len(), 20);
        assert!(grouped.iter().all(|nodes| nodes.is_sorted_by(|a, b| a < b)));
        assert_eq!(mesh.nodes_on("body"), None);
    }

    #[test]
    fn of_groups_of_one_name_the_sides_are_taken() {
        let mut mesh = cube(Tet4, 2);
        mesh.groups
            .iter_mut()
            .filter(|group| ["body", "zmin"].contains(&group.name.as_str()))
            .for_each(|group| group.name = "part".into());
        for _ in 0..2 {
            assert_eq!((mesh.group("part").unwrap().dim, mesh.body("part").unwrap().dim), (2, 3));
            assert_eq!(mesh.nodes_on("part").unwrap().len(), 9);
            assert_eq!(mesh.nodes_of(mesh.body("part").unwrap()).len(), 27);
            mesh.groups.reverse();
        }
    }

    #[test]
    fn a_group_hides_the_extreme_plane_of_its_name() {
        let mut mesh = cube(Tet4, 2);
        mesh.groups.retain(|group| group.name == "zmin");
        mesh.groups[0].name = "xmax".into();
        assert!(mesh.nodes_on("xmax").unwrap().iter().all(|&n| mesh.coords[n as usize][2] == 0.0));
    }
}
